//! A solve over several ranks: every rank has a part of the flows, and calls this with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::auto::{AUTO, FAST_NED};
use super::price::MakeRespond;
use super::{METHODS, Observer, Settings, Solution, Solver, Stop};
use crate::error::Result;
use crate::paths::parts::Parts;
use crate::problem::Problem;
use crate::ranks::{Call, Ranks};

/// How a part is solved: the same on all ranks, but for `respond`.
pub struct PartSetup<'a> {
    /// Who has the other parts.
    pub ranks: &'a Ranks,
    /// A method that moves prices by a rule, or `auto` for fast NED.
    pub method: &'a str,
    /// The method's own, by name.
    pub options: &'a BTreeMap<String, f64>,
    /// Prices to start from, one per link.
    pub prices: Option<&'a [f64]>,
    /// Makes the response to prices where it makes one, as of [`Solver::with_respond`].
    pub respond: Option<Arc<MakeRespond>>,
    /// Who does the parts of passes over the flows of this rank.
    pub parts: Arc<dyn Parts>,
}

impl std::fmt::Debug for PartSetup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PartSetup({}, {:?})", self.method, self.ranks)
    }
}

/// Solves a problem whose flows several ranks hold, over the same links: `problem` has all links, and the flows of this
/// rank. All ranks call it, and go on alike: iterations, prices, loads, objective, certificate and status of the
/// solution are those of the whole problem; rates, bottlenecks and failed flows those of the part. The paths of one
/// flow are on one rank, which may have no flows at all.
///
/// With the same number of ranks an answer has the same bits every time, if the sums of the communicator have. A time
/// limit ends it after the first step at whose end a rank's time is up; no step is broken off.
///
/// # Errors
/// [`Error::RanksDiffer`](crate::Error::RanksDiffer) for capacities, settings, options or prices that are not the same
/// on all ranks; [`Error::RankFailed`](crate::Error::RankFailed) on all ranks but those that failed, which have their
/// own: those of [`Solver::new`], [`Solver::warm_start`] and [`Solver::run`].
/// [`Error::Unsupported`](crate::Error::Unsupported) for a method that moves no prices by a rule.
pub fn solve_part(
    problem: &Problem,
    setup: &PartSetup<'_>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    setup.ranks.call(Call::Solve, || run(problem, setup, settings, observer))
}

fn run(problem: &Problem, setup: &PartSetup<'_>, settings: &Settings, observer: &mut dyn Observer) -> Result<Solution> {
    let began = Instant::now();
    settings.check()?;
    check_same(setup, settings)?;
    let mut solver = Solver::of_part(problem, setup)?;
    if let Some(prices) = setup.prices {
        solver.warm_start(prices)?;
    }
    solver.run_since(began, settings, observer)
}

/// # Errors
/// As [`solve_part`].
fn check_same(setup: &PartSetup<'_>, settings: &Settings) -> Result<()> {
    let PartSetup { ranks, options, prices, .. } = setup;
    let (names, stops) = (METHODS.iter().map(|method| method.name), [Stop::Rates, Stop::Gap, Stop::Kkt]);
    let names: Vec<&str> = names.collect();
    let method = if setup.method == AUTO { FAST_NED } else { setup.method };
    let place = |found: Option<usize>| found.map_or(-1.0, |place| place as f64);
    let given = [
        place(names.iter().position(|&name| name == method)),
        settings.tol,
        place(stops.iter().position(|&stop| stop == settings.stop)),
        settings.max_iterations as f64,
        settings.time_limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64()),
        f64::from(settings.trace),
        prices.map_or(0.0, |prices| prices.len() as f64),
        options.len() as f64,
    ];
    ranks.check_same(&given, |place, value| match place {
        0 => format!("the method is {:?}", names.get(value as usize).filter(|_| value >= 0.0).unwrap_or(&"unknown")),
        1 => format!("tol is {value:e}"),
        2 => format!("stop is {:?}", stops[value as usize].name()),
        3 => format!("max_iterations is {value}"),
        4 if value == f64::INFINITY => "there is no time limit".into(),
        4 => format!("the time limit is {value} s"),
        5 => if value > 0.0 { "there is a trace" } else { "there is no trace" }.into(),
        6 => format!("{value} prices are given to start from"),
        _ => format!("{value} options of the method are given"),
    })?;
    let names: Vec<f64> = options.keys().map(|name| hash(name)).collect();
    let own: Vec<(&String, f64)> = options.keys().zip(names.iter().copied()).collect();
    ranks.check_same(&names, |_, name| match own.iter().find(|(_, number)| *number == name) {
        Some((name, _)) => format!("option {name:?} is given"),
        None => "another option is given".into(),
    })?;
    let (names, values): (Vec<&String>, Vec<f64>) = options.iter().unzip();
    ranks.check_same(&values, |place, value| format!("option {:?} is {value}", names[place]))?;
    ranks.check_same_links(prices.unwrap_or_default(), "first price")
}

/// A number for a name, which a float holds: FNV-1a of 32 bits.
fn hash(name: &str) -> f64 {
    f64::from(name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
}
