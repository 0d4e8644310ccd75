//! One problem under many demands and capacities: the answers are those of problems built one by one, for any threads.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use netnum_core::{AlphaFair, Ask, KShortest, Paths, Problem, Result, Solution, Status, StopToken, Topology, solve};
use netnum_parallel::{Batch, BatchObserver, Scenarios};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Answers = Mutex<Vec<Option<Result<Solution>>>>;

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// Three paths for each pair of ends, and demands for so many scenarios.
fn network(scenarios: usize) -> (Problem, Vec<f64>) {
    let net = Topology::leaf_spine(3, 2, 3, 1.0, 1.0).unwrap();
    let pairs = (0..net.ends()).flat_map(|one| (0..net.ends()).map(move |other| (one, other)));
    let (sources, destinations): (Vec<usize>, Vec<usize>) = pairs.filter(|(one, other)| one != other).unzip();
    let (paths, group) = net.k_shortest_paths(&sources, &destinations, &KShortest::new(3)).unwrap();
    let problem = Problem::grouped(net.capacities().to_vec(), paths, group, AlphaFair::proportional()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let caps = (0..scenarios * problem.flows()).map(|_| rng.random_range(0.01..0.5)).collect();
    (problem, caps)
}

fn answers(scenarios: &Batch<'_>, ask: &Ask, count: usize) -> Vec<Result<Solution>> {
    let answers: Answers = Mutex::new((0..scenarios.count()).map(|_| None).collect());
    scenarios.solve(ask, threads(count), &answers);
    answers.into_inner().unwrap().into_iter().map(Option::unwrap).collect()
}

#[test]
fn scenarios_have_the_answers_of_problems_built_one_by_one() {
    let (problem, caps) = network(40);
    let links = problem.links();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut capacities: Vec<f64> = (0..40 * links).map(|_| rng.random_range(0.5..2.0)).collect();
    // Some links fail in some of them.
    (0..40).step_by(3).for_each(|scenario| capacities[scenario * links + scenario % links] = 0.0);
    let ask = Ask::default();
    for (flow_caps, capacities) in
        [(Some(&*caps), None), (None, Some(&*capacities)), (Some(&*caps), Some(&*capacities))]
    {
        let scenarios =
            Batch::scenarios(&problem, Scenarios { flow_caps, capacities, ..Scenarios::default() }).unwrap();
        for (scenario, found) in answers(&scenarios, &ask, 2).into_iter().enumerate() {
            let (found, alone) = (found.unwrap(), solve(&scenarios.problem(scenario).unwrap(), &ask).unwrap());
            assert_eq!(found.status, Status::Optimal, "scenario {scenario}: {found}");
            assert_eq!(found.failed_flows, alone.failed_flows, "scenario {scenario}");
            for (one, other) in found.flow_rates.iter().zip(&alone.flow_rates) {
                assert!((one - other).abs() <= 3e-3 * other, "scenario {scenario}: {one} and {other}");
            }
        }
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let (problem, caps) = network(50);
    for method in ["auto", "fast-ned"] {
        let ask = Ask::by(method);
        let flow_caps = Some(&*caps);
        let scenarios = Batch::scenarios(&problem, Scenarios { flow_caps, ..Scenarios::default() }).unwrap();
        let bits = |count| -> Vec<(Vec<u64>, usize)> {
            let bits = |solution: Solution| {
                let all = solution.rates.iter().chain(&solution.prices).map(|value| value.to_bits());
                (all.collect(), solution.iterations)
            };
            answers(&scenarios, &ask, count).into_iter().map(|answer| bits(answer.unwrap())).collect()
        };
        assert_eq!(bits(1), bits(3), "{method}");
    }
}

#[test]
fn groups_by_themselves_have_the_bits_of_all_scenarios() {
    let ask = Ask::by("fast-ned");
    for count in [7, 50] {
        let (problem, caps) = network(count);
        let given = |caps| Scenarios { flow_caps: Some(caps), ..Scenarios::default() };
        let of = |caps| Batch::scenarios(&problem, given(caps)).unwrap();
        let mut in_groups = Vec::new();
        for rows in caps.chunks(of(&caps).together() * problem.flows()) {
            in_groups.extend(answers(&of(rows).by_one_solver(), &ask, 1));
        }
        let together = answers(&of(&caps), &ask, 2);
        assert_eq!(in_groups.len(), together.len());
        for (one, other) in in_groups.into_iter().zip(together) {
            let (one, other) = (one.unwrap(), other.unwrap());
            assert_eq!((one.iterations, one.rates, one.prices), (other.iterations, other.rates, other.prices));
        }
    }
}

#[test]
fn matrices_that_do_not_fit_and_bad_entries_are_named() {
    let paths = Paths::from_lists([[0], [0]]);
    let problem = Problem::new(vec![1.0], paths, AlphaFair::proportional()).unwrap();
    let ask = Ask::default();
    let of =
        |flow_caps, capacities| Batch::scenarios(&problem, Scenarios { flow_caps, capacities, ..Scenarios::default() });
    let count =
        |flow_caps, capacities| of(flow_caps, capacities).map(|of| of.count()).map_err(|error| error.to_string());
    assert_eq!(count(Some(&[1.0; 6][..]), Some(&[1.0; 3][..])), Ok(3));
    assert_eq!(count(Some(&[][..]), None), Ok(0));
    assert_eq!(count(Some(&[1.0; 5][..]), None).unwrap_err(), "flow_caps has 1 entries, expected 2, one per flow");
    let rows = "capacities has 2 entries, expected 3, one per row of flow_caps";
    assert_eq!(count(Some(&[1.0; 6][..]), Some(&[1.0; 2][..])).unwrap_err(), rows);
    let none = "scenarios is none, expected a matrix of flow caps, floors, costs or capacities";
    assert_eq!(count(None, None).unwrap_err(), none);
    let caps = [1.0, 1.0, 1.0, -1.0];
    let wrong = answers(&of(Some(&caps), None).unwrap(), &ask, 1);
    assert!(wrong[0].is_ok());
    let message = wrong[1].as_ref().unwrap_err().to_string();
    assert_eq!(message, "flow 1 has flow cap -1, expected a number >= 0 (inf for none)");
}

#[test]
fn scenarios_have_floors_and_costs_of_their_own() {
    let paths = Paths::from_lists([[0], [1], [1]]);
    let problem = Problem::grouped(vec![2.0, 2.0], paths, vec![0, 0, 1], AlphaFair::proportional()).unwrap();
    // The first floor is above the old cap.
    let problem = problem.with_flow_caps(vec![1.0, 1.0]).unwrap();
    let (caps, floors, costs) = ([4.0; 4], [3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 10.0, 0.0]);
    let given = Scenarios {
        flow_caps: Some(&caps),
        flow_floors: Some(&floors),
        path_costs: Some(&costs),
        ..Scenarios::default()
    };
    let found = answers(&Batch::scenarios(&problem, given).unwrap(), &Ask::default(), 1);
    for (found, expected) in found.into_iter().zip([[3.0, 1.0], [2.0, 2.0]]) {
        let found = found.unwrap().flow_rates;
        assert!(found.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-3), "{found:?}");
    }
}

/// Wants the first few, and stops the next one.
struct Few(Mutex<Vec<usize>>);

impl BatchObserver for Few {
    fn is_wanted(&self, scenario: usize) -> bool {
        scenario < 3
    }
    fn on_solution(&self, scenario: usize, answer: Result<Solution>) {
        assert_eq!(answer.unwrap().status, Status::Optimal);
        self.0.lock().unwrap().push(scenario);
    }
}

#[test]
fn scenarios_that_are_not_wanted_do_not_begin_and_a_token_stops_all() {
    let (problem, caps) = network(40);
    let ask = Ask::default();
    let flow_caps = Some(&*caps);
    let scenarios = Batch::scenarios(&problem, Scenarios { flow_caps, ..Scenarios::default() }).unwrap();
    let few = Few(Mutex::new(vec![]));
    scenarios.solve(&ask, threads(1), &few);
    assert_eq!(few.0.into_inner().unwrap(), [0, 1, 2]);
    let (stop, answers): (_, Answers) = (StopToken::new(), Mutex::new((0..40).map(|_| None).collect()));
    stop.stop();
    stop.scope(|| scenarios.solve(&ask, threads(2), &answers));
    let answers = answers.into_inner().unwrap();
    assert!(answers.iter().flatten().all(|answer| answer == &Err(netnum_core::Error::Stopped)), "{answers:?}");
}
