//! The time limit of a solve, with the time that finishing takes.
//!
//! Finishing takes a last certificate, a fill with one more (`fill.rs`), and the passes that make the
//! [`Solution`](super::Solution), a second on 10⁷ flows. The time of a certificate is that of the last one, or an
//! estimate from the time of making the solver. A step that would leave less is broken off, and finishing itself at
//! 5 % and 40 ms after the limit: the best solution so far is returned then.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::interrupt::{self, StopToken};
use crate::tolerances::GRACE;
use crate::work::Ranks;

/// The time limit of one run, and the measured times of its parts.
pub(super) struct Deadline {
    at: Option<Instant>,
    /// When finishing is broken off.
    end: Option<Instant>,
    /// Whether work that takes longer than expected is broken off.
    breaks_off: bool,
    certificate: Duration,
    step: Duration,
    /// Whether the time of a certificate is an estimate, because none has been taken.
    is_estimate: bool,
    ranks: Ranks,
}

impl Deadline {
    /// Time of making the solution, and of a fill with its certificate, in certificates.
    const SOLUTION: u32 = 3;
    const FILL: u32 = 4;
    /// The part of the time by which finishing may be late.
    const LATE: u32 = 20;

    /// Of a solve that began then. `made`: the time of making the solver. Several ranks decide together and break
    /// nothing off.
    pub(super) fn new(at: Option<Instant>, began: Instant, made: Duration, ranks: &Ranks) -> Self {
        let late = |at: Instant| at.saturating_duration_since(began) / Self::LATE + 2 * GRACE;
        Self {
            at,
            end: at.map(|at| at + late(at)),
            breaks_off: ranks.are_alone(),
            certificate: made / 2,
            step: made / 4,
            is_estimate: true,
            ranks: ranks.clone(),
        }
    }

    /// No limit.
    pub(super) fn none() -> Self {
        Self::new(None, Instant::now(), Duration::ZERO, &Ranks::alone())
    }

    /// Does a step; `None` if the time runs out during it.
    ///
    /// # Errors
    /// Those of the work, [`Error::Stopped`] only where another token is the cause. So for the next two.
    pub(super) fn step<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let began = Instant::now();
        let result = self.until(self.at.map(|at| at + GRACE - self.finishing().min(at - began)), work);
        self.step = began.elapsed();
        result
    }

    /// Takes a certificate; `None` if the time runs out during it.
    pub(super) fn certificate<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        self.measured(self.grace(), work)
    }

    /// Takes the certificate of all that there is, which may be a little late.
    pub(super) fn first_certificate<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        self.measured(self.end, work)
    }

    /// Does the work of a certificate until then, and takes its time.
    fn measured<T>(&mut self, at: Option<Instant>, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let began = Instant::now();
        let result = self.until(at, work);
        (self.certificate, self.is_estimate) = (began.elapsed(), false);
        result
    }

    /// Does some work; `None` if the time runs out during it.
    pub(super) fn within<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        self.until(self.grace(), work)
    }

    /// When work is broken off that may take the time limit and a moment more.
    fn grace(&self) -> Option<Instant> {
        self.at.map(|at| at + GRACE)
    }

    /// Does some work that is to end in time: [`Error::Stopped`] if it does not, without delay.
    pub(super) fn punctually<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.until(self.at, work)?.ok_or(Error::Stopped)
    }

    /// Does what belongs to the end of a solve, which may be a little late. Some time for making the solution is left
    /// where that is known: it takes one to three certificates.
    pub(super) fn finish<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let left = if self.is_estimate { Duration::ZERO } else { self.certificate };
        self.until(self.end.map(|end| end.checked_sub(left).unwrap_or(end)), work)
    }

    fn until<T>(&self, at: Option<Instant>, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let Some(at) = at.filter(|_| self.breaks_off) else { return work().map(Some) };
        let token = StopToken::with_timeout(at.saturating_duration_since(Instant::now()));
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
        let needed = self.step + self.finishing();
        self.ranks.any(now >= at || now + needed > at + GRACE)
    }

    /// Whether it is reached by an estimate alone, with time left for a certificate, which measures it.
    pub(super) fn is_estimated_reached(&self) -> Result<bool> {
        Ok(self.is_estimate && self.is_reached()? && self.allows_certificate()?)
    }

    /// Whether there is time for one more certificate, on all ranks. An estimate is no reason to have none at all: a
    /// first one is broken off where it takes too long.
    pub(super) fn allows_certificate(&self) -> Result<bool> {
        let Some(at) = self.at else { return Ok(true) };
        let needed = if self.is_estimate { Duration::ZERO } else { self.certificate + self.solution() };
        let is_late = Instant::now() + needed > at + GRACE;
        Ok(!self.ranks.any(is_late)?)
    }

    fn finishing(&self) -> Duration {
        self.certificate + Self::FILL * self.certificate + self.solution()
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
        let past = Instant::now().checked_sub(2 * GRACE).unwrap();
        let mut late = Deadline::new(Some(past), past, Duration::ZERO, &Ranks::alone());
        let mut free = Deadline::none();
        let look = || interrupt::check().map(|()| 1);
        assert_eq!(late.step(|| StopToken::with_timeout(Duration::from_secs(3600)).scope(|| Ok(1))), Ok(Some(1)));
        std::thread::sleep(2 * GRACE);
        assert_eq!((late.step(look), late.certificate(look), late.within(look)), (Ok(None), Ok(None), Ok(None)));
        assert_eq!(free.step(look), Ok(Some(1)));
        let other = StopToken::new();
        other.stop();
        other.scope(|| assert_eq!((late.step(look), free.step(look)), (Err(Error::Stopped), Err(Error::Stopped))));
    }

    #[test]
    fn the_certificate_of_all_that_there_is_may_be_late_by_a_part_of_the_time() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let [at, began] = [second, 40 * second].map(|ago| now.checked_sub(ago).unwrap());
        let mut late = Deadline::new(Some(at), began, Duration::ZERO, &Ranks::alone());
        let look = || interrupt::check().map(|()| 1);
        assert_eq!((late.certificate(look), late.first_certificate(look)), (Ok(None), Ok(Some(1))));
    }

    #[test]
    fn what_belongs_to_the_end_leaves_the_time_for_the_solution_where_that_is_known() {
        let now = Instant::now();
        let mut deadline = Deadline::new(Some(now + GRACE), now, Duration::ZERO, &Ranks::alone());
        let look = || interrupt::check().map(|()| 1);
        assert_eq!(deadline.finish(look), Ok(Some(1)));
        // So long again is after the end.
        let certificate = || {
            std::thread::sleep(2 * GRACE);
            Ok(1)
        };
        assert_eq!(deadline.first_certificate(certificate), Ok(Some(1)));
        assert_eq!(deadline.finish(look), Ok(None));
    }

    #[test]
    fn an_estimate_that_leaves_no_time_for_a_step_is_replaced_by_a_measurement() {
        let (limit, made) = (Duration::from_secs(1000), Duration::from_secs(460));
        let mut deadline = Deadline::new(Some(Instant::now() + limit), Instant::now(), made, &Ranks::alone());
        assert!(deadline.is_reached().unwrap() && deadline.is_estimated_reached().unwrap());
        assert_eq!(deadline.certificate(|| Ok(1)), Ok(Some(1)));
        assert!(!deadline.is_reached().unwrap() && !deadline.is_estimated_reached().unwrap());
        // However long it seems to take, a first one is taken while there is time, and none afterwards.
        let slow = Deadline::new(Some(Instant::now() + limit), Instant::now(), 2 * made, &Ranks::alone());
        assert!(slow.is_reached().unwrap() && slow.is_estimated_reached().unwrap());
        let past = Instant::now().checked_sub(2 * GRACE).unwrap();
        let late = Deadline::new(Some(past), past, made, &Ranks::alone());
        assert!(late.is_reached().unwrap() && !late.is_estimated_reached().unwrap());
    }
}
