//! log and exp as plain arithmetic, which a compiler does several at a time in a loop over an array; libm's it calls
//! one by one.
//!
//! ```text
//! log x = k log 2 + log m,   m = x/2^k in √½ … √2,   log m = 2 Σ s^(2i+1)/(2i+1),   s = (m − 1)/(m + 1)
//! exp y = 2^k exp r,         k = round(y/log 2),     exp r = Σ r^i/i!,              |r| ≤ ½ log 2
//! ```
//!
//! Both series are cut where the rest is below rounding: each is within 2e-16 of the true value, relative to itself
//! (exp) or to the larger of itself and 1 (log). No multiplication is fused with an addition, so that the bits are the
//! same on every machine.

/// log 2 in two parts, the first with so few digits that its product with an exponent is exact.
const LOG_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// 1.5 · 2^52: adding it rounds to an integer, which then stands in the last bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// 2^52, with an exponent that leaves all its digits to an integer.
const SHIFTER: u64 = 0x4330_0000_0000_0000;
/// Bits of √½.
const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
const BIAS: u64 = 1023;

/// log x, for x from 1e-300 to 1e300.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = bits.wrapping_sub(ROOT).wrapping_add(BIAS << 52) >> 52;
    let k = f64::from_bits(exponent | SHIFTER) - (4_503_599_627_370_496.0 + BIAS as f64);
    let m = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(BIAS << 52));
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut series = 2.0 / 21.0;
    for power in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = series * square + 2.0 / power;
    }
    let log_m = 2.0 * s + series * square * s;
    k * LOG_2[0] + (k * LOG_2[1] + log_m)
}

/// exp y, for y from −700 to 700.
#[inline(always)]
pub fn exp(y: f64) -> f64 {
    let shifted = y * std::f64::consts::LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (y - k * LOG_2[0]) - k * LOG_2[1];
    let mut series = 1.0 / FACTORIALS[13];
    for power in (0..13).rev() {
        series = series * r + 1.0 / FACTORIALS[power];
    }
    // The last bits of `shifted` are k; added to the exponent they multiply by 2^k.
    f64::from_bits(series.to_bits().wrapping_add(shifted.to_bits() << 52))
}

const FACTORIALS: [f64; 14] = [
    1.0,
    1.0,
    2.0,
    6.0,
    24.0,
    120.0,
    720.0,
    5040.0,
    40_320.0,
    362_880.0,
    3_628_800.0,
    39_916_800.0,
    479_001_600.0,
    6_227_020_800.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers over all orders of magnitude, and close ones around 1.
    fn samples() -> impl Iterator<Item = f64> {
        let far = (-300_000..300_000).map(|i| 10f64.powf(f64::from(i) * 1e-3));
        let near = (-20_000..20_000).map(|i| 1.0 + f64::from(i) * 1.3e-5);
        far.chain(near)
    }

    #[test]
    fn log_is_within_rounding_of_libm() {
        for x in samples() {
            let (found, expected) = (log(x), x.ln());
            assert!(
                (found - expected).abs() <= 2.5e-16 * expected.abs().max(1.0),
                "log {x:e}: {found:e}, {expected:e}"
            );
        }
    }

    #[test]
    fn exp_is_within_rounding_of_libm() {
        for y in (-700_000..700_000).map(|i| f64::from(i) * 1e-3 + 1e-5).chain(samples().map(|x| x.ln())) {
            let (found, expected) = (exp(y), y.exp());
            assert!((found - expected).abs() <= 5e-16 * expected, "exp {y:e}: {found:e}, {expected:e}");
        }
    }
}
