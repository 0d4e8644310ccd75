//! The two kinds of numbers that tables, weights and rates may be kept in; links step in f64 whatever they are.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// exp of this is still a number, also after ten million of them are added, and that of its negative still normal.
pub(crate) const LARGEST_POWER: f64 = 690.0;

/// f64 or f32.
pub(crate) trait Real:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + Send
    + Sync
    + 'static
{
    /// 0.
    const ZERO: Self;

    /// 1.
    const ONE: Self;

    /// The nearest number of this kind; beyond its range the largest. ∞ stays that.
    fn of(value: f64) -> Self;

    /// This number as an f64, exactly.
    fn wide(self) -> f64;

    /// max in one instruction; NaN passes.
    #[inline(always)]
    fn at_least(self, least: Self) -> Self {
        if least > self { least } else { self }
    }

    /// min in one instruction; NaN passes.
    #[inline(always)]
    fn at_most(self, most: Self) -> Self {
        if most < self { most } else { self }
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn of(value: f64) -> Self {
        if value.is_infinite() { value as f32 } else { value.clamp(-f64::from(f32::MAX), f64::from(f32::MAX)) as f32 }
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
}
