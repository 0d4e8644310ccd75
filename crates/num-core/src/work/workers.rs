//! Who does the work of a solve: threads, and the ranks that share the problem.
//!
//! Work is cut into parts by its size and never by the number of threads, and the results of the parts are added up in
//! their order: the bits of an answer do not depend on the workers.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::ranks::Ranks;
use crate::error::Result;
use crate::paths::Paths;
use crate::solve::price::{PowerDemands, Respond};

/// Does the work of a solve. [`Ranks`] are workers too: the calling thread of each of them, and
/// [`Ranks::alone`] is this thread alone. Threads are in netnum-parallel.
pub trait Workers: fmt::Debug + Send + Sync {
    /// Calls `work` once with every number below `parts`, in any order and perhaps several at once, and returns when
    /// all calls have returned. On other threads the stop tokens of this one are in force.
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync));

    /// The ranks that share the problem.
    fn ranks(&self) -> &Ranks;

    /// Makes the response to prices of flows with one path each, given the number of links, the paths and the demands
    /// of all flows in order; none where the loop over rows is faster.
    ///
    /// # Errors
    /// Those of making it.
    #[doc(hidden)]
    fn respond(
        &self,
        _links: usize,
        _paths: &Paths,
        _demands: &[PowerDemands<'_>],
    ) -> Result<Option<Box<dyn Respond>>> {
        Ok(None)
    }
}

impl Workers for Ranks {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).for_each(work);
    }

    fn ranks(&self) -> &Ranks {
        self
    }
}

/// Does a work for every item, a single one on this thread. Returns the results in the order of the items.
///
/// # Errors
/// That of the first item that has one.
///
/// # Panics
/// If the workers do a part twice or not at all, and where `work` does.
pub fn for_each<I: Send, O: Send>(
    workers: &dyn Workers,
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> Result<O> + Sync,
) -> Result<Vec<O>> {
    let mut items: Vec<I> = items.into_iter().collect();
    if items.len() < 2 {
        return items.pop().into_iter().map(work).collect();
    }
    let items: Vec<Mutex<Option<I>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let found: Vec<Mutex<Option<Result<O>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let take = |item: &Mutex<Option<I>>| item.lock().unwrap_or_else(PoisonError::into_inner).take();
    workers.each(items.len(), &|part| {
        let item = take(&items[part]).expect("a part is done once");
        let done = work(item);
        *found[part].lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
    });
    let found = found.into_iter().map(|found| found.into_inner().unwrap_or_else(PoisonError::into_inner));
    found.map(|found| found.expect("every part is done")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::paths::parts::{pieces, ranges};

    #[test]
    fn what_is_found_is_in_order_and_the_first_error_counts() {
        #[derive(Debug)]
        struct Backwards(Ranks);
        impl Workers for Backwards {
            fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
                (0..parts).rev().for_each(work);
            }
            fn ranks(&self) -> &Ranks {
                &self.0
            }
        }
        let backwards = Backwards(Ranks::alone());
        let mut squares = [0; 4];
        let ranges = ranges(4, 2);
        let found = for_each(&backwards, pieces(&mut squares, &ranges), |(piece, range)| {
            piece.iter_mut().zip(range.clone()).for_each(|(square, i)| *square = i * i);
            Ok(range.start)
        });
        assert_eq!((found.unwrap(), squares), (vec![0, 2], [0, 1, 4, 9]));
        let error = |link| Error::Capacity { link, value: -1.0 };
        let fails = for_each(&backwards, 0..3, |i| if i > 0 { Err(error(i)) } else { Ok(()) });
        assert_eq!(fails, Err(error(1)));
    }
}
