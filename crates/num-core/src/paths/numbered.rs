//! Lists of the paths or flows of a part.

use std::ops::{Index, IndexMut, Range};

/// Values of consecutive paths or flows, under the numbers that these have among all.
pub(crate) struct Numbered<T> {
    first: usize,
    pub(crate) values: Vec<T>,
}

impl<T: Clone> Numbered<T> {
    pub(crate) fn new(of: &Range<usize>, value: T) -> Self {
        Self { first: of.start, values: vec![value; of.len()] }
    }

    /// The number of the first.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Without values.
    pub(crate) fn empty() -> Self {
        Self { first: 0, values: Vec::new() }
    }

    fn places(&self, numbers: &Range<usize>) -> Range<usize> {
        numbers.start - self.first..numbers.end - self.first
    }
}

impl<T> Index<usize> for Numbered<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: usize) -> &T {
        &self.values[number - self.first]
    }
}

impl<T> IndexMut<usize> for Numbered<T> {
    #[inline(always)]
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.values[number - self.first]
    }
}

impl<T: Clone> Index<Range<usize>> for Numbered<T> {
    type Output = [T];

    #[inline(always)]
    fn index(&self, numbers: Range<usize>) -> &[T] {
        &self.values[self.places(&numbers)]
    }
}

impl<T: Clone> IndexMut<Range<usize>> for Numbered<T> {
    #[inline(always)]
    fn index_mut(&mut self, numbers: Range<usize>) -> &mut [T] {
        let places = self.places(&numbers);
        &mut self.values[places]
    }
}
