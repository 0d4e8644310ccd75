//! A number >= 0 in 16 bits, rounded down.
//!
//! ```text
//! code = e · 1024 + m        e < 64, m < 1024
//! value = m                  where e = 0
//!         (1024 + m) 2^(e−1) elsewhere
//! ```
//!
//! The last code, 65535, is ∞. A number from 1024 to 2^73 loses less than 1/1024 of itself, and larger ones become the
//! largest that is finite. Rounded down, rates that fit stay feasible.

/// A number in 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Short(u16);

impl Short {
    /// ∞: no limit.
    pub const INFINITE: Self = Self(u16::MAX);

    /// The largest such number that is not above this one; 0 for a negative number and for one that is not a number.
    pub fn floor(value: f64) -> Self {
        if value == f64::INFINITY {
            return Self::INFINITE;
        }
        if value.is_nan() || value < 1024.0 {
            return Self(value.max(0.0) as u16);
        }
        let exponent = (value.to_bits() >> 52) as i64 - 1023 - 9;
        let mantissa = (value.to_bits() >> 42) as u16 & 1023;
        if exponent > 63 {
            Self(u16::MAX - 1)
        } else {
            Self((exponent as u16) << 10 | mantissa).min(Self(u16::MAX - 1))
        }
    }

    /// The number.
    pub fn value(self) -> f64 {
        let (exponent, mantissa) = (i32::from(self.0 >> 10), f64::from(self.0 & 1023));
        match exponent {
            _ if self == Self::INFINITE => f64::INFINITY,
            0 => mantissa,
            _ => (1024.0 + mantissa) * 2f64.powi(exponent - 1),
        }
    }

    /// Its code, as it is sent.
    pub fn code(self) -> u16 {
        self.0
    }

    /// The number of a code. Every code has one.
    pub fn of_code(code: u16) -> Self {
        Self(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_the_floor_of_its_value() {
        for code in 0..=u16::MAX {
            let number = Short::of_code(code);
            assert_eq!(Short::floor(number.value()), number);
            if code > 0 {
                assert!(Short::of_code(code - 1).value() < number.value());
            }
        }
    }

    #[test]
    fn a_number_loses_less_than_a_thousandth_and_never_grows() {
        let mut value = 1024.0;
        while value < 2f64.powi(73) {
            let short = Short::floor(value).value();
            assert!(short <= value && short > value * (1.0 - 1.0 / 1024.0), "{value} became {short}");
            value *= 1.37;
        }
    }

    #[test]
    fn what_is_no_rate_is_0_and_what_is_too_large_the_largest() {
        for value in [f64::NAN, -1.0, f64::NEG_INFINITY, 0.0, 0.9] {
            assert_eq!(Short::floor(value).value(), 0.0);
        }
        assert_eq!(Short::floor(f64::MAX).code(), u16::MAX - 1);
        assert_eq!(Short::floor(f64::INFINITY), Short::INFINITE);
    }
}
