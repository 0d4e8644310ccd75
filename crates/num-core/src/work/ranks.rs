//! Flows of one problem in several processes: each rank holds some of them, over the same links.
//!
//! A flow's response is its own; only sums over links and a few numbers are of all flows. Wherever one is found, the
//! ranks add up theirs ([`Ranks::sum`]) or take the largest ([`Ranks::max`]), so that all go on with the same number
//! and decide alike. With one rank nothing is exchanged.
//!
//! **No rank waits for one that has failed.** Before the numbers of a reduction go the votes: whether a rank has
//! failed, and of what and in which call the reduction is. A rank that fails says so in its next vote
//! ([`Ranks::fail`]), every other rank learns of it in its own next one, and returns [`Error::RankFailed`] with the
//! rank's number and its message. Ranks that are not at the same reduction return [`Error::RanksDiffer`]. Votes are
//! reduced on their own, because a rank that fails does not know how many numbers the others are about to add up. The
//! largest of a few numbers travels with them.

use std::fmt;
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// Reductions over ranks: one process each, as a rule.
///
/// The reductions of one communicator follow on each other in the same order on all ranks, which call them with slices
/// of the same length: from one thread at a time. Every rank is given the same result, bit by bit. After an error no
/// more are called.
///
/// ```
/// use netnum_core::{AllReduce, Result};
///
/// /// One rank, which has all flows.
/// struct One;
///
/// impl AllReduce for One {
///     fn rank(&self) -> usize { 0 }
///     fn ranks(&self) -> usize { 1 }
///     fn sum(&mut self, _values: &mut [f64]) -> Result<()> { Ok(()) }
///     fn max(&mut self, _values: &mut [f64]) -> Result<()> { Ok(()) }
/// }
/// ```
pub trait AllReduce: Send {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn ranks(&self) -> usize;

    /// Replaces every value by its sum over all ranks.
    ///
    /// # Errors
    /// What prevents it.
    fn sum(&mut self, values: &mut [f64]) -> Result<()>;

    /// Replaces every value, none of which is NaN, by the largest of all ranks.
    ///
    /// # Errors
    /// What prevents it.
    fn max(&mut self, values: &mut [f64]) -> Result<()>;

    /// As [`max`](Self::max), on a rank that has failed, for this reason. The other ranks may be elsewhere, and never
    /// come: a communicator that can end all processes does so after a while, and says why. By default it waits.
    ///
    /// # Errors
    /// What prevents it.
    fn max_of_failed(&mut self, values: &mut [f64], _why: &str) -> Result<()> {
        self.max(values)
    }

    /// Why this rank cannot go on, where something has failed that no error says: an exception in code of another
    /// language, say, which has returned NaN. It is asked before every reduction; None by default.
    fn failure(&self) -> Option<String> {
        None
    }

    /// How many [`Ranks`] have begun on this communicator, where several do, such as two allocators: one counter for
    /// all of them, so that their reductions do not mix. By default there is one.
    fn begun(&self) -> Arc<AtomicUsize> {
        Arc::default()
    }
}

/// A call of all ranks, which messages name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A reduction of the program.
    Reduction,
    /// A solve of parts.
    Solve,
    /// An allocator is put over ranks.
    Allocator,
    /// A tick of an allocator.
    Tick,
    /// A response of an allocator.
    Respond,
    /// The end of a block in which an allocator is used.
    Leave,
}

impl Call {
    const ALL: [Self; 6] = [Self::Reduction, Self::Solve, Self::Allocator, Self::Tick, Self::Respond, Self::Leave];

    fn say(self) -> &'static str {
        match self {
            Self::Reduction => "a reduction is called",
            Self::Solve => "solve is called",
            Self::Allocator => "an allocator is made",
            Self::Tick => "tick is called",
            Self::Respond => "respond is called",
            Self::Leave => "a with block of an allocator ends",
        }
    }
}

/// The ranks that hold the flows of a problem; or one process that holds them all. Clones are the same ranks.
#[derive(Clone, Default)]
pub struct Ranks(Option<Arc<Mutex<Group>>>);

struct Group {
    comm: Box<dyn AllReduce>,
    /// How many have begun on the communicator.
    begun: Arc<AtomicUsize>,
    /// How many had begun before these, once they have.
    number: Option<usize>,
    call: Call,
    /// Why there is no further reduction.
    ended: Option<Error>,
    /// Whether a [call](Ranks::call) has ended well: no rank waits for another.
    called: bool,
}

const VOTES: usize = 7;
/// So many numbers at most travel with the votes: three flags of a tick, and of each whether it is NaN.
const WITH_VOTES: usize = 6;

/// Who has failed, and of both signs where this rank is.
fn votes(failed: f64, place: Option<[f64; 3]>) -> [f64; VOTES + WITH_VOTES] {
    let mut votes = [f64::NEG_INFINITY; VOTES + WITH_VOTES];
    votes[0] = failed;
    for (at, value) in place.into_iter().flatten().enumerate() {
        [votes[1 + at], votes[4 + at]] = [value, -value];
    }
    votes
}

/// The reduction that a rank is at; the votes have it, so that ranks which differ do not mix their numbers.
#[derive(Clone, Copy)]
enum Step {
    Sum(usize),
    Max(usize),
    Agree,
}

impl Step {
    fn code(self) -> f64 {
        match self {
            Self::Agree => 0.0,
            Self::Sum(length) => 1.0 + 2.0 * length as f64,
            Self::Max(length) => 2.0 + 2.0 * length as f64,
        }
    }

    /// The step of a code, in words.
    fn say(code: f64) -> String {
        let count = ((code - 1.0) / 2.0).floor();
        let numbers = if count == 1.0 { "number" } else { "numbers" };
        match code % 2.0 {
            _ if code == 0.0 => "the end of a call".into(),
            0.0 => format!("the largest of {count} {numbers}"),
            _ => format!("the sum of {count} {numbers}"),
        }
    }
}

impl Ranks {
    /// One process that holds all flows: every reduction leaves its numbers as they are.
    pub fn alone() -> Self {
        Self(None)
    }

    /// The ranks of a communicator.
    pub fn new(comm: impl AllReduce + 'static) -> Self {
        let (begun, call) = (comm.begun(), Call::Reduction);
        let comm = Box::new(comm);
        Self(Some(Arc::new(Mutex::new(Group { comm, begun, number: None, call, ended: None, called: false }))))
    }

    /// Whether there is no communicator.
    pub fn are_alone(&self) -> bool {
        self.0.is_none()
    }

    /// The number of this rank; 0 without a communicator.
    pub fn rank(&self) -> usize {
        self.group().map_or(0, |group| group.comm.rank())
    }

    /// How many ranks there are; 1 without a communicator.
    pub fn ranks(&self) -> usize {
        self.group().map_or(1, |group| group.comm.ranks())
    }

    /// Replaces every value by its sum over the ranks.
    ///
    /// # Errors
    /// [`Error::RankFailed`], [`Error::RanksDiffer`], and those of the communicator; so for all of these.
    pub fn sum(&self, values: &mut [f64]) -> Result<()> {
        let Some(mut group) = self.group() else { return Ok(()) };
        group.vote(Step::Sum(values.len()), &mut [])?;
        group.reduce(|comm| comm.sum(values))
    }

    /// Replaces every value by the largest of the ranks, NaN if one is NaN.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub fn max(&self, values: &mut [f64]) -> Result<()> {
        let Some(mut group) = self.group() else { return Ok(()) };
        // Communicators may drop a NaN: the other half of the slice says where one is.
        let of = |value: &f64| if value.is_nan() { f64::NEG_INFINITY } else { *value };
        let mut all: Vec<f64> = values.iter().map(of).collect();
        all.extend(values.iter().map(|value| f64::from(value.is_nan())));
        if all.len() <= WITH_VOTES {
            group.vote(Step::Max(values.len()), &mut all)?;
        } else {
            group.vote(Step::Max(values.len()), &mut [])?;
            group.reduce(|comm| comm.max(&mut all))?;
        }
        let (largest, are_nan) = all.split_at(values.len());
        for ((value, &largest), &is_nan) in values.iter_mut().zip(largest).zip(are_nan) {
            *value = if is_nan > 0.0 { f64::NAN } else { largest };
        }
        Ok(())
    }

    /// Replaces every value by the smallest of the ranks, NaN if one is NaN.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub fn min(&self, values: &mut [f64]) -> Result<()> {
        if self.are_alone() {
            return Ok(());
        }
        values.iter_mut().for_each(|value| *value = -*value);
        self.max(values)?;
        values.iter_mut().for_each(|value| *value = -*value);
        Ok(())
    }

    /// Whether it is so on any rank.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub fn any(&self, here: bool) -> Result<bool> {
        let mut flag = [f64::from(here)];
        self.max(&mut flag)?;
        Ok(flag[0] > 0.0)
    }

    /// Checks that the same facts, each a few words, hold on all ranks, as many on each.
    ///
    /// # Errors
    /// [`Error::RanksDiffer`] with the first fact that does not, as it is on the ranks, which every later reduction
    /// returns too; and as [`sum`](Self::sum).
    pub fn check_same(&self, facts: &[String]) -> Result<()> {
        if self.are_alone() {
            return Ok(());
        }
        let mut longest = [facts.iter().map(String::len).max().unwrap_or(0) as f64];
        self.max(&mut longest)?;
        // Of every fact as many bytes, so that a place is one of the same fact on all ranks.
        let length = longest[0] as usize;
        let padded =
            |fact: &String| fact.bytes().map(f64::from).chain(iter::repeat(0.0)).take(length).collect::<Vec<_>>();
        let bytes: Vec<f64> = facts.iter().flat_map(padded).collect();
        let Some((place, _)) = self.first_that_differs(&bytes)? else { return Ok(()) };
        let fact = place / length * length..(place / length + 1) * length;
        let mut all = vec![0.0; self.ranks() * length];
        all[self.rank() * length..][..length].copy_from_slice(&bytes[fact]);
        self.sum(&mut all)?;
        let text = |bytes: &[f64]| {
            let bytes: Vec<u8> = bytes.iter().map(|&byte| byte as u8).take_while(|&byte| byte > 0).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        self.end(Error::RanksDiffer { link: None, what: by_rank(all.chunks_exact(length).map(text)) })
    }

    /// Checks that every link has the same of a quantity on all ranks, such as its `"capacity"`. A NaN is the same as a
    /// NaN.
    ///
    /// # Errors
    /// As [`check_same`](Self::check_same), with the first link at which they differ.
    pub fn check_same_links(&self, values: &[f64], name: &str) -> Result<()> {
        match self.first_that_differs(values)? {
            None => Ok(()),
            Some((link, all)) => {
                let what = by_rank(all.iter().map(|value| format!("{name} {value}")));
                self.end(Error::RanksDiffer { link: Some(link), what })
            }
        }
    }

    /// An error of all ranks, after which there is no further reduction.
    fn end(&self, error: Error) -> Result<()> {
        self.group().map_or(Ok(()), |mut group| group.end(error))
    }

    /// The first place at which the ranks do not have the same number, and the number of each.
    fn first_that_differs(&self, values: &[f64]) -> Result<Option<(usize, Vec<f64>)>> {
        if self.are_alone() {
            return Ok(None);
        }
        let negative = values.iter().map(|value| -value);
        let are_numbers = values.iter().map(|value| f64::from(!value.is_nan()));
        let mut all: Vec<f64> = values.iter().copied().chain(negative).chain(are_numbers).collect();
        self.max(&mut all)?;
        let (most, rest) = all.split_at(values.len());
        let (least, are_numbers) = rest.split_at(values.len());
        let differ = |&place: &usize| match most[place].is_nan() {
            true => are_numbers[place] > 0.0,
            false => most[place] > -least[place],
        };
        let Some(place) = (0..values.len()).find(differ) else { return Ok(None) };
        let mut all = vec![0.0; self.ranks()];
        all[self.rank()] = values[place];
        self.sum(&mut all)?;
        Ok(Some((place, all)))
    }

    /// Returns when all ranks have come this far.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub fn agree(&self) -> Result<()> {
        let Some(mut group) = self.group() else { return Ok(()) };
        group.vote(Step::Agree, &mut [])
    }

    /// A whole call of all ranks, which ends on all or on none: [work together](Self::together), and at its end they
    /// [agree](Self::agree). What fails on a rank after that is its own: [`fail`](Self::fail) does nothing.
    ///
    /// # Errors
    /// Those of the work, and as [`sum`](Self::sum).
    #[doc(hidden)]
    pub fn call<T>(&self, call: Call, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.set_called(false);
        let done = self.together(call, || work().and_then(|done| self.agree().map(|()| done)))?;
        self.set_called(true);
        Ok(done)
    }

    fn set_called(&self, called: bool) {
        if let Some(mut group) = self.group() {
            group.called = called;
        }
    }

    fn set_call(&self, call: Call) {
        if let Some(mut group) = self.group() {
            group.call = call;
        }
    }

    /// Does work of all ranks. If it fails or panics on this one, the others learn of it at their next reduction. Ranks
    /// that are in different calls return [`Error::RanksDiffer`], which names these.
    ///
    /// # Errors
    /// Those of the work.
    #[doc(hidden)]
    pub fn together<T>(&self, call: Call, work: impl FnOnce() -> Result<T>) -> Result<T> {
        /// Tells the others of a panic.
        struct Watch<'a>(&'a Ranks);
        impl Drop for Watch<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.fail("a panic");
                }
            }
        }
        let _watch = Watch(self);
        self.set_call(call);
        let done = work().inspect_err(|error| self.fail(&error.to_string()));
        self.set_call(Call::Reduction);
        done
    }

    /// Tells the other ranks, at their next reduction, that this one has failed. Does nothing when a rank has failed
    /// before, since all know of it, nor after a call of all ranks that has ended well.
    pub fn fail(&self, message: &str) {
        if let Some(mut group) = self.group() {
            group.fail(message);
        }
    }

    fn group(&self) -> Option<MutexGuard<'_, Group>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group() {
            None => f.write_str("Ranks(alone)"),
            Some(group) => write!(f, "Ranks(rank {} of {})", group.comm.rank(), group.comm.ranks()),
        }
    }
}

impl Group {
    /// Calls the communicator, until it fails.
    fn reduce(&mut self, reduce: impl FnOnce(&mut dyn AllReduce) -> Result<()>) -> Result<()> {
        reduce(&mut *self.comm).inspect_err(|error| self.ended = Some(error.clone()))
    }

    /// Votes, and replaces each of a few values by the largest of the ranks.
    ///
    /// # Errors
    /// As [`Ranks::sum`].
    fn vote(&mut self, step: Step, values: &mut [f64]) -> Result<()> {
        if let Some(what) = self.comm.failure() {
            self.called = false;
            self.fail(&what);
        }
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        let number = self.number.unwrap_or_else(|| self.begun.load(Ordering::Relaxed));
        let place = [f64::from(self.call as u8), number as f64, step.code()];
        let mut votes = votes(0.0, Some(place));
        votes[VOTES..][..values.len()].copy_from_slice(values);
        self.reduce(|comm| comm.max(&mut votes))?;
        values.copy_from_slice(&votes[VOTES..][..values.len()]);
        if votes[0] > 0.0 {
            let (rank, what) = self.message(votes[0], "")?;
            return self.end(Error::RankFailed { rank, what });
        }
        if let Some(first) = (0..place.len()).find(|at| votes[1 + at] != -votes[4 + at]) {
            let what = self.different_places(first, place)?;
            return self.end(Error::RanksDiffer { link: None, what });
        }
        if self.number.is_none() {
            // They have begun on all ranks, or on none.
            self.number = Some(number);
            self.begun.store(number + 1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Where the ranks are that do not vote at the same place, in words.
    fn different_places(&mut self, first: usize, place: [f64; 3]) -> Result<String> {
        let mut values = vec![0.0; self.comm.ranks()];
        values[self.comm.rank()] = place[first];
        self.reduce(|comm| comm.sum(&mut values))?;
        Ok(match first {
            0 => by_rank(values.iter().map(|&call| Call::ALL[call as usize].say().into())),
            1 => {
                let numbers = by_rank(values.iter().map(|number| format!("that of number {}", number + 1.0)));
                let call = self.call.say();
                format!("{call} for different allocators or solves, by the order in which these were made: {numbers}")
            }
            _ => format!("they are at different steps of one call: {}", by_rank(values.into_iter().map(Step::say))),
        })
    }

    fn end<T>(&mut self, error: Error) -> Result<T> {
        self.ended = Some(error.clone());
        Err(error)
    }

    fn fail(&mut self, message: &str) {
        if self.ended.is_some() || self.called {
            return;
        }
        let (rank, failure) = (self.comm.rank(), self.comm.failure());
        let message = failure.as_deref().unwrap_or(message);
        // No place: a vote that goes with every step.
        let mut votes = votes((self.comm.ranks() - rank) as f64, None);
        self.ended = Some(Error::RankFailed { rank, what: message.into() });
        if self.comm.max_of_failed(&mut votes, message).is_ok() {
            // The message is lost with its communicator.
            let _ = self.message(votes[0], message);
        }
    }

    /// The number and the message of the first rank that has failed, given its vote.
    fn message(&mut self, vote: f64, own: &str) -> Result<(usize, String)> {
        let rank = self.comm.ranks() - vote as usize;
        let own = if rank == self.comm.rank() { own.as_bytes() } else { &[] };
        let mut length = [own.len() as f64];
        self.reduce(|comm| comm.max(&mut length))?;
        let mut bytes = vec![0.0; length[0] as usize];
        bytes.iter_mut().zip(own).for_each(|(value, &byte)| *value = f64::from(byte));
        if !bytes.is_empty() {
            self.reduce(|comm| comm.sum(&mut bytes))?;
        }
        let bytes: Vec<u8> = bytes.into_iter().map(|value| value as u8).collect();
        Ok((rank, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// The texts of the ranks, the same ones together: "2 on rank 1, and 3 on ranks 0 and 2".
fn by_rank(texts: impl IntoIterator<Item = String>) -> String {
    const TEXTS: usize = 3;
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    let mut others = Vec::new();
    for (rank, text) in texts.into_iter().enumerate() {
        match groups.iter().position(|(one, _)| *one == text) {
            Some(group) => groups[group].1.push(rank),
            None if groups.len() < TEXTS => groups.push((text, vec![rank])),
            None => others.push(rank),
        }
    }
    let mut all: Vec<String> = groups.iter().map(|(text, ranks)| format!("{text} on {}", in_words(ranks))).collect();
    if !others.is_empty() {
        all.push(format!("other values on {}", in_words(&others)));
    }
    let last = all.pop().unwrap_or_default();
    format!("{}, and {last}", all.join(", "))
}

/// Ranks by number: all of a few, the first of many.
fn in_words(ranks: &[usize]) -> String {
    match ranks {
        [rank] => format!("rank {rank}"),
        [one, other] => format!("ranks {one} and {other}"),
        [one, two, three] => format!("ranks {one}, {two} and {three}"),
        [first, others @ ..] => format!("rank {first} and {} others", others.len()),
        [] => String::new(),
    }
}

/// A panic on the way is a failure too.
impl Drop for Group {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.fail("a panic");
        }
    }
}
