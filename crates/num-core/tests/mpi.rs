//! A solve over the ranks of MPI: the program starts itself again by `mpiexec`, with two and three ranks.
//!
//! ```sh
//! cargo test -p netnum-core --features mpi --test mpi
//! ```
//!
//! `mpicc` is on the path and libclang is installed; for an MPI in a folder of its own, `LD_LIBRARY_PATH` names it.

use std::collections::BTreeMap;
use std::env;
use std::process::Command;
use std::sync::Arc;

use netnum_core::parts::InTurn;
use netnum_core::{AllReduce, AlphaFair, Error, MpiWorld, Paths, Problem, Ranks, Settings, Topology, solve};

/// Of the processes that `mpiexec` starts.
const IS_RANK: &str = "NETNUM_TEST_IS_RANK";

fn main() {
    if env::var_os(IS_RANK).is_some() {
        return run_rank();
    }
    let launcher = env::var("MPIEXEC").unwrap_or_else(|_| "mpiexec".into());
    for ranks in ["2", "3"] {
        let program = env::current_exe().expect("it has a name");
        let status = Command::new(&launcher).args(["-n", ranks]).arg(program).env(IS_RANK, "1").status();
        let status =
            status.unwrap_or_else(|error| panic!("{launcher}, or what MPIEXEC names, does not start: {error}"));
        assert!(status.success(), "{ranks} ranks: {status}");
        println!("{ranks} ranks: ok");
    }
}

/// Every n-th flow of a fabric on this rank: its rates are those of the whole, and what differs is named.
fn run_rank() {
    let _universe = mpi::initialize().expect("it is not initialized yet");
    let net = Topology::leaf_spine(6, 8, 4, 10.0, 40.0).unwrap();
    let (sources, destinations) = net.random_pairs(600, 1).unwrap();
    let paths = net.ecmp(&sources, &destinations, 1).unwrap();
    let problem = |paths: Paths| Problem::new(net.capacities().to_vec(), paths, AlphaFair::proportional()).unwrap();
    let settings = Settings::default().with_tol(1e-12);
    let solve_own = |paths: Paths, settings: &Settings| {
        let ranks = Arc::new(Ranks::new(MpiWorld::default()));
        solve(&problem(paths), &Ask::from(settings.clone()).with_workers(ranks))
    };
    let (rank, all) = (MpiWorld::default().rank(), MpiWorld::default().ranks());
    let own = |flow: &usize| flow % all == rank;
    let lists = (0..paths.len()).filter(own).map(|flow| paths.links(flow).to_vec());
    let own_paths = Paths::from_lists(lists.collect::<Vec<_>>());
    let found = solve_own(own_paths.clone(), &settings).unwrap();
    let whole = solve(&problem(paths.clone()), &settings.clone().into()).unwrap();
    for (flow, &rate) in (0..paths.len()).filter(own).zip(&found.rates) {
        assert!((rate - whole.rates[flow]).abs() <= 1e-6 * rate, "flow {flow}: {rate} and {}", whole.rates[flow]);
    }
    let differs = solve_own(own_paths, &settings.with_max_iterations(100 + rank));
    assert!(matches!(differs, Err(Error::RanksDiffer { .. })), "{differs:?}");
}
