//! When a solve must begin to finish, so that its answer is there in time.
//!
//! An answer costs a last certificate and the passes that make the [`Solution`](super::Solution), which on 10⁷ flows is
//! half a second. What a certificate takes is known from the last one, or guessed from what making the solver took; with
//! less than that left, what there is has to do.

use std::time::{Duration, Instant};

/// The time limit of one run, and what its parts have cost.
pub(super) struct Deadline {
    at: Option<Instant>,
    certificate: Duration,
    step: Duration,
}

impl Deadline {
    /// An answer that is this late is in time: what costs less is done in any case.
    pub(super) const GRACE: Duration = Duration::from_millis(20);
    /// What making the solution costs, in certificates.
    const SOLUTION: u32 = 3;

    /// `made`: what making the solver took.
    pub(super) fn new(at: Option<Instant>, made: Duration) -> Self {
        Self { at, certificate: made / 2, step: made / 4 }
    }

    /// Does a step.
    pub(super) fn step<T>(&mut self, work: impl FnOnce() -> T) -> T {
        Self::timed(self.at, &mut self.step, work)
    }

    /// Takes a certificate.
    pub(super) fn certificate<T>(&mut self, work: impl FnOnce() -> T) -> T {
        Self::timed(self.at, &mut self.certificate, work)
    }

    fn timed<T>(at: Option<Instant>, cost: &mut Duration, work: impl FnOnce() -> T) -> T {
        if at.is_none() {
            return work();
        }
        let began = Instant::now();
        let result = work();
        *cost = began.elapsed();
        result
    }

    /// Whether another step would leave too little time.
    pub(super) fn has_come(&self) -> bool {
        self.at.is_some_and(|at| {
            let now = Instant::now();
            now >= at || now + self.step + self.certificate + self.solution() > at + Self::GRACE
        })
    }

    /// Whether there is time for one more certificate.
    pub(super) fn allows_certificate(&self) -> bool {
        self.at.is_none_or(|at| Instant::now() + self.certificate + self.solution() <= at + Self::GRACE)
    }

    fn solution(&self) -> Duration {
        Self::SOLUTION * self.certificate
    }
}
