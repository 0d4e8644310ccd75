//! Numbers that a link or a path can have.

use super::{Error, Result};

/// Checks the capacity of a link.
///
/// # Errors
/// [`Error::Capacity`] unless it is finite and not negative.
#[inline]
pub fn check_capacity(link: usize, value: f64) -> Result<()> {
    if is_amount(value) { Ok(()) } else { Err(Error::Capacity { link, value }) }
}

/// Checks the price of a link.
///
/// # Errors
/// [`Error::Price`] unless it is finite and not negative.
#[inline]
pub fn check_price(link: usize, value: f64) -> Result<()> {
    if is_amount(value) { Ok(()) } else { Err(Error::Price { link, value }) }
}

/// Checks the rate of a path.
///
/// # Errors
/// [`Error::Rate`] unless it is finite and not negative.
#[inline]
pub fn check_rate(path: usize, value: f64) -> Result<()> {
    if is_amount(value) { Ok(()) } else { Err(Error::Rate { path, value }) }
}

#[inline]
fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
