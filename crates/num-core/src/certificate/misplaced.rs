//! What flows miss of the bounds and kinks that hold them, as parts of the rates that have it or lack it.
//!
//! ```text
//! lack_l / e↓_l + (excess_l + idle_l) / e↑_l
//! e_l = Σ_p a_lp δ_p w_lp / max_p w_lp,      w_lp = s_lp/max(α_f, 0.1),      s_lp = a_lp p_l/q_p
//! ```
//!
//! over the paths p through l of flows f whose rates move with a price. What some lack others have too much. A change
//! of p_l moves y_f by the part w_lp, so that a flow that is far smaller than others on its links moves as little as
//! they do. δ_p is what a path may give, y_f in proportion to its rate, or may take, y_f up to its bounds. Linear flows
//! give and take all that they can, and a link with no other ones counts no part.
//!
//! A link is *stuck* where no rate moves: no part is counted, however much idles. But flows that are held and have
//! several paths shift from one to the other:
//!
//! ```text
//! e↑_l = min_k e↑_k |a_lr − a_ls| / |a_kr − a_ks|     over shifts s → r to the link, and the links k that they leave
//! e↓_l = min_k e↓_k |a_lr − a_ls| / |a_kr − a_ks|     over shifts s → r from it, and the links k that they fill
//! ```
//!
//! on through further stuck links. No more moves than the path carries, or has room for. The price of l is then
//! compared with what is paid on k.

use super::path_splits::PathSplits;
use super::slackness::{PASSES_ON, Slackness};
use super::tolerances::{FLAT, TINY};
use super::{FeasiblePoint, larger};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::paths::passes::smaller;
use crate::presolve::ROUNDING;

impl FeasiblePoint<'_> {
    /// By path: α of its flow where U' is a power, at least 0.1, and that for others.
    pub(super) fn steepness(&self) -> Result<Vec<f64>> {
        let problem = self.problem;
        let mut steepness = vec![FLAT; self.rates.len()];
        for range in problem.flow_ranges() {
            for (block, flows) in problem.chunks_of(&range) {
                interrupt::check()?;
                for (flow, place) in flows.clone().zip(block.places(&flows)) {
                    steepness[problem.paths_of(flow)].fill(block.utility.alpha(place).unwrap_or(FLAT).max(FLAT));
                }
            }
        }
        Ok(steepness)
    }
}

/// What is wrong on links, in their units.
struct Misfit {
    /// What flows that are held lack, by link.
    lack: Vec<f64>,
    /// What they have too much, and what idles on stuck links.
    room: Vec<f64>,
}

/// What of each would change a rate by as much as it is: e↓ and e↑, by link.
struct Elastic {
    give: Vec<f64>,
    take: Vec<f64>,
}

impl Slackness<'_> {
    /// By link: the part of a rate that is misplaced. Lowers the worths of stuck links.
    pub(super) fn misplaced_parts(&mut self, splits: Option<&PathSplits<'_>>, held: &[usize]) -> Result<Vec<f64>> {
        let FeasiblePoint { problem, prices, .. } = self.point;
        let ranks = problem.ranks();
        let stuck: Vec<bool> =
            self.smallest.iter().zip(prices).map(|(&[rate, _], &price)| price > 0.0 && rate == f64::INFINITY).collect();
        let idle = |(idle, &stuck): (f64, &bool)| if stuck { idle } else { 0.0 };
        let mut misfit = Misfit { lack: vec![0.0; prices.len()], room: self.idle().zip(&stuck).map(idle).collect() };
        let idles = misfit.room.iter().any(|&room| room > 0.0);
        let may_shift = ranks.any(!held.is_empty())?;
        if !(ranks.any(!self.misplaced.is_empty())? || idles && may_shift) {
            return Ok(misfit.lack);
        }
        for (all, sign) in [(&mut misfit.lack, 1.0), (&mut misfit.room, -1.0)] {
            let mut of_paths = vec![0.0; self.point.rates.len()];
            self.misplaced.iter().for_each(|&(path, distance)| of_paths[path] = (sign * distance).max(0.0));
            let loads = problem.pass().sums(
                #[inline(always)]
                |path, row, loads| row.add(of_paths[path], loads),
            )?;
            let counted = |load: f64, capacity: f64| if load > ROUNDING * capacity { load } else { 0.0 };
            let links = all.iter_mut().zip(loads.iter().zip(&problem.capacities));
            links.for_each(|(all, (&load, &capacity))| *all += counted(load, capacity));
        }
        let mut elastic = self.elastic()?;
        if may_shift {
            self.shift(splits, held, &stuck, &misfit, &mut elastic)?;
        }
        let part = |amount: f64, rate: f64| if amount > 0.0 { amount / rate } else { 0.0 };
        let give = misfit.lack.iter().zip(&elastic.give).map(|(&lack, &rate)| part(lack, rate));
        let take = misfit.room.iter().zip(&elastic.take).map(|(&room, &rate)| part(room, rate));
        Ok(give.zip(take).map(|(give, take)| give + take).collect())
    }

    /// e↓ and e↑ of links on which rates move, ∞ of others.
    fn elastic(&self) -> Result<Elastic> {
        let FeasiblePoint { problem, path_prices, .. } = self.point;
        // α_f q_p of paths that move, ∞ of others; and δ_p.
        let mut stiff = self.point.steepness()?;
        let [mut give, mut take] = [0, 1].map(|_| vec![0.0; stiff.len()]);
        for (flow, &flow_rate) in self.point.flow_rates().iter().enumerate() {
            for path in problem.paths_of(flow) {
                let (moving, rate) = (self.moving[path], self.point.rates[path]);
                stiff[path] *= if moving < PASSES_ON { path_prices[path] } else { f64::INFINITY };
                let y = if moving < PASSES_ON { moving } else { rate };
                if moving < f64::INFINITY {
                    let room = (problem.bounds.saturations[flow] - flow_rate).min(problem.bounds.caps[path] - rate);
                    give[path] = if rate > 0.0 { y * (rate / flow_rate) } else { 0.0 };
                    take[path] = y.min(room).max(0.0);
                }
            }
        }
        let loosest = problem.pass().least(
            vec![[f64::INFINITY]; self.smallest.len()],
            #[inline(always)]
            |path, row, least| row.lower(|a| [stiff[path] / a], least),
        )?;
        let sums = |of_paths: &[f64]| {
            let mut sums = problem.pass().sums(
                #[inline(always)]
                |path, row, sums| {
                    if of_paths[path] > 0.0 {
                        for (link, a) in row.entries() {
                            let link = link as usize;
                            // Linear flows take or give all that they can, at one price.
                            let part =
                                if stiff[path] < f64::INFINITY { loosest[link][0] / (stiff[path] / a) } else { 1.0 };
                            sums[link] += a * of_paths[path] * part;
                        }
                    }
                },
            )?;
            let none_moves = |(&sum, &[loosest]): (&f64, &[f64; 1])| sum == 0.0 || loosest == f64::INFINITY;
            let links: Vec<bool> = sums.iter().zip(&loosest).map(none_moves).collect();
            sums.iter_mut().zip(links).filter(|(_, none)| *none).for_each(|(sum, _)| *sum = f64::INFINITY);
            Ok(sums)
        };
        Ok(Elastic { give: sums(&give)?, take: sums(&take)? })
    }

    /// Finds what moves where flows that are held shift from and to stuck links.
    fn shift(
        &mut self,
        splits: Option<&PathSplits<'_>>,
        held: &[usize],
        stuck: &[bool],
        misfit: &Misfit,
        elastic: &mut Elastic,
    ) -> Result<()> {
        let FeasiblePoint { problem, prices, path_prices, .. } = self.point;
        let ranks = problem.ranks();
        let is_wrong = |link: usize| stuck[link] && misfit.lack[link] + misfit.room[link] > 0.0;
        // On all ranks or none.
        let Some(splits) = splits.filter(|_| (0..stuck.len()).any(is_wrong)) else { return Ok(()) };
        let crosses =
            |path: usize, links: &[bool]| problem.paths.row(path).links().iter().any(|&link| links[link as usize]);
        let touches: Vec<bool> = (0..problem.paths.len()).map(|path| crosses(path, stuck)).collect();
        let touching = |flow: &usize| touches[problem.paths_of(*flow)].contains(&true);
        let all: Vec<usize> = held.iter().copied().filter(touching).collect();
        let (mut flows, mut differences, mut pacer) = (all.clone(), vec![0.0; stuck.len()], Pacer::new());
        // A value comes from as many links away as there were rounds.
        for _ in 0..stuck.len() {
            let mut worths: Vec<f64> = self.smallest.iter().map(|&[_, worth]| worth).collect();
            let mut found = [elastic.give.clone(), elastic.take.clone(), worths.clone()];
            for &flow in &flows {
                pacer.did(problem.paths_of(flow).len().pow(2))?;
                splits.shifts(flow, &touches, &mut differences, |[from, to], amount, changes| {
                    // Of the links that a shift leaves, and of those that it fills: the least rate and worth per unit.
                    let mut least = [[f64::INFINITY; 2]; 2];
                    for &(link, difference) in changes {
                        let fills = difference < 0.0;
                        let (path, used) = (if fills { to } else { from }, difference.abs());
                        if self.counts_for_all(link) || used * prices[link] > TINY * path_prices[path] {
                            let rate = if fills { elastic.give[link] } else { elastic.take[link] };
                            let [least_rate, worth] = &mut least[usize::from(fills)];
                            *least_rate = smaller(rate / used, *least_rate);
                            *worth = smaller(worths[link] * used, *worth);
                        }
                    }
                    for &(link, difference) in changes.iter().filter(|(link, _)| stuck[*link]) {
                        let (fills, used) = (difference < 0.0, difference.abs());
                        let [rate, worth] = least[usize::from(!fills)];
                        let wrong = if fills { misfit.room[link] } else { misfit.lack[link] };
                        // No more than the amount moves.
                        let rate = rate * used * larger(1.0, wrong / (amount * used));
                        let [give, take, worths] = &mut found;
                        let own = if fills { take } else { give };
                        own[link] = smaller(rate, own[link]);
                        worths[link] = smaller(worth / used, worths[link]);
                    }
                });
            }
            let mut changed = vec![false; stuck.len()];
            for (own, found) in [&mut elastic.give, &mut elastic.take, &mut worths].into_iter().zip(&mut found) {
                ranks.min(found)?;
                let links = changed.iter_mut().zip(own.iter_mut().zip(found));
                links.for_each(|(changed, (own, found))| {
                    *changed |= own != found;
                    *own = *found;
                });
            }
            self.smallest.iter_mut().zip(&worths).for_each(|([_, worth], &found)| *worth = found);
            if !changed.contains(&true) {
                break;
            }
            let moves = |flow: &usize| problem.paths_of(*flow).any(|path| crosses(path, &changed));
            flows = all.iter().copied().filter(moves).collect();
        }
        Ok(())
    }
}
