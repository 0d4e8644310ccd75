//! Upper bounds of which there may be none.

use std::ops::Index;

/// One number per path or per flow, ∞ where there is no bound; holds nothing where there is none at all.
#[derive(Debug, Default)]
pub(crate) struct Limits(Vec<f64>);

impl Limits {
    /// Those of a list.
    pub(super) fn new(values: Vec<f64>) -> Self {
        match values.iter().all(|&value| value == f64::INFINITY) {
            true => Self::default(),
            false => Self(values),
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Of consecutive paths or flows; nothing where there is none at all.
    pub(crate) fn of(&self, range: std::ops::Range<usize>) -> &[f64] {
        if self.0.is_empty() { &[] } else { &self.0[range] }
    }
}

impl Index<usize> for Limits {
    type Output = f64;

    #[inline(always)]
    fn index(&self, place: usize) -> &f64 {
        if self.0.is_empty() { &f64::INFINITY } else { &self.0[place] }
    }
}
