//! Max-min for flows with several paths: the smallest fair share as large as possible, then the next smallest, and so
//! on.
//!
//! A flow's fair share is then F(Σ x_p), and no longer found by raising rates path by path. This is the one place for
//! that; until it is written such problems are refused.

use super::METHOD;
use crate::error::{Error, Result};
use crate::problem::Problem;

/// The max-min rates of a problem in which flows own several paths.
pub(super) fn lexicographic(_problem: &Problem) -> Result<Vec<f64>> {
    let (method, what) = (METHOD.into(), "flows with several paths".into());
    Err(Error::Unsupported { method, what, instead: "use solve() with a large finite alpha, which comes close to it" })
}
