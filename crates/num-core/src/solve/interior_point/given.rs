//! The flows whose rates are given by their floors: no barrier has room to hold them (`floors.rs`).

use crate::presolve::Presolved;

/// What of a flow's rates is given by its floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    Total,
    Paths,
}

/// A floor leaves no room that is within this part of the most that its flow can have.
const NO_ROOM: f64 = 1e-10;
impl Given {
    /// Of a flow, within the capacities that the method works in.
    pub(super) fn of(problem: &Presolved, capacities: &[f64], flow: usize) -> Self {
        let (floor, own) = (problem.bounds.floors[flow], problem.paths_of(flow));
        if floor == 0.0 {
            return Self::Nothing;
        }
        let reaches = |most: f64| floor >= most * (1.0 - NO_ROOM);
        let carries = |path: usize| problem.paths.row(path).narrowest(capacities).min(problem.bounds.caps[path]);
        let is_all_used = reaches(problem.bounds.saturations[flow]);
        match reaches(own.clone().map(carries).sum()) || is_all_used && own.len() == 1 {
            true => Self::Paths,
            false if is_all_used => Self::Total,
            false => Self::Nothing,
        }
    }
}
