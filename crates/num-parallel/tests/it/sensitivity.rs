//! Derivatives of many optima at once: the order, the bits, the bad ones, stopping.

use std::num::NonZeroUsize;

use netnum_core::sensitivity::{AtKink, OutcomeChange, Sensitivity};
use netnum_core::*;
use netnum_parallel::reverse_many;

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// Two flows on one link of its number's capacity, linear in the fourth.
fn problems() -> Vec<Problem> {
    let of = |number: u32| {
        let paths = Paths::from_lists([[0], [0]]);
        let utility: Utilities =
            if number == 4 { Linear::new(1.0).unwrap().into() } else { AlphaFair::proportional().into() };
        Problem::new(vec![f64::from(number)], paths, utility).unwrap()
    };
    (1..40).map(of).collect()
}

#[test]
fn answers_come_in_order_with_the_same_bits_for_any_number_of_threads_and_bad_ones_alone() {
    let (problems, settings) = (problems(), Settings::default());
    let solutions: Vec<_> = problems.iter().map(|problem| solve(problem, &settings.clone().into()).unwrap()).collect();
    let prices = OutcomeChange { prices: vec![1.0], ..OutcomeChange::default() };
    let of: Vec<_> = problems.iter().zip(&solutions).map(|(problem, solution)| (problem, solution, &prices)).collect();
    for count in [1, 2, 8] {
        let found = reverse_many(&of, AtKink::Refuse, threads(count));
        assert_eq!(found.len(), 39);
        for ((found, (problem, solution, outcome)), capacity) in found.into_iter().zip(&of).zip(1..) {
            if capacity == 4 {
                assert!(found.unwrap_err().to_string().starts_with("no sensitivity of linear utilities"));
                continue;
            }
            let (found, capacity) = (found.unwrap(), f64::from(capacity));
            // p = 2/c.
            assert!((found.capacities[0] * capacity * capacity + 2.0).abs() < 1e-10, "{found:?}");
            let mut alone = Sensitivity::new(problem, solution).unwrap();
            assert_eq!(alone.reverse(std::slice::from_ref(*outcome), AtKink::Refuse).unwrap(), [found]);
        }
    }
    assert_eq!(reverse_many(&[], AtKink::Refuse, threads(3)), []);
}

#[test]
fn a_token_of_the_caller_stops_all_of_them() {
    let problems = problems();
    let solutions: Vec<_> = problems.iter().map(|problem| solve(problem, &Ask::default()).unwrap()).collect();
    let prices = OutcomeChange { prices: vec![1.0], ..OutcomeChange::default() };
    let of: Vec<_> = problems.iter().zip(&solutions).map(|(problem, solution)| (problem, solution, &prices)).collect();
    let stop = StopToken::new();
    stop.stop();
    let found = stop.scope(|| reverse_many(&of[..3], AtKink::Refuse, threads(2)));
    assert_eq!(found, [Err(Error::Stopped), Err(Error::Stopped), Err(Error::Stopped)]);
}
