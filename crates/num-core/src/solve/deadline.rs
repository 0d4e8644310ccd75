//! The time limit of a solve, with the time that finishing takes.
//!
//! Finishing takes a last certificate and the passes that make the [`Solution`](super::Solution), half a second on 10⁷
//! flows. The time of a certificate is that of the last one, or an estimate from the time of making the solver. With
//! less time left, the best solution so far is returned.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::interrupt::{self, StopToken};
use crate::work::Ranks;

/// The time limit of one run, and the measured times of its parts.
pub(super) struct Deadline {
    at: Option<Instant>,
    /// Stops work that takes longer than expected.
    token: Option<StopToken>,
    certificate: Duration,
    step: Duration,
    /// Whether the time of a certificate is an estimate, because none has been taken.
    is_estimate: bool,
    ranks: Ranks,
}

impl Deadline {
    /// Tolerated delay: work that takes less is always done.
    pub(super) const GRACE: Duration = Duration::from_millis(20);
    /// Time of making the solution, in certificates.
    const SOLUTION: u32 = 3;

    /// `made`: the time of making the solver. Several ranks decide together and break nothing off.
    pub(super) fn new(at: Option<Instant>, made: Duration, ranks: &Ranks) -> Self {
        let left = |at: Instant| at.saturating_duration_since(Instant::now()) + Self::GRACE;
        Self {
            at,
            token: at.filter(|_| ranks.are_alone()).map(|at| StopToken::with_timeout(left(at))),
            certificate: made / 2,
            step: made / 4,
            is_estimate: true,
            ranks: ranks.clone(),
        }
    }

    /// Does a step; `None` if the time runs out during it.
    ///
    /// # Errors
    /// Those of the work, [`Error::Stopped`] only where another token is the cause. So for the next two.
    pub(super) fn step<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let began = Instant::now();
        let result = self.within(work);
        self.step = began.elapsed();
        result
    }

    /// Takes a certificate; `None` if the time runs out during it.
    pub(super) fn certificate<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let began = Instant::now();
        let result = self.within(work);
        (self.certificate, self.is_estimate) = (began.elapsed(), false);
        result
    }

    /// Does some work; `None` if the time runs out during it.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let Some(token) = &self.token else { return work().map(Some) };
        match token.scope(work) {
            Err(Error::Stopped) => interrupt::check().map(|()| None),
            result => result.map(Some),
        }
    }

    /// Whether another step would leave too little time to finish, on any rank.
    ///
    /// # Errors
    /// Those of [`Ranks`]; so for the next two.
    pub(super) fn is_reached(&self) -> Result<bool> {
        let Some(at) = self.at else { return Ok(false) };
        let now = Instant::now();
        let needed = self.step + self.certificate + self.solution();
        self.ranks.any(now >= at || now + needed > at + Self::GRACE)
    }

    /// The same, if it rests on an estimate and there is time for a certificate, which measures it.
    pub(super) fn is_estimated_reached(&self) -> Result<bool> {
        Ok(self.is_estimate && self.is_reached()? && self.allows_certificate()?)
    }

    /// Whether there is time for one more certificate, on all ranks. An estimate is no reason to have none at all: a
    /// first one is broken off where it takes too long.
    pub(super) fn allows_certificate(&self) -> Result<bool> {
        let Some(at) = self.at else { return Ok(true) };
        let needed = if self.is_estimate { Duration::ZERO } else { self.certificate + self.solution() };
        let is_late = Instant::now() + needed > at + Self::GRACE;
        Ok(!self.ranks.any(is_late)?)
    }

    fn solution(&self) -> Duration {
        Self::SOLUTION * self.certificate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_beyond_the_limit_returns_none_and_a_stop_by_another_token_is_an_error() {
        let past = Instant::now().checked_sub(2 * Deadline::GRACE).unwrap();
        let mut late = Deadline::new(Some(past), Duration::ZERO, &Ranks::alone());
        let mut free = Deadline::new(None, Duration::ZERO, &Ranks::alone());
        let look = || interrupt::check().map(|()| 1);
        assert_eq!(late.step(|| StopToken::with_timeout(Duration::from_secs(3600)).scope(|| Ok(1))), Ok(Some(1)));
        std::thread::sleep(2 * Deadline::GRACE);
        assert_eq!((late.step(look), late.certificate(look), late.within(look)), (Ok(None), Ok(None), Ok(None)));
        assert_eq!(free.step(look), Ok(Some(1)));
        let other = StopToken::new();
        other.stop();
        other.scope(|| assert_eq!((late.step(look), free.step(look)), (Err(Error::Stopped), Err(Error::Stopped))));
    }

    #[test]
    fn an_estimate_that_leaves_no_time_for_a_step_is_replaced_by_a_measurement() {
        let (limit, made) = (Duration::from_secs(1000), Duration::from_secs(460));
        let mut deadline = Deadline::new(Some(Instant::now() + limit), made, &Ranks::alone());
        assert!(deadline.is_reached().unwrap() && deadline.is_estimated_reached().unwrap());
        assert_eq!(deadline.certificate(|| Ok(1)), Ok(Some(1)));
        assert!(!deadline.is_reached().unwrap() && !deadline.is_estimated_reached().unwrap());
        // However long it seems to take, a first one is taken while there is time, and none afterwards.
        let slow = Deadline::new(Some(Instant::now() + limit), 2 * made, &Ranks::alone());
        assert!(slow.is_reached().unwrap() && slow.is_estimated_reached().unwrap());
        let past = Instant::now().checked_sub(2 * Deadline::GRACE).unwrap();
        let late = Deadline::new(Some(past), made, &Ranks::alone());
        assert!(late.is_reached().unwrap() && !late.is_estimated_reached().unwrap());
    }
}
