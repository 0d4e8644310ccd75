//! The gap of a certificate: a bound on the utility that is still missing, by weak duality.
//!
//! For any prices p ≥ 0 and any feasible rates x̂,
//!
//! ```text
//! Σ U_f(ŷ_f) ≤ D(p) = c·p + Σ_f V_f(p),     V_f = max { U_f(Σ x) − Σ q_p x_p : 0 ≤ x_p ≤ r_p, Σ x ≤ r_f }
//! ```
//!
//! where r_f is the flow's cap or the rate that saturates U_f, if that is smaller, and r_p the smallest of r_f, cap_p
//! and min_{l ∈ p} c_l; so D(p) − Σ U(ŷ) is at least the utility that is still missing. V_f fills the paths of a flow
//! in order of price until U' meets it or the flow is at r_f; the bound by the path's smallest capacity keeps D finite
//! when a path is free. With y, x where V_f is attained, the missing utility is a sum over flows of terms that are not
//! negative, so that rounding cannot push it below 0:
//!
//! ```text
//! D(p) − Σ U(ŷ) = Σ_f Δ_f,    Δ_f = U_f(y_f) − U_f(ŷ_f) − Σ_p q_p (x_p − x̂_p) + Σ_p Σ_{l ∈ p} x̂_p p_l (c_l/load_l − 1)
//! ```
//!
//! The last term is the idle capacity of the links at their prices, each path with its part of the load (every path
//! through a link without load with an equal part). It is reported relative to what raising rates by 100 % would gain.
//! A flow at a cap or a saturation gains nothing by that, however large U' is just below: it is *held* when the rent of
//! its bounds, R_f = Σ x_p (U'(y_f) − q_p)₊, is more than what it would pay for x. Over the flows that are not held
//!
//! ```text
//! S = min(Σ ŷ_f U'(ŷ_f), Σ_p x̂_p Σ_{l ∈ p} p_l c_l/load_l),    gap = max { Σ Δ_f/S, max_f Δ_f/R_f }
//! ```
//!
//! (the first of the two where nothing is paid) and where a held flow with R_f > S is judged by itself, on the right,
//! and any other flow is in the sum on the left. So at a gap ε the missing utility is at most ε (S + Σ R_f), and the
//! worth of held flows does not hide that others starve. The gap does not change with the units, with a scaling of U or
//! with constants added to it. For log utilities it is the mean loss of log rate.
//!
//! A satiated flow (`numerical_saturation.rs`) is held too, with R_f the revenue at the rate that satiates it.

use super::best_response::BestResponse;
use super::numerical_saturation::numerical_saturation_of;
use super::{FeasiblePoint, larger};
use crate::error::Result;
use crate::interrupt;

impl FeasiblePoint<'_> {
    /// The gap as defined above. One pass over the paths, a chunk at a time.
    pub(crate) fn relative_gap(&self) -> Result<f64> {
        let problem = self.problem;
        let (idle, numerical_saturation) = (self.idle_revenue(), self.numerical_saturation()?);
        let (mut best, mut marginals) = (BestResponse::default(), Vec::new());
        let mut free = Free::default();
        let mut held: Vec<[f64; 2]> = Vec::new();
        for block in &problem.blocks {
            for flows in block.chunks() {
                interrupt::check()?;
                let (places, rates) = (block.places(&flows), &self.flow_rates[flows.clone()]);
                let first = problem.flow_paths[flows.start];
                let bounded = best.respond(problem, block, flows.clone(), &self.path_prices[first..]) || block.may_jump;
                block.utility.gain_into(places.clone(), rates, &best.rates, &mut best.scratch);
                marginals.resize(flows.len(), 0.0);
                block.utility.marginal_into(places.clone(), rates, &mut marginals);
                best.marginals.clear();
                if bounded {
                    best.marginals.resize(flows.len(), 0.0);
                    block.utility.marginal_into(places, &best.rates, &mut best.marginals);
                }
                for (number, flow) in flows.enumerate() {
                    let (mut cost, mut paid, mut idled, mut would_pay, mut rent) = (0.0, 0.0, 0.0, 0.0, 0.0);
                    for path in problem.paths_of(flow) {
                        let (price, now, then) =
                            (self.path_prices[path], self.rates[path], best.path_rates[path - first]);
                        cost += price * (then - now);
                        paid += price * now;
                        would_pay += price * then;
                        let links = problem.paths.links(path).iter().map(|&link| idle.of(link as usize, now));
                        idled += links.sum::<f64>();
                        if bounded && then > 0.0 && best.marginals[number] > price {
                            rent += then * (best.marginals[number] - price);
                        }
                    }
                    let missing = best.scratch[number] - cost;
                    // Not max, which would hide an answer that is not a number.
                    let missing = if missing < 0.0 { 0.0 } else { missing } + idled;
                    let lost = rent == 0.0 && would_pay == 0.0 && rates[number] < best.rates[number];
                    // A power law is never worth nothing: where it is, its marginal is one that no float holds.
                    if lost && block.utility.alpha(flow - block.flows.start).is_some() {
                        return Ok(f64::INFINITY);
                    }
                    let numerical_saturation = numerical_saturation_of(numerical_saturation, flow);
                    if numerical_saturation.is_at(marginals[number]) {
                        held.push([missing, rent.max(numerical_saturation.revenue)]);
                    } else if rent > would_pay {
                        held.push([missing, rent]);
                    } else {
                        let rate = rates[number];
                        free.missing += missing;
                        free.revenue += if rate == 0.0 { 0.0 } else { rate * marginals[number] };
                        free.paid += paid + idled;
                    }
                }
            }
        }
        Ok(free.relative_gap(&held))
    }

    /// What links idle by, at their prices.
    fn idle_revenue(&self) -> IdleRevenue {
        let problem = self.problem;
        let mut this = IdleRevenue { per_rate: vec![0.0; self.prices.len()], even: Vec::new() };
        let links = self.prices.iter().zip(&problem.capacities).zip(&self.relative_loads);
        for (link, ((price, capacity), &load)) in links.enumerate() {
            if load > f64::MIN_POSITIVE {
                this.per_rate[link] = price * (1.0 / load - 1.0).max(0.0);
            } else if *price > 0.0 {
                this.even.resize(self.prices.len(), 0.0);
                this.even[link] = price * capacity;
            }
        }
        if !this.even.is_empty() {
            let mut counts = vec![0.0; self.prices.len()];
            problem.paths.indices().iter().for_each(|&link| counts[link as usize] += 1.0);
            this.even.iter_mut().zip(counts).for_each(|(worth, count)| *worth /= f64::max(count, 1.0));
        }
        this
    }
}

/// What the links idle by, at their prices.
struct IdleRevenue {
    /// Per unit of load.
    per_rate: Vec<f64>,
    /// Of links without load, for each path through them; empty where there are none.
    even: Vec<f64>,
}

impl IdleRevenue {
    /// The part of a path with this rate.
    fn of(&self, link: usize, rate: f64) -> f64 {
        let loaded = if rate > 0.0 { rate * self.per_rate[link] } else { 0.0 };
        loaded + if self.even.is_empty() { 0.0 } else { self.even[link] }
    }
}

/// Sums over the flows that are not held.
#[derive(Default)]
struct Free {
    /// Σ Δ.
    missing: f64,
    /// Σ ŷ U'(ŷ).
    revenue: f64,
    /// What they pay, with their part of what the links idle by.
    paid: f64,
}

impl Free {
    /// The gap, given [Δ, R] of the held flows.
    fn relative_gap(self, held: &[[f64; 2]]) -> f64 {
        let scale = if self.paid > 0.0 { self.paid.min(self.revenue) } else { self.revenue };
        let (mut missing, mut alone) = (self.missing, 0.0f64);
        for &[own, rent] in held {
            if own == f64::INFINITY {
                return own;
            }
            if rent > scale {
                alone = larger(alone, if rent.is_finite() { own / rent } else { f64::NAN });
            } else {
                missing += own;
            }
        }
        let together = match missing {
            0.0 | f64::INFINITY => missing,
            _ if scale.is_infinite() => f64::NAN,
            _ => missing / scale,
        };
        larger(together, alone)
    }
}
