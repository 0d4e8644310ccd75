//! Paths as lists of links, in compressed rows, and what passes over them need: runs of equal lengths, parts.

mod numbered;
pub(crate) mod parts;
pub(crate) mod passes;
mod runs;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeSeq, Serializer};

use crate::error::{Error, Result};
use crate::interrupt::{PIECE, Pacer};
pub(crate) use numbered::Numbered;
pub(crate) use passes::Row;
pub(crate) use runs::with_length;
use runs::{Run, runs};

/// The links of every path, in compressed sparse rows.
///
/// Path `p` crosses the links `indices[indptr[p]..indptr[p + 1]]`, in any order. The same structure serves as its own
/// [transpose](Paths::transpose), the paths of every link.
#[derive(Debug, Clone)]
pub struct Paths {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    /// Consecutive paths of one length, once a pass has asked for them *(derived)*.
    runs: OnceLock<Vec<Run>>,
}

impl PartialEq for Paths {
    fn eq(&self, other: &Self) -> bool {
        self.indptr == other.indptr && self.indices == other.indices
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

    fn of(indptr: Vec<usize>, indices: Vec<u32>) -> Self {
        Self { indptr, indices, runs: OnceLock::new() }
    }

    /// Paths from one list of links each.
    pub fn from_lists<L: AsRef<[u32]>>(lists: impl IntoIterator<Item = L>) -> Self {
        let mut paths = Self::with_capacity(0, 0);
        for links in lists {
            paths.push(links.as_ref());
        }
        paths
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

    /// Row offsets, one more than there are paths.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Link indices of all paths, one path after the other.
    pub fn indices(&self) -> &[u32] {
        &self.indices
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
        self.each(
            #[inline(always)]
            |path, row| {
                for &link in row.links() {
                    let slot = &mut next[link as usize];
                    indices[*slot] = path as u32;
                    *slot += 1;
                }
            },
        )?;
        Ok(Self::of(indptr, indices))
    }

    /// A copy in which some paths cross one more link.
    pub(crate) fn extended(&self, by: &[Option<u32>]) -> Self {
        let mut extended = Self::with_capacity(self.len(), self.indices.len() + by.len());
        for (links, more) in self.iter().zip(by) {
            extended.indices.extend(links.iter().copied().chain(*more));
            extended.indptr.push(extended.indices.len());
        }
        extended
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

impl<'a> From<&'a Paths> for Cow<'a, Paths> {
    fn from(paths: &'a Paths) -> Self {
        Cow::Borrowed(paths)
    }
}

/// Written as a list of lists of links.
impl Serialize for Paths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
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
