//! Numbers that a link or a path can have, and how many there are.

use super::{Error, Result};

/// Checks the capacity of a link.
///
/// # Errors
/// [`Error::Capacity`] unless it is a number that is not negative; ∞ is a link without a limit.
#[inline]
pub fn check_capacity(link: usize, value: f64) -> Result<()> {
    if value >= 0.0 { Ok(()) } else { Err(Error::Capacity { link, value }) }
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

/// Checks how many entries a list has, of which there is one per something.
///
/// # Errors
/// [`Error::Length`] unless there are so many.
pub fn check_length(what: &str, found: usize, expected: usize, per: &'static str) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what: what.into(), found, expected, per }) }
}

#[inline]
fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
