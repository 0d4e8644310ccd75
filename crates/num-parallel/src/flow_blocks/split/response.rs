//! How a group of flows splits at given prices. The formulas stand in `mod.rs`.

use netnum_core::internal::numerics::{exp, ln, vectorized};
pub(crate) use netnum_core::internal::path_split::SMALLEST_SHARE;
use netnum_core::internal::path_split::{AVOIDABLE, FOLLOW, LARGEST_EXPONENT, WHOLE};

use super::super::real::{LARGEST_POWER, Real};
use super::super::sizes::LANES;

/// A larger demand is as good as this, in either precision.
const LARGEST_DEMAND: f64 = 1e38;
/// Stands for 0 in a division, and for no price at all.
const TINY: f64 = 1e-30;

/// A number for every flow of a group.
pub(super) type Lanes<R> = [R; LANES];

/// Numbers of a group, per path.
#[derive(Debug)]
pub(super) struct Scratch<R> {
    /// Price of its own links, and Σ a over the priced ones.
    pub(super) prices: Vec<Lanes<R>>,
    pub(super) priced: Vec<Lanes<R>>,
    /// x_p/D.
    pub(super) parts: Vec<Lanes<R>>,
    /// −D' x_p/D, and the slope of what moves between paths.
    pub(super) whole: Vec<Lanes<R>>,
    pub(super) moves: Vec<Lanes<R>>,
}
/// How the flows of a group respond to a price.
pub(super) struct Law<'a, R> {
    pub(super) is_power: bool,
    pub(super) scales: &'a Lanes<R>,
    pub(super) exponents: &'a Lanes<R>,
    pub(super) floors: &'a Lanes<R>,
}

impl<R: Real> Law<'_, R> {
    /// D and −D' of a flow.
    fn respond(&self, lane: usize, price: R) -> [R; 2] {
        let (mut demands, mut slopes) = ([R::ONE; LANES], [R::ONE; LANES]);
        self.respond_all(&[price; LANES], &mut demands, &mut slopes);
        [demands[lane], slopes[lane]]
    }

    /// D and −D' of a group.
    #[inline(always)]
    fn respond_all(&self, prices: &Lanes<R>, demands: &mut Lanes<R>, slopes: &mut Lanes<R>) {
        let (prices, scales, exponents) = (*prices, *self.scales, *self.exponents);
        let (mut found, mut falls) = ([R::ZERO; LANES], [R::ZERO; LANES]);
        // Two loops: in one, both laws would be computed for every flow.
        if self.is_power {
            for lane in 0..LANES {
                let exponent = scales[lane].wide() - ln(prices[lane].wide()) * exponents[lane].wide();
                found[lane] = R::of(exp(exponent.clamp(-LARGEST_POWER, LARGEST_POWER)));
                falls[lane] = exponents[lane] * found[lane] / prices[lane];
            }
        } else {
            for lane in 0..LANES {
                let inverse = R::ONE / prices[lane];
                found[lane] = scales[lane] * inverse;
                falls[lane] = found[lane] * inverse;
            }
        }
        (*demands, *slopes) = (found, falls);
    }
}

/// The rates of a group, and their slopes. Rows are copied before a loop over their lanes: what is in closures may lie
/// anywhere for the compiler, and such loops have no vectors.
#[inline(always)]
pub(super) fn split<R: Real>(
    law: &Law<'_, R>,
    common: &Lanes<R>,
    shares: &[Lanes<R>],
    ceilings: &[Lanes<R>],
    rates: &mut [Lanes<R>],
    Scratch { prices, parts, whole, moves, .. }: &mut Scratch<R>,
) {
    let mut over = [R::ZERO; LANES];
    let mut scales = [R::ONE; LANES];
    vectorized(
        #[inline(always)]
        || {
            let (most, common, floors) = (R::of(f64::MAX), *common, *law.floors);
            let (mut taking_part, mut mean, mut least) = ([R::ZERO; LANES], [R::ZERO; LANES], [most; LANES]);
            for ((shares, ceilings), prices) in shares.iter().zip(ceilings).zip(&*prices) {
                let (shares, ceilings, prices) = (*shares, *ceilings, *prices);
                for lane in 0..LANES {
                    let works = ceilings[lane] > R::ZERO;
                    let share = if works { shares[lane] } else { R::ZERO };
                    taking_part[lane] += share;
                    mean[lane] += share * prices[lane];
                    least[lane] = least[lane].at_most(if works { prices[lane] } else { most });
                }
            }
            let (mut sums, mut inverses, mut found) = ([R::ZERO; LANES], [R::ZERO; LANES], [R::ONE; LANES]);
            for lane in 0..LANES {
                taking_part[lane] = taking_part[lane].at_least(R::of(TINY));
                least[lane] = if least[lane] < most { least[lane] } else { R::ZERO };
                let avoidable = mean[lane] / taking_part[lane];
                let all = (common[lane] + avoidable).at_least(floors[lane]);
                found[lane] = R::of(AVOIDABLE) * avoidable + R::of(WHOLE) * all;
                inverses[lane] = R::ONE / found[lane];
            }
            for (((shares, ceilings), prices), parts) in shares.iter().zip(ceilings).zip(&*prices).zip(&mut *parts) {
                let (shares, ceilings, prices) = (*shares, *ceilings, *prices);
                let mut row = [R::ZERO; LANES];
                for lane in 0..LANES {
                    let share = if ceilings[lane] > R::ZERO { shares[lane] } else { R::ZERO };
                    let exponent = ((least[lane] - prices[lane]) * inverses[lane]).at_most(R::ZERO);
                    row[lane] = share * R::of(exp(exponent.at_least(R::of(-LARGEST_EXPONENT)).wide()));
                }
                for lane in 0..LANES {
                    sums[lane] += row[lane];
                }
                *parts = row;
            }
            let (mut demands, mut slopes, mut lowest) = ([R::ZERO; LANES], [R::ZERO; LANES], [R::ONE; LANES]);
            for lane in 0..LANES {
                sums[lane] = sums[lane].at_least(R::of(TINY));
                let below = found[lane] * R::of(ln((sums[lane] / taking_part[lane]).wide()));
                lowest[lane] = (common[lane] + least[lane] - below).at_least(floors[lane]);
                sums[lane] = R::ONE / sums[lane];
            }
            law.respond_all(&lowest, &mut demands, &mut slopes);
            let mut most_over = [R::ZERO; LANES];
            let rows = rates.iter_mut().zip(ceilings).zip(&*parts).zip(whole.iter_mut().zip(&mut *moves));
            for (((rates, ceilings), parts), (whole, moves)) in rows {
                let (ceilings, parts) = (*ceilings, *parts);
                let (mut rate, mut falls, mut moved) = ([R::ZERO; LANES], [R::ZERO; LANES], [R::ZERO; LANES]);
                for lane in 0..LANES {
                    let part = parts[lane] * sums[lane];
                    rate[lane] = number(part * demands[lane].at_most(R::of(LARGEST_DEMAND)));
                    most_over[lane] = most_over[lane].at_least(rate[lane] - ceilings[lane]);
                    falls[lane] = number(part * slopes[lane]);
                    moved[lane] = of_moves(rate[lane], inverses[lane], part);
                }
                (*rates, *whole, *moves) = (rate, falls, moved);
            }
            (over, scales) = (most_over, found);
        },
    );
    for (lane, _) in over.iter().enumerate().filter(|(_, over)| **over > R::ZERO) {
        let column = |of: &[Lanes<R>]| of.iter().map(|row| row[lane]).collect::<Vec<R>>();
        let of = Cut {
            common: common[lane],
            prices: &column(prices),
            shares: &column(shares),
            ceilings: &column(ceilings),
            scale: scales[lane],
        };
        let (found, slope) = of.split(law, lane);
        let mut sum = R::ZERO;
        found.iter().for_each(|&rate| sum += rate);
        for (path, rate) in found.into_iter().enumerate() {
            let part = if sum > R::ZERO { rate / sum } else { R::ZERO };
            rates[path][lane] = rate;
            whole[path][lane] = number(part * slope);
            moves[path][lane] = of_moves(rate, R::ONE / scales[lane], part);
        }
    }
}

/// x_p/τ min(1, 2 (1 − x_p/D)).
#[inline(always)]
fn of_moves<R: Real>(rate: R, inverse_scale: R, part: R) -> R {
    let others = R::of(2.0) * (R::ONE - part);
    number(rate * inverse_scale * others.at_least(R::ZERO).at_most(R::ONE))
}

/// A number that is not below 0; what comes of prices or demands beyond all numbers is none, and counts as 0.
#[inline(always)]
fn number<R: Real>(value: R) -> R {
    if value >= R::ZERO { value } else { R::ZERO }
}

/// A flow, some of whose paths would carry more than their ceilings.
struct Cut<'a, R> {
    common: R,
    prices: &'a [R],
    shares: &'a [R],
    ceilings: &'a [R],
    scale: R,
}

impl<R: Real> Cut<'_, R> {
    /// The rates of its paths, and −D' at the mean price of those that have room. Those that want more than their
    /// ceilings carry these, and the others share what is left of the demand, in rounds.
    fn split(&self, law: &Law<'_, R>, lane: usize) -> (Vec<R>, R) {
        let mut has_room: Vec<bool> = self.ceilings.iter().map(|&ceiling| ceiling > R::ZERO).collect();
        let mut slope = R::ZERO;
        loop {
            let free = || (0..self.prices.len()).filter(|&path| has_room[path]);
            let Some(least) = free().map(|path| self.prices[path]).reduce(R::at_most) else {
                return (self.ceilings.to_vec(), slope);
            };
            let weight = |path: usize| {
                let exponent = ((least - self.prices[path]) / self.scale).wide().max(-LARGEST_EXPONENT);
                self.shares[path] * R::of(exp(exponent))
            };
            let (mut shares, mut sum, mut cut) = (R::of(TINY), R::of(TINY), R::ZERO);
            for path in free() {
                shares += self.shares[path];
                sum += weight(path);
            }
            for path in (0..self.prices.len()).filter(|&path| !has_room[path]) {
                cut += self.ceilings[path];
            }
            let below = self.scale * R::of(ln((sum / shares).wide()));
            let demand;
            [demand, slope] = law.respond(lane, (self.common + least - below).at_least(law.floors[lane]));
            let rest = (demand.at_most(R::of(LARGEST_DEMAND)) - cut).at_least(R::ZERO);
            let free_rate = |path: usize| number(rest * (weight(path) / sum));
            let rate = |path: usize| if has_room[path] { free_rate(path) } else { self.ceilings[path] };
            let rates: Vec<R> = (0..self.prices.len()).map(rate).collect();
            let full: Vec<usize> = free().filter(|&path| rates[path] > self.ceilings[path]).collect();
            if full.is_empty() {
                return (rates, slope);
            }
            full.into_iter().for_each(|path| has_room[path] = false);
        }
    }
}

/// Moves the shares of a group.
#[inline(always)]
pub(super) fn follow<R: Real>(shares: &mut [Lanes<R>], rates: &[Lanes<R>]) {
    let (mut totals, mut sums) = ([R::ZERO; LANES], [R::ZERO; LANES]);
    for rates in rates {
        let rates = *rates;
        for lane in 0..LANES {
            totals[lane] += rates[lane];
        }
    }
    let mut inverses = [R::ZERO; LANES];
    for lane in 0..LANES {
        inverses[lane] = if totals[lane] > R::ZERO { R::ONE / totals[lane] } else { R::ZERO };
    }
    for (shares, rates) in shares.iter_mut().zip(rates) {
        let (mut row, rates) = (*shares, *rates);
        for lane in 0..LANES {
            // A flow that gets nothing keeps its shares.
            let part = if totals[lane] > R::ZERO { rates[lane] * inverses[lane] } else { row[lane] };
            row[lane] += R::of(FOLLOW) * (part.at_least(R::of(SMALLEST_SHARE)) - row[lane]);
            sums[lane] += row[lane];
        }
        *shares = row;
    }
    sums = sums.map(|sum| R::ONE / sum);
    for shares in shares {
        let mut row = *shares;
        for lane in 0..LANES {
            row[lane] = row[lane] * sums[lane];
        }
        *shares = row;
    }
}
