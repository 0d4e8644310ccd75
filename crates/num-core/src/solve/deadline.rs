//! When a solve must begin to finish, so that its answer is there in time.
//!
//! An answer costs a last certificate and the passes that make the [`Solution`](super::Solution), which on 10⁷ flows is
//! half a second. What a certificate takes is known from the last one, or guessed from what making the solver took;
//! with less than that left, the best solution so far is returned.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::interrupt::{self, StopToken};

/// The time limit of one run, and what its parts have cost.
pub(super) struct Deadline {
    at: Option<Instant>,
    /// Stops what has begun in time and takes longer than was to be expected.
    token: Option<StopToken>,
    certificate: Duration,
    step: Duration,
    /// Whether no certificate has been taken, so that its cost is a guess.
    guesses: bool,
}

impl Deadline {
    /// An answer that is this late is in time: what costs less is done in any case.
    pub(super) const GRACE: Duration = Duration::from_millis(20);
    /// What making the solution costs, in certificates.
    const SOLUTION: u32 = 3;

    /// `made`: what making the solver took.
    pub(super) fn new(at: Option<Instant>, made: Duration) -> Self {
        let left = |at: Instant| at.saturating_duration_since(Instant::now()) + Self::GRACE;
        Self {
            at,
            token: at.map(|at| StopToken::with_timeout(left(at))),
            certificate: made / 2,
            step: made / 4,
            guesses: true,
        }
    }

    /// Does a step; none when the time is up on the way.
    ///
    /// # Errors
    /// Those of the work, [`Error::Stopped`] only where another token is the cause. So for the next two.
    pub(super) fn step<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let began = Instant::now();
        let result = self.within(work);
        self.step = began.elapsed();
        result
    }

    /// Takes a certificate; none when the time is up on the way.
    pub(super) fn certificate<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let began = Instant::now();
        let result = self.within(work);
        (self.certificate, self.guesses) = (began.elapsed(), false);
        result
    }

    /// Does some work; none when the time is up on the way.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let Some(token) = &self.token else { return work().map(Some) };
        match token.scope(work) {
            Err(Error::Stopped) => interrupt::check().map(|()| None),
            result => result.map(Some),
        }
    }

    /// Whether another step would leave too little time.
    pub(super) fn has_come(&self) -> bool {
        self.at.is_some_and(|at| {
            let now = Instant::now();
            now >= at || now + self.step + self.certificate + self.solution() > at + Self::GRACE
        })
    }

    /// The same, if that is known by a guess alone, and there is time for a certificate, which measures it.
    pub(super) fn seems_to_have_come(&self) -> bool {
        self.guesses && self.has_come() && self.allows_certificate()
    }

    /// Whether there is time for one more certificate.
    pub(super) fn allows_certificate(&self) -> bool {
        self.at.is_none_or(|at| Instant::now() + self.certificate + self.solution() <= at + Self::GRACE)
    }

    fn solution(&self) -> Duration {
        Self::SOLUTION * self.certificate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_outlasts_the_limit_gives_nothing_and_what_another_token_stops_is_an_error() {
        let past = Instant::now().checked_sub(2 * Deadline::GRACE).unwrap();
        let mut late = Deadline::new(Some(past), Duration::ZERO);
        let mut free = Deadline::new(None, Duration::ZERO);
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
    fn a_guess_that_leaves_no_time_for_a_step_is_replaced_by_what_a_certificate_takes() {
        let (limit, made) = (Duration::from_secs(1000), Duration::from_secs(460));
        let mut deadline = Deadline::new(Some(Instant::now() + limit), made);
        assert!(deadline.has_come() && deadline.seems_to_have_come());
        assert_eq!(deadline.certificate(|| Ok(1)), Ok(Some(1)));
        assert!(!deadline.has_come() && !deadline.seems_to_have_come());
        let late = Deadline::new(Some(Instant::now() + limit), 2 * made);
        assert!(late.has_come() && !late.seems_to_have_come());
    }
}
