//! Consecutive paths of one length, and loops over them that are compiled for that length.

use std::ops::Range;

use crate::error::Result;
use crate::interrupt::Pacer;
use crate::paths::Paths;

/// Consecutive paths of one length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) paths: Range<usize>,
    /// Their number of links; none for a run of lengths without a compiled loop.
    pub(crate) length: Option<usize>,
}

/// The longest path with a compiled loop for its length.
const LONGEST: usize = 6;

/// Paths between two checks whether to stop.
const PIECE: usize = 1 << 14;

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
        // Whole pieces of one length first, whose loop is vectorized.
        let is_piece = |first: &usize| {
            let ends = indptr[first + 1..].iter().zip(&indptr[*first..]).take(PIECE);
            first + PIECE <= paths && ends.fold(0, |others, (end, start)| others | ((end - start) ^ own)) == 0
        };
        let piece = (start..).step_by(PIECE).find(|first| !is_piece(first)).expect("paths end");
        let end = (piece.max(start + 1)..paths).find(is_other).unwrap_or(paths);
        runs.push(Run { paths: start..end, length: Some(own).filter(|&length| length <= LONGEST) });
        start = end;
    }
    runs
}

/// Calls a function with the number and the links of every path of some runs.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
#[inline(always)]
pub(crate) fn each_path(paths: &Paths, runs: &[Run], mut look: impl FnMut(usize, &[u32])) -> Result<()> {
    let mut pacer = Pacer::new();
    for run in runs {
        let (mut start, end) = (run.paths.start, run.paths.end);
        while start < end {
            let some = start..end.min(start + PIECE);
            let links = &paths.indices()[paths.indptr()[some.start]..paths.indptr()[some.end]];
            start = some.end;
            with_length!(run.length, LENGTH => {
                for (path, links) in some.zip(links.as_chunks::<LENGTH>().0) {
                    look(path, links);
                }
            }, {
                for path in some {
                    look(path, paths.links(path));
                }
            });
            pacer.did(links.len())?;
        }
    }
    Ok(())
}
