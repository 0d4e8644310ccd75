//! The numbers that several files share: units, tolerances, and what work costs.

/// Bits per byte: sizes are in bytes, rates in bit/s.
pub(crate) const BITS: f64 = 8.0;

/// Bits of a full packet, of 1500 bytes.
pub(crate) const PACKET: f64 = BITS * 1500.0;

/// A number with the same number computed in another way: they differ by less than this part, in their last digits.
pub(crate) const LAST_DIGITS: f64 = 8.0 * f64::EPSILON;

/// The rates of the flows of a link, added up, with its capacity; bits sent with a threshold. A smaller part is
/// rounding.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Rates, fractions of a flow and times with each other: they are equal if they differ by less than this part.
pub(crate) const ALIKE: f64 = 1e-9;

/// The load of a link that is kept up by adding and subtracting with the sum of its parts, relative to the capacity.
pub(crate) const DRIFT: f64 = 1e-6;

/// The least cost of an event, in units of a [`Pacer`](netnum_core::internal::interrupt::Pacer).
pub(crate) const EVENT: usize = 64;

/// The cost of a flow that is read, drawn, moved or given a rate, in these units.
pub(crate) const FLOW: usize = 8;

/// No link, and no place in a list.
pub(crate) const NONE: u32 = u32::MAX;
