//! The gap of a certificate: a bound on the utility that is still missing, by weak duality.
//!
//! For any prices p ≥ 0 and any feasible rates x̂,
//!
//! ```text
//! Σ U_f(ŷ_f) − Σ k_p x̂_p ≤ D(p) = c·p + Σ_f V_f(p)
//! V_f = max { U_f(Σ x) − Σ q_p x_p : 0 ≤ x_p ≤ r_p, m_f ≤ Σ x ≤ r_f },     q_p = Σ_l a_lp p_l + k_p
//! ```
//!
//! where k_p is the path's cost, m_f the flow's floor, r_f is the flow's cap or the rate that saturates U_f, if that is
//! smaller, and r_p the smallest of r_f, cap_p and min_{l ∈ p} c_l/a_lp; so D(p) − Σ U(ŷ) + Σ k x̂ is at least the
//! utility that is still missing. V_f fills the paths of a flow in order of price until U' meets it or the flow is at
//! r_f; the bound by the path's smallest capacity keeps D finite when a path is free. With y, x where V_f is attained,
//! the missing utility is a sum over flows of terms that are not negative, so that rounding cannot push it below 0:
//!
//! ```text
//! D(p) − Σ U(ŷ) + Σ k x̂ = Σ_f Δ_f
//! Δ_f = U_f(y_f) − U_f(ŷ_f) − Σ_p q_p (x_p − x̂_p) + Σ_p Σ_{l ∈ p} a_lp x̂_p p_l (c_l/load_l − 1)
//! ```
//!
//! The last term is the idle capacity of the links at their prices, each path with its part of the load (every path
//! through a link without load with an equal part). It is reported relative to the first-order gain of raising rates by
//! 100 %.
//!
//! **Bound-limited flows.** A flow at a cap or a saturation gains nothing by a higher rate, however large U' is just
//! below. Its bounds have the multipliers (U'(y_f) − q_p)₊. It is *bound-limited* when their value
//! R_f = Σ x_p (U'(y_f) − q_p)₊ exceeds its payments Σ q_p x_p and Σ q_p x̂_p: where U' is flat, the rounding of a price
//! decides whether x uses a path that x̂ uses. Over the other flows
//!
//! ```text
//! S = min(Σ ŷ_f U'(ŷ_f), Σ_p x̂_p (Σ_{l ∈ p} a_lp p_l c_l/load_l + k_p)),    gap = max { Σ Δ_f/S, max_f Δ_f/R_f }
//! ```
//!
//! (the first of the two where nothing is paid). The maximum on the right is over the bound-limited flows with R_f > S,
//! the sum on the left over all other flows. At a gap ε the missing utility is at most ε (S + Σ R_f). A large R_f is
//! not part of S, so that it cannot make the loss of the other flows look small. The gap does not change with the
//! units, with a scaling of U or with constants added to it. For log utilities it is the mean loss of log rate.
//!
//! A flow that is held by its floor, at q_p > U', is bound-limited too, with R_f = ŷ_f U'(ŷ_f) + Σ x̂_p k_p, its part of
//! the objective. What it pays for links says nothing of the size of a loss: where floors fill a link, prices may be as
//! large as one likes, and what they hold idle is lost by the other flows. All of these flows count as one, with the
//! sums of their Δ_f and R_f, so that the gap of a cheapest routing is relative to its cost.
//!
//! Where no flow that is free earns anything, S is the least that one of them without a rate would gain with all that
//! it could carry alone,
//!
//! ```text
//! S = min_f U_f(r'_f) − U_f(0) > 0      over the free flows with ŷ_f = 0,  r'_f = min(r_f, Σ_p r_p)
//! ```
//!
//! so that a gap of ε says that each of them could have no more than the part ε of that. Where there is no such flow,
//! S is Σ R_f of the flows that are held by floors. The least cost may be 0: where the best responses cost nothing,
//! costs count as at least 10⁻³ Σ ŷ_f (max_p k_p − min_p k_p), over the paths that have a rate here or there. Where
//! that is 0 as well, nobody but flows at their bounds has anything to lose: these count alone, and what floors lack is
//! relative to what they pay and all other R_f. What one of them lacks is rounding of its rates where it is at most the
//! part 16 ε of what it pays, and may be much to a flow that pays 10¹⁰ times less: it does not count.
//!
//! A numerically saturated flow (`numerical_saturation.rs`) is bound-limited too, with R_f the revenue at the rate that
//! saturates it.

use std::ops::Range;

use super::best_response::BestResponse;
use super::numerical_saturation::{NumericalSaturation, numerical_saturation_of};
use super::tolerances::{NONE, NOTHING};
use super::{FeasiblePoint, larger};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::numerics::vectorized;
use crate::work::Ranks;
use crate::work::for_each;

impl FeasiblePoint<'_> {
    /// The gap as defined above. One pass over the paths, a chunk at a time.
    pub(crate) fn relative_gap(&self) -> Result<f64> {
        let (problem, numerical_saturation) = (self.problem, self.numerical_saturation()?);
        let of_ranges = for_each(&*problem.workers, problem.flow_ranges(), |flows| {
            self.free_and_bound_limited(&flows, numerical_saturation)
        })?;
        let (mut free, mut bound_limited) = (Free::default(), Vec::new());
        for (own, limited) in of_ranges {
            free.add(own);
            bound_limited.extend(limited);
        }
        if problem.ranks().any(free.is_lost || self.misses_floors || self.is_infeasible())? {
            return Ok(f64::INFINITY);
        }
        self.add_idle_revenue(&mut free, &mut bound_limited)?;
        free.relative_gap(&bound_limited, problem.ranks())
    }

    /// The utility that consecutive flows miss.
    fn free_and_bound_limited(
        &self,
        range: &Range<usize>,
        numerical_saturation: &[NumericalSaturation],
    ) -> Result<(Free, Vec<BoundLimited>)> {
        let (problem, flow_rates) = (self.problem, self.flow_rates());
        let (mut best, mut marginals, mut below) = (BestResponse::default(), Vec::new(), Vec::new());
        let (mut free, mut alone) = (Free::default(), Vec::new());
        let mut bound_limited: Vec<BoundLimited> = Vec::new();
        // One path per flow, and no bound but its links.
        let is_plain = problem.is_single_path() && problem.is_unbounded() && numerical_saturation.is_empty();
        for (block, flows) in problem.chunks_of(range) {
            interrupt::check()?;
            let (places, rates) = (block.places(&flows), &flow_rates[flows.clone()]);
            let first = problem.paths_of_all(&flows).start;
            let bounded = best.respond(problem, block, flows.clone(), &self.path_prices[first..]) || block.may_jump;
            block.utility.gain_into(places.clone(), rates, &best.rates, &mut best.scratch);
            marginals.resize(flows.len(), 0.0);
            block.utility.marginal_into(places.clone(), rates, &mut marginals);
            best.marginals.clear();
            if bounded {
                best.marginals.resize(flows.len(), 0.0);
                let BestResponse { rates, marginals, .. } = &mut best;
                self.marginals_below(block, places, rates, &mut below, marginals);
            }
            let may_starve = !is_plain && rates.contains(&0.0);
            alone.clear();
            if may_starve {
                let most = |flow: usize| {
                    let carried: f64 = problem.paths_of(flow).map(|path| problem.bounds.ceilings[path]).sum();
                    carried.min(problem.bounds.saturations[flow])
                };
                let most: Vec<f64> = flows.clone().map(most).collect();
                alone.resize(flows.len(), 0.0);
                block.utility.gain_into(block.places(&flows), &vec![0.0; flows.len()], &most, &mut alone);
            }
            if is_plain && !bounded {
                let prices = &self.path_prices[flows.clone()];
                if prices.iter().zip(&best.rates).all(|(price, then)| price * then > 0.0) {
                    free.add_plain([prices, rates, &marginals, &best.rates, &best.scratch]);
                    continue;
                }
            }
            for (number, flow) in flows.enumerate() {
                let (mut cost, mut paid, mut would_pay, mut bound_value) = (0.0, 0.0, 0.0, 0.0);
                let mut pays_more = false;
                for path in problem.paths_of(flow) {
                    let (price, now, then) = (self.path_prices[path], self.rates[path], best.path_rates[path - first]);
                    cost += price * (then - now);
                    paid += price * now;
                    would_pay += price * then;
                    if bounded && then > 0.0 && best.marginals[number] > price {
                        bound_value += then * (best.marginals[number] - price);
                    }
                    pays_more |= bounded && then.max(now) > 0.0 && best.marginals[number] < price;
                }
                let missing = missing(best.scratch[number], cost);
                let lost = bound_value == 0.0 && would_pay == 0.0 && rates[number] < best.rates[number];
                // The marginal of a power law is positive: 0 is an underflow.
                free.is_lost |= lost && block.utility.alpha(flow - block.flows.start).is_some();
                let numerical_saturation = numerical_saturation_of(numerical_saturation, flow);
                let floor = problem.bounds.floors[flow];
                if pays_more && 0.0 < floor && best.rates[number] <= floor {
                    let mut costs = Costs::default();
                    for path in problem.paths_of(flow) {
                        costs.add(problem.costs[path], self.rates[path], best.path_rates[path - first]);
                    }
                    let earned = revenue(rates[number], marginals[number]);
                    let spread = NONE * rates[number] * (costs.most - costs.least).max(0.0);
                    free.floors.add([earned, costs.now, costs.then, spread, paid]);
                    bound_limited.push(BoundLimited {
                        flow,
                        missing,
                        value: earned + costs.now,
                        paid,
                        is_at_floor: true,
                    });
                } else if numerical_saturation.is_at(marginals[number]) {
                    let value = bound_value.max(numerical_saturation.revenue);
                    bound_limited.push(BoundLimited { flow, missing, value, paid, is_at_floor: false });
                } else if bound_value > would_pay.max(paid) {
                    bound_limited.push(BoundLimited { flow, missing, value: bound_value, paid, is_at_floor: false });
                } else {
                    free.missing += missing;
                    free.revenue += revenue(rates[number], marginals[number]);
                    free.paid += paid;
                    if may_starve && rates[number] == 0.0 && alone[number] > 0.0 {
                        free.least_alone = free.least_alone.min(alone[number]);
                    }
                }
            }
        }
        Ok((free, bound_limited))
    }

    /// Adds up the sums of all ranks, and the idle capacity of the links at their prices to what the flows miss and
    /// pay: all of it together where no flow is bound-limited, else to each flow its part.
    fn add_idle_revenue(&self, free: &mut Free, bound_limited: &mut [BoundLimited]) -> Result<()> {
        let ranks = self.problem.ranks();
        if !ranks.any(!bound_limited.is_empty())? {
            free.add_up(ranks)?;
            let links = self.prices.iter().zip(&self.problem.capacities).zip(&self.loads);
            let idled: f64 = links.map(|((price, capacity), load)| price * (capacity - load).max(0.0)).sum();
            free.missing += idled;
            free.paid += idled;
            return Ok(());
        }
        let (problem, idle, mut pacer) = (self.problem, self.idle_revenue(), Pacer::new());
        let mut limited = bound_limited.iter_mut().peekable();
        for flow in 0..problem.flows() {
            let mut idled = 0.0;
            for path in problem.paths_of(flow) {
                let (row, rate) = (problem.paths.row(path), self.rates[path]);
                pacer.did(row.links().len())?;
                idled += row.entries().map(|(link, a)| idle.of(link as usize, a * rate)).sum::<f64>();
            }
            match limited.next_if(|limited| limited.flow == flow) {
                Some(limited) => limited.missing += idled,
                None => {
                    free.missing += idled;
                    free.paid += idled;
                }
            }
        }
        free.add_up(ranks)
    }

    /// The idle capacity of the links, at their prices.
    fn idle_revenue(&self) -> IdleRevenue {
        let problem = self.problem;
        let mut this = IdleRevenue { per_load: vec![0.0; self.prices.len()], even: Vec::new() };
        let links = self.prices.iter().zip(&problem.capacities).zip(&self.relative_loads);
        for (link, ((price, capacity), &load)) in links.enumerate() {
            if load > f64::MIN_POSITIVE {
                this.per_load[link] = price * (1.0 / load - 1.0).max(0.0);
            } else if *price > 0.0 {
                this.even.resize(self.prices.len(), 0.0);
                this.even[link] = price * capacity;
            }
        }
        this.even.iter_mut().zip(&problem.uses).for_each(|(worth, uses)| *worth /= uses);
        this
    }
}

/// The idle capacity of the links, at their prices.
struct IdleRevenue {
    /// Per unit of load.
    per_load: Vec<f64>,
    /// Of links without load, for each path through them; empty where there are none.
    even: Vec<f64>,
}

impl IdleRevenue {
    /// The part of a path with this load.
    fn of(&self, link: usize, load: f64) -> f64 {
        let loaded = if load > 0.0 { load * self.per_load[link] } else { 0.0 };
        loaded + if self.even.is_empty() { 0.0 } else { self.even[link] }
    }
}

/// A flow that is bound-limited: its Δ and its R, and what it pays.
struct BoundLimited {
    flow: usize,
    missing: f64,
    value: f64,
    paid: f64,
    is_at_floor: bool,
}

impl BoundLimited {
    /// Its Δ, where it is more than rounding of what it pays.
    fn more_than_rounding(&self) -> f64 {
        if self.missing <= NOTHING * self.paid { 0.0 } else { self.missing }
    }
}

/// What the paths of a flow cost.
struct Costs {
    /// Σ k x at its rates, and at its best response.
    now: f64,
    then: f64,
    /// Of a path that has a rate, the least and the most.
    least: f64,
    most: f64,
}

impl Default for Costs {
    fn default() -> Self {
        Self { now: 0.0, then: 0.0, least: f64::INFINITY, most: 0.0 }
    }
}

impl Costs {
    fn add(&mut self, cost: f64, now: f64, then: f64) {
        self.now += cost * now;
        self.then += cost * then;
        if now.max(then) > 0.0 {
            (self.least, self.most) = (self.least.min(cost), self.most.max(cost));
        }
    }
}

/// Sums over the flows that are held by their floors.
#[derive(Default)]
struct Floors {
    /// Σ ŷ U'(ŷ).
    revenue: f64,
    /// Σ x̂ k, and Σ x k at the best responses.
    costs: f64,
    best_costs: f64,
    /// 10⁻³ Σ ŷ (max k − min k).
    spread: f64,
    /// Σ x̂ q.
    paid: f64,
}

impl Floors {
    fn sums(&mut self) -> [&mut f64; 5] {
        [&mut self.revenue, &mut self.costs, &mut self.best_costs, &mut self.spread, &mut self.paid]
    }

    fn add(&mut self, others: [f64; 5]) {
        self.sums().into_iter().zip(others).for_each(|(sum, other)| *sum += other);
    }
}

/// Sums over the flows that are not bound-limited, and over those at their floors.
struct Free {
    /// Σ Δ.
    missing: f64,
    /// Σ ŷ U'(ŷ).
    revenue: f64,
    /// Their payments, with their part of the idle capacity at its price.
    paid: f64,
    /// What one without a rate would gain alone, at least; ∞ where all have one.
    least_alone: f64,
    /// Of the flows that are held by their floors.
    floors: Floors,
    /// Whether the marginal of a power law is lost: nothing is proven then.
    is_lost: bool,
}

impl Default for Free {
    fn default() -> Self {
        let (missing, revenue, paid) = (0.0, 0.0, 0.0);
        Self { missing, revenue, paid, least_alone: f64::INFINITY, floors: Floors::default(), is_lost: false }
    }
}

/// Sums that flows are added to in turn, so that an addition need not wait for the one before.
const LANES: usize = 8;

impl Free {
    /// Adds other flows.
    fn add(&mut self, mut other: Self) {
        self.missing += other.missing;
        self.revenue += other.revenue;
        self.paid += other.paid;
        self.least_alone = self.least_alone.min(other.least_alone);
        self.floors.add(other.floors.sums().map(|sum| *sum));
        self.is_lost |= other.is_lost;
    }

    /// The sums over the flows of all ranks.
    fn add_up(&mut self, ranks: &Ranks) -> Result<()> {
        let Self { missing, revenue, paid, least_alone, floors, .. } = self;
        let [a, b, c, d, e] = floors.sums();
        let sums = [missing, revenue, paid, a, b, c, d, e];
        let mut values = sums.each_ref().map(|sum| **sum);
        ranks.sum(&mut values)?;
        sums.into_iter().zip(values).for_each(|(sum, value)| *sum = value);
        let mut most = [-*least_alone];
        ranks.max(&mut most)?;
        *least_alone = -most[0];
        Ok(())
    }

    /// Adds flows with one path that pay and are not at a bound: prices, rates ŷ and marginals there, rates y and what
    /// is gained by them.
    fn add_plain(&mut self, columns: [&[f64]; 5]) {
        let mut sums = [[0.0; LANES]; 3];
        vectorized(
            #[inline(always)]
            || {
                let [one, two, three, four, five] = columns.map(<[f64]>::as_chunks::<LANES>);
                for ((((one, two), three), four), five) in one.0.iter().zip(two.0).zip(three.0).zip(four.0).zip(five.0)
                {
                    add_lanes([one, two, three, four, five], &mut sums);
                }
                add_lanes([one.1, two.1, three.1, four.1, five.1], &mut sums);
            },
        );
        let [missing, revenue, paid] = sums.map(|lanes| lanes.iter().sum::<f64>());
        self.add(Self { missing, revenue, paid, ..Self::default() });
    }

    /// S, above which a bound-limited flow counts alone, and what all others together are relative to: S as well,
    /// unless nobody but flows at their bounds has anything to lose.
    fn scales(&self, bound_limited: &[BoundLimited], ranks: &Ranks) -> Result<[f64; 2]> {
        let scale = if self.paid > 0.0 { self.paid.min(self.revenue) } else { self.revenue };
        let Floors { revenue, costs, best_costs, spread, paid } = self.floors;
        if scale == 0.0 && self.least_alone < f64::INFINITY {
            return Ok([self.least_alone; 2]);
        }
        if scale != 0.0 || paid == 0.0 {
            return Ok([scale; 2]);
        }
        let earned = revenue + if best_costs == 0.0 { costs.max(spread) } else { costs };
        if earned != 0.0 {
            return Ok([earned; 2]);
        }
        let mut of_bounds = [bound_limited.iter().map(|limited| limited.value).sum()];
        ranks.sum(&mut of_bounds)?;
        Ok([0.0, paid + of_bounds[0]])
    }

    /// The gap, given the sums of all ranks and the bound-limited flows of this one.
    fn relative_gap(self, bound_limited: &[BoundLimited], ranks: &Ranks) -> Result<f64> {
        let [scale, of_all] = self.scales(bound_limited, ranks)?;
        let (mut missing, mut alone) = (0.0, 0.0f64);
        let mut missing_at_floors = [bound_limited
            .iter()
            .filter(|limited| limited.is_at_floor)
            .map(BoundLimited::more_than_rounding)
            .sum::<f64>()];
        ranks.sum(&mut missing_at_floors)?;
        let ([missing_at_floors], value) = (missing_at_floors, self.floors.revenue + self.floors.costs);
        let of_floors = match value > scale {
            true => [0.0, if value.is_finite() { missing_at_floors / value } else { f64::NAN }],
            false => [missing_at_floors, 0.0],
        };
        for &BoundLimited { missing: own, value, is_at_floor, .. } in bound_limited {
            if own == f64::INFINITY {
                missing = own;
                break;
            }
            if is_at_floor {
                continue;
            }
            if value > scale {
                alone = larger(alone, if value.is_finite() { own / value } else { f64::NAN });
            } else {
                missing += own;
            }
        }
        let (mut limited, mut most) = ([missing], [alone]);
        ranks.sum(&mut limited)?;
        ranks.max(&mut most)?;
        let (missing, alone) = (self.missing + limited[0] + of_floors[0], larger(most[0], of_floors[1]));
        if limited[0] == f64::INFINITY {
            return Ok(f64::INFINITY);
        }
        let together = match missing {
            0.0 | f64::INFINITY => missing,
            _ if of_all.is_infinite() => f64::NAN,
            _ => missing / of_all,
        };
        Ok(larger(together, alone))
    }
}

/// Adds what up to so many flows miss, their revenue and what they pay.
#[inline(always)]
fn add_lanes([prices, rates, marginals, best, gains]: [&[f64]; 5], [lost, earned, paid]: &mut [[f64; LANES]; 3]) {
    let given = prices.iter().zip(rates).zip(marginals).zip(best).zip(gains);
    let sums = lost.iter_mut().zip(earned).zip(paid);
    for (((((&price, &now), &marginal), &then), &gain), ((lost, earned), paid)) in given.zip(sums) {
        *lost += missing(gain, price * (then - now));
        *earned += revenue(now, marginal);
        *paid += price * now;
    }
}

/// Δ without idle capacity: what a flow would gain by its best response, less what that costs more.
#[inline(always)]
fn missing(gain: f64, cost: f64) -> f64 {
    // max would drop a NaN.
    if gain - cost < 0.0 { 0.0 } else { gain - cost }
}

/// ŷ U'(ŷ), 0 at a rate of 0, where U' may be infinite.
#[inline(always)]
fn revenue(rate: f64, marginal: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { rate * marginal }
}
