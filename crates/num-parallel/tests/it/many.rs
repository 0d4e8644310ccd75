//! Many problems at once: the order, the bits, the bad ones, stopping.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use netnum_core::*;
use netnum_parallel::{Batch, BatchObserver, solve_many};

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// Leaf-spines of very different sizes, so that they do not end in the order in which they began.
fn problems() -> Vec<Problem> {
    let of_size = |(seed, flows): (u64, usize)| {
        let net = Topology::leaf_spine(4, 8, 2, 10e9, 40e9).unwrap();
        let (sources, destinations) = net.random_pairs(flows, seed).unwrap();
        let paths = net.ecmp(&sources, &destinations, seed).unwrap();
        Problem::new(net.capacities().to_vec(), paths, AlphaFair::proportional()).unwrap()
    };
    [400, 3, 0, 90, 1, 200, 2, 50, 10, 30]
        .into_iter()
        .enumerate()
        .map(|(seed, flows)| of_size((seed as u64, flows)))
        .collect()
}

fn bits(solution: &Solution) -> Vec<u64> {
    let numbers = solution.rates.iter().chain(&solution.prices).chain([&solution.objective]);
    numbers.map(|number| number.to_bits()).collect()
}

#[test]
fn answers_come_in_the_order_of_the_problems_with_the_same_bits_for_any_number_of_threads() {
    let (problems, ask) = (problems(), Ask::default());
    let alone: Vec<_> = problems.iter().map(|problem| bits(&solve(problem, &ask).unwrap())).collect();
    for count in [1, 2, 3, 8, 64] {
        let solutions = solve_many(&problems, &ask, threads(count));
        let together: Vec<_> = solutions.into_iter().map(|solution| bits(&solution.unwrap())).collect();
        assert_eq!(together, alone, "{count} threads");
    }
}

#[test]
fn a_problem_that_the_method_cannot_take_does_not_lose_the_others() {
    let mut problems = problems();
    problems[4] = Problem::new(vec![1.0], Paths::from_lists([[0]]), Linear::new(1.0).unwrap()).unwrap();
    let solutions = solve_many(&problems, &Ask::by("ned"), threads(2));
    for (number, solution) in solutions.iter().enumerate() {
        match solution {
            Ok(solution) => assert_eq!(solution.status, Status::Optimal, "{number}: {solution}"),
            Err(error) => {
                assert_eq!(number, 4);
                let expected = "method \"ned\" cannot take linear utilities; use \"interior-point\"";
                assert_eq!(error.to_string(), expected);
            }
        }
    }
    assert!(solutions[4].is_err());
}

#[test]
fn no_problems_have_no_answers() {
    let none: [Problem; 0] = [];
    assert!(solve_many(&none, &Ask::default(), threads(4)).is_empty());
}

#[test]
fn a_batch_may_start_from_prices() {
    let (problems, ask) = (problems(), Ask::default());
    let cold = solve_many(&problems, &ask, threads(2));
    let cold: Vec<Solution> = cold.into_iter().map(Result::unwrap).collect();
    let mut warm_starts: Vec<Option<&[f64]>> = cold.iter().map(|solution| Some(&*solution.prices)).collect();
    warm_starts[0] = None;
    let answers = Mutex::new(vec![None; problems.len()]);
    let problems: Vec<&Problem> = problems.iter().collect();
    Batch::with_starts(&problems, &warm_starts).unwrap().solve(&ask, threads(2), &answers);
    for (number, (answer, cold)) in answers.into_inner().unwrap().into_iter().zip(&cold).enumerate() {
        let iterations = answer.unwrap().unwrap().iterations;
        assert_eq!(iterations, if number == 0 { cold.iterations } else { 0 }, "{number}");
    }
    let error = Batch::with_starts(&problems, &warm_starts[1..]).unwrap_err().to_string();
    assert_eq!(error, "warm_start has 9 entries, expected 10, one per problem");
}

/// Wants no more once it has two answers.
struct Two(AtomicUsize);

impl BatchObserver for Two {
    fn is_wanted(&self, _problem: usize) -> bool {
        self.0.load(Ordering::SeqCst) < 2
    }
    fn on_solution(&self, _problem: usize, answer: Result<Solution>) {
        let _ = answer.unwrap();
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn an_overseer_that_has_enough_ends_the_batch() {
    let (problems, two) = (problems(), Two(AtomicUsize::new(0)));
    let problems: Vec<&Problem> = problems.iter().collect();
    Batch::new(&problems).solve(&Ask::default(), threads(1), &two);
    assert_eq!(two.0.into_inner(), 2);
}
