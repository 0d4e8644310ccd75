//! Flows with different α on one link, of which one starves because of the unit of rates.
//!
//! Flows of marginal utility (w/x)^α that share a link of price p get x = w p^(−1/α). Their fair shares t = x/w are all
//! 1 at p = 1 and otherwise apart: where rates are 10⁹ times their weights, as in bit/s with weights of 1, the price is
//! 10⁻⁹ to a flow of α = 1, which asks for 10⁹, and one of α = 2 asks for 3 · 10⁴. In another unit it would ask for
//! another part of the link.
//!
//! ```text
//! p_l      Σ_f a_lf min(r_f, w_f (a_lf p)^(−1/α_f)) = c_l      over the flows whose every path crosses l, with the
//!          coefficient of one of these; 0 if Σ a_lf r_f ≤ c_l
//! r_f      what f gets without the link l: its caps, the least capacity on its path, and its rates at the prices p_m
//!          of its other links
//! g starves beside f      α_g ≠ α_f,  x_g < x_f / 1000  and  t_g < t_f / 1000   at p_l, neither held by its r
//! ```
//!
//! Both conditions are needed: a flow of a small weight is meant to get little, and one whose weight or scale makes up
//! for the unit gets its part. What r takes from other links keeps links quiet that are not full in the end.

use std::collections::HashMap;

use super::Problem;
use crate::error::Result;
use crate::interrupt::Pacer;

/// The part of another flow's rate, and of its fair share, below which a flow starves.
const STARVED: f64 = 1e-3;
/// Links for which the rates on the other links of their flows are taken into account, at most.
const LOOKED_AT: usize = 16;
/// Halvings of the interval of ln p, from the whole range of floats to their digits.
const HALVINGS: usize = 64;
/// ln of the largest price and of the reciprocal of the least.
const LARGEST: f64 = 700.0;

/// A flow that starves beside another one since their α differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Starving {
    /// A link that both cross on all of their paths.
    pub link: usize,
    /// The flow, and the rate that it is to get there, about.
    pub flow: usize,
    /// See `flow`.
    pub rate: f64,
    /// The flow that gets more than a thousand times as much.
    pub beside: usize,
    /// What that is, about.
    pub most: f64,
}

/// A flow at the price of a link: x, t and α.
struct Asks {
    flow: usize,
    rate: f64,
    share: f64,
    alpha: f64,
}

/// The links and the flows whose every path crosses them.
struct Links<'a> {
    problem: &'a Problem,
    alphas: Vec<Option<f64>>,
    starts: Vec<usize>,
    flows: Vec<u32>,
    /// By place in `flows`, the coefficient there.
    uses: Vec<f64>,
    /// By flow, one of its paths: links that all of them cross are on any.
    a_path: Vec<usize>,
    /// By flow, the most that caps and capacities let it have.
    alone: Vec<f64>,
    /// ln p of links that have been looked at; `None` where it is 0.
    prices: HashMap<usize, Option<f64>>,
}

impl Problem {
    /// A flow that starves beside one of another α, on the link of the least number where there is one: in another unit
    /// of rates it would get another part. O(crossings) unless α differ by so much, in these units, that it may happen.
    ///
    /// ```
    /// # use netnum_core::{AlphaFair, Error, Paths, Problem};
    /// let mixed = |capacity: f64| {
    ///     let paths = Paths::from_lists([[0], [0]]);
    ///     Problem::new(vec![capacity], paths, AlphaFair::new(vec![1.0, 2.0], 1.0)?)?.starving()
    /// };
    /// assert_eq!(mixed(10.0)?, None); // Gbit/s
    /// let starving = mixed(10e9)?.expect("in bit/s"); // 10⁵ of 10¹⁰ bit/s
    /// assert_eq!((starving.flow, starving.beside, starving.rate.round()), (1, 0, 1e5));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped) only.
    pub fn starving(&self) -> Result<Option<Starving>> {
        let Some(alphas) = self.mixed_alphas() else { return Ok(None) };
        let mut links = Links::new(self, alphas)?;
        let (mut pacer, mut looked_at) = (Pacer::new(), 0);
        for link in 0..self.links() {
            pacer.did(1 + links.of(link).len())?;
            if !links.may_starve(link) {
                continue;
            }
            let alone = |links: &mut Links<'_>, flow: usize| links.alone[flow];
            pacer.did(HALVINGS * links.of(link).len())?;
            if links.starving(link, alone).is_none() {
                continue;
            }
            let elsewhere = |links: &mut Links<'_>, flow: usize| links.elsewhere(flow, link);
            if let Some(starving) = links.starving(link, elsewhere) {
                return Ok(Some(starving));
            }
            looked_at += 1;
            if looked_at == LOOKED_AT {
                break;
            }
        }
        Ok(None)
    }

    /// The finite α of every flow that has one; `None` unless two differ.
    fn mixed_alphas(&self) -> Option<Vec<Option<f64>>> {
        let one = |block: &super::Block, place: usize| block.utility.alpha(place).filter(|alpha| alpha.is_finite());
        let mut first = None;
        let mut differs = |alpha: Option<f64>| alpha.is_some_and(|alpha| alpha != *first.get_or_insert(alpha));
        let is_mixed = self.blocks.iter().any(|block| {
            let count = if block.utility.flows().is_some() { block.flows.len() } else { block.flows.len().min(1) };
            (0..count).any(|place| differs(one(block, place)))
        });
        is_mixed.then(|| {
            let mut alphas = vec![None; self.flows];
            for block in self.blocks.iter() {
                for (place, &flow) in block.flows.iter().enumerate() {
                    alphas[flow as usize] = one(block, place);
                }
            }
            alphas
        })
    }
}

impl<'a> Links<'a> {
    fn new(problem: &'a Problem, alphas: Vec<Option<f64>>) -> Result<Self> {
        let (links, capacities) = (problem.links(), problem.capacities());
        let (mut paths_of, mut alone) = (vec![0u32; problem.flows()], vec![0.0; problem.flows()]);
        let mut a_path = vec![0; problem.flows()];
        let mut crossings: HashMap<(u32, u32), (u32, f64)> = HashMap::new();
        let mut pacer = Pacer::new();
        for (path, &flow) in problem.group().iter().enumerate() {
            let row = problem.paths().row(path);
            pacer.did(row.links().len())?;
            paths_of[flow as usize] += 1;
            a_path[flow as usize] = path;
            alone[flow as usize] += f64::min(row.narrowest(capacities), problem.rate_cap(path));
            for (link, a) in row.entries() {
                let (count, coefficient) = crossings.entry((link, flow)).or_default();
                (*count, *coefficient) = (*count + 1, a);
            }
        }
        for (flow, alone) in alone.iter_mut().enumerate() {
            *alone = f64::min(*alone, problem.flow_cap(flow));
        }
        let all = |(&(link, flow), &(count, a)): (&(u32, u32), &(u32, f64))| {
            let takes_part = alphas[flow as usize].is_some() && count == paths_of[flow as usize];
            takes_part.then_some((link, flow, a))
        };
        let mut crossings: Vec<(u32, u32, f64)> = crossings.iter().filter_map(all).collect();
        crossings.sort_unstable_by_key(|&(link, flow, _)| (link, flow));
        let starts =
            (0..=links).map(|link| crossings.partition_point(|crossing| (crossing.0 as usize) < link)).collect();
        let (flows, uses) = crossings.into_iter().map(|(_, flow, a)| (flow, a)).unzip();
        Ok(Self { problem, alphas, starts, flows, uses, a_path, alone, prices: HashMap::new() })
    }

    fn of(&self, link: usize) -> &[u32] {
        &self.flows[self.starts[link]..self.starts[link + 1]]
    }

    fn uses(&self, link: usize) -> &[f64] {
        &self.uses[self.starts[link]..self.starts[link + 1]]
    }

    fn alpha(&self, flow: usize) -> f64 {
        self.alphas[flow].unwrap_or(1.0)
    }

    /// Whether the α of its flows differ by so much that one may starve at some price that it may have.
    fn may_starve(&self, link: usize) -> bool {
        let (flows, capacity) = (self.of(link), self.problem.capacities()[link]);
        let alphas = || flows.iter().map(|&flow| self.alpha(flow as usize));
        let (least, most) = (alphas().fold(f64::INFINITY, f64::min), alphas().fold(0.0, f64::max));
        if flows.len() < 2 || capacity <= 0.0 || least == most {
            return false;
        }
        // No flow gets more than the capacity, and one gets an even part of it, or is held by its caps.
        let ln_marginal = |flow: u32, rate: f64| {
            let (utility, place) = self.problem.utility(flow as usize);
            utility.marginal(place, rate).ln().clamp(-LARGEST, LARGEST)
        };
        let even = capacity / flows.len() as f64;
        let lowest = flows.iter().map(|&flow| ln_marginal(flow, capacity)).fold(LARGEST, f64::min);
        let highest = flows.iter().map(|&flow| ln_marginal(flow, even)).fold(-LARGEST, f64::max);
        f64::max(lowest.abs(), highest.abs()) * (1.0 / least - 1.0 / most) > -STARVED.ln()
    }

    /// ln p of a link, if its flows ask for more than it has, each for at most its limit.
    fn price(&self, link: usize, limits: &[f64]) -> Option<f64> {
        let capacity = self.problem.capacities()[link];
        if limits.iter().zip(self.uses(link)).map(|(limit, a)| a * limit).sum::<f64>() <= capacity {
            return None;
        }
        let (mut low, mut high) = (-LARGEST, LARGEST);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let flows = self.of(link).iter().zip(self.uses(link)).zip(limits);
            let asked: f64 = flows.map(|((&flow, &a), limit)| a * limit.min(self.demand(flow, middle, a))).sum();
            if asked > capacity { low = middle } else { high = middle }
        }
        Some(high)
    }

    /// At ln p of a link and a coefficient there.
    fn demand(&self, flow: u32, ln_price: f64, a: f64) -> f64 {
        let (utility, place) = self.problem.utility(flow as usize);
        utility.demand(place, a * ln_price.exp())
    }

    /// What a flow gets without a link: at the prices of its others, each as if it were the only one.
    fn elsewhere(&mut self, flow: usize, link: usize) -> f64 {
        let path = self.problem.paths().links(self.a_path[flow]);
        let mut limit = self.alone[flow];
        for other in path.iter().map(|&other| other as usize).filter(|&other| other != link) {
            let Ok(place) = self.of(other).binary_search(&(flow as u32)) else { continue };
            let price = match self.prices.get(&other) {
                Some(&price) => price,
                None => {
                    let limits: Vec<f64> = self.of(other).iter().map(|&flow| self.alone[flow as usize]).collect();
                    let price = self.price(other, &limits);
                    self.prices.insert(other, price);
                    price
                }
            };
            if let Some(price) = price {
                limit = limit.min(self.demand(flow as u32, price, self.uses(other)[place]));
            }
        }
        limit
    }

    /// A flow that starves on a link, where each gets at most its limit.
    fn starving(&mut self, link: usize, limit: impl Fn(&mut Self, usize) -> f64) -> Option<Starving> {
        let flows = self.of(link).to_vec();
        let limits: Vec<f64> = flows.iter().map(|&flow| limit(self, flow as usize)).collect();
        let (price, capacity) = (self.price(link, &limits)?, self.problem.capacities()[link]);
        let asks = |((&flow, &limit), &a): ((&u32, &f64), &f64)| {
            let (rate, alpha) = (self.demand(flow, price, a), self.alpha(flow as usize));
            let share = (-(price + a.ln()) / alpha).exp();
            // Whoever may have the whole link is held by nothing else, though rounding give it all.
            (rate < limit || a * limit >= capacity).then_some(Asks { flow: flow as usize, rate, share, alpha })
        };
        let mut asked: Vec<Asks> = flows.iter().zip(&limits).zip(self.uses(link)).filter_map(asks).collect();
        // By share, the largest first: those before a place are the candidates for the flow beside it.
        asked.sort_by(|one, other| other.share.total_cmp(&one.share));
        let (mut before, mut fastest) = (0, None::<usize>);
        for place in 0..asked.len() {
            while asked[before].share * STARVED > asked[place].share {
                if fastest.is_none_or(|fastest| asked[fastest].rate < asked[before].rate) {
                    fastest = Some(before);
                }
                before += 1;
            }
            let (here, Some(fastest)) = (&asked[place], fastest) else { continue };
            let beside = &asked[fastest];
            if here.alpha != beside.alpha && here.rate < STARVED * beside.rate {
                let (flow, rate, beside, most) = (here.flow, here.rate, beside.flow, beside.rate);
                return Some(Starving { link, flow, rate, beside, most });
            }
        }
        None
    }
}
