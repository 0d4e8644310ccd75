//! Sockets that this process attaches: paced by TCP itself.

use std::io;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use super::socket::{Look, Watched};
use super::watcher::{Attached, Limited, Sockets};

/// Headers of a segment on the wire: Ethernet 14, IPv4 20, TCP with timestamps 32. TCP paces what it carries without
/// them.
const HEADERS: f64 = 66.0;

/// The end has come when nobody can attach any more.
pub(super) struct AttachedSockets(pub(super) Receiver<Attached<Watched>>);

impl Sockets for AttachedSockets {
    type Socket = Watched;

    fn find(&mut self, found: &mut Vec<Attached<Watched>>, _lifetime: Duration) -> io::Result<bool> {
        loop {
            match self.0.try_recv() {
                Ok(attached) => found.push(attached),
                Err(TryRecvError::Empty) => return Ok(true),
                Err(TryRecvError::Disconnected) => return Ok(false),
            }
        }
    }

    fn look(&self, socket: Watched) -> Option<Look> {
        socket.look().ok()
    }

    fn limit_of(rate: f64, segment: u32) -> f64 {
        let segment = f64::from(segment);
        rate / 8.0 * segment / (segment + HEADERS)
    }

    fn limit(&mut self, socket: Watched, bytes_per_second: u64) -> Limited {
        socket.set_max_pacing_rate(bytes_per_second).map_or(Limited::Gone, |()| Limited::Set)
    }

    fn finish(&mut self) {}
}
