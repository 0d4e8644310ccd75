//! Problems that are the same.

use std::sync::Arc;

use super::Problem;
use crate::utility::Utility;

/// Whether the answers are the same: capacities, paths, flows, caps, floors, costs, priorities and utilities. Utilities
/// are the same where their kinds and parameters are, however they were given; one that exists only as code is the same
/// as itself.
impl PartialEq for Problem {
    fn eq(&self, other: &Self) -> bool {
        self.equals_but_for_utilities(other) && self.has_utilities_of(other)
    }
}

impl Problem {
    /// Whether capacities, paths, flows, caps, floors, costs and priorities are the same.
    pub fn equals_but_for_utilities(&self, other: &Self) -> bool {
        self.capacities == other.capacities
            && self.paths == other.paths
            && self.group == other.group
            && self.rate_caps == other.rate_caps
            && self.flow_caps == other.flow_caps
            && self.flow_floors == other.flow_floors
            && self.path_costs == other.path_costs
            && self.priorities == other.priorities
    }

    fn has_utilities_of(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.blocks, &other.blocks) {
            return true;
        }
        let address = |utility: &dyn Utility| std::ptr::from_ref(utility).cast::<()>();
        self.flows == other.flows
            && (0..self.flows).all(|flow| {
                let ((ours, place), (theirs, other_place)) = (self.utility(flow), other.utility(flow));
                match (ours.spec(place), theirs.spec(other_place)) {
                    (None, None) => address(ours) == address(theirs) && place == other_place,
                    (ours, theirs) => ours == theirs,
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::{AlphaFair, Linear, Paths, Problem};

    fn problem() -> Problem {
        let paths = Paths::from_lists([vec![0, 1], vec![0]]);
        Problem::new(vec![1.0, 2.0], paths, AlphaFair::new(2.0, vec![1.0, 3.0]).unwrap()).unwrap()
    }

    #[test]
    fn a_problem_is_equal_to_what_its_text_says() {
        let capped = problem().with_flow_caps(vec![0.5, f64::INFINITY]).unwrap();
        let indptr = vec![0, 2, 3];
        let paths = Paths::with_coefficients(indptr, vec![0, 1, 0], vec![0.1, 1.0, 3.0]).unwrap();
        let utility = AlphaFair::new(2.0, vec![1.0, 3.0]).unwrap();
        let with_coefficients = Problem::new(vec![1.0, 2.0], paths, utility).unwrap();
        assert_ne!(with_coefficients, problem());
        for one in [problem(), capped, with_coefficients] {
            assert_eq!(Problem::from_json(&one.to_json().unwrap()).unwrap(), one);
        }
    }

    #[test]
    fn problems_that_differ_in_one_thing_are_not_equal() {
        let one = problem();
        let others = [
            one.clone().with_capacities(vec![1.0, 2.5]).unwrap(),
            one.clone().with_rate_caps(vec![1.0, f64::INFINITY]).unwrap(),
            one.clone().with_flow_caps(vec![1.0, f64::INFINITY]).unwrap(),
            one.clone().with_utility(AlphaFair::new(2.0, vec![1.0, 3.5]).unwrap()).unwrap(),
            one.clone().with_utility(Linear::new(1.0).unwrap()).unwrap(),
            Problem::new(vec![1.0, 2.0], Paths::from_lists([vec![0, 1], vec![1]]), AlphaFair::proportional()).unwrap(),
        ];
        for other in others {
            assert_ne!(one, other);
        }
    }
}
