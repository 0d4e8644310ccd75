//! How passes are cut into parts: by the size of their work, never by the number of threads.

use std::ops::{AddAssign, Range};

/// Nearly equal ranges of `items` things, each of at least `least`.
pub(crate) fn ranges(items: usize, least: usize) -> Vec<Range<usize>> {
    cut(items, count(items, least))
}

/// The number of parts of `items` things, each of at least `least`.
pub(crate) fn count(items: usize, least: usize) -> usize {
    (items / least).clamp(1, MOST)
}

/// So many nearly equal ranges.
pub(crate) fn cut(items: usize, parts: usize) -> Vec<Range<usize>> {
    (0..parts).map(|part| items * part / parts..items * (part + 1) / parts).collect()
}

/// More parts than threads ever share.
const MOST: usize = 64;

/// Paths or flows of a part, at least: beside them its start is no cost.
pub(crate) const PATHS: usize = 1 << 14;
/// Paths of a part for each link, at least, where a part has a list of all links.
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
}
