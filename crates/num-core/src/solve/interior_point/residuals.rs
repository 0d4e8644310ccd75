//! The step to the next iterate, and the residuals of the optimality conditions there, in one pass over the flows.

use super::barrier::Barrier;
use super::barriers::Barriers;
use super::chunk::{Chunk, largest, total};
use super::floors::{is_worthless, revenue, set_given_levels};
use super::given::Given;
use super::part::{Part, Prices};
use super::variables::Variables;
use super::{InteriorPoint, LEAST};
use crate::double_double::DoubleDouble;
use crate::numerics::{ln, vectorized};
use crate::paths::Numbered;
use crate::presolve::Presolved;
use crate::solve::price::{LARGEST_SUM, at_least};
use crate::solve::system::{ABSENT, System};

/// A flow is tiny when it is below the first part of what its path can carry and its demand below the second.
const TINY_RATE: f64 = 0.1;
const TINY_DEMAND: f64 = 1e-2;
/// A λ below this part of its flow's price is free to rise.
const FREE: f64 = 0.1;
/// A λ shrinks by no more than e^−this at a time.
const SHRINK: f64 = 12.0;
/// The least elasticity of a flow that is not linear: one that does not bend at all has no curvature to divide by.
const LEAST_ELASTIC: f64 = 1e-10;
/// ℓ − Q is kept, and t or λ taken from it, up to this part of t or Q.
const MOST_LEVEL: f64 = 0.1;
/// λ follows from ℓ where it changes by no more than this part by that.
const MOST_CHANGE: f64 = 1e-2;
/// log of the least marginal that counts.
const LEAST_LOG: f64 = -570.0;

/// Sums over the flows and bounds of a part.
#[derive(Default)]
struct Sums {
    /// Σ x |ℓ − q + z − v|, Σ x λ.
    wrong: f64,
    revenue: f64,
    /// The largest |ρ|, the smallest λ and the largest.
    largest_log: f64,
    least_marginal: f64,
    largest_marginal: f64,
    /// Σ slack·multiplier of each barrier, Σ bound·multiplier of caps and saturations.
    complementarity: [f64; 5],
    priced: [f64; 2],
}

impl InteriorPoint {
    /// Takes a step of the given lengths, in rates and in prices, if any, and finds all residuals there. Returns the
    /// estimate of the gap.
    pub(super) fn advance(&mut self, problem: &Presolved, lengths: Option<(f64, f64)>) -> f64 {
        if let Some((primal, dual)) = lengths {
            add(&mut self.variables.slacks, &self.step.slacks, primal);
            let Variables { prices, finer, .. } = &mut self.variables;
            if finer.is_empty() {
                add(prices, &self.step.prices, dual);
            }
            let changes = self.step.prices.iter().zip(&self.step.finer);
            for ((price, finer), (change, fine_change)) in prices.iter_mut().zip(finer).zip(changes) {
                let mut sum = DoubleDouble::new(*price);
                sum.add_product(dual, *change);
                [dual * fine_change, *finer].into_iter().for_each(|part| sum.add(part));
                (*price, *finer) = sum.parts();
            }
        }
        let Self { parts, variables: now, residuals, kkt, .. } = self;
        residuals.links.fill(0.0);
        let (system, prices) = (&kkt.system, Prices { floats: &now.prices, finer: &now.finer });
        let of_parts = system.pass().add_with(&mut residuals.links, parts.iter_mut(), |part, loads| {
            part.advance((problem, system), lengths, prices, loads)
        });
        let (mut wrong, mut revenue, mut of_barriers, mut of_caps) = (0.0, 0.0, [0.0; 5], [0.0; 2]);
        (residuals.largest_log, residuals.least_marginal, residuals.largest_marginal) = (0.0, f64::INFINITY, 0.0);
        for found in of_parts {
            wrong += found.wrong;
            revenue += found.revenue;
            residuals.largest_log = at_least(residuals.largest_log, found.largest_log);
            residuals.least_marginal = residuals.least_marginal.min(found.least_marginal);
            residuals.largest_marginal = residuals.largest_marginal.max(found.largest_marginal);
            of_barriers.iter_mut().zip(found.complementarity).for_each(|(sum, own)| *sum += own);
            of_caps.iter_mut().zip(found.priced).for_each(|(sum, own)| *sum += own);
        }
        let (mut complementarity, mut infeasibility, mut priced) = (0.0, 0.0, 0.0);
        let links = residuals.links.iter_mut().zip(&self.capacities);
        for ((residual, capacity), (price, slack)) in links.zip(now.prices.iter().zip(&now.slacks)) {
            *residual = capacity - *residual - slack;
            complementarity += price * slack;
            infeasibility += price * residual.abs();
            priced += price * capacity;
        }
        let [lower, caps, saturations, breakpoints, floors] = of_barriers;
        complementarity += lower + caps;
        complementarity += saturations + breakpoints;
        complementarity += floors;
        priced += of_caps[0] + of_caps[1];
        priced += self.paid_costs(problem);
        let residuals = &mut self.residuals;
        if problem.flows() == 0 {
            return 0.0;
        }
        let priced = priced.max(1e-200);
        // Where nobody earns or costs anything, what floors pay is all there is.
        residuals.revenue = if revenue > 0.0 { revenue.min(priced) } else { priced };
        residuals.complementarity = complementarity / residuals.revenue;
        residuals.infeasibility = infeasibility / residuals.revenue;
        residuals.complementarity + residuals.infeasibility + wrong / residuals.revenue
    }
}

impl Part {
    /// The step of all flows, and their residuals at prices of the links. Adds their loads.
    fn advance(
        &mut self,
        (problem, system): (&Presolved, &System),
        lengths: Option<(f64, f64)>,
        prices: Prices<'_>,
        loads: &mut [f64],
    ) -> Sums {
        if let Some(lengths) = lengths {
            for (barrier, changes) in self.barriers.with_changes_mut(&self.step) {
                barrier.advance(lengths, changes);
            }
        }
        let mut sums = Sums { least_marginal: f64::INFINITY, ..Sums::default() };
        self.several.begin_gather(system, prices.floats);
        self.each_chunk(|part, chunk| {
            if let Some(lengths) = lengths {
                part.advance_flows(chunk, lengths);
            }
            part.set_tiny_flows(problem, chunk);
            part.add_loads((problem, system), chunk, !prices.finer.is_empty(), loads);
            part.find_log_residuals(problem, chunk, &mut sums);
            part.find_path_residuals((problem, system), chunk, prices, &mut sums);
        });
        self.several.finish_scatter(system, loads);
        let Barriers { caps, saturations, .. } = &self.barriers;
        sums.priced = [caps.revenue(), saturations.revenue()];
        let (of_paths, of_flows) = (self.barriers.on_paths(), self.barriers.on_flows());
        let [lower, caps] = of_paths.map(Barrier::complementarity);
        let [saturations, breakpoints, floors] = of_flows.map(Barrier::complementarity);
        sums.complementarity = [lower, caps, saturations, breakpoints, floors];
        sums
    }

    /// Takes the step of the rates and marginals of some flows.
    fn advance_flows(&mut self, Chunk { flows, paths, .. }: &Chunk, (primal, dual): (f64, f64)) {
        let Self { variables: now, step, .. } = self;
        add(&mut now.rates[paths.clone()], &step.rates[paths.clone()], primal);
        for (marginal, change) in now.marginals[flows.clone()].iter_mut().zip(&step.log_marginals[flows.clone()]) {
            *marginal *= factor(dual * change);
        }
        if !now.levels.values.is_empty() {
            add(&mut now.levels[flows.clone()], &step.levels[flows.clone()], dual);
        }
    }

    /// Finds the tiny flows and sets them to their demands.
    fn set_tiny_flows(&mut self, problem: &Presolved, chunk: &Chunk) {
        let Self { variables: now, barriers, may_be_tiny, scratch, .. } = self;
        let Chunk { block, flows, .. } = chunk;
        let first = flows.clone().map(|flow| problem.paths_of(flow).start).zip(&may_be_tiny[flows.clone()]);
        let is_low = |rates: &Numbered<f64>, path: usize| rates[path] < TINY_RATE * problem.bounds.ceilings[path];
        if !first.clone().any(|(path, &may_be)| may_be && is_low(&now.rates, path)) {
            return now.tiny[chunk.paths.clone()].fill(false);
        }
        let (block, demands) = (&problem.blocks[*block], &mut scratch.flows[..flows.len()]);
        block.utility.demand_into(block.places(flows), &now.marginals[flows.clone()], demands);
        for ((path, &may_be), &demand) in first.zip(&*demands) {
            now.tiny[path] = may_be && is_low(&now.rates, path) && demand < TINY_DEMAND * problem.bounds.ceilings[path];
            if now.tiny[path] {
                now.rates[path] = at_least(demand, LEAST);
                barriers.caps.set_slack(path, now.rates[path]);
            }
        }
    }

    /// y of every flow, and its part of the loads.
    fn add_loads(&mut self, (problem, system): (&Presolved, &System), chunk: &Chunk, is_fine: bool, loads: &mut [f64]) {
        self.keep_given(problem, chunk);
        let Self { variables: now, barriers, several, .. } = self;
        let Chunk { flows, paths, .. } = chunk;
        barriers.caps.clip(chunk.caps.clone(), &mut now.rates);
        let rates = &now.rates[paths.clone()];
        chunk.add_up(problem, rates, &mut now.flow_rates[flows.clone()]);
        barriers.saturations.clip(chunk.saturations.clone(), &mut now.flow_rates);
        // What would be cut off later is capacity that idles, and may be more than all of a tiny flow.
        for flow in flows.clone().filter(|&flow| is_fine && several.numbers[flow] != ABSENT) {
            let own = &mut now.rates[problem.paths_of(flow)];
            let total: f64 = own.iter().sum();
            if total > now.flow_rates[flow] {
                own.iter_mut().for_each(|rate| *rate *= now.flow_rates[flow] / total);
            }
        }
        let rates = (&now.rates[paths.clone()], &now.flow_rates[flows.clone()]);
        several.scatter(system, chunk, rates, loads);
    }

    /// ρ and ε/y of every flow.
    fn find_log_residuals(&mut self, problem: &Presolved, chunk: &Chunk, sums: &mut Sums) {
        let Self { variables: now, residuals: found, barriers, given, .. } = self;
        let marginals = &mut now.marginals;
        barriers.breakpoints.cross(chunk.breakpoints.clone(), &now.flow_rates, |flow, change| {
            // A λ of 0 is replaced by U' below.
            marginals[flow] = (marginals[flow] + change).max(0.0);
        });
        let Chunk { block, flows, has_floors, .. } = chunk;
        let block = &problem.blocks[*block];
        let (rates, marginals) = (&now.flow_rates[flows.clone()], &mut marginals[flows.clone()]);
        let (residuals, bends) = (&mut found.logs[flows.clone()], &mut found.bends[flows.clone()]);
        block.utility.log_marginal_into(block.places(flows), rates, residuals);
        // A marginal that underflows has log −∞.
        residuals.iter_mut().for_each(|log| *log = at_least(*log, LEAST_LOG));
        for (marginal, residual) in marginals.iter_mut().zip(&*residuals) {
            if *marginal == 0.0 {
                *marginal = residual.exp().clamp(LEAST, LARGEST_SUM);
            }
        }
        if chunk.linear {
            residuals.fill(0.0);
            return bends.fill(0.0);
        }
        block.utility.elasticity_into(block.places(flows), rates, bends);
        for (bend, rate) in bends.iter_mut().zip(rates) {
            *bend = at_least(*bend, LEAST_ELASTIC) / rate;
        }
        vectorized(|| {
            for (residual, marginal) in residuals.iter_mut().zip(marginals) {
                *residual -= ln(*marginal);
            }
        });
        for flow in flows.clone().filter(|&flow| *has_floors && given[flow] != Given::Nothing) {
            let place = flow - flows.start;
            // Beyond a saturation U' is 0, and its elasticity no number.
            (residuals[place], bends[place]) = (0.0, 0.0);
        }
        let largest = residuals.iter().fold(sums.largest_log, |largest, residual| at_least(largest, residual.abs()));
        sums.largest_log = largest;
    }

    /// ℓ − q + z − v of every path.
    fn find_path_residuals(
        &mut self,
        (problem, system): (&Presolved, &System),
        chunk: &Chunk,
        link_prices: Prices<'_>,
        sums: &mut Sums,
    ) {
        let Self { variables: now, residuals: found, barriers, given, several, scratch, .. } = self;
        let Chunk { flows, paths, has_floors, .. } = chunk;
        let (residuals, prices) = (&mut found.paths[paths.clone()], &mut scratch.paths[..paths.len()]);
        let commons = match now.levels.values.is_empty() {
            true => &mut scratch.commons[..flows.len()],
            false => &mut found.commons[flows.clone()],
        };
        several.price((problem, system), chunk, link_prices.floats, prices, commons);
        let (marginals, logs) = (&mut now.marginals[flows.clone()], &mut found.logs[flows.clone()]);
        if !chunk.linear {
            for flow in flows.clone().filter(|&flow| !self.may_be_tiny[flow]) {
                let (own, place) = (problem.paths_of(flow), flow - flows.start);
                let own = &prices[own.start - paths.start..own.end - paths.start];
                let least = own.iter().copied().fold(f64::INFINITY, f64::min);
                raise(&mut marginals[place], &mut logs[place], FREE * (least + commons[place]));
            }
        }
        if chunk.is_single() {
            residuals.copy_from_slice(marginals);
        } else {
            if *has_floors {
                set_given_levels(problem, chunk, given, prices, &mut now.levels);
            }
            let levels = &mut now.levels[flows.clone()];
            set_levels(
                levels,
                commons,
                &mut scratch.flows[..flows.len()],
                (&mut *marginals, logs),
                (chunk, given),
                barriers,
            );
            chunk.spread(problem, levels, residuals);
        }
        for (residual, price) in residuals.iter_mut().zip(&*prices) {
            *residual -= *price;
        }
        let is_fine = !link_prices.finer.is_empty() && !chunk.is_single();
        if is_fine {
            several.find_fine_excesses((problem, system), chunk, link_prices, &now.levels, residuals);
        }
        for (barrier, part) in barriers.on_paths_of(chunk) {
            barrier.add_forces(part, paths.start, residuals);
        }
        if chunk.is_single() {
            // Flows and paths have the same places.
            for (barrier, part) in barriers.on_flows_of(chunk) {
                barrier.add_forces(part, flows.start, residuals);
            }
        }
        if *has_floors {
            for flow in flows.clone().filter(|&flow| given[flow] == Given::Paths) {
                let own = problem.paths_of(flow);
                residuals[own.start - paths.start..own.end - paths.start].fill(0.0);
            }
        }
        sums.wrong += match is_fine {
            true => paths
                .clone()
                .zip(&*residuals)
                .map(|(path, residual)| {
                    now.rates[path] * (residual + several.shift(chunk.flow_of(problem, path))).abs()
                })
                .sum(),
            false => total(&now.rates[paths.clone()], residuals, |rate, wrong| rate * wrong.abs()),
        };
        sums.revenue += match has_floors {
            true => revenue(problem, chunk, now),
            false => {
                let (rates, marginals) = (&now.flow_rates[flows.clone()], &now.marginals[flows.clone()]);
                total(rates, marginals, |rate, marginal| rate * marginal)
            }
        };
        sums.largest_marginal = sums.largest_marginal.max(largest(&now.marginals[flows.clone()]));
        // A linear flow that is worth nothing has no λ of its own.
        let marginals =
            now.marginals[flows.clone()].iter().copied().filter(|&marginal| !chunk.linear || !is_worthless(marginal));
        sums.least_marginal = marginals.fold(sums.least_marginal, f64::min);
    }
}

/// Takes ℓ − Q from λ and the forces on the flow, or t, w or λ from it where that is the smaller one by far. `net` is
/// room.
fn set_levels(
    levels: &mut [f64],
    commons: &[f64],
    net: &mut [f64],
    (marginals, log_residuals): (&mut [f64], &mut [f64]),
    (chunk, given): (&Chunk, &Numbered<Given>),
    Barriers { saturations, floors, breakpoints, .. }: &mut Barriers,
) {
    let first = chunk.flows.start;
    for ((net, marginal), common) in net.iter_mut().zip(&*marginals).zip(commons) {
        *net = marginal - common;
    }
    breakpoints.add_forces(chunk.breakpoints.clone(), first, net);
    floors.replace_duals(chunk.floors.clone(), |flow, dual| {
        let (net, level) = (&mut net[flow - first], levels[flow - first]);
        if level.abs() < MOST_LEVEL * dual.min(level - *net) {
            let dual = level - *net;
            *net = level;
            return dual;
        }
        *net += dual;
        dual
    });
    saturations.replace_duals(chunk.saturations.clone(), |flow, dual| {
        let (net, level) = (&mut net[flow - first], levels[flow - first]);
        let most = MOST_LEVEL * dual.min(*net - level);
        if level.abs() < most {
            let dual = *net - level;
            *net = level;
            return dual;
        }
        *net -= dual;
        dual
    });
    for flow in chunk.flows.clone().filter(|&flow| chunk.has_floors && given[flow] == Given::Total) {
        net[flow - first] = levels[flow - first];
    }
    let flows = levels.iter_mut().zip(net).zip(commons).zip(marginals.iter_mut().zip(log_residuals));
    for (((level, &mut net), common), (marginal, log_residual)) in flows {
        let change = (*level - net) / *marginal;
        if !chunk.linear && level.abs() < MOST_LEVEL * common && change.abs() < MOST_CHANGE {
            *marginal *= 1.0 + change;
            *log_residual -= change.ln_1p();
        } else {
            *level = net;
        }
    }
}

/// v ← v + length·dv.
fn add(values: &mut [f64], changes: &[f64], length: f64) {
    values.iter_mut().zip(changes).for_each(|(value, change)| *value += length * change);
}

/// 1 + t, continued by an exponential below 0.1, so that it stays positive: a λ that falls by decades, as that of a
/// steep utility may, would otherwise limit the step of the others.
fn factor(change: f64) -> f64 {
    if change > -0.9 { 1.0 + change } else { 0.1 * (10.0 * (change + 0.9)).max(-SHRINK).exp() }
}

/// Raises a λ to U', but no higher than given. Where λ is far below its flow's price, z or v makes up for the rest, and
/// its own Newton steps would take it up by a small factor at a time while the rate, and with it U', moves by decades.
fn raise(marginal: &mut f64, log_residual: &mut f64, most: f64) {
    if *log_residual > 0.0 && *marginal < most {
        let rise = log_residual.min(ln(most / *marginal));
        *marginal *= rise.exp();
        *log_residual -= rise;
    }
}
