//! log and exp without branches or calls, so that a loop over many numbers becomes vector instructions.
//!
//! ```text
//! log x = k log 2 + 2 artanh s,    x = 2^k m,  m ∈ [√½, √2),  s = (m − 1)/(m + 1)
//! exp x = 2^k exp r,               k = ⌊x/log 2⌉,  |r| ≤ ½ log 2
//! ```
//!
//! Both by their Taylor series, to within 2 units in the last place; log 2 is split in two, so that k log 2 adds no
//! error. A loop is compiled for the vectors that the processor has at run time by [`vectorized`]. Fused multiply-adds
//! are not used: every processor gives the same bits.

use std::f64::consts::{LOG2_E, SQRT_2};

/// log 2 = `LN_2_HIGH` + `LN_2_LOW`, where multiples of the first up to 2¹¹ are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding it leaves the nearest integer in the last bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// 2⁵², whose last bits are units.
const UNITS: f64 = 4_503_599_627_370_496.0;

/// Runs a loop compiled for the widest vectors that the processor has. Mark what it calls `#[inline(always)]`.
#[inline(always)]
pub fn vectorized<R>(run: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(run)
}

/// log x.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let (k, m) = split(if tiny { x * UNITS } else { x });
    let log = assemble(if tiny { k - 52.0 } else { k }, (m - 1.0) / (m + 1.0));
    let log = if x == f64::INFINITY { x } else { log };
    let log = if x == 0.0 { f64::NEG_INFINITY } else { log };
    if x >= 0.0 { log } else { f64::NAN }
}

/// log(x'/x) for x > 0 and x' = x + `change` ≥ 0, accurate also where the two are nearly equal.
#[inline(always)]
pub(crate) fn ln_ratio(x: f64, changed: f64, change: f64) -> f64 {
    let ratio = changed / x;
    let tiny = ratio < f64::MIN_POSITIVE;
    let (k, m) = split(if tiny { ratio * UNITS } else { ratio });
    let k = if tiny { k - 52.0 } else { k };
    // x' is not 1 + change/x of x to all digits where the change is nearly all of x.
    let near = change.abs() < 0.25 * x;
    let (above, below) = if near { (change, x + (x + change)) } else { (m - 1.0, m + 1.0) };
    let log = assemble(if near { 0.0 } else { k }, above / below);
    let log = if ratio == f64::INFINITY { ratio } else { log };
    let log = if ratio == 0.0 { f64::NEG_INFINITY } else { log };
    if ratio >= 0.0 { log } else { f64::NAN }
}

/// exp x: 0 below −708, ∞ above 709.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let bounded = x.clamp(-708.0, 709.0);
    let (power, r) = reduce(bounded);
    let y = power * (1.0 + r * fraction(r));
    let y = if x < -708.0 { 0.0 } else { y };
    let y = if x > 709.0 { f64::INFINITY } else { y };
    if x.is_nan() { x } else { y }
}

/// exp(x) − 1, accurate for small x too.
#[inline(always)]
pub(crate) fn exp_m1(x: f64) -> f64 {
    let bounded = x.clamp(-708.0, 709.0);
    let (power, r) = reduce(bounded);
    // 2^k (1 + f) − 1 where f = exp r − 1 is known exactly; 2^k − 1 is exact where it matters.
    let y = power * (r * fraction(r)) + (power - 1.0);
    let y = if x > 709.0 { f64::INFINITY } else { y };
    if x.is_nan() { x } else { y }
}

/// k and m with x = 2^k m, for normal x > 0.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    const BIAS: u64 = 1023 << 52;
    let bits = x.to_bits();
    // As if √½ were 1: the exponent then counts from there.
    let shifted = bits.wrapping_add(BIAS.wrapping_sub((SQRT_2 * 0.5).to_bits()));
    let biased = shifted >> 52;
    let k = f64::from_bits(UNITS.to_bits() | biased) - (UNITS + 1023.0);
    (k, f64::from_bits(bits.wrapping_sub(biased << 52).wrapping_add(BIAS)))
}

/// k log 2 + 2 artanh s for |s| ≤ 0.172.
#[inline(always)]
fn assemble(k: f64, s: f64) -> f64 {
    let z = s * s;
    let mut series = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = series * z + 1.0 / odd;
    }
    let double = 2.0 * s;
    k * LN_2_HIGH + (k * LN_2_LOW + (double + double * (z * series)))
}

/// 2^k and r with x = k log 2 + r.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let rounded = x * LOG2_E + ROUNDER;
    let k = rounded - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    (f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52), r)
}

/// (exp r − 1)/r for |r| ≤ 0.35.
#[inline(always)]
fn fraction(r: f64) -> f64 {
    let mut series = 1.0 / 6_227_020_800.0;
    for factorial in
        [479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0]
    {
        series = series * r + 1.0 / factorial;
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest relative error over many arguments of every size, against the standard library.
    fn worst(ours: fn(f64) -> f64, theirs: fn(f64) -> f64, arguments: impl Iterator<Item = f64>) -> f64 {
        let error = |x: f64| {
            let (found, expected) = (ours(x), theirs(x));
            if found == expected { 0.0 } else { ((found - expected) / expected).abs() }
        };
        arguments.map(error).fold(0.0, |worst, error| if error <= worst { worst } else { error })
    }

    /// ±2^e (1 + j/1009) for exponents in a range.
    fn numbers(exponents: std::ops::Range<i32>) -> impl Iterator<Item = f64> {
        exponents.flat_map(|e| (0..1009).map(move |j| (1.0 + f64::from(j) / 1009.0) * f64::from(e).exp2()))
    }

    const CLOSE: f64 = 5e-16;

    #[test]
    fn ln_is_that_of_the_standard_library() {
        assert!(worst(ln, f64::ln, numbers(-1074..1024)) < CLOSE);
        assert!(worst(ln, f64::ln, (1..2000).map(|i| 1.0 + f64::from(i - 1000) * f64::EPSILON)) < CLOSE);
        assert_eq!([ln(0.0), ln(1.0), ln(f64::INFINITY)], [f64::NEG_INFINITY, 0.0, f64::INFINITY]);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan());
    }

    #[test]
    fn ln_ratio_is_that_of_the_standard_library() {
        let of = |change: f64| ln_ratio(1.0, 1.0 + change, change);
        let larger = worst(of, f64::ln_1p, numbers(-300..1000));
        let smaller = worst(of, f64::ln_1p, numbers(-300..0).map(|x| -x / 2.0));
        // Nearly all of it gone: the rest alone says what the logarithm is.
        let rests = worst(|rest| ln_ratio(1.0, rest, rest - 1.0), f64::ln, numbers(-1074..0));
        assert!([larger, smaller, rests].iter().all(|&error| error < CLOSE), "{larger:e} {smaller:e} {rests:e}");
        assert_eq!([ln_ratio(2.0, 2.0, 0.0), ln_ratio(2.0, 0.0, -2.0)], [0.0, f64::NEG_INFINITY]);
        assert_eq!(ln_ratio(1e-300, 1e300, 1e300), f64::INFINITY);
        assert!(ln_ratio(f64::NAN, 1.0, 1.0).is_nan());
    }

    #[test]
    fn exp_is_that_of_the_standard_library() {
        assert!(worst(exp, f64::exp, numbers(-60..9)) < CLOSE);
        assert!(worst(exp, f64::exp, numbers(-60..9).map(|x| -x)) < CLOSE);
        assert_eq!([exp(0.0), exp(f64::NEG_INFINITY), exp(f64::INFINITY)], [1.0, 0.0, f64::INFINITY]);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn exp_m1_is_that_of_the_standard_library() {
        assert!(worst(exp_m1, f64::exp_m1, numbers(-300..9)) < 2.0 * CLOSE);
        assert!(worst(exp_m1, f64::exp_m1, numbers(-300..9).map(|x| -x)) < 2.0 * CLOSE);
        assert_eq!([exp_m1(0.0), exp_m1(f64::NEG_INFINITY), exp_m1(f64::INFINITY)], [0.0, -1.0, f64::INFINITY]);
        assert!(exp_m1(f64::NAN).is_nan());
    }

    #[test]
    fn a_vectorized_loop_has_the_same_bits() {
        let arguments: Vec<f64> = numbers(-20..8).collect();
        let mut vector = vec![0.0; arguments.len()];
        vectorized(
            #[inline(always)]
            || {
                for (out, &x) in vector.iter_mut().zip(&arguments) {
                    *out = exp(ln(x) * -0.3) + ln_ratio(x, 3.0, 3.0 - x) + exp_m1(-x);
                }
            },
        );
        for (x, out) in arguments.into_iter().zip(vector) {
            assert_eq!(out.to_bits(), (exp(ln(x) * -0.3) + ln_ratio(x, 3.0, 3.0 - x) + exp_m1(-x)).to_bits());
        }
    }
}
