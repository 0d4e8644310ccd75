//! Problems whose flows several ranks hold: the same answer as of one process, and no rank that waits for another.

use crate::common;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::common::random::random_problem;
use crate::common::read_case;
use netnum_core::internal::{Call, on_ranks, solve_on as solve_with, thread_ranks};
use netnum_core::*;
use serde_json::{Value, json};

/// Every `ranks`-th flow of a problem, with all its paths; and the numbers of these paths.
fn part(problem: &Problem, rank: usize, ranks: usize) -> (Problem, Vec<usize>) {
    let mut file: Value = serde_json::from_str(&problem.to_json().unwrap()).unwrap();
    let own = |flow: usize| flow % ranks == rank;
    let paths: Vec<usize> = (0..problem.paths().len()).filter(|&path| own(problem.group()[path] as usize)).collect();
    let lists: Vec<&[u32]> = paths.iter().map(|&path| problem.paths().links(path)).collect();
    file["paths"] = json!(lists);
    file["group"] = json!(paths.iter().map(|&path| problem.group()[path] as usize / ranks).collect::<Vec<_>>());
    let keep = |column: &mut Value, kept: &dyn Fn(usize) -> bool| {
        if let Some(values) = column.as_array_mut() {
            let mut place = 0;
            values.retain(|_| (kept(place), place += 1).0);
        }
    };
    if let Some(coefficient) = file.get_mut("coefficient") {
        keep(coefficient, &|path| own(problem.group()[path] as usize));
    }
    if let Some(cap) = file.get_mut("cap") {
        keep(cap, &|path| own(problem.group()[path] as usize));
    }
    if let Some(cap) = file.get_mut("flow_cap") {
        keep(cap, &own);
    }
    file["utility"].as_object_mut().unwrap().values_mut().for_each(|column| keep(column, &own));
    (Problem::from_json(&file.to_string()).unwrap(), paths)
}

/// Solves the part of a rank.
fn solve_part(problem: &Problem, ranks: &Ranks, ask: Ask, observer: &mut dyn Observer) -> Result<Solution> {
    let ask = ask.with_workers(Arc::new(ranks.clone()));
    solve_with(problem, &ask, observer, None).map(|(solution, _)| solution)
}

/// The solution of the whole, put together from those of the ranks, which agree on all that is not of a flow.
fn solve_on(problem: &Problem, ranks: usize, method: &str, settings: &Settings) -> Result<Solution> {
    let parts: Vec<_> = (0..ranks).map(|rank| part(problem, rank, ranks)).collect();
    let found = on_ranks(ranks, |rank, all| {
        solve_part(&parts[rank].0, all, Ask::by(method).with_settings(settings.clone()), &mut ())
    });
    let found: Vec<Solution> = found.into_iter().collect::<Result<_>>()?;
    let first = &found[0];
    let mut rates = vec![f64::NAN; problem.paths().len()];
    for (solution, (_, paths)) in found.iter().zip(&parts) {
        assert_eq!((solution.status, solution.iterations), (first.status, first.iterations));
        assert_eq!((&solution.prices, &solution.loads), (&first.prices, &first.loads));
        assert_eq!(solution.certificate, first.certificate);
        assert_eq!(solution.objective.to_bits(), first.objective.to_bits());
        paths.iter().zip(&solution.rates).for_each(|(&path, &rate)| rates[path] = rate);
    }
    let mut whole = found.into_iter().next().unwrap();
    whole.rates = rates;
    Ok(whole)
}

fn alone(problem: &Problem, method: &str, settings: &Settings) -> Result<Solution> {
    Solver::new(problem, &Ask::by(method))?.run(settings, &mut ())
}

/// Compares rates relative to the larger of the rate and a part of the largest, and certifies the whole again.
fn assert_same(name: &str, problem: &Problem, found: &Solution, expected: &Solution, tolerance: f64) {
    assert_eq!(found.status, expected.status, "{name}: {found} and {expected}");
    let again = certify(problem, &found.rates, &found.prices).unwrap();
    assert!(again.overload <= 1e-9, "{name}: {again:?}");
    if found.status == Status::Optimal {
        let stated = found.certificate;
        let gap = again.relative_gap - stated.relative_gap;
        assert!(gap.abs() <= 1e-12 + 1e-3 * stated.relative_gap, "{name}: {again:?}, {stated:?}");
        let residual = again.kkt_residual - stated.kkt_residual;
        assert!(residual.abs() <= 1e-9 + 1e-3 * stated.kkt_residual, "{name}: {again:?}, {stated:?}");
        for (path, (&rate, &then)) in found.rates.iter().zip(&expected.rates).enumerate() {
            assert!((rate - then).abs() <= tolerance * then.max(rate), "{name}, path {path}: {rate} and {then}");
        }
    }
}

const CASES: &[&str] = &[
    "abilene-a1",
    "bits-per-second-a5",
    "caps-all-binding",
    "caps-random",
    "fattree-k8-a2-weighted",
    "incast",
    "leafspine-mixed-alpha-weights",
    "leafspine-n1500-a1-up10",
    "leafspine-n500-a2-up40",
    "parkinglot-n3-a1",
    "leafspine-weights-6-decades",
    "mixed-kinds",
    "leafspine-fct",
    "single-equal-4",
];

#[test]
fn one_rank_has_the_bits_of_one_process() {
    for method in ["fast-ned", "ned"] {
        for name in ["abilene-a1", "caps-random", "leafspine-mixed-alpha-weights"] {
            let (problem, _) = read_case(name);
            let found = solve_on(&problem, 1, method, &Settings::default()).unwrap();
            let expected = alone(&problem, method, &Settings::default()).unwrap();
            let certificates = (found.certificate, expected.certificate);
            assert_eq!((found.rates, found.prices), (expected.rates, expected.prices), "{method} {name}");
            assert_eq!(certificates.0, certificates.1, "{method} {name}");
        }
    }
}

#[test]
fn reference_cases_have_the_rates_of_one_process_on_two_to_four_ranks() {
    let settings = Settings::default().with_stop(Stop::Kkt).with_tol(1e-8).with_max_iterations(4000);
    for name in CASES {
        let (problem, _) = read_case(name);
        for ranks in [2, 3, 4] {
            let found = solve_on(&problem, ranks, "fast-ned", &settings).unwrap();
            let expected = alone(&problem, "fast-ned", &settings).unwrap();
            assert_same(&format!("{name}, {ranks} ranks"), &problem, &found, &expected, 1e-6);
        }
    }
}

#[test]
fn every_rule_runs_over_ranks() {
    let (problem, _) = read_case("leafspine-n400-a0.5-up10");
    let (equal, _) = read_case("leafspine-n100-a1-up10");
    let settings = Settings::default().with_tol(1e-5).with_stop(Stop::Kkt).with_max_iterations(20_000);
    for (method, problem) in [("ned", &problem), ("gradient", &equal), ("fgm", &equal), ("rcp", &equal)] {
        let found = solve_on(problem, 3, method, &settings).unwrap();
        let expected = alone(problem, method, &settings).unwrap();
        assert_same(method, problem, &found, &expected, 1e-3);
    }
}

#[test]
fn random_problems_have_the_same_status_and_proof_as_in_one_process() {
    let settings = Settings::default().with_max_iterations(300);
    let (mut solved, mut refused) = (0, 0);
    for seed in 0..60 {
        let (name, problem) = random_problem(seed);
        if problem.curvature() != Curvature::Strict {
            refused += 1;
            continue;
        }
        let expected = alone(&problem, "fast-ned", &settings).unwrap();
        let found = solve_on(&problem, 1 + seed as usize % 4, "fast-ned", &settings).unwrap();
        let again = certify(&problem, &found.rates, &found.prices).unwrap();
        // Sums in another order: a solve that ends at the limit may just as well have ended before it.
        if found.status == Status::Optimal {
            assert!(again.relative_gap <= 1.01e-6 && again.kkt_residual <= 1.01e-3, "{name}: {again:?}");
        }
        solved += usize::from(found.status == Status::Optimal && expected.status == Status::Optimal);
        assert!((found.iterations as f64 - expected.iterations as f64).abs() <= 100.0, "{name}: {found}, {expected}");
    }
    assert!(solved >= 25 && refused > 0, "{solved} solved, {refused} not concave");
}

#[test]
fn flows_with_coefficients_on_some_ranks_or_all_are_solved_as_in_one_process() {
    let settings = Settings::default().with_tol(1e-8).with_stop(Stop::Gap).with_max_iterations(5000);
    for (name, several) in [("leafspine-n500-a2-up40", false), ("pooling-leafspine-s4-a1", true)] {
        let (ones, _) = read_case(name);
        for every in [1, 3] {
            let mut coefficients = Vec::new();
            for path in 0..ones.paths().len() {
                let flow = ones.group()[path] as usize;
                let own =
                    |link: &u32| if flow.is_multiple_of(every) { 0.5 + f64::from(link * 7 % 10) / 10.0 } else { 1.0 };
                coefficients.extend(ones.paths().links(path).iter().map(own));
            }
            let (indptr, indices) = (ones.paths().indptr().to_vec(), ones.paths().indices().to_vec());
            let mut file: Value = serde_json::from_str(&ones.to_json().unwrap()).unwrap();
            let paths = Paths::with_coefficients(indptr, indices, coefficients).unwrap();
            let lists = (0..paths.len()).map(|path| {
                let own = paths.indptr()[path]..paths.indptr()[path + 1];
                paths.coefficients().unwrap()[own].to_vec()
            });
            file["coefficient"] = json!(lists.collect::<Vec<_>>());
            let problem = Problem::from_json(&file.to_string()).unwrap();
            // The slow tail of several paths is not for such a tolerance.
            let settings = if several { settings.clone().with_tol(1e-4) } else { settings.clone() };
            let found = solve_on(&problem, 3, "fast-ned", &settings).unwrap();
            let expected = alone(&problem, "fast-ned", &settings).unwrap();
            assert_eq!(expected.status, Status::Optimal, "{name}: {expected}");
            assert_same(name, &problem, &found, &expected, if several { 0.1 } else { 1e-3 });
        }
    }
}

#[test]
fn the_same_ranks_give_the_same_bits_again() {
    let (problem, _) = read_case("leafspine-n1500-a1-up10");
    let solve = || solve_on(&problem, 3, "fast-ned", &Settings::default()).unwrap();
    assert_eq!((solve().rates, solve().prices), (solve().rates, solve().prices));
}

#[test]
fn flat_directions_are_those_of_all_flows() {
    let net = Topology::leaf_spine(80, 4, 4, 10.0, 13.0).unwrap();
    let (sources, destinations) = net.random_pairs(8000, 3).unwrap();
    let paths = net.ecmp(&sources, &destinations, 3).unwrap();
    let capacities: Vec<f64> =
        net.capacities().iter().enumerate().map(|(link, c)| c * (1.0 + 0.1 * (link % 5) as f64)).collect();
    let problem = Problem::new(capacities, paths, AlphaFair::proportional()).unwrap();
    let expected = alone(&problem, "fast-ned", &Settings::default()).unwrap();
    let found = solve_on(&problem, 3, "fast-ned", &Settings::default()).unwrap();
    assert_eq!((found.status, found.iterations), (Status::Optimal, expected.iterations));
}

#[test]
fn a_rank_may_have_no_flows() {
    let (problem, _) = read_case("parkinglot-n3-a1");
    let settings = Settings::default().with_tol(1e-9);
    let many = problem.flows() + 2;
    let found = solve_on(&problem, many, "fast-ned", &settings).unwrap();
    assert_same("more ranks than flows", &problem, &found, &alone(&problem, "fast-ned", &settings).unwrap(), 1e-3);
}

/// The errors of two ranks that are given their own problem, method, options and settings.
fn errors(
    of: impl Fn(usize) -> (Problem, &'static str, BTreeMap<String, f64>, Settings) + Sync,
    observer: impl Fn(usize) -> bool + Sync,
) -> Vec<String> {
    on_ranks(2, |rank, ranks| {
        let (problem, method, options, settings) = of(rank);
        let mut goes_on =
            |_: &Progress| if observer(rank) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let ask = Ask::by(method).with_options(&options).with_settings(settings);
        match solve_part(&problem, ranks, ask, &mut goes_on) {
            Ok(solution) => solution.status.to_string(),
            Err(error) => error.to_string(),
        }
    })
}

fn one_link(capacity: f64) -> Problem {
    Problem::new(vec![capacity, 1.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap()
}

#[test]
fn what_differs_between_ranks_is_named_on_all() {
    let plain = || (one_link(1.0), "fast-ned", BTreeMap::new(), Settings::default());
    let both = |text: &str| vec![format!("the ranks differ: {text}"); 2];
    let of = |rank| (one_link(1.0 + rank as f64), plain().1, plain().2, plain().3);
    assert_eq!(errors(of, |_| true), both("link 0 has capacity 1 on rank 0, and capacity 2 on rank 1"));
    let of = |rank| (plain().0, ["ned", "fast-ned"][rank], plain().2, plain().3);
    let text = "the method is \"ned\" on rank 0, and the method is \"fast-ned\" on rank 1";
    assert_eq!(errors(of, |_| true), both(text));
    let of = |rank| (plain().0, "ned", common::options(&[("gamma", [0.4, 0.5][rank])]), plain().3);
    assert_eq!(errors(of, |_| true), both("option \"gamma\" is 0.4 on rank 0, and option \"gamma\" is 0.5 on rank 1"));
    let of = |rank| (plain().0, plain().1, plain().2, Settings::default().with_tol([1e-6, 1e-8][rank]));
    assert_eq!(errors(of, |_| true), both("tol is 1e-6 on rank 0, and tol is 1e-8 on rank 1"));
    let of = |rank| {
        let problem = Problem::new(vec![1.0; 1 + rank], Paths::from_lists([[0]]), AlphaFair::proportional()).unwrap();
        (problem, plain().1, plain().2, plain().3)
    };
    assert_eq!(errors(of, |_| true), both("there are 1 links on rank 0, and there are 2 links on rank 1"));
}

#[test]
fn a_rank_that_fails_is_named_on_the_others() {
    let linear = |rank: usize| {
        let paths = Paths::from_lists([[0], [0]]);
        let utilities: Utilities =
            if rank == 1 { Linear::new(1.0).unwrap().into() } else { AlphaFair::proportional().into() };
        (Problem::new(vec![1.0, 1.0], paths, utilities).unwrap(), "fast-ned", BTreeMap::new(), Settings::default())
    };
    let found = errors(linear, |_| true);
    let text = "method \"fast-ned\" cannot take linear utilities; solve the whole problem in one process";
    assert_eq!(found[1], text);
    assert_eq!(found[0], format!("rank 1 has failed: {}", found[1]));
    let newton = |_| (one_link(1.0), "newton", BTreeMap::new(), Settings::default());
    let text = "method \"newton\" cannot take a part of a problem; use \"fast-ned\", which moves prices by a rule";
    assert_eq!(errors(newton, |_| true), [text; 2]);
}

#[test]
fn a_rank_that_is_stopped_stops_all() {
    let (problem, _) = read_case("leafspine-n1500-a1-up10");
    let found = on_ranks(3, |rank, ranks| {
        let part = part(&problem, rank, 3).0;
        let token = StopToken::new();
        let mut observer = |progress: &Progress| {
            if rank == 2 && progress.iteration == 3 {
                token.stop();
            }
            ControlFlow::Continue(())
        };
        let solve = || solve_part(&part, ranks, Ask::by("fast-ned"), &mut observer);
        token.scope(solve).unwrap_err().to_string()
    });
    let stopped = "stopped before there was an answer";
    let failed = format!("rank 2 has failed: {stopped}");
    assert_eq!(found, [&failed, &failed, stopped]);
}

#[test]
fn an_observer_that_breaks_on_one_rank_ends_the_solve_on_all() {
    let of = |_| (read_case("leafspine-n400-a0.5-up10").0, "gradient", BTreeMap::new(), Settings::default());
    assert_eq!(errors(of, |rank| rank == 0), ["stopped"; 2]);
}

#[test]
fn a_panic_of_a_rank_is_told_to_the_others() {
    let found = thread::scope(|scope| {
        let threads: Vec<_> = thread_ranks(2)
            .into_iter()
            .map(|ranks| {
                scope.spawn(move || {
                    assert_ne!(ranks.rank(), 1, "on purpose");
                    ranks.agree()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().map_err(drop)).collect::<Vec<_>>()
    });
    let expected = Error::RankFailed { rank: 1, what: "a panic".into() };
    assert_eq!(found, [Ok(Err(expected)), Err(())]);
}

#[test]
fn ranks_at_different_steps_do_not_mix_their_numbers() {
    let found = on_ranks(2, |rank, ranks| if rank == 0 { ranks.sum(&mut [1.0]) } else { ranks.sum(&mut [1.0, 2.0]) });
    let what = "they are at different steps of one call: the sum of 1 number on rank 0, and the sum \
                of 2 numbers on rank 1"
        .to_string();
    assert_eq!(found, vec![Err(Error::RanksDiffer { link: None, what }); 2]);
    let found = on_ranks(2, |rank, ranks| if rank == 0 { ranks.agree() } else { ranks.max(&mut [1.0, 2.0]) });
    let text = found[0].as_ref().unwrap_err().to_string();
    assert!(text.ends_with("the end of a call on rank 0, and the largest of 2 numbers on rank 1"), "{text}");
    let found = on_ranks(2, |rank, ranks| {
        ranks.together([Call::Solve, Call::Tick][rank], || ranks.sum(&mut [1.0])).map_err(|error| error.to_string())
    });
    assert_eq!(found, vec![Err("the ranks differ: solve is called on rank 0, and tick is called on rank 1".into()); 2]);
}

/// A communicator that several `Ranks` share; it fails where its text is set.
#[derive(Clone)]
struct Shared {
    ranks: Ranks,
    begun: Arc<AtomicUsize>,
    failure: Arc<OnceLock<String>>,
}

impl Shared {
    fn new(ranks: &Ranks) -> Self {
        Self { ranks: ranks.clone(), begun: Arc::default(), failure: Arc::default() }
    }
}

impl AllReduce for Shared {
    fn rank(&self) -> usize {
        self.ranks.rank()
    }

    fn ranks(&self) -> usize {
        self.ranks.ranks()
    }

    fn sum(&mut self, values: &mut [f64]) -> Result<()> {
        self.ranks.sum(values)
    }

    fn max(&mut self, values: &mut [f64]) -> Result<()> {
        self.ranks.max(values)
    }

    fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }

    fn begun(&self) -> Arc<AtomicUsize> {
        self.begun.clone()
    }
}

#[test]
fn several_on_one_communicator_do_not_mix_their_numbers() {
    let found = on_ranks(2, |rank, ranks| {
        let comm = Shared::new(ranks);
        let [one, other] = [Ranks::new(comm.clone()), Ranks::new(comm)];
        // Whichever begins first is the first one: here the other.
        other.sum(&mut [1.0]).unwrap();
        one.sum(&mut [1.0]).unwrap();
        let (first, second) = if rank == 0 { (&one, &other) } else { (&other, &one) };
        let tick = |ranks: &Ranks| ranks.together(Call::Tick, || ranks.sum(&mut [1.0])).unwrap_err().to_string();
        [tick(first), tick(second)]
    });
    let text = |one, other| {
        format!(
            "the ranks differ: tick is called for different allocators or solves, by the order in which these were \
             made: that of number {one} on rank 0, and that of number {other} on rank 1"
        )
    };
    assert_eq!(found, vec![[text(2, 1), text(1, 2)]; 2]);
}

#[test]
fn what_has_failed_without_an_error_is_told_before_the_next_reduction() {
    let found = on_ranks(2, |rank, ranks| {
        let comm = Shared::new(ranks);
        let failure = comm.failure.clone();
        let ranks = Ranks::new(comm);
        ranks.sum(&mut [1.0]).unwrap();
        if rank == 1 {
            failure.set("its utility has raised".into()).unwrap();
        }
        // What else goes wrong on that rank follows from it.
        let wrong = || if rank == 1 { Err(Error::Stopped) } else { ranks.sum(&mut [1.0]) };
        [ranks.together(Call::Solve, wrong), ranks.sum(&mut [1.0])]
    });
    let told = Err(Error::RankFailed { rank: 1, what: "its utility has raised".into() });
    assert_eq!(found, [[told.clone(), told.clone()], [Err(Error::Stopped), told.clone()]]);
    let found = on_ranks(2, |rank, ranks| {
        let comm = Shared::new(ranks);
        if rank == 1 {
            comm.failure.set("its utility has raised".into()).unwrap();
        }
        Ranks::new(comm).sum(&mut [1.0])
    });
    assert_eq!(found, vec![told; 2]);
}

#[test]
fn a_number_that_is_none_is_seen_by_all_ranks() {
    let found = on_ranks(2, |rank, ranks| {
        let mut values = [[f64::NAN, 1.0], [2.0, -3.0]][rank];
        ranks.min(&mut values).unwrap();
        values
    });
    assert!(found.iter().all(|[nan, least]| nan.is_nan() && *least == -3.0));
}

#[test]
fn a_number_on_one_rank_is_not_the_same_as_nan_on_another() {
    let check = |values: [[f64; 2]; 2]| on_ranks(2, |rank, ranks| ranks.check_same_links(&values[rank], "price"));
    assert_eq!(check([[f64::NAN, 1.0]; 2]), vec![Ok(()); 2]);
    let nan_here = ([[1.0, f64::NAN], [1.0, 2.0]], "price NaN on rank 0, and price 2 on rank 1");
    let nan_there = ([[1.0, 2.0], [1.0, f64::NAN]], "price 2 on rank 0, and price NaN on rank 1");
    for (values, what) in [nan_here, nan_there] {
        assert_eq!(check(values), vec![Err(Error::RanksDiffer { link: Some(1), what: what.into() }); 2]);
    }
}

#[test]
fn values_that_differ_are_named_with_their_ranks() {
    let said = |values: &[f64]| {
        let found = on_ranks(values.len(), |rank, ranks| {
            let found = ranks.check_same(&["7".into(), values[rank].to_string()]);
            // All that follows returns the same.
            assert_eq!(ranks.agree(), found);
            found.unwrap_err().to_string()
        });
        assert!(found.iter().all(|text| *text == found[0]));
        found[0].strip_prefix("the ranks differ: ").unwrap().to_string()
    };
    assert_eq!(said(&[1.0, 1.0, 2.0, 1.0]), "1 on ranks 0, 1 and 3, and 2 on rank 2");
    assert_eq!(said(&[2.0, 1.0, 1.0, 1.0, 1.0]), "2 on rank 0, and 1 on rank 1 and 3 others");
    assert_eq!(said(&[f64::INFINITY, f64::NEG_INFINITY]), "inf on rank 0, and -inf on rank 1");
    assert_eq!(
        said(&[1.0, 2.0, 3.0, 4.0, 5.0]),
        "1 on rank 0, 2 on rank 1, 3 on rank 2, and other values on ranks 3 and 4"
    );
}

#[test]
fn a_solution_says_whose_part_it_is() {
    let (problem, _) = read_case("parkinglot-n3-a1");
    for ranks in [1, 2] {
        let found = on_ranks(ranks, |rank, all| {
            let part = part(&problem, rank, ranks).0;
            solve_part(&part, all, Ask::default(), &mut ()).unwrap()
        });
        for (rank, solution) in found.iter().enumerate() {
            let flows = solution.flow_rates.len();
            let expected = if ranks == 1 {
                format!("{flows} flows, 3 links")
            } else {
                format!("{flows} flows on rank {rank} of 2, 3 links")
            };
            assert!(solution.to_string().starts_with(&format!("Solution(optimal, {expected}, ")), "{solution}");
        }
    }
    let failed = Problem::new(vec![0.0], Paths::from_lists([[0], [0]]), AlphaFair::proportional()).unwrap();
    let found = on_ranks(2, |_, all| solve_part(&failed, all, Ask::default(), &mut ()).unwrap().to_string());
    assert!(found[1].contains("2 flows on rank 1 of 2, 1 link, 2 flows failed there, "), "{}", found[1]);
}

#[test]
fn a_failure_after_a_call_is_not_told_and_one_before_it_ends_is() {
    let found = on_ranks(2, |rank, ranks| {
        let sum = || ranks.call(Call::Solve, || ranks.sum(&mut [1.0]));
        sum()?;
        // Nobody is there to be told.
        ranks.fail("too late");
        let after = sum();
        let failed = ranks.call(Call::Solve, || if rank == 1 { Err(Error::Stopped) } else { Ok(()) });
        after.map(|()| failed)
    });
    let what = Error::Stopped.to_string();
    assert_eq!(found, [Ok(Err(Error::RankFailed { rank: 1, what })), Ok(Err(Error::Stopped))]);
}

#[test]
fn a_time_limit_ends_all_ranks_together() {
    let (problem, _) = read_case("leafspine-n1500-a1-up10");
    let limit = Duration::from_millis(50);
    let settings = Settings::default().with_tol(1e-15).with_time_limit(limit).with_max_iterations(usize::MAX);
    let found = solve_on(&problem, 2, "gradient", &settings).unwrap();
    assert_eq!(found.status, Status::TimeLimit);
    // So little time that there is no answer: it still says whose part it is.
    let found = solve_on(&problem, 2, "gradient", &settings.with_time_limit(Duration::ZERO)).unwrap();
    assert_eq!((found.status, found.part), (Status::TimeLimit, Some((0, 2))));
}
