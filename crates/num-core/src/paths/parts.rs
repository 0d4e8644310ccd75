//! Work in parts: one after the other, or at once on threads, which another crate has.
//!
//! How a work is cut into parts depends on its size and never on threads, and what the parts found is added up in their
//! order: the bits of an answer do not depend on who did them.

use std::fmt;
use std::ops::{AddAssign, Range};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// Has the parts of a work done.
pub trait Parts: fmt::Debug + Send + Sync {
    /// Calls `work` once with every number below `parts`, in any order and perhaps several at once, and returns when
    /// all calls have returned. On other threads the [`Tokens`](crate::interrupt::Tokens) of this one are in force.
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync));
}

/// One part after the other.
#[derive(Debug)]
pub struct InTurn;

impl Parts for InTurn {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).for_each(work);
    }
}

/// Does a work for every item. Returns what was found for each, in their order.
///
/// # Errors
/// That of the first item that has one.
///
/// # Panics
/// If `parts` does a part twice or not at all, and where `work` does.
pub fn for_each<I: Send, O: Send>(
    parts: &dyn Parts,
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> Result<O> + Sync,
) -> Result<Vec<O>> {
    let items: Vec<Mutex<Option<I>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let found: Vec<Mutex<Option<Result<O>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let take = |item: &Mutex<Option<I>>| item.lock().unwrap_or_else(PoisonError::into_inner).take();
    parts.each(items.len(), &|part| {
        let item = take(&items[part]).expect("a part is done once");
        let done = work(item);
        *found[part].lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
    });
    let found = found.into_iter().map(|found| found.into_inner().unwrap_or_else(PoisonError::into_inner));
    found.map(|found| found.expect("every part is done")).collect()
}

/// Nearly equal ranges of `items` things, each of at least `least`.
pub(crate) fn ranges(items: usize, least: usize) -> Vec<Range<usize>> {
    let parts = (items / least).clamp(1, MOST);
    (0..parts).map(|part| items * part / parts..items * (part + 1) / parts).collect()
}

/// More parts than threads ever share.
const MOST: usize = 64;

/// Paths or flows of a part, at least: beside them its start is no cost.
pub(crate) const PATHS: usize = 1 << 14;
/// The same for each link, where a part has a list of all links.
pub(crate) const PER_LINK: usize = 4;

/// Consecutive pieces of a list, of these lengths.
pub(crate) fn split_mut<'a, T>(
    mut list: &'a mut [T],
    ranges: &[Range<usize>],
) -> impl ExactSizeIterator<Item = &'a mut [T]> {
    ranges.iter().map(move |range| {
        let (piece, rest) = std::mem::take(&mut list).split_at_mut(range.len());
        list = rest;
        piece
    })
}

/// The pieces of a list for these ranges, which cover it, and the ranges.
pub(crate) fn pieces<'a, T>(
    list: &'a mut [T],
    ranges: &'a [Range<usize>],
) -> impl ExactSizeIterator<Item = (&'a mut [T], Range<usize>)> {
    split_mut(list, ranges).zip(ranges.iter().cloned())
}

/// Adds up lists of one number per link, in their order.
pub(crate) fn add_up<T: AddAssign>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut lists = lists.into_iter();
    let mut sums = lists.next().unwrap_or_default();
    for list in lists {
        sums.iter_mut().zip(list).for_each(|(sum, value)| *sum += value);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn ranges_cover_all_and_are_large_enough() {
        for (items, least) in [(0, 10), (9, 10), (10, 10), (25, 10), (1000, 10), (1_000_000, 7)] {
            let found = ranges(items, least);
            assert_eq!(found[0].start, 0);
            assert_eq!(found[found.len() - 1].end, items);
            assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(found.len() == 1 || found.iter().all(|range| range.len() >= least));
        }
    }

    #[test]
    fn what_is_found_is_in_order_and_the_first_error_counts() {
        #[derive(Debug)]
        struct Backwards;
        impl Parts for Backwards {
            fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
                (0..parts).rev().for_each(work);
            }
        }
        let mut squares = [0; 4];
        let ranges = ranges(4, 2);
        let found = for_each(&Backwards, pieces(&mut squares, &ranges), |(piece, range)| {
            piece.iter_mut().zip(range.clone()).for_each(|(square, i)| *square = i * i);
            Ok(range.start)
        });
        assert_eq!((found.unwrap(), squares), (vec![0, 2], [0, 1, 4, 9]));
        let error = |link| Error::Capacity { link, value: -1.0 };
        let fails = for_each(&Backwards, 0..3, |i| if i > 0 { Err(error(i)) } else { Ok(()) });
        assert_eq!(fails, Err(error(1)));
    }
}
