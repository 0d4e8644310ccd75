//! Flows that are alike: one law of response, with coefficients or without, one number of entries, one window of the
//! tables; and their response.
//!
//! ```text
//! q = Σ a p over the path, at least U'(ceiling)
//! logs       x = w/q                       D = x/q
//! powers     x = exp(log w − (log q)/α)    D = x/(α q)
//! ```
//!
//! A link's load grows by a x and its slope by a² D, or where a rule counts priced links m by a max(Σ a_m, a) D.
//! Columns side by side, 16-bit numbers for entries; [load, slope] lie together, so that one addition serves both.
//! Flows without coefficients have loops of their own.

use std::cell::Cell;

use netnum_core::internal::PowerDemand;
use netnum_core::internal::numerics::{exp, ln, vectorized};

use super::real::{LARGEST_POWER, Real};
use super::sizes::{ABREAST, POWERS};
use super::windows::{Abreast, View, WindowView, add_to, window};

/// Numbers of some flows that a response reads and writes, side by side in memory: a rate is stored in a line that was
/// just read. A store to a line of its own waits for that line, and all later stores wait with it.
#[derive(Debug, Clone, Copy)]
struct Rows<R> {
    scales: [R; ABREAST],
    /// Demanded last; 0 before that.
    rates: [R; ABREAST],
}

impl<R: Real> Rows<R> {
    /// Padding: as logs these flows demand nothing, whatever entries they name.
    const EMPTY: Self = Self { scales: [R::ZERO; ABREAST], rates: [R::ZERO; ABREAST] };
}

/// How some flows respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// α = 1.
    pub(crate) is_log: bool,
    /// With coefficients.
    pub(crate) is_weighted: bool,
}

/// Flows that are alike.
#[derive(Debug)]
pub(crate) struct Bucket<R> {
    /// Where the windows begin that the flows' entries are numbered in, position by position.
    windows: Vec<u32>,
    kind: Kind,
    /// Entries of flow i: `ids[i * windows.len()..]`; as many as `rows` have room for.
    ids: Vec<u16>,
    /// As many, 1 for padding; none without coefficients.
    coefficients: Vec<R>,
    /// Flow i is number `i % ABREAST` of `rows[i / ABREAST]`; the last may have room.
    rows: Vec<Rows<R>>,
    /// As many as `rows` have room for; 1 for padding. Seldom read: most path prices are above all of them.
    floors: Vec<R>,
    /// A bound of all floors, if it is known: the highest, or that of a flow that has gone *(derived)*.
    highest_floor: Option<R>,
    /// Of powers only.
    exponents: Vec<R>,
    /// Rates after the last normalizer; 0 for flows that came later. As many as `rows` have room for, or none.
    feasible: Vec<R>,
    /// Numbers of the flows: those of a problem, or slots of an allocator.
    flows: Vec<u32>,
}

impl<R: Real> Bucket<R> {
    pub(crate) fn new(kind: Kind, windows: Vec<u32>) -> Self {
        Self {
            windows,
            kind,
            ids: Vec::new(),
            coefficients: Vec::new(),
            rows: Vec::new(),
            floors: Vec::new(),
            highest_floor: None,
            exponents: Vec::new(),
            feasible: Vec::new(),
            flows: Vec::new(),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn windows(&self) -> &[u32] {
        &self.windows
    }

    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }

    fn rate(&self, place: usize) -> R {
        self.rows[place / ABREAST].rates[place % ABREAST]
    }

    /// Rate of a flow as demanded last, and after the last normalizer; 0 if it came later.
    pub(crate) fn rates(&self, place: usize) -> [f64; 2] {
        [self.rate(place), self.feasible.get(place).copied().unwrap_or(R::ZERO)].map(R::wide)
    }

    pub(crate) fn set_rates(&mut self, place: usize, [rate, feasible]: [f64; 2]) {
        self.rows[place / ABREAST].rates[place % ABREAST] = R::of(rate);
        if feasible > 0.0 {
            self.set_feasible(place, feasible);
        }
    }

    pub(crate) fn set_feasible(&mut self, place: usize, rate: f64) {
        self.feasible.resize(self.floors.len(), R::ZERO);
        self.feasible[place] = R::of(rate);
    }

    /// The entries of a flow.
    pub(crate) fn entries(&self, place: usize) -> impl Iterator<Item = usize> {
        let width = self.windows.len();
        let ids = &self.ids[place * width..(place + 1) * width];
        ids.iter().zip(&self.windows).map(|(&id, &start)| start as usize + usize::from(id))
    }

    /// The coefficients of a flow there; none where all are 1.
    pub(crate) fn coefficients(&self, place: usize) -> Option<impl Iterator<Item = f64>> {
        let width = self.windows.len();
        let own = || self.coefficients[place * width..(place + 1) * width].iter().map(|&own| own.wide());
        self.kind.is_weighted.then(own)
    }

    pub(crate) fn set_floor(&mut self, place: usize, floor: f64) {
        let floor = R::of(floor);
        let old = std::mem::replace(&mut self.floors[place], floor);
        self.forget_floor(old);
        self.note_floor(floor);
    }

    /// A flow has come whose floor is this.
    fn note_floor(&mut self, floor: R) {
        self.highest_floor = self.highest_floor.map(|highest| highest.at_least(floor));
    }

    /// A flow has gone whose floor was this.
    fn forget_floor(&mut self, floor: R) {
        self.highest_floor = self.highest_floor.filter(|&highest| floor < highest);
    }

    fn highest_floor(&mut self) -> R {
        let floors = self.floors[..self.flows.len()].iter().copied();
        *self.highest_floor.get_or_insert_with(|| floors.fold(R::ZERO, R::at_least))
    }

    /// Makes room for so many more flows.
    pub(super) fn reserve(&mut self, flows: usize) {
        let room = (self.flows.len() + flows).next_multiple_of(ABREAST);
        self.rows.resize(room / ABREAST, Rows::EMPTY);
        self.floors.resize(room, R::ONE);
        self.ids.resize(room * self.windows.len(), 0);
        if self.kind.is_weighted {
            self.coefficients.resize(self.ids.len(), R::ONE);
        }
        if !self.feasible.is_empty() {
            self.feasible.resize(room, R::ZERO);
        }
        self.flows.reserve(flows);
        if !self.kind.is_log {
            self.exponents.reserve(flows);
        }
    }

    /// Appends a flow, with coefficients if the others have some; returns its place.
    pub(crate) fn push(
        &mut self,
        flow: u32,
        entries: impl Iterator<Item = u32>,
        coefficients: Option<&[f64]>,
        demand: &PowerDemand,
    ) -> u32 {
        let (place, width) = (self.flows.len(), self.windows.len());
        if place == self.floors.len() {
            self.reserve(1);
        }
        let ids = self.ids[place * width..].iter_mut();
        for (id, (entry, start)) in ids.zip(entries.zip(&self.windows)) {
            *id = (entry - start) as u16;
        }
        if let Some(given) = coefficients {
            let own = self.coefficients[place * width..].iter_mut();
            own.zip(given).for_each(|(own, &given)| *own = R::of(given));
        }
        let (rows, at) = (&mut self.rows[place / ABREAST], place % ABREAST);
        (rows.scales[at], rows.rates[at]) = (R::of(demand.scale), R::ZERO);
        self.floors[place] = R::of(demand.floor);
        self.note_floor(self.floors[place]);
        // Padding in this place may have one.
        if let Some(feasible) = self.feasible.get_mut(place) {
            *feasible = R::ZERO;
        }
        if !self.kind.is_log {
            self.exponents.push(R::of(demand.exponent));
        }
        self.flows.push(flow);
        place as u32
    }

    /// Takes a flow out, and puts the last one in its place: returns that one's number, if there is one.
    pub(crate) fn swap_remove(&mut self, place: usize) -> Option<u32> {
        let width = self.windows.len();
        let last = self.flows.len() - 1;
        // A few numbers, for which a copy of any length would be long.
        for position in 0..width {
            self.ids[place * width + position] = self.ids[last * width + position];
        }
        if self.kind.is_weighted {
            self.coefficients.copy_within(last * width..(last + 1) * width, place * width);
        }
        let from = self.rows[last / ABREAST];
        let (to, one, other) = (&mut self.rows[place / ABREAST], place % ABREAST, last % ABREAST);
        (to.scales[one], to.rates[one]) = (from.scales[other], from.rates[other]);
        self.floors[place] = self.floors[last];
        if !self.feasible.is_empty() {
            self.feasible[place] = self.feasible[last];
            self.feasible[last] = R::ZERO;
        }
        if last.is_multiple_of(ABREAST) {
            self.rows.pop();
            self.ids.truncate(last * width);
            self.coefficients.truncate(last * width);
            self.floors.truncate(last);
            self.feasible.truncate(last);
        } else {
            let rows = &mut self.rows[last / ABREAST];
            (rows.scales[other], rows.rates[other]) = (R::ZERO, R::ZERO);
            self.floors[last] = R::ONE;
        }
        if !self.kind.is_log {
            self.exponents.swap_remove(place);
        }
        self.flows.swap_remove(place);
        self.flows.get(place).copied()
    }

    /// Rates at these prices, added to the sums.
    pub(crate) fn respond<const WEIGH: bool>(&mut self, view: View<'_, R>, sums: &mut [[R; 2]]) {
        let sums = Cell::from_mut(sums).as_slice_of_cells();
        macro_rules! of_width {
            ($($width:literal)*) => {
                match (self.windows.len(), self.kind.is_log, self.kind.is_weighted) {
                    $(($width, true, false) => self.logs::<$width, WEIGH>(view, sums),
                    ($width, false, false) => self.powers::<$width, WEIGH>(view, sums),
                    ($width, _, true) => self.weighted::<$width, WEIGH>(view, sums),)*
                    _ => self.respond_one_by_one::<WEIGH>(view, sums),
                }
            };
        }
        of_width!(1 2 3 4 5 6 7 8);
    }

    /// Where its windows begin.
    fn starts<const WIDTH: usize>(&self) -> [usize; WIDTH] {
        std::array::from_fn(|position| self.windows[position] as usize)
    }

    /// Gathers, responds and scatters a few flows at a time, so that the division overlaps with the memory operations.
    /// In a function of its own, where the loop has all registers. Not for wider vectors: compilers would gather with
    /// them, which is slower than four loads.
    #[inline(never)]
    fn logs<const WIDTH: usize, const WEIGH: bool>(&mut self, view: View<'_, R>, sums: &[Cell<[R; 2]>]) {
        let (starts, highest_floor) = (self.starts(), self.highest_floor());
        let view = WindowView::<R, WIDTH, WEIGH>::new(view, starts);
        let sums = starts.map(|start| window(sums, start));
        let paths = self.ids.as_chunks::<WIDTH>().0.as_chunks::<ABREAST>().0;
        let rows = self.rows.iter_mut().zip(self.floors.as_chunks::<ABREAST>().0);
        for (paths, (rows, floors)) in paths.iter().zip(rows) {
            let paths = Abreast::new(paths);
            // Loops and not from_fn, which may stay a call: then nothing of this is in registers.
            let (mut prices, mut rates, mut slopes) = ([R::ZERO; ABREAST], [R::ZERO; ABREAST], [R::ZERO; ABREAST]);
            for (flow, price) in prices.iter_mut().enumerate() {
                *price = view.price(|position| paths.id(flow, position));
            }
            let mut is_low = false;
            for price in prices {
                is_low |= price < highest_floor;
            }
            if is_low {
                for (price, &floor) in prices.iter_mut().zip(floors) {
                    *price = price.at_least(floor);
                }
            }
            for flow in 0..ABREAST {
                let inverse = R::ONE / prices[flow];
                rates[flow] = rows.scales[flow] * inverse;
                slopes[flow] = rates[flow] * inverse;
            }
            rows.rates = rates;
            if WEIGH {
                for (flow, slope) in slopes.iter_mut().enumerate() {
                    *slope = *slope * view.priced(|position| paths.id(flow, position));
                }
            }
            for flow in 0..ABREAST {
                for (position, sums) in sums.iter().enumerate() {
                    add_to(&sums[paths.id(flow, position)], [rates[flow], slopes[flow]]);
                }
            }
        }
    }

    /// Gathers, responds and scatters in loops of their own: what lies between is long, and done several at a time.
    #[inline(never)]
    fn powers<const WIDTH: usize, const WEIGH: bool>(&mut self, view: View<'_, R>, sums: &[Cell<[R; 2]>]) {
        let starts = self.starts();
        let view = WindowView::<R, WIDTH, WEIGH>::new(view, starts);
        let sums = starts.map(|start| window(sums, start));
        let paths = self.ids.as_chunks::<WIDTH>().0[..self.flows.len()].chunks(POWERS);
        let columns = self.floors.chunks(POWERS).zip(self.exponents.chunks(POWERS));
        for ((paths, rows), (lowest, given)) in paths.zip(self.rows.chunks_mut(POWERS / ABREAST)).zip(columns) {
            let (mut prices, mut priced, mut exponents) = ([R::ONE; POWERS], [R::ONE; POWERS], [R::ONE; POWERS]);
            let mut slopes = [R::ZERO; POWERS];
            for ((path, price), priced) in paths.iter().zip(&mut prices).zip(&mut priced) {
                let id = |position: usize| usize::from(path[position]);
                (*price, *priced) = (view.price(id), view.priced(id));
            }
            exponents[..given.len()].copy_from_slice(given);
            let (mut scales, mut floors, mut rates) = ([R::ZERO; POWERS], [R::ONE; POWERS], [R::ZERO; POWERS]);
            floors[..lowest.len()].copy_from_slice(lowest);
            for (scales, rows) in abreast(&mut scales).zip(&*rows) {
                *scales = rows.scales;
            }
            vectorized(
                #[inline(always)]
                || {
                    for flow in 0..POWERS {
                        prices[flow] = prices[flow].at_least(floors[flow]);
                    }
                    for flow in 0..POWERS {
                        rates[flow] = power(prices[flow], scales[flow], exponents[flow]);
                    }
                    for flow in 0..POWERS {
                        slopes[flow] = exponents[flow] * rates[flow] / prices[flow] * priced[flow];
                    }
                },
            );
            for (rows, rates) in rows.iter_mut().zip(abreast(&mut rates)) {
                rows.rates = *rates;
            }
            for ((path, &rate), &slope) in paths.iter().zip(&rates).zip(&slopes) {
                for (sums, &id) in sums.iter().zip(path) {
                    add_to(&sums[usize::from(id)], [rate, slope]);
                }
            }
        }
    }

    /// Flows with coefficients of either law, in loops of their own: all windows at once have too many addresses for
    /// registers where paths are crossed link by link.
    #[inline(never)]
    fn weighted<const WIDTH: usize, const WEIGH: bool>(&mut self, view: View<'_, R>, sums: &[Cell<[R; 2]>]) {
        let (starts, is_log) = (self.starts(), self.kind.is_log);
        let view = WindowView::<R, WIDTH, WEIGH>::new(view, starts);
        let sums = starts.map(|start| window(sums, start));
        let paths = self.ids.as_chunks::<WIDTH>().0[..self.flows.len()].chunks(POWERS);
        let columns = self.coefficients.as_chunks::<WIDTH>().0.chunks(POWERS).zip(self.floors.chunks(POWERS));
        let groups = paths.zip(self.rows.chunks_mut(POWERS / ABREAST)).zip(columns);
        for (number, ((paths, rows), (own, lowest))) in groups.enumerate() {
            let (mut prices, mut priced) = ([R::ONE; POWERS], [R::ZERO; POWERS]);
            for (((path, own), price), priced) in paths.iter().zip(own).zip(&mut prices).zip(&mut priced) {
                let id = |position: usize| usize::from(path[position]);
                (*price, *priced) = (view.weighted_price(id, own), view.weighted_priced(id, own));
            }
            let (mut scales, mut floors, mut exponents) = ([R::ZERO; POWERS], [R::ONE; POWERS], [R::ONE; POWERS]);
            let (mut rates, mut slopes) = ([R::ZERO; POWERS], [R::ZERO; POWERS]);
            floors[..lowest.len()].copy_from_slice(lowest);
            if let Some(given) = self.exponents.chunks(POWERS).nth(number) {
                exponents[..given.len()].copy_from_slice(given);
            }
            for (scales, rows) in abreast(&mut scales).zip(&*rows) {
                *scales = rows.scales;
            }
            vectorized(
                #[inline(always)]
                || {
                    for flow in 0..POWERS {
                        prices[flow] = prices[flow].at_least(floors[flow]);
                    }
                    // Two loops: in one, both laws would be computed for every flow.
                    if is_log {
                        for flow in 0..POWERS {
                            rates[flow] = scales[flow] / prices[flow];
                        }
                    } else {
                        for flow in 0..POWERS {
                            rates[flow] = power(prices[flow], scales[flow], exponents[flow]);
                        }
                    }
                    for flow in 0..POWERS {
                        slopes[flow] = exponents[flow] * rates[flow] / prices[flow];
                    }
                },
            );
            for (rows, rates) in rows.iter_mut().zip(abreast(&mut rates)) {
                rows.rates = *rates;
            }
            for ((((path, own), &rate), &slope), &priced) in paths.iter().zip(own).zip(&rates).zip(&slopes).zip(&priced)
            {
                for ((sums, &id), &a) in sums.iter().zip(path).zip(own) {
                    add_to(&sums[usize::from(id)], uses::<R, WEIGH>(a, rate, slope, priced));
                }
            }
        }
    }

    /// Paths of many entries.
    fn respond_one_by_one<const WEIGH: bool>(&mut self, view: View<'_, R>, sums: &[Cell<[R; 2]>]) {
        let width = self.windows.len();
        for (place, ids) in self.ids.chunks_exact(width).take(self.flows.len()).enumerate() {
            let (rows, at) = (&mut self.rows[place / ABREAST], place % ABREAST);
            let own = self.coefficients.get(place * width..(place + 1) * width);
            let entries = || {
                let entries = ids.iter().zip(&self.windows).map(|(&id, &start)| start as usize + usize::from(id));
                entries.enumerate().map(|(position, entry)| (entry, own.map_or(R::ONE, |own| own[position])))
            };
            let total = |table: &[R]| {
                let mut total = R::ZERO;
                entries().for_each(|(entry, a)| total += a * table[entry]);
                total
            };
            let (price, scale) = (total(view.prices).at_least(self.floors[place]), rows.scales[at]);
            let (rate, slope) = match self.kind.is_log {
                true => (scale / price, scale / price / price),
                false => {
                    let exponent = self.exponents[place];
                    let rate = power(price, scale, exponent);
                    (rate, exponent * rate / price)
                }
            };
            let priced = if WEIGH { total(view.priced) } else { R::ZERO };
            rows.rates[at] = rate;
            for (entry, a) in entries() {
                add_to(&sums[entry], uses::<R, WEIGH>(a, rate, slope, priced));
            }
        }
    }

    /// F-NORM, given the fraction of the demanded rates that every entry can carry.
    pub(crate) fn normalize(&mut self, fractions: &[R]) {
        self.feasible.resize(self.floors.len(), R::ZERO);
        macro_rules! of_width {
            ($($width:literal)*) => {
                match self.windows.len() {
                    $($width => self.normalize_in_windows::<$width>(fractions),)*
                    _ => self.normalize_one_by_one(fractions),
                }
            };
        }
        of_width!(1 2 3 4 5 6 7 8);
    }

    #[inline(never)]
    fn normalize_in_windows<const WIDTH: usize>(&mut self, fractions: &[R]) {
        let fractions = self.starts::<WIDTH>().map(|start| window(fractions, start));
        let paths = self.ids.as_chunks::<WIDTH>().0.as_chunks::<ABREAST>().0;
        let columns = self.rows.iter().zip(self.feasible.as_chunks_mut::<ABREAST>().0);
        for (paths, (rows, feasible)) in paths.iter().zip(columns) {
            let (paths, mut least, mut normalized) = (Abreast::new(paths), [R::ONE; ABREAST], rows.rates);
            for (position, fractions) in fractions.iter().enumerate() {
                let mut found = [R::ONE; ABREAST];
                for (flow, found) in found.iter_mut().enumerate() {
                    *found = fractions[paths.id(flow, position)];
                }
                for flow in 0..ABREAST {
                    least[flow] = least[flow].at_most(found[flow]);
                }
            }
            for flow in 0..ABREAST {
                normalized[flow] = normalized[flow] * least[flow];
            }
            *feasible = normalized;
        }
    }

    fn normalize_one_by_one(&mut self, fractions: &[R]) {
        let width = self.windows.len();
        for (place, ids) in self.ids.chunks_exact(width).take(self.flows.len()).enumerate() {
            let mut least = R::ONE;
            for (&id, &start) in ids.iter().zip(&self.windows) {
                least = least.at_most(fractions[start as usize + usize::from(id)]);
            }
            self.feasible[place] = self.rate(place) * least;
        }
    }
}

/// What a flow adds to load and slope of an entry, given its coefficient there and, if it is counted, Σ a over the
/// priced links.
#[inline(always)]
fn uses<R: Real, const WEIGH: bool>(a: R, rate: R, slope: R, priced: R) -> [R; 2] {
    [a * rate, a * (slope * if WEIGH { priced.at_least(a) } else { a })]
}

/// A column, as rows have it.
fn abreast<R>(column: &mut [R; POWERS]) -> impl Iterator<Item = &mut [R; ABREAST]> {
    column.as_chunks_mut().0.iter_mut()
}

/// exp(log w − (log q)/α), within what floats and sums of ten million of them can hold.
#[inline(always)]
fn power<R: Real>(price: R, scale: R, exponent: R) -> R {
    let exponent = scale.wide() - ln(price.wide()) * exponent.wide();
    R::of(exp(exponent.clamp(-LARGEST_POWER, LARGEST_POWER)))
}
