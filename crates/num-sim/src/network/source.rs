//! The source of a flow: an application produces bytes at a rate g into a send buffer of B bits, from which the network
//! takes them at the flow's rate x.
//!
//! ```text
//! backlog b = produced − sent      0 ≤ b ≤ B
//! d produced/dt = g                min(g, x) while the buffer is full, 0 when all is produced
//! cap = g                          while the backlog is empty and more is to come; ∞ otherwise
//! copy rate r ← ¼ τ + ¾ r          per 64 kB produced, τ = 64 kB over the time that they took
//! ```
//!
//! Between two events x is constant, and so is each of these, so that the times at which a buffer fills, empties, or
//! has received its last byte are exact. A flow whose bytes are all there when it arrives has no source.
//!
//! Source of the copy rate: Li et al., *RAX: rate-aware flow scheduling*, §III, where the kernel measures it as the
//! application copies into its socket.

use crate::numbers::BITS;

/// The weight of the newest 64 kB in the copy rate.
const NEWEST: f64 = 0.25;
/// 64 kB, in bits.
const CHUNK: f64 = BITS * 65_536.0;

/// The state of a send buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    /// The buffer is empty: what is produced is sent at once.
    Empty,
    /// There is a backlog, and room.
    Filling,
    /// The buffer is full: what is sent makes room for what is produced.
    Full,
    /// All is produced.
    Done,
}

/// A flow's source. Amounts are in bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    /// The rate of the application, in bit/s, while there is room.
    production: f64,
    buffer: f64,
    size: f64,
    /// The bits that were produced when the flow last changed.
    produced: f64,
    stage: Stage,
    /// The rate that the policy grants, of which the flow takes as much as its cap allows.
    pub(crate) granted: f64,
    /// Whether its next stage change comes before the flow's end.
    pub(crate) stage_changes_first: bool,
    /// Whether the cap is still that of an empty buffer, and the backlog from which on it is not.
    capped: bool,
    slack: f64,
    copied: Copied,
}

/// The copy rate, and the 64 kB that are being copied.
#[derive(Debug, Clone, Copy)]
struct Copied {
    rate: f64,
    bits: f64,
    seconds: f64,
}

impl Copied {
    /// More has been copied, at a constant pace.
    fn add(&mut self, pace: f64, seconds: f64) {
        let bits = pace * seconds;
        if self.bits + bits < CHUNK {
            self.bits += bits;
            self.seconds += seconds;
            return;
        }
        let missing = CHUNK - self.bits;
        let first = CHUNK / (self.seconds + missing / pace);
        self.rate += NEWEST * (first - self.rate);
        // The whole ones that follow are all alike.
        let rest = bits - missing;
        let whole = (rest / CHUNK).floor();
        if whole > 0.0 {
            self.rate = pace + (self.rate - pace) * (1.0 - NEWEST).powf(whole);
        }
        self.bits = rest - whole * CHUNK;
        self.seconds = self.bits / pace;
    }
}

impl Source {
    /// The source of a flow that begins, behind a link of some capacity, which is the first guess at its copy rate. A
    /// backlog below the slack counts as none.
    pub(crate) fn new(production: f64, buffer: f64, size: f64, capacity: f64, slack: f64) -> Self {
        let copied = Copied { rate: capacity, bits: 0.0, seconds: 0.0 };
        let (stage, granted, stage_changes_first, capped) = (Stage::Empty, 0.0, false, true);
        Self { production, buffer, size, produced: 0.0, stage, granted, stage_changes_first, capped, slack, copied }
    }

    /// The largest rate of the flow.
    pub(crate) fn cap(&self) -> f64 {
        if self.capped { self.production } else { f64::INFINITY }
    }

    /// Lifts the cap if the backlog counts; whether it did.
    pub(crate) fn lift(&mut self, sent: f64) -> bool {
        let backlog = f64::max(0.0, self.produced - sent);
        let lifted = self.capped && self.stage != Stage::Empty && backlog >= self.slack;
        self.capped &= !lifted;
        lifted
    }

    pub(crate) fn production(&self) -> f64 {
        self.production
    }

    /// d produced/dt at a flow's rate.
    pub(crate) fn pace(&self, rate: f64) -> f64 {
        match self.stage {
            Stage::Empty | Stage::Filling => self.production,
            Stage::Full => f64::min(self.production, rate),
            Stage::Done => 0.0,
        }
    }

    /// The bits produced after some seconds at a flow's rate.
    pub(crate) fn produced(&self, rate: f64, seconds: f64) -> f64 {
        if self.stage == Stage::Done {
            self.size
        } else {
            f64::min(self.size, self.produced + self.pace(rate) * seconds)
        }
    }

    /// The copy rate after some seconds at a flow's rate.
    pub(crate) fn copy_rate(&self, rate: f64, seconds: f64) -> f64 {
        let mut copied = self.copied;
        copied.add(self.pace(rate), seconds);
        copied.rate
    }

    /// Some seconds have passed at a flow's rate.
    pub(crate) fn advance(&mut self, rate: f64, seconds: f64) {
        self.copied.add(self.pace(rate), seconds);
        self.produced = self.produced(rate, seconds);
    }

    /// Enters the next stage, at the moment that [`next`](Self::next) gave.
    pub(crate) fn change_stage(&mut self, rate: f64, sent: f64) {
        let (_, stage) = self.ahead(rate, sent);
        self.stage = stage;
        self.produced = match stage {
            Stage::Done => self.size,
            Stage::Empty => sent,
            Stage::Full => f64::min(self.size, sent + self.buffer),
            // The backlog counts from now on.
            Stage::Filling => self.produced,
        };
        self.capped = stage == Stage::Empty;
    }

    /// A flow's rate is another one from now on: an empty buffer begins to fill, a full one to empty.
    pub(crate) fn follow(&mut self, rate: f64) {
        match self.stage {
            Stage::Empty if rate < self.production => self.stage = Stage::Filling,
            Stage::Full if rate > self.production => self.stage = Stage::Filling,
            _ => {}
        }
    }

    /// Seconds until the next stage change, at a flow's rate, if nothing happens before; ∞ for never.
    pub(crate) fn next(&self, rate: f64, sent: f64) -> f64 {
        self.ahead(rate, sent).0
    }

    /// The next stage, and the seconds until then.
    fn ahead(&self, rate: f64, sent: f64) -> (f64, Stage) {
        let pace = self.pace(rate);
        let done = if pace > 0.0 { (self.size - self.produced) / pace } else { f64::INFINITY };
        let backlog = f64::max(0.0, self.produced - sent);
        let (change, stage) = match self.stage {
            Stage::Filling if rate < pace => {
                let counts = self.capped && self.slack < self.buffer;
                let (to, stage) = if counts { (self.slack, Stage::Filling) } else { (self.buffer, Stage::Full) };
                (f64::max(0.0, to - backlog) / (pace - rate), stage)
            }
            Stage::Filling if rate > pace => (backlog / (rate - pace), Stage::Empty),
            stage => (f64::INFINITY, stage),
        };
        if done <= change { (done, Stage::Done) } else { (change, stage) }
    }
}
