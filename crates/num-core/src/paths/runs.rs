//! Consecutive paths of one length, and expressions that are compiled for that length.

use std::ops::Range;

/// Consecutive paths of one length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) paths: Range<usize>,
    /// Their number of links; none for a run of lengths without a compiled loop.
    pub(crate) length: Option<usize>,
}

/// The longest path with a compiled loop for its length.
pub(crate) const LONGEST: usize = 6;

/// Paths whose lengths are looked at one by one, and those that are looked at together after them.
const SHORT: usize = 32;
const STRIP: usize = 256;

/// Compiles an expression for each path length that networks have, as a constant of the given name.
macro_rules! with_length {
    ($length:expr, $constant:ident => $call:expr, $otherwise:expr) => {
        with_length!($length, $constant => $call, $otherwise, [1 2 3 4 5 6])
    };
    ($length:expr, $constant:ident => $call:expr, $otherwise:expr, [$($value:literal)*]) => {
        match $length {
            $(Some($value) => {
                const $constant: usize = $value;
                $call
            })*
            _ => $otherwise,
        }
    };
}

pub(crate) use with_length;

/// The runs of some paths, given their row offsets.
pub(crate) fn runs(indptr: &[usize]) -> Vec<Run> {
    let (mut runs, mut start) = (Vec::new(), 0);
    let length = |path: usize| indptr[path + 1] - indptr[path];
    let paths = indptr.len() - 1;
    while start < paths {
        let own = length(start);
        let is_other = |path: &usize| length(*path) != own && (own <= LONGEST || length(*path) <= LONGEST);
        // Whole strips of one length by a loop that is vectorized, once the run is no short one.
        let is_strip = |first: &usize| {
            let ends = indptr[first + 1..].iter().zip(&indptr[*first..]).take(STRIP);
            first + STRIP <= paths && ends.fold(0, |others, (end, start)| others | ((end - start) ^ own)) == 0
        };
        let near = paths.min(start + SHORT);
        let end = (start + 1..near).find(is_other).unwrap_or_else(|| {
            let strip = (near..).step_by(STRIP).find(|first| !is_strip(first)).expect("paths end");
            (strip..paths).find(is_other).unwrap_or(paths)
        });
        runs.push(Run { paths: start..end, length: Some(own).filter(|&length| length <= LONGEST) });
        start = end;
    }
    runs
}

/// The parts of runs that lie in a range of paths.
pub(crate) fn clipped(runs: &[Run], which: Range<usize>) -> impl Iterator<Item = Run> {
    let first = runs.partition_point(|run| run.paths.end <= which.start);
    let own = runs[first..].iter().take_while(move |run| run.paths.start < which.end);
    own.map(move |run| Run { paths: run.paths.start.max(which.start)..run.paths.end.min(which.end), ..*run })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of every length around those that are looked at together; longer paths without a loop count as equal.
    #[test]
    fn runs_end_where_the_length_changes() {
        let counts =
            [1, 2, SHORT - 1, 1, SHORT, SHORT + 1, STRIP, 3, SHORT + STRIP, SHORT + 3 * STRIP + 7, 1, 1, STRIP];
        let lengths = [4, 2, 4, LONGEST + 1, 3];
        let own: Vec<(usize, usize)> = counts.into_iter().zip(lengths.into_iter().cycle()).collect();
        let mut indptr = vec![0];
        for (count, length) in &own {
            (0..*count).for_each(|_| indptr.push(indptr[indptr.len() - 1] + length));
        }
        let mut start = 0;
        let expected: Vec<Run> = own
            .iter()
            .map(|&(count, length)| {
                start += count;
                Run { paths: start - count..start, length: Some(length).filter(|&length| length <= LONGEST) }
            })
            .collect();
        assert_eq!(runs(&indptr), expected);
        assert_eq!(runs(&[0]), []);
        // Two lengths without a loop are one run.
        let long: Vec<usize> = (0..=2 * STRIP).map(|path| path * (LONGEST + 1) + path / 2).collect();
        assert_eq!(runs(&long), [Run { paths: 0..2 * STRIP, length: None }]);
    }
}
