//! Paths to begin with where demands follow prices: those that are cheapest on the way down the dual function.
//!
//! ```text
//! D(p) = Σ_l c_l p_l + Σ_f max over 0 ≤ y ≤ cap_f of [U_f(y) − y d_f(p)]     d_f(p): the price of the cheapest path
//! ∂D/∂p_l = c_l − x_l                     x: the loads of all flows with their demands at d, each on its cheapest path
//! ```
//!
//! Limited-memory BFGS over log p (Nocedal and Wright, *Numerical Optimization*, 2006, algorithm 7.4). D has a kink
//! wherever paths tie, and its minimum is not looked for: the paths that are cheapest at some prices on the way are
//! most of those that are wanted. A step takes a search, a hundredth of a solve.

use std::collections::VecDeque;

use super::cheapest_paths::{CheapestPaths, cheaper};
use super::first_paths::{LEAST, unless_stopped, volumes};
use super::missing::{Missing, finite_capacity, with_costs};
use crate::error::Result;
use crate::problem::Problem;
use crate::utility::Curvature;
use crate::work::Workers;

/// How often D is evaluated, and after how many evaluations the cheapest paths are added.
const EVALUATIONS: usize = 40;
const ADDED_EVERY: usize = 5;
/// As many steps are remembered.
const MEMORY: usize = 10;
/// A step lowers D by at least this part of what its slope says.
const LEAST_DECREASE: f64 = 1e-4;
/// A step that has to be so short ends at a kink of D, and the descent with it.
const SHORTEST: f64 = 0.01;
/// The most that a step changes the logarithm of a price, and the first one does.
const LARGEST: f64 = 3.0;
const FIRST: f64 = 1.0;

/// Whether rates follow prices: demands that may not all fit over any paths, as they take more than all capacity on
/// paths with the fewest links, those of the problem; and U' that falls no faster than that of log utilities. At a
/// larger α the poorest flows decide nearly all of D.
pub(super) fn serves(problem: &Problem) -> bool {
    let is_elastic = problem.blocks().iter().all(|block| {
        let is_elastic = |place| block.utility.alpha(place).is_some_and(|alpha| alpha <= 1.0);
        block.utility.curvature() == Curvature::Linear || (0..block.flows.len()).all(is_elastic)
    });
    if !is_elastic || problem.has_flow_floors() {
        return false;
    }
    let capacities = problem.capacities();
    let is_finite = |link: &&u32| capacities[**link as usize] < f64::INFINITY;
    let mut fewest = vec![usize::MAX; problem.flows()];
    for (path, &flow) in problem.group().iter().enumerate() {
        let links = problem.paths().links(path).iter().filter(is_finite).count();
        fewest[flow as usize] = fewest[flow as usize].min(links);
    }
    let takes = |(flow, &links): (usize, &usize)| if links > 0 { problem.flow_cap(flow) * links as f64 } else { 0.0 };
    let taken: f64 = fewest.iter().enumerate().map(takes).sum();
    taken > finite_capacity(capacities)
}

/// The problem with the cheapest paths of every flow at some prices on the way down; those found so far where the time
/// is up.
///
/// # Errors
/// Those of [`Missing::at`] but [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn descend(
    mut problem: Problem,
    all: &dyn CheapestPaths,
    reaches: &[f64],
    link_costs: &[f64],
    workers: &dyn Workers,
) -> Result<Problem> {
    let dual = Dual::new(problem.clone(), all, reaches, link_costs, workers);
    let at = |logs: Vec<f64>| unless_stopped(dual.at(logs));
    let add = |problem: &Problem, point: &Point| {
        let least = LEAST * point.prices.iter().copied().fold(0.0, f64::max);
        let prices: Vec<f64> = point.prices.iter().map(|price| price.max(least)).collect();
        let missing = Missing::at(problem, all, &prices, link_costs, &point.rates, workers);
        unless_stopped(missing.and_then(|missing| missing.added_to(problem, link_costs, 0.0)))
    };
    let Some(mut now) = at(vec![dual.first_log; problem.links()])? else { return Ok(problem) };
    let (mut steps, mut length) = (VecDeque::new(), 1.0);
    let mut way = direction(&now, &steps);
    for evaluation in 1..EVALUATIONS {
        let slope = dot(&way, &now.gradient);
        // At a minimum the slope is 0, or 0/0.
        if slope.is_nan() || slope >= 0.0 || length < SHORTEST {
            break;
        }
        let logs = now.logs.iter().zip(&way).map(|(log, way)| log + length * way).collect();
        let Some(next) = at(logs)? else { return Ok(problem) };
        if evaluation % ADDED_EVERY == 0 {
            let Some(more) = add(&problem, &next)? else { return Ok(problem) };
            problem = more;
        }
        if next.value.is_nan() || next.value > now.value + LEAST_DECREASE * length * slope {
            length *= 0.5;
            continue;
        }
        let step = Step::between(&now, &next);
        if step.curvature > 0.0 {
            steps.truncate(MEMORY - 1);
            steps.push_front(step);
        }
        (now, length) = (next, 1.0);
        way = direction(&now, &steps);
    }
    Ok(add(&problem, &now)?.unwrap_or(problem))
}

/// D over the paths of a network, in units of what flows pay about.
struct Dual<'a> {
    flows: Problem,
    all: &'a dyn CheapestPaths,
    /// The most that each flow can have, by its paths and its cap.
    most: Vec<f64>,
    /// What a path may cost: anything, or nothing where the flow can have nothing.
    any: Vec<f64>,
    link_costs: &'a [f64],
    workers: &'a dyn Workers,
    unit: f64,
    /// Of the price at which flows pay so much, for all links the same.
    first_log: f64,
}

/// D at the logarithms of prices, its gradient over these, and the demands of flows.
struct Point {
    logs: Vec<f64>,
    prices: Vec<f64>,
    rates: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl<'a> Dual<'a> {
    fn new(
        flows: Problem,
        all: &'a dyn CheapestPaths,
        reaches: &[f64],
        link_costs: &'a [f64],
        workers: &'a dyn Workers,
    ) -> Self {
        let most: Vec<f64> = (0..).zip(reaches).map(|(flow, reach)| reach.min(flows.flow_cap(flow))).collect();
        let any = most.iter().map(|&most| if most > 0.0 { f64::INFINITY } else { 0.0 }).collect();
        let volumes = volumes(&flows);
        let pays = flows.marginals(&volumes).into_iter().zip(&volumes).map(|(marginal, volume)| marginal * volume);
        // That of no rate is 0·∞.
        let paid: f64 = pays.filter(|pays| pays.is_finite()).sum();
        let whole = finite_capacity(flows.capacities());
        let unit = if paid.is_normal() && (paid / whole).is_normal() { paid } else { 1.0 };
        let first_log = (unit / whole).ln();
        Self { flows, all, most, any, link_costs, workers, unit, first_log }
    }

    fn at(&self, logs: Vec<f64>) -> Result<Point> {
        let Self { flows, all, any, link_costs, workers, unit, .. } = self;
        let capacities = flows.capacities();
        let price = |(log, capacity): (&f64, &f64)| if *capacity < f64::INFINITY { log.exp() } else { 0.0 };
        let prices: Vec<f64> = logs.iter().zip(capacities).map(price).collect();
        let costs = with_costs(&prices, link_costs);
        let found = cheaper(*all, capacities, &costs, any, *workers)?;
        let mut paid = vec![f64::INFINITY; flows.flows()];
        for (path, &flow) in found.flows.iter().enumerate() {
            paid[flow as usize] = found.paths.row(path).sum(&costs);
        }
        let rates = self.demands(&paid);
        let (mut loads, values) = (vec![0.0; capacities.len()], flows.values(&rates)?);
        let mut value = 0.0;
        for (path, &flow) in found.flows.iter().enumerate() {
            let (rate, flow) = (rates[flow as usize], flow as usize);
            value += values[flow] - rate * paid[flow];
            found.paths.row(path).add(rate, &mut loads);
        }
        let mut gradient = vec![0.0; capacities.len()];
        for (link, &price) in prices.iter().enumerate().filter(|(_, price)| **price > 0.0) {
            value += capacities[link] * price;
            gradient[link] = price * (capacities[link] - loads[link]) / unit;
        }
        Ok(Point { logs, prices, rates, value: value / unit, gradient })
    }

    /// What every flow demands at the price of its path.
    fn demands(&self, paid: &[f64]) -> Vec<f64> {
        let mut rates = vec![0.0; paid.len()];
        for block in self.flows.blocks() {
            let prices: Vec<f64> = block.flows.iter().map(|&flow| paid[flow as usize]).collect();
            let mut demands = vec![0.0; prices.len()];
            block.utility.demand_into(0..prices.len(), &prices, &mut demands);
            for (&flow, demand) in block.flows.iter().zip(demands) {
                let flow = flow as usize;
                rates[flow] = demand.min(self.most[flow]);
            }
        }
        rates
    }
}

/// A step, the change of the gradient over it, and their product.
struct Step {
    moved: Vec<f64>,
    changed: Vec<f64>,
    curvature: f64,
}

impl Step {
    fn between(from: &Point, to: &Point) -> Self {
        let less = |to: &[f64], from: &[f64]| to.iter().zip(from).map(|(to, from)| to - from).collect::<Vec<f64>>();
        let (moved, changed) = (less(&to.logs, &from.logs), less(&to.gradient, &from.gradient));
        Self { curvature: dot(&moved, &changed), moved, changed }
    }
}

/// −H g, given the last steps first.
fn direction(now: &Point, steps: &VecDeque<Step>) -> Vec<f64> {
    let mut way: Vec<f64> = now.gradient.iter().map(|slope| -slope).collect();
    let add = |way: &mut [f64], factor: f64, other: &[f64]| {
        way.iter_mut().zip(other).for_each(|(way, other)| *way += factor * other);
    };
    let mut factors = Vec::with_capacity(steps.len());
    for Step { moved, changed, curvature } in steps {
        let factor = dot(moved, &way) / curvature;
        add(&mut way, -factor, changed);
        factors.push(factor);
    }
    let largest = |way: &[f64]| way.iter().fold(0.0f64, |largest, way| largest.max(way.abs()));
    let scale = match steps.front() {
        Some(last) => last.curvature / dot(&last.changed, &last.changed),
        None => FIRST / largest(&way),
    };
    way.iter_mut().for_each(|way| *way *= scale);
    for (Step { moved, changed, curvature }, factor) in steps.iter().zip(factors).rev() {
        let other = dot(changed, &way) / curvature;
        add(&mut way, factor - other, moved);
    }
    let too_large = (largest(&way) / LARGEST).max(1.0);
    way.iter_mut().for_each(|way| *way /= too_large);
    way
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all_paths::{NetworkPaths, solve_over_all_paths};
    use crate::solve::{Ask, solve};
    use crate::topology::{Link, Topology};
    use crate::utility::AlphaFair;
    use crate::work::Ranks;

    /// a → b directly, and by way of c; c → b.
    fn net(direct: f64) -> Topology {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let link = |(from, to, capacity)| Link { from, to, capacity };
        let links = [(0, 1, direct), (0, 2, 6.0), (2, 1, f64::INFINITY), (2, 0, 3.0)].map(link).to_vec();
        Topology::new("net", names, 3, vec![0; 3], links).unwrap()
    }

    fn of(alpha: f64, direct: f64) -> (Problem, NetworkPaths) {
        let net = net(direct);
        let all = NetworkPaths::new(&net, &["a", "c"], &["b", "b"]).unwrap();
        let problem = all.problem(&net, AlphaFair::new(alpha, vec![1.0, 2.0]).unwrap()).unwrap();
        (problem.with_flow_caps(vec![f64::INFINITY, 5.0]).unwrap(), all)
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_dual_function() {
        for alpha in [0.5, 1.0] {
            let ((flows, all), link_costs) = (of(alpha, 2.0), [0.1, 0.02, 0.3, 0.0]);
            let (reaches, workers) = ([8.0, 20.0], Ranks::alone());
            let dual = Dual::new(flows, &all, &reaches, &link_costs, &workers);
            let logs = vec![-2.0, -1.5, 0.0, -1.0];
            let now = dual.at(logs.clone()).unwrap();
            let mut found = 0;
            for link in 0..4 {
                let value = |by: f64| {
                    let mut logs = logs.clone();
                    logs[link] += by;
                    dual.at(logs).unwrap().value
                };
                let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!((slope - now.gradient[link]).abs() <= 1e-7, "{link}: {slope} and not {}", now.gradient[link]);
                found += usize::from(slope != 0.0);
            }
            assert_eq!(found, 3, "a link without a limit has no price");
        }
    }

    #[test]
    fn over_the_paths_that_it_finds_little_is_missing() {
        let (side, workers) = (5, Ranks::alone());
        let (mut links, mut pairs) = (Vec::new(), Vec::new());
        for (from, to) in (0..side * side).flat_map(|from| (0..side * side).map(move |to| (from, to))) {
            let [(row, column), (below, right)] = [from, to].map(|node| (node / side, node % side));
            if u32::abs_diff(row, below) + u32::abs_diff(column, right) == 1 {
                links.push(Link { from, to, capacity: f64::from(1 + (7 * from + 3 * to) % 10) });
            }
            if from != to {
                pairs.push((from as usize, to as usize));
            }
        }
        let names = (0..side * side).map(|node| node.to_string()).collect();
        let net = Topology::new("grid", names, 25, vec![0; 25], links).unwrap();
        let (from, to): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
        let all = NetworkPaths::new(&net, &from, &to).unwrap();
        let first = all.problem(&net, AlphaFair::new(1.0, vec![1.0; from.len()]).unwrap()).unwrap();
        assert!(serves(&first));
        let reaches = crate::all_paths::missing::reaches(&first, &all, &workers).unwrap();
        let found = descend(first.clone(), &all, &reaches, &[], &workers).unwrap();
        let optimum = solve_over_all_paths(&first, &all, &Ask::default(), &mut ()).unwrap().solution.objective;
        let missing = [first, found].map(|problem| optimum - solve(&problem, &Ask::default()).unwrap().objective);
        assert!(missing[1] <= 0.02 * from.len() as f64, "{missing:?}");
        assert!(missing[1] <= 0.1 * missing[0], "{missing:?}");
    }

    #[test]
    fn what_was_found_before_the_time_is_up_is_kept() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        use crate::all_paths::cheapest_paths::Cheaper;
        use crate::work::StopToken;

        /// Stops the work after so many searches.
        #[derive(Debug)]
        struct Stopping(NetworkPaths, AtomicUsize, StopToken);

        impl CheapestPaths for Stopping {
            fn flows(&self) -> usize {
                self.0.flows()
            }

            fn cheaper(&self, prices: &[f64], than: &[f64], workers: &dyn Workers) -> Result<Cheaper> {
                if self.1.fetch_sub(1, Ordering::Relaxed) == 1 {
                    self.2.stop();
                }
                crate::interrupt::check()?;
                self.0.cheaper(prices, than, workers)
            }

            fn name(&self) -> String {
                self.0.name()
            }
        }

        let found = |searches: usize| {
            let (problem, all) = of(0.5, 2.0);
            let token = StopToken::new();
            let all = Stopping(all, searches.into(), token.clone());
            token.scope(|| descend(problem, &all, &[8.0, 20.0], &[], &Ranks::alone())).unwrap().paths().len()
        };
        assert_eq!([found(1), found(30)], [2, 3]);
    }

    #[test]
    fn it_serves_where_rates_follow_prices() {
        let (problem, _) = of(1.0, 2.0);
        let capped = |caps: [f64; 2]| problem.clone().with_flow_caps(caps.to_vec()).unwrap();
        assert!(serves(&problem));
        assert!(!serves(&of(2.0, 2.0).0));
        assert!(!serves(&problem.clone().with_flow_floors(vec![0.5, 0.0]).unwrap()));
        // The other flow's path takes a link without a limit.
        assert!(serves(&capped([12.0, 1e9])));
        assert!(!serves(&capped([11.0, 1e9])));
    }
}
