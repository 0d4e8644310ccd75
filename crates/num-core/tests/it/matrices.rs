//! Problems from arrays of ndarray.

use ndarray::{Array2, array};
use netnum_core::{AlphaFair, Paths, Problem};

#[test]
fn a_routing_matrix_is_that_of_its_paths_in_any_layout() {
    let paths = Paths::from_lists([vec![0, 2], vec![1], vec![0, 1, 2], vec![2]]);
    let matrix = paths.to_matrix(3).unwrap();
    assert_eq!(matrix, array![[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0]]);
    assert_eq!(Paths::from_matrix(matrix.view()).unwrap(), paths);
    let by_columns = matrix.t().as_standard_layout().into_owned();
    assert_eq!(Paths::from_matrix(by_columns.t()).unwrap(), paths);
    assert_eq!(Paths::from_matrix(Array2::zeros((3, 0)).view()).unwrap().len(), 0);
}

#[test]
fn the_entries_of_a_routing_matrix_are_coefficients() {
    let matrix = array![[0.5, 0.0, 1.0], [2.0, 1.0, 0.0]];
    let paths = Paths::from_matrix(matrix.view()).unwrap();
    assert_eq!(paths.coefficients().unwrap(), [0.5, 2.0, 1.0, 1.0]);
    assert_eq!(paths.to_matrix(2).unwrap(), matrix);
    let capacities = array![1.0, 1.0];
    let problem = Problem::from_matrix(capacities.view(), matrix.view(), AlphaFair::proportional()).unwrap();
    assert_eq!(problem.loads(&[1.0, 2.0, 4.0]).unwrap(), [4.5, 4.0]);
}

#[test]
fn a_matrix_that_is_no_routing_matrix_is_refused_by_place() {
    let of = |matrix: Array2<f64>| {
        let capacities = array![1.0, 1.0];
        Problem::from_matrix(capacities.view(), matrix.view(), AlphaFair::proportional()).unwrap_err().to_string()
    };
    let wrong = "path 2 has coefficient -0.5 at link 1, expected a finite number > 0";
    assert_eq!(of(array![[1.0, 0.0, 1.0], [0.0, 1.0, -0.5]]), wrong);
    assert!(of(array![[1.0], [f64::NAN]]).contains("path 0 has coefficient NaN at link 1"));
    assert_eq!(of(array![[1.0, 1.0]]), "routing matrix has 1 entries, expected 2, one per link");
    assert_eq!(of(array![[1.0, 0.0], [1.0, 0.0]]), "path 1 is empty, expected at least one link");
    let error = Paths::from_lists([[0, 3]]).to_matrix(2).unwrap_err().to_string();
    assert_eq!(error, "path 0 names link 3, expected a link from 0 to 1");
}
