//! The links of a flow, and what it uses of each per unit of its rate.

use netnum_core::internal::UNLIMITED;
use netnum_core::{Error, Paths, Result};

/// One of some paths, or the path of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Path<'a> {
    pub(super) links: &'a [u32],
    /// One per link; none where all are 1.
    pub(super) coefficients: Option<&'a [f64]>,
}

impl<'a> Path<'a> {
    /// A path of ones.
    pub(super) fn ones(links: &'a [u32]) -> Self {
        Self { links, coefficients: None }
    }

    pub(super) fn of(paths: &'a Paths, path: usize) -> Self {
        let own = paths.indptr()[path]..paths.indptr()[path + 1];
        let coefficients = paths.coefficients().map(|all| &all[own]);
        let coefficients = coefficients.filter(|own| own.iter().any(|&coefficient| coefficient != 1.0));
        Self { links: paths.links(path), coefficients }
    }

    /// Every link with its coefficient.
    pub(super) fn entries(self) -> impl Iterator<Item = (u32, f64)> + Clone + 'a {
        let coefficient = move |place: usize| self.coefficients.map_or(1.0, |all| all[place]);
        self.links.iter().enumerate().map(move |(place, &link)| (link, coefficient(place)))
    }

    /// The largest rate that fits on its links: min c/a; those without a limit have none whatever is used of them.
    pub(super) fn narrowest(self, capacity: impl Fn(u32) -> f64) -> f64 {
        let rate = |(link, coefficient)| match capacity(link) {
            unlimited if unlimited >= UNLIMITED => UNLIMITED,
            capacity => capacity / coefficient,
        };
        self.entries().map(rate).fold(f64::INFINITY, f64::min)
    }

    /// Whether the path has links, all of which are there, and none twice, and coefficients that are finite and > 0.
    ///
    /// # Errors
    /// [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`], [`Error::Coefficient`].
    pub(super) fn check(self, path: usize, links: usize) -> Result<()> {
        if self.links.is_empty() {
            return Err(Error::EmptyPath { path });
        }
        for (place, &link) in self.links.iter().enumerate() {
            if link as usize >= links {
                return Err(Error::LinkOutOfRange { path, link: link.into(), links });
            }
            if self.links[..place].contains(&link) {
                return Err(Error::RepeatedLink { path, link: link as usize });
            }
        }
        if self.coefficients.is_none() {
            return Ok(());
        }
        match self.entries().find(|(_, value)| !(*value > 0.0 && value.is_finite())) {
            Some((link, value)) => Err(Error::Coefficient { path, link: link as usize, value }),
            None => Ok(()),
        }
    }
}

/// The path of a flow, for keeps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OwnPath {
    pub(super) links: Vec<u32>,
    pub(super) coefficients: Option<Vec<f64>>,
}

impl OwnPath {
    pub(super) fn get(&self) -> Path<'_> {
        Path { links: &self.links, coefficients: self.coefficients.as_deref() }
    }
}

/// Paths one after the other.
#[derive(Debug, Default)]
pub(super) struct Collected {
    ends: Vec<usize>,
    links: Vec<u32>,
    /// As many, once a path has had some.
    coefficients: Vec<f64>,
    weighted: usize,
    link_by_link: usize,
}

impl Collected {
    pub(super) fn push(&mut self, path: Path<'_>) {
        let before = self.links.len();
        self.links.extend_from_slice(path.links);
        self.ends.push(self.links.len());
        if let Some(own) = path.coefficients {
            self.coefficients.resize(before, 1.0);
            self.coefficients.extend_from_slice(own);
            self.weighted += 1;
        }
    }

    /// [`push`](Self::push) for one that crosses another link too, with coefficient 1.
    pub(super) fn push_and(&mut self, path: Path<'_>, more: Option<u32>) {
        self.push(path);
        if let Some(link) = more {
            self.links.push(link);
            *self.ends.last_mut().expect("there is a path") += 1;
            if path.coefficients.is_some() {
                self.coefficients.push(1.0);
            }
        }
    }

    /// [`push`](Self::push) for one whose links are crossed one by one in any case.
    pub(super) fn push_link_by_link(&mut self, path: Path<'_>) {
        self.push(Path::ones(path.links));
        self.link_by_link += 1;
    }

    /// Whether most of them are crossed link by link: they have coefficients, or are of flows with several.
    pub(super) fn are_link_by_link(&self) -> bool {
        2 * (self.weighted + self.link_by_link) > self.ends.len()
    }

    pub(super) fn paths(mut self) -> Paths {
        let mut indptr = vec![0];
        indptr.append(&mut self.ends);
        if self.weighted == 0 {
            return Paths::new(indptr, self.links).expect("ends increase");
        }
        self.coefficients.resize(self.links.len(), 1.0);
        Paths::with_coefficients(indptr, self.links, self.coefficients).expect("flows have been checked")
    }
}
