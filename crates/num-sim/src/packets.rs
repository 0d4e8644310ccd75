//! What packets add to the time of a flow that the fluid leaves out: the way of its last packet, and the round trips in
//! which TCP starts.
//!
//! ```text
//! T = S/x + D + H + W
//! D = Σ_l a_l (d_l + m/c_l) − max_l m/c_l       the way of a packet; the narrowest link is in S/x already
//! H = 2 h Σ_l a_l d_l                           round trips before the first byte, of small packets
//! W = Σ_i max(0, R − w_i m/x), w_i = w_0 2^i    after round i of slow start the sender waits for an acknowledgement,
//!     R = Σ_l a_l (2 d_l + m/c_l)               unless all is sent by then
//! ```
//!
//! S is the flow's size and x its mean rate in the fluid, a_l the part of it on link l of its route, d_l the
//! propagation delay and c_l the capacity of the link, m the size of a packet; route and capacities are those at its
//! end, and for the time that it takes alone the route of its arrival (of a pool, split as at its end) with capacities
//! as at the start of the run. Not in it: queues, losses and timeouts, headers (sizes are what links carry), delayed
//! acknowledgements. Sources: store and forward as in Bertsekas, Gallager, *Data Networks*, 1992; slow start without
//! losses as in Kurose, Ross, *Computer Networking*, "TCP delay modeling"; Cardwell, Savage, Anderson, *Modeling TCP
//! latency*, INFOCOM 2000.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, positive};
use crate::network::Route;
use crate::numbers::BITS;
use crate::setters::setters;

/// Packets on their way, and how a transport starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Packets {
    /// The propagation delay of every link, in seconds.
    pub delays: Vec<f64>,
    /// The size of a full packet, in bytes. Default: 1500.
    pub size: f64,
    /// Packets that a sender has in flight in its first round trip; ∞ for a transport that starts at its rate. Default:
    /// ∞.
    pub initial_window: f64,
    /// Round trips before the first byte: 1 for the handshake of TCP. Default: 0.
    pub round_trips: f64,
}

setters!(Packets {
    with_size: size: f64,
    with_initial_window: initial_window: f64,
    with_round_trips: round_trips: f64,
});

impl Packets {
    /// Packets over links with these propagation delays, in seconds, of a transport that starts at its rate.
    pub fn new(delays: Vec<f64>) -> Self {
        Self { delays, size: 1500.0, initial_window: f64::INFINITY, round_trips: 0.0 }
    }

    pub(crate) fn check(&self, links: usize) -> Result<()> {
        let (found, expected) = (self.delays.len(), links);
        if found != expected {
            return Err(netnum_core::Error::Length { what: "delays".into(), found, expected, per: "link" }.into());
        }
        if let Some(link) = self.delays.iter().position(|delay| !(delay.is_finite() && *delay >= 0.0)) {
            return Err(Error::setting(&format!("delays[{link}]"), self.delays[link], "a finite number >= 0"));
        }
        positive("size", self.size)?;
        if self.initial_window.is_nan() || self.initial_window < 1.0 {
            return Err(Error::setting("initial_window", self.initial_window, "a number >= 1"));
        }
        if !(self.round_trips.is_finite() && self.round_trips >= 0.0) {
            return Err(Error::setting("round_trips", self.round_trips, "a finite number >= 0"));
        }
        Ok(())
    }

    /// Seconds that they add to the time of a flow of so many bits over a route, at a mean rate in bit/s.
    pub(crate) fn added(&self, size: f64, rate: f64, route: &Route, capacities: &[f64]) -> f64 {
        let packet = f64::min(BITS * self.size, size);
        let (mut propagation, mut sending, mut longest) = (0.0, 0.0, 0.0);
        for (link, part) in route.iter() {
            let each = packet / capacities[link as usize];
            propagation += part * self.delays[link as usize];
            sending += part * each;
            longest = f64::max(longest, each);
        }
        let round_trip = 2.0 * propagation + sending;
        let way = propagation + f64::max(0.0, sending - longest);
        let (mut waits, mut window, mut sent) = (0.0, BITS * self.size * self.initial_window, 0.0);
        while sent + window < size && window / rate < round_trip {
            waits += round_trip - window / rate;
            sent += window;
            window *= 2.0;
        }
        way + self.round_trips * 2.0 * propagation + waits
    }
}
