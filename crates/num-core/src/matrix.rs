//! Paths and problems from arrays of ndarray (feature `ndarray`), where a matrix is a matrix: R of shape (links,
//! paths), whose entries are the coefficients: what a path uses of a link per unit of its rate, 0 where it does not
//! cross it.

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::error::{Error, Result, check_length};
use crate::interrupt::Pacer;
use crate::paths::Paths;
use crate::problem::Problem;
use crate::utility::Utilities;

impl Paths {
    /// The paths of a routing matrix of shape (links, paths), whose entries are coefficients, 0 where a path does not
    /// cross a link. O(links · paths).
    ///
    /// # Errors
    /// [`Error::Coefficient`] naming the first entry that is negative or not finite of the first path that has one;
    /// [`Error::Stopped`].
    pub fn from_matrix(matrix: ArrayView2<'_, f64>) -> Result<Self> {
        let (mut indptr, mut indices, mut coefficients) = (vec![0], Vec::new(), Vec::new());
        let mut pacer = Pacer::new();
        for column in matrix.columns() {
            pacer.did(column.len())?;
            for (link, &value) in column.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                indices.push(link as u32);
                coefficients.push(value);
            }
            indptr.push(indices.len());
        }
        Self::with_coefficients(indptr, indices, coefficients)
    }

    /// The routing matrix over so many links, of shape (links, paths), with the coefficients for entries.
    ///
    /// # Errors
    /// [`Error::LinkOutOfRange`] for a path with a link that is not in `0..links`.
    pub fn to_matrix(&self, links: usize) -> Result<Array2<f64>> {
        let mut matrix = Array2::zeros((links, self.len()));
        for path in 0..self.len() {
            for (link, coefficient) in self.row(path).entries() {
                let entry = matrix.get_mut((link as usize, path));
                *entry.ok_or(Error::LinkOutOfRange { path, link: i64::from(link), links })? = coefficient;
            }
        }
        Ok(matrix)
    }
}

impl Problem {
    /// A problem in which every flow has one path, from capacities by link and a routing matrix of shape (links,
    /// paths).
    ///
    /// ```
    /// use ndarray::{ArrayView1, array};
    /// use netnum_core::{AlphaFair, Ask, Problem, solve};
    ///
    /// // A parking lot: one flow over both links, and one on each.
    /// let (capacities, routing) = (array![1.0, 1.0], array![[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]);
    /// let problem = Problem::from_matrix(capacities.view(), routing.view(), AlphaFair::proportional())?;
    /// let solution = solve(&problem, &Ask::default())?;
    /// let loads = routing.dot(&ArrayView1::from(&solution.rates));
    /// assert!(loads.iter().all(|load| (load - 1.0).abs() < 1e-6));
    /// # Ok::<(), netnum_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Paths::from_matrix`] and of [`Problem::new`]; [`Error::Length`] unless the matrix has a row per
    /// capacity.
    pub fn from_matrix(
        capacities: ArrayView1<'_, f64>,
        matrix: ArrayView2<'_, f64>,
        utilities: impl Into<Utilities>,
    ) -> Result<Self> {
        check_length("routing matrix", matrix.nrows(), capacities.len(), "link")?;
        Self::new(capacities.to_vec(), Paths::from_matrix(matrix)?, utilities)
    }
}
