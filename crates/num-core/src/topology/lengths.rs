//! Lengths of links that add up without rounding, so that which of two paths is shorter does not depend on the order
//! of a sum.
//!
//! Weights are cut to multiples of one power of two, 2⁻⁶³ of the largest or finer: integers and other weights that are
//! within a factor of 1000 of the largest stay as they are. Below the weight, in its lowest 32 bits, a length counts
//! links. So of two paths with equal weight the one with fewer links is shorter, and every link makes a path longer.

use super::Topology;
use crate::error::{Error, Result, check_length};
use crate::interrupt::Pacer;

/// The length of a link or of a path.
pub(super) type Length = u128;

/// That of a link that is not to be used, and of the way to a node that is not reached.
pub(super) const NONE: Length = Length::MAX;

/// Bits of a length that count links. A path without loops has fewer links than there are nodes.
const HOP_BITS: u32 = 32;

/// The length of every link.
#[derive(Debug)]
pub(super) struct Lengths {
    of_links: Vec<Length>,
    /// Whether some link is not to be used.
    pub(super) avoids: bool,
}

impl Lengths {
    /// From one weight per link, 1 by default. A link of capacity 0 or of infinite weight is not to be used.
    pub(super) fn new(net: &Topology, weight: Option<&[f64]>) -> Result<Self> {
        let (mut pacer, mut avoids) = (Pacer::new(), false);
        let mut largest = 1.0f64;
        if let Some(weight) = weight {
            check_length("weight", weight.len(), net.links.len(), "link")?;
            largest = 0.0;
            for (link, &value) in weight.iter().enumerate() {
                pacer.did(1)?;
                if value.is_nan() || value < 0.0 {
                    let (link, expected) = (net.shown(link as u32), "a number >= 0 (inf for a link not to be used)");
                    return Err(Error::Topology(format!("{link} has weight {value}, expected {expected}")));
                }
                largest = if value.is_finite() { largest.max(value) } else { largest };
            }
        }
        let unit = parts(largest).1;
        let mut of_links = Vec::with_capacity(net.links.len());
        for (link, ends) in net.links.iter().enumerate() {
            pacer.did(1)?;
            let value = weight.map_or(1.0, |weight| weight[link]);
            let works = ends.capacity > 0.0 && value.is_finite();
            avoids |= !works;
            of_links.push(if works { cut(value, unit) << HOP_BITS | 1 } else { NONE });
        }
        Ok(Self { of_links, avoids })
    }

    /// That of a link; `None` for one that is not to be used.
    #[inline]
    pub(super) fn of(&self, link: u32) -> Option<Length> {
        Some(self.of_links[link as usize]).filter(|&length| length != NONE)
    }
}

/// Whether a way weighs as little as the shortest, whatever their numbers of links: to 2⁻⁴⁰ of it, so that 0.1 + 0.2 is
/// 0.3, and to what was cut off.
pub(super) fn ties(way: Length, shortest: Length) -> bool {
    let (weight, cut_off) = (shortest >> HOP_BITS, shortest & ((1 << HOP_BITS) - 1));
    way >> HOP_BITS <= weight + (weight >> 40) + cut_off
}

/// The longest that a path may be where the shortest is given: so many times its weight, however many links that takes.
pub(super) fn stretched(shortest: Length, factor: f64) -> Length {
    // Factors are decimals, and 1.15 × 20 is to be 23.
    const ROUNDING: f64 = 1.0 + 1e-12;
    let most = (shortest >> HOP_BITS) as f64 * factor * ROUNDING;
    // A cast ends at the largest; the lengths of paths are below 2¹²⁷.
    ((most as Length).min(NONE >> (HOP_BITS + 1)) + 1) << HOP_BITS
}

/// A number as an integer below 2⁵³ times a power of two.
fn parts(value: f64) -> (u64, i32) {
    let (exponent, fraction) = ((value.to_bits() >> 52) as i32, value.to_bits() & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// A weight in units of 2^(`largest` − 10), where the largest weight is an integer times 2^`largest`: below 2⁶³.
fn cut(value: f64, largest: i32) -> Length {
    let (integer, exponent) = parts(value);
    let shift = exponent - largest + 10;
    if shift >= 0 {
        Length::from(integer) << shift
    } else {
        Length::from(integer.checked_shr(shift.unsigned_abs()).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_within_a_factor_of_a_thousand_keep_their_ratios() {
        for largest in [1.0, 3.7, 1e-300, 1e300, f64::MAX] {
            let unit = parts(largest).1;
            assert_eq!(cut(largest, unit), 2 * cut(largest / 2.0, unit));
            assert_eq!(cut(largest, unit), 512 * cut(largest / 512.0, unit));
            assert!(cut(largest, unit) < 1 << 63);
        }
    }

    #[test]
    fn what_is_too_small_beside_the_largest_counts_as_nothing() {
        let unit = parts(1e300).1;
        assert_eq!([cut(0.0, unit), cut(f64::MIN_POSITIVE, unit), cut(5e-324, unit)], [0, 0, 0]);
        assert_eq!(cut(5e-324, parts(5e-324).1), 1 << 10);
    }

    #[test]
    fn a_stretch_in_decimals_is_met_exactly() {
        let hops = |count: Length| count * (cut(1.0, parts(1.0).1) << HOP_BITS | 1);
        assert!(hops(23) < stretched(hops(20), 1.15) && hops(24) > stretched(hops(20), 1.15));
        assert!(hops(20) < stretched(hops(20), 1.0) && hops(21) > stretched(hops(20), 1.0));
        assert!(stretched(hops(u32::MAX.into()), f64::MAX) > hops(u32::MAX.into()));
    }
}
