//! Sources that are on and off in turn.
//!
//! ```text
//! on for T_on, at rate r:  a flow of r T_on bits, produced at r        off for T_off        T ~ exponential
//! ```
//!
//! Each time of being on is a flow, a burst. Sources are in their steady state from time 0 on: each is then on with the
//! probability on/(on + off), and what remains of an exponential time has the same distribution. Source: Anick, Mitra,
//! Sondhi, *Stochastic theory of a data-handling system with multiple sources*, Bell System Technical Journal 1982.

use netnum_core::Topology;
use netnum_core::internal::interrupt::Pacer;
use netnum_core::internal::numerics::ln;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::draws::{Draw, rng};
use super::{Pairs, Production, Workload};
use crate::error::{Error, Result, positive};
use crate::numbers::{BITS, FLOW};

/// How a source is on and off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnOff {
    /// The rate at which a source that is on produces, in bit/s.
    pub rate: f64,
    /// The mean of the times that it is on, in seconds.
    pub on: f64,
    /// The mean of the times that it is off, in seconds.
    pub off: f64,
    /// No burst begins after this, in seconds.
    pub duration: f64,
}

impl Workload {
    /// Bursts of sources that are on and off in turn, one for each listed pair: flows with rates of production. A
    /// longer workload begins with the shorter one of the same seed.
    ///
    /// # Errors
    /// A setting's, for numbers that are not finite and > 0, for pairs that are none ([`Pairs::Uniform`] lists none),
    /// and for more flows than there are numbers for; [`netnum_core::Error::Stopped`].
    pub fn on_off(net: &Topology, pairs: &Pairs, how: &OnOff, seed: u64) -> Result<Self> {
        pairs.check(net)?;
        let Pairs::Listed(pairs) = pairs else {
            return Err(Error::setting("pairs", "uniform", "a list of pairs"));
        };
        let &OnOff { rate, on, off, duration } = how;
        for (what, value) in [("rate", rate), ("on", on), ("off", off), ("duration", duration)] {
            positive(what, value)?;
        }
        let about = pairs.len() as f64 * (1.0 + duration / (on + off));
        if about > f64::from(u32::MAX) {
            return Err(Error::setting("flows", about, "at most 4294967295"));
        }
        // Every source has draws of its own.
        let (mut seeds, mut pacer) = (rng(seed, Draw::OnOff), Pacer::new());
        let mut bursts = Vec::new();
        for &pair in pairs {
            let mut draws = ChaCha8Rng::from_rng(&mut seeds);
            let mut is_on = draws.random::<f64>() * (on + off) < on;
            let mut now = 0.0;
            while now <= duration {
                let time = -ln(1.0 - draws.random::<f64>()) * if is_on { on } else { off };
                if is_on && time > 0.0 {
                    pacer.did(FLOW)?;
                    bursts.push((now, pair, rate * time / BITS));
                }
                now += time;
                is_on = !is_on;
            }
        }
        bursts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (sources, destinations) = bursts.iter().map(|burst| burst.1).unzip();
        let arrivals = bursts.iter().map(|burst| burst.0).collect();
        let sizes = bursts.iter().map(|burst| burst.2).collect();
        let rates = vec![rate; bursts.len()];
        Self::new(arrivals, sources, destinations, sizes)?.with_production(Production::new(rates, f64::INFINITY)?)
    }
}
