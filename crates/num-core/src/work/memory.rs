//! Checked allocation: a vector with a capacity, or an error with the number of bytes.
//!
//! Systems that overcommit memory end the process that uses it. Large requests are therefore compared with the free
//! memory that the system reports (Linux only) before they are used.

use std::fs::read_to_string;

use crate::error::{Error, Result};

/// Requests of fewer bytes are not compared with the free memory.
pub(crate) const SMALL: u128 = 1 << 28;

/// Checks that a number of bytes can be allocated.
///
/// # Errors
/// [`Error::Memory`] when they are more than the free memory.
pub fn check(what: &str, bytes: u128) -> Result<()> {
    if bytes < SMALL || (bytes <= isize::MAX as u128 && free().is_none_or(|free| bytes <= free)) {
        return Ok(());
    }
    Err(Error::Memory { what: what.into(), bytes })
}

/// An empty vector with capacity for `count` items.
///
/// # Errors
/// [`Error::Memory`] when they do not fit.
pub fn room<T>(what: &str, count: usize) -> Result<Vec<T>> {
    let bytes = count as u128 * size_of::<T>() as u128;
    let what = format!("{count} {what}");
    check(&what, bytes)?;
    let mut room = Vec::new();
    match room.try_reserve_exact(count) {
        Ok(()) => Ok(room),
        Err(_) => Err(Error::Memory { what, bytes }),
    }
}

/// Free memory in bytes, swap included; none where the system does not report it.
fn free() -> Option<u128> {
    let table = read_to_string("/proc/meminfo").ok()?;
    let field = |name: &str| -> Option<u128> {
        let line = table.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u128>().ok()?.checked_mul(1024)
    };
    let machine = field("MemAvailable:")? + field("SwapFree:").unwrap_or(0);
    let group = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|limit| limit.trim().parse().ok());
    Some(group.map_or(machine, |limit: u128| limit.min(machine)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_gets_its_room() {
        assert!(room::<u64>("things", 1000).unwrap().capacity() >= 1000);
        assert_eq!(check("things", 1000), Ok(()));
    }

    #[test]
    fn what_no_memory_holds_is_refused_with_its_size() {
        for count in [1 << 50, usize::MAX] {
            let message = room::<u64>("things", count).unwrap_err().to_string();
            assert_eq!(message, format!("no memory for {count} things, {} bytes", count as u128 * 8));
        }
    }
}
