//! Paths as lists of links, in compressed rows, and what passes over them need: runs of equal lengths, parts.

mod numbered;
pub(crate) mod parts;
pub(crate) mod passes;
mod runs;
pub(crate) mod trie;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeSeq, Serializer};

use crate::error::{Error, Result, check_length};
use crate::interrupt::{PIECE, Pacer};
pub(crate) use numbered::Numbered;
pub(crate) use passes::Row;
pub(crate) use runs::{LONGEST, with_length};
use runs::{Run, runs};

/// The links of every path, in compressed sparse rows.
///
/// Path `p` crosses the links `indices[indptr[p]..indptr[p + 1]]`, in any order, and uses of each its coefficient per
/// unit of its rate, 1 unless others are [given](Paths::with_coefficients). The same structure serves as its own
/// [transpose](Paths::transpose), the paths of every link.
#[derive(Debug, Clone)]
pub struct Paths {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    /// One per index; none where all are 1.
    coefficients: Option<Vec<f64>>,
    /// Consecutive paths of one length, once a pass has asked for them *(derived)*.
    runs: OnceLock<Vec<Run>>,
}

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.indptr == other.indptr && self.indices == other.indices && self.coefficients == other.coefficients
    }
}

impl Eq for Paths {}

impl Paths {
    /// Paths from row offsets (one more than there are paths) and link indices.
    ///
    /// # Errors
    /// [`Error::Indptr`] unless `indptr` starts at 0, never decreases and ends at `indices.len()`.
    pub fn new(indptr: Vec<usize>, indices: Vec<u32>) -> Result<Self> {
        let wrong = |position: usize, expected: String| {
            let value = indptr.get(position).map_or(-1, |&v| v as i64);
            Err(Error::Indptr { position, value, expected })
        };
        if indptr.first() != Some(&0) {
            return wrong(0, "0".into());
        }
        if let Some(fall) = indptr.windows(2).position(|pair| pair[1] < pair[0]) {
            return wrong(fall + 1, format!("at least {}", indptr[fall]));
        }
        if indptr[indptr.len() - 1] != indices.len() {
            return wrong(indptr.len() - 1, format!("{}, the number of indices", indices.len()));
        }
        Ok(Self::of(indptr, indices))
    }

    /// Paths with coefficients: path `p` uses `coefficients[i]` of link `indices[i]` per unit of its rate. The
    /// coefficients of a link that a path names twice are added.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), [`Error::Length`] unless there is one coefficient per index, and
    /// [`Error::Coefficient`] naming the first that is not finite and > 0; [`Error::Stopped`].
    pub fn with_coefficients(indptr: Vec<usize>, indices: Vec<u32>, coefficients: Vec<f64>) -> Result<Self> {
        check_length("coefficients", coefficients.len(), indices.len(), "index")?;
        let given = Self::new(indptr, indices)?;
        let mut paths = Self::with_capacity(given.len(), given.indices.len());
        let (mut sums, mut pacer) = (Vec::with_capacity(coefficients.len()), Pacer::new());
        // The place of every link in the path that crossed it last.
        let mut places: HashMap<u32, usize> = HashMap::new();
        for path in 0..given.len() {
            let (own, first) = (given.indptr[path]..given.indptr[path + 1], paths.indices.len());
            pacer.did(1 + own.len())?;
            for (&link, &value) in given.indices[own.clone()].iter().zip(&coefficients[own]) {
                check_coefficient(path, link, value)?;
                let (place, end) = (places.entry(link).or_insert(usize::MAX), paths.indices.len());
                if (first..end).contains(place) {
                    sums[*place] += value;
                    check_coefficient(path, link, sums[*place])?;
                    continue;
                }
                *place = end;
                paths.indices.push(link);
                sums.push(value);
            }
            paths.indptr.push(paths.indices.len());
        }
        paths.coefficients = Some(sums).filter(|sums| !are_ones(sums));
        Ok(paths)
    }

    fn of(indptr: Vec<usize>, indices: Vec<u32>) -> Self {
        Self { indptr, indices, coefficients: None, runs: OnceLock::new() }
    }

    /// Paths from one list of links each.
    pub fn from_lists<L: AsRef<[u32]>>(lists: impl IntoIterator<Item = L>) -> Self {
        let mut paths = Self::with_capacity(0, 0);
        for links in lists {
            paths.push(links.as_ref());
        }
        paths
    }

    /// From rows that are known to be right, and name no link twice.
    #[doc(hidden)]
    pub fn from_rows(indptr: Vec<usize>, indices: Vec<u32>, coefficients: Option<Vec<f64>>) -> Self {
        Self { coefficients: coefficients.filter(|all| !are_ones(all)), ..Self::of(indptr, indices) }
    }

    /// No paths yet, and room for some.
    pub(crate) fn with_capacity(paths: usize, crossings: usize) -> Self {
        let mut indptr = Vec::with_capacity(paths + 1);
        indptr.push(0);
        Self::of(indptr, Vec::with_capacity(crossings))
    }

    /// Appends one path.
    pub fn push(&mut self, links: &[u32]) {
        self.indices.extend_from_slice(links);
        self.indptr.push(self.indices.len());
        if let Some(coefficients) = &mut self.coefficients {
            coefficients.resize(self.indices.len(), 1.0);
        }
        self.runs.take();
    }

    /// Consecutive paths of one length, found at the first call.
    pub(crate) fn runs(&self) -> &[Run] {
        self.runs.get_or_init(|| runs(&self.indptr))
    }

    /// Number of paths.
    pub fn len(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Whether there are no paths.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The links of one path.
    ///
    /// # Panics
    /// If `path` is not below [`len`](Self::len), as indexing a slice does.
    #[inline]
    pub fn links(&self, path: usize) -> &[u32] {
        &self.indices[self.indptr[path]..self.indptr[path + 1]]
    }

    /// The links of every path, path by path.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.indptr.windows(2).map(|pair| &self.indices[pair[0]..pair[1]])
    }

    /// Every link of one path, and what the path uses of it per unit of its rate.
    ///
    /// # Panics
    /// If `path` is not below [`len`](Self::len), as indexing a slice does.
    #[inline]
    pub fn entries(&self, path: usize) -> impl Iterator<Item = (u32, f64)> {
        self.row(path).entries()
    }

    /// Row offsets, one more than there are paths.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Link indices of all paths, one path after the other.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// What every path uses of its links per unit of its rate, at the places of [`indices`](Self::indices); none where
    /// all are 1.
    pub fn coefficients(&self) -> Option<&[f64]> {
        self.coefficients.as_deref()
    }

    /// The transpose: row `l` lists the paths through link `l`, in increasing order. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::LinkOutOfRange`] when a path names a link that is not in `0..links`, [`Error::Setting`] for more links
    /// than can be numbered, [`Error::Stopped`].
    pub fn transpose(&self, links: usize) -> Result<Self> {
        if links > u32::MAX as usize {
            return Err(Error::setting("links", links, format!("at most {}", u32::MAX)));
        }
        let (mut indptr, mut pacer) = (vec![0; links + 1], Pacer::new());
        for chunk in self.indices.chunks(PIECE) {
            pacer.did(chunk.len())?;
            for &link in chunk {
                match indptr.get_mut(link as usize + 1) {
                    Some(count) => *count += 1,
                    None => self.check_range(links)?,
                }
            }
        }
        for link in 0..links {
            indptr[link + 1] += indptr[link];
        }
        let mut next = indptr.clone();
        let mut indices = vec![0; self.indices.len()];
        let mut coefficients = self.coefficients.as_ref().map(|all| vec![0.0; all.len()]);
        self.each(
            #[inline(always)]
            |path, row| {
                for (link, coefficient) in row.entries() {
                    let slot = &mut next[link as usize];
                    indices[*slot] = path as u32;
                    if let Some(all) = &mut coefficients {
                        all[*slot] = coefficient;
                    }
                    *slot += 1;
                }
            },
        )?;
        Ok(Self { coefficients, ..Self::of(indptr, indices) })
    }

    /// A copy in which some paths cross one more link, with coefficient 1.
    pub(crate) fn extended(&self, by: &[Option<u32>]) -> Self {
        let mut extended = Self::with_capacity(self.len(), self.indices.len() + by.len());
        let mut coefficients = self.coefficients.as_ref().map(|all| Vec::with_capacity(all.len() + by.len()));
        for (path, more) in by.iter().enumerate() {
            let own = self.indptr[path]..self.indptr[path + 1];
            extended.indices.extend(self.indices[own.clone()].iter().copied().chain(*more));
            extended.indptr.push(extended.indices.len());
            if let (Some(all), Some(of)) = (&mut coefficients, &self.coefficients) {
                all.extend(of[own].iter().copied().chain(more.map(|_| 1.0)));
            }
        }
        extended.coefficients = coefficients;
        extended
    }

    /// These paths with every coefficient divided by a number of its link, ones too; none for 1 everywhere.
    pub(crate) fn divided(mut self, by: &[f64]) -> Self {
        if by.is_empty() {
            return self;
        }
        let mut all = self.coefficients.take().unwrap_or_else(|| vec![1.0; self.indices.len()]);
        all.iter_mut().zip(&self.indices).for_each(|(a, &link)| *a /= by[link as usize]);
        self.coefficients = Some(all).filter(|all| !are_ones(all));
        self
    }

    fn check_range(&self, links: usize) -> Result<()> {
        let mut pacer = Pacer::new();
        for (path, row) in self.iter().enumerate() {
            if let Some(&link) = row.iter().find(|&&link| link as usize >= links) {
                return Err(Error::LinkOutOfRange { path, link: i64::from(link), links });
            }
            pacer.did(1 + row.len())?;
        }
        Ok(())
    }

    /// Every path has a link, every link exists, and no path crosses one twice.
    pub(crate) fn check(&self, links: usize) -> Result<()> {
        self.check_range(links)?;
        let (mut last_path, mut pacer) = (vec![usize::MAX; links], Pacer::new());
        for (path, row) in self.iter().enumerate() {
            pacer.did(row.len())?;
            if row.is_empty() {
                return Err(Error::EmptyPath { path });
            }
            for &link in row {
                let last = &mut last_path[link as usize];
                if *last == path {
                    return Err(Error::RepeatedLink { path, link: link as usize });
                }
                *last = path;
            }
        }
        Ok(())
    }
}

/// Whether coefficients need not be stored.
fn are_ones(coefficients: &[f64]) -> bool {
    coefficients.iter().all(|&coefficient| coefficient == 1.0)
}

fn check_coefficient(path: usize, link: u32, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::Coefficient { path, link: link as usize, value }) }
}

impl<'a> From<&'a Paths> for Cow<'a, Paths> {
    fn from(paths: &'a Paths) -> Self {
        Cow::Borrowed(paths)
    }
}

/// Written as a list of lists of links. Those with coefficients are refused, which a [`Problem`](crate::Problem)
/// writes.
impl Serialize for Paths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.coefficients.is_some() {
            return Err(S::Error::custom("paths with coefficients are no lists of links: write their problem"));
        }
        let (mut rows, mut pacer) = (serializer.serialize_seq(Some(self.len()))?, Pacer::new());
        for row in self.iter() {
            rows.serialize_element(row)?;
            pacer.did(1 + row.len()).map_err(S::Error::custom)?;
        }
        rows.end()
    }
}

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows;
        impl<'de> Visitor<'de> for Rows {
            type Value = Paths;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of lists of links")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Paths, A::Error> {
                let (mut paths, mut pacer) = (Paths::with_capacity(0, 0), Pacer::new());
                while let Some(row) = rows.next_element::<Vec<u32>>()? {
                    paths.push(&row);
                    pacer.did(1 + row.len()).map_err(A::Error::custom)?;
                }
                Ok(paths)
            }
        }
        deserializer.deserialize_seq(Rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_a_path_names_twice_has_the_sum_of_its_coefficients() {
        let paths = Paths::with_coefficients(vec![0, 3, 4], vec![5, 2, 5, 5], vec![0.25, 1.0, 0.5, 2.0]).unwrap();
        assert_eq!(paths.iter().collect::<Vec<_>>(), [&[5, 2][..], &[5]]);
        assert_eq!(paths.coefficients().unwrap(), [0.75, 1.0, 2.0]);
    }

    #[test]
    fn coefficients_of_one_are_not_stored() {
        let paths = Paths::with_coefficients(vec![0, 2], vec![1, 0], vec![1.0, 1.0]).unwrap();
        assert_eq!(paths, Paths::from_lists([[1, 0]]));
        assert!(paths.coefficients().is_none());
    }

    #[test]
    fn a_coefficient_that_is_not_positive_is_named_by_its_path_and_link() {
        for (value, shown) in [(0.0, "0"), (-1.5, "-1.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
            let error = Paths::with_coefficients(vec![0, 1, 3], vec![7, 7, 4], vec![1.0, 1.0, value]).unwrap_err();
            let expected = format!("path 1 has coefficient {shown} at link 4, expected a finite number > 0");
            assert_eq!(error.to_string(), expected);
        }
        let error = Paths::with_coefficients(vec![0, 2], vec![7, 7], vec![f64::MAX, f64::MAX]).unwrap_err();
        assert_eq!(error.to_string(), "path 0 has coefficient inf at link 7, expected a finite number > 0");
        let error = Paths::with_coefficients(vec![0, 2], vec![1, 2], vec![1.0]).unwrap_err();
        assert_eq!(error.to_string(), "coefficients has 1 entries, expected 2, one per index");
    }

    /// Rows of every length with and without a compiled loop, against sums over a matrix.
    #[test]
    fn passes_multiply_by_coefficients() {
        let (links, mut indptr, mut indices, mut coefficients) = (9u32, vec![0], Vec::new(), Vec::new());
        for path in 0..40u32 {
            for hop in 0..1 + path % 8 {
                indices.push((path * 5 + hop) % links);
                coefficients.push(0.5 + f64::from((path * 7 + hop * 3) % 11));
            }
            indptr.push(indices.len());
        }
        let paths = Paths::with_coefficients(indptr, indices, coefficients).unwrap();
        let of_links: Vec<f64> = (0..links).map(|link| 1.0 + f64::from(link)).collect();
        let of_paths: Vec<f64> = (0..40).map(|path| 2.0 + f64::from(path)).collect();
        let (mut gathered, mut scattered, mut diagonal) = (vec![0.0; 40], vec![0.0; 9], vec![0.0; 9]);
        paths.gather(0..40, &of_links, &mut gathered);
        paths.scatter(0..40, &of_paths, &mut scattered);
        paths.add_diagonal(0..40, &of_paths, &mut diagonal);
        let mut pairs: Vec<[f64; 2]> = of_links.iter().map(|&value| [value, 0.0]).collect();
        paths.multiply(0..40, &of_paths, &mut pairs);
        let transpose = paths.transpose(links as usize).unwrap();
        let (mut sums, mut products, mut squares) = (vec![0.0; 9], vec![0.0; 9], vec![0.0; 9]);
        for path in 0..40 {
            let row: Vec<(u32, f64)> = paths.row(path).entries().collect();
            let sum: f64 = row.iter().map(|&(link, a)| a * of_links[link as usize]).sum();
            assert_eq!(gathered[path], sum);
            for &(link, a) in &row {
                assert!(transpose.row(link as usize).entries().any(|entry| entry == (path as u32, a)));
                sums[link as usize] += a * of_paths[path];
                products[link as usize] += a * of_paths[path] * sum;
                squares[link as usize] += a * (a * of_paths[path]);
            }
            let narrowest = row.iter().map(|&(link, a)| of_links[link as usize] / a).fold(f64::INFINITY, f64::min);
            assert_eq!(paths.row(path).narrowest(&of_links), narrowest);
        }
        assert_eq!((scattered, diagonal), (sums, squares));
        for (pair, product) in pairs.iter().zip(products) {
            assert!((pair[1] - product).abs() <= 1e-14 * product);
        }
    }
}
