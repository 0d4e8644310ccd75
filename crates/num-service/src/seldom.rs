//! What happens often, and is logged once a minute.

use std::hash::Hash;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

const MINUTE: Duration = Duration::from_secs(60);
/// Kinds that are known at a time. Where others come, they are not logged until one of these is old.
const KNOWN: usize = 1024;

/// Events of many kinds, each of which is logged once a minute at most.
#[derive(Debug)]
pub(crate) struct Seldom<Kind> {
    logged: FxHashMap<Kind, Instant>,
}

impl<Kind> Default for Seldom<Kind> {
    fn default() -> Self {
        Self { logged: FxHashMap::default() }
    }
}

impl<Kind: Eq + Hash> Seldom<Kind> {
    /// Whether an event of such a kind, at such a moment, is logged.
    pub(crate) fn is_logged(&mut self, kind: Kind, now: Instant) -> bool {
        let is_recent = |logged: &Instant| now.saturating_duration_since(*logged) < MINUTE;
        if self.logged.get(&kind).is_some_and(is_recent) {
            return false;
        }
        if self.logged.len() >= KNOWN {
            self.logged.retain(|_, logged| is_recent(logged));
        }
        let has_room = self.logged.len() < KNOWN;
        if has_room {
            self.logged.insert(kind, now);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_events_of_a_kind_one_a_minute_is_logged() {
        let (began, mut events) = (Instant::now(), Seldom::default());
        let mut logged = |kind, seconds: &[u64]| {
            let at = |&&second: &&u64| events.is_logged(kind, began + Duration::from_secs(second));
            seconds.iter().filter(at).copied().collect::<Vec<_>>()
        };
        assert_eq!(logged("a", &[0, 1, 59, 60, 61, 119, 120]), [0, 60, 120]);
        // Another kind has a minute of its own.
        assert_eq!(logged("b", &[121, 122, 181]), [121, 181]);
    }

    #[test]
    fn many_kinds_take_no_memory_without_end() {
        let (began, mut events) = (Instant::now(), Seldom::default());
        let is_logged = |kind: usize| events.is_logged(kind, began);
        assert_eq!((0..2 * KNOWN).map(is_logged).filter(|&is| is).count(), KNOWN);
        assert_eq!(events.logged.len(), KNOWN);
        assert!(events.is_logged(2 * KNOWN, began + MINUTE));
        assert_eq!(events.logged.len(), 1);
    }
}
