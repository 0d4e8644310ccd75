//! Any problem that can be built ends in a status or a typed error: no panic, no NaN, no endless loop.

use crate::common;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{any_problem, gamma};
use netnum_core::*;
use proptest::prelude::*;

type Options = BTreeMap<String, f64>;

fn ends_well(problem: &Problem, method: &str, options: &Options) -> Result<Option<Error>, TestCaseError> {
    let settings = Settings::default().with_tol(1e-7).with_max_iterations(300);
    let solution = match Solver::new(problem, &Ask::by(method).with_options(options))
        .and_then(|mut solver| solver.run(&settings, &mut ()))
    {
        Ok(solution) => solution,
        Err(error) => {
            prop_assert!(!error.to_string().is_empty());
            return Ok(Some(error));
        }
    };
    let numbers = [&solution.rates, &solution.flow_rates, &solution.prices, &solution.loads];
    prop_assert!(numbers.into_iter().flatten().all(|value| value.is_finite() && *value >= 0.0), "{solution:?}");
    prop_assert!(!solution.certificate.relative_gap.is_nan(), "{solution:?}");
    prop_assert!(!solution.objective.is_nan(), "{solution:?}");
    for (load, capacity) in solution.loads.iter().zip(problem.capacities()) {
        prop_assert!(*load <= capacity * (1.0 + 1e-12));
    }
    for &flow in &solution.failed_flows {
        prop_assert_eq!(solution.flow_rates[flow as usize], 0.0);
    }
    if solution.status == Status::Optimal {
        prop_assert!(solution.certificate.relative_gap <= settings.tol);
    }
    Ok(None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn twelve_decades_end_in_a_status(problem in any_problem(12, false)) {
        let methods = [
            ("fast-ned", None), ("ned", None), ("ned", Some(1.5)), ("gradient", None), ("fgm", None),
            ("newton-like", None), ("newton-like", Some(1.5)), ("interior-point", None), ("auto", None),
            ("newton", None), ("newton", Some(3.0)), ("xwi", None),
        ];
        for (method, value) in methods {
            prop_assert_eq!(ends_well(&problem, method, &value.map(gamma).unwrap_or_default())?, None, "{}", method);
        }
        let plain = Options::from([("plain".to_string(), 1.0)]);
        prop_assert_eq!(ends_well(&problem, "newton", &plain)?, None);
        // Only where all flows share one alpha.
        ends_well(&problem, "rcp", &Options::new())?;
    }

    #[test]
    fn with_one_alpha_rcp_ends_in_a_status(
        problem in any_problem(12, false), alpha in 0.1f64..8.0, a in common::decades(-3, 3),
    ) {
        let utility = AlphaFair::new(alpha, 1.0).unwrap();
        let caps = (0..problem.paths().len()).map(|path| problem.rate_cap(path)).collect();
        let common = Problem::new(problem.capacities().to_vec(), problem.paths().clone(), utility).unwrap();
        let options = Options::from([("a".to_string(), a)]);
        prop_assert_eq!(ends_well(&common.with_rate_caps(caps).unwrap(), "rcp", &options)?, None);
    }

    #[test]
    fn several_paths_end_in_a_status_or_are_refused(problem in any_problem(12, true)) {
        for method in ["fast-ned", "interior-point", "auto"] {
            prop_assert_eq!(ends_well(&problem, method, &Options::new())?, None, "{}", method);
        }
        prop_assert_eq!(ends_well(&problem, "ned", &Options::new())?.is_none(), problem.is_single_path());
    }

    #[test]
    fn several_paths_by_xwi_end_in_a_status(problem in any_problem(12, true)) {
        prop_assert_eq!(ends_well(&problem, "xwi", &Options::new())?, None);
    }

    #[test]
    fn extreme_alpha_ends_in_a_status(
        alpha in prop_oneof![0.001f64..0.1, 10.0f64..300.0],
        capacities in prop::collection::vec(common::decades(-6, 13), 1..5),
        weights in prop::collection::vec(common::decades(-6, 6), 1..8),
    ) {
        let links = capacities.len() as u32;
        let path = |flow: u32| (0..links).filter(|l| (flow + l) % 3 != 1 || *l == flow % links).collect::<Vec<_>>();
        let lists = (0..weights.len() as u32).map(path);
        let paths = Paths::from_lists(lists);
        let problem = Problem::new(capacities, paths, AlphaFair::new(alpha, weights).unwrap()).unwrap();
        for method in ["fast-ned", "fgm", "newton-like", "rcp", "newton", "xwi", "interior-point", "auto"] {
            prop_assert_eq!(ends_well(&problem, method, &Options::new())?, None, "{}", method);
        }
    }

    #[test]
    fn fast_ned_solves_what_is_not_extreme(problem in any_problem(2, false)) {
        let settings = Settings::default().with_tol(1e-6).with_stop(Stop::Gap);
        let mut solver = Solver::new(&problem, &Ask::by("fast-ned")).unwrap();
        let solution = solver.run(&settings, &mut ()).unwrap();
        prop_assert_eq!(solution.status, Status::Optimal, "{}", solution);
    }
}

/// U' of the second flow falls by 6e-5 between no rate and all that its links let through. With momentum link by link,
/// and no memory of directions, prices circle the answer for ever.
#[test]
fn prices_do_not_circle_where_demand_all_but_jumps() {
    let fct = MinFct::new(0.133, 0.752).unwrap();
    let flat = BandwidthFunction::new(&[0.5, 0.6], &[0.0, 4605.9], 5.2, 0.0).unwrap();
    let utilities: Vec<Arc<dyn Utility>> = vec![Arc::new(fct), Arc::new(flat)];
    let paths = Paths::from_lists([vec![0], vec![0, 1, 2]]);
    let problem = Problem::new(vec![0.71, 0.463, 0.282], paths, utilities).unwrap();
    let mut solver = Solver::new(&problem, &Ask::by("fast-ned")).unwrap();
    let solution = solver.run(&Settings::default().with_tol(1e-6), &mut ()).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{solution}");
}
