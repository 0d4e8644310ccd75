//! Flows that are alike: one law of response, one number of segments, one window of the tables; and their response.
//!
//! ```text
//! q = Σ p over the path, at least U'(ceiling)
//! logs       x = w/q                       D = x/q
//! powers     x = exp(log w − (log q)/α)    D = x/(α q)
//! ```
//!
//! D counts once per priced link where a rule asks for it. Columns side by side, 16-bit numbers for segments; [load,
//! slope] lie together, so that one addition serves both, and [price, priced] likewise.

use netnum_core::utility::elementary::{exp, ln, vectorized};

use super::real::Real;

/// Segments that 16 bits can number. Tables are whole windows, so that no look-up needs a check of its bounds.
pub(crate) const WINDOW: usize = 1 << 16;

/// Segments whose prices and sums, those of both ends of a path, stay in the first-level cache together. Where flows are
/// many per pair of tiles, they stand by tiles instead of by windows.
pub(crate) const TILE: usize = 1 << 10;

/// Flows that are gathered, responded to and scattered at a time.
const LOGS: usize = 4;
const POWERS: usize = 64;

/// exp of these is still a number, also after ten million of them are added.
const LEAST_EXPONENT: f64 = -690.0;
const MOST_EXPONENT: f64 = 667.0;

/// One entry per segment: [price, priced], or [load, slope].
pub(crate) type Table<R> = Vec<[R; 2]>;

/// How rates follow prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Law {
    /// α = 1.
    Log,
    /// Any α.
    Power,
}

/// U'(x) = (w/x)^α, and the price below which the rate stays at its ceiling.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Response {
    pub(crate) law: Law,
    /// w of logs, log w of powers.
    pub(crate) scale: f64,
    /// 1/α.
    pub(crate) exponent: f64,
    pub(crate) floor: f64,
}

/// Flows that are alike.
#[derive(Debug)]
pub(crate) struct Bucket<R> {
    /// Where the windows begin that the flows' segments are numbered in, position by position.
    windows: Vec<u32>,
    /// Their length, [`WINDOW`] or [`TILE`].
    length: usize,
    law: Law,
    /// Segments of flow i: `ids[i * windows.len()..]`.
    ids: Vec<u16>,
    scales: Vec<R>,
    /// Of powers only.
    exponents: Vec<R>,
    floors: Vec<R>,
    rates: Vec<R>,
    /// The rates after F-NORM, as of when that was last asked for.
    feasible: Vec<R>,
    /// The engine's numbers of the flows.
    flows: Vec<u32>,
}

impl<R: Real> Bucket<R> {
    pub(crate) fn new(law: Law, windows: Vec<u32>, length: usize) -> Self {
        let (ids, flows) = (Vec::new(), Vec::new());
        let (scales, exponents, floors) = (Vec::new(), Vec::new(), Vec::new());
        let (rates, feasible) = (Vec::new(), Vec::new());
        Self { windows, length, law, ids, scales, exponents, floors, rates, feasible, flows }
    }

    pub(crate) fn law(&self) -> Law {
        self.law
    }

    pub(crate) fn windows(&self) -> &[u32] {
        &self.windows
    }

    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }

    pub(crate) fn rates(&self) -> &[R] {
        &self.rates
    }

    /// Rates after F-NORM, of the flows that were there when it was asked for.
    pub(crate) fn feasible(&self) -> &[R] {
        &self.feasible
    }

    /// The segments of a flow.
    pub(crate) fn segments(&self, place: usize) -> impl Iterator<Item = usize> {
        let width = self.windows.len();
        let ids = &self.ids[place * width..(place + 1) * width];
        ids.iter().zip(&self.windows).map(|(&id, &start)| start as usize + usize::from(id))
    }

    /// w and 1/α of a flow.
    pub(crate) fn parameters(&self, place: usize) -> (f64, f64) {
        match self.law {
            Law::Log => (self.scales[place].wide(), 1.0),
            Law::Power => (self.scales[place].wide().exp(), self.exponents[place].wide()),
        }
    }

    pub(crate) fn set_floor(&mut self, place: usize, floor: f64) {
        self.floors[place] = R::of(floor);
    }

    /// Appends a flow; returns its place.
    pub(crate) fn push(&mut self, flow: u32, segments: impl Iterator<Item = u32>, response: &Response) -> u32 {
        self.ids.extend(segments.zip(&self.windows).map(|(segment, start)| (segment - start) as u16));
        self.scales.push(R::of(response.scale));
        if self.law == Law::Power {
            self.exponents.push(R::of(response.exponent));
        }
        self.floors.push(R::of(response.floor));
        self.rates.push(R::default());
        self.flows.push(flow);
        self.flows.len() as u32 - 1
    }

    /// Takes a flow out, and puts the last one in its place: returns that one's number, if there is one.
    pub(crate) fn swap_remove(&mut self, place: usize) -> Option<u32> {
        let width = self.windows.len();
        let last = self.flows.len() - 1;
        // A few numbers, for which a copy of any length would be long.
        for position in 0..width {
            self.ids[place * width + position] = self.ids[last * width + position];
        }
        self.ids.truncate(last * width);
        for column in [&mut self.scales, &mut self.floors, &mut self.rates] {
            column.swap_remove(place);
        }
        if self.law == Law::Power {
            self.exponents.swap_remove(place);
        }
        self.flows.swap_remove(place);
        self.flows.get(place).copied()
    }

    /// Rates at these prices, added to the sums.
    pub(crate) fn respond<const WEIGH: bool>(&mut self, prices: &[[R; 2]], sums: &mut [[R; 2]]) {
        macro_rules! of_width {
            ($($width:literal)*) => {
                match self.windows.len() {
                    $($width => self.respond_in_windows::<$width, WEIGH>(prices, sums),)*
                    _ => self.respond_one_by_one::<WEIGH>(prices, sums),
                }
            };
        }
        of_width!(1 2 3 4 5 6 7 8);
    }

    fn respond_in_windows<const WIDTH: usize, const WEIGH: bool>(&mut self, prices: &[[R; 2]], sums: &mut [[R; 2]]) {
        match self.length {
            TILE => self.respond_in::<WIDTH, WEIGH, TILE>(prices, sums),
            _ => self.respond_in::<WIDTH, WEIGH, WINDOW>(prices, sums),
        }
    }

    fn respond_in<const WIDTH: usize, const WEIGH: bool, const LENGTH: usize>(
        &mut self,
        prices: &[[R; 2]],
        sums: &mut [[R; 2]],
    ) {
        let (starts, prices) = self.look_in::<_, WIDTH, LENGTH>(prices);
        if starts.iter().all(|&start| start == starts[0]) {
            // One window: the compiler sees that no number points out of it.
            let sums: &mut [[R; 2]; LENGTH] = sums[starts[0]..].first_chunk_mut().expect("tables are whole windows");
            let scatter = |_: usize, id: u16, of| add(&mut sums[usize::from(id) % LENGTH], of);
            match self.law {
                Law::Log => self.logs::<WIDTH, WEIGH, LENGTH>(prices, scatter),
                Law::Power => self.powers::<WIDTH, WEIGH, LENGTH>(prices, scatter),
            }
        } else {
            let scatter = |position: usize, id: u16, of| add(&mut sums[starts[position] + usize::from(id)], of);
            match self.law {
                Law::Log => self.logs::<WIDTH, WEIGH, LENGTH>(prices, scatter),
                Law::Power => self.powers::<WIDTH, WEIGH, LENGTH>(prices, scatter),
            }
        }
    }

    /// The windows of a table that its flows look into, and where they begin.
    fn look_in<'a, T, const WIDTH: usize, const LENGTH: usize>(
        &self,
        table: &'a [T],
    ) -> ([usize; WIDTH], [&'a [T; LENGTH]; WIDTH]) {
        let starts = std::array::from_fn(|position| self.windows[position] as usize);
        (starts, starts.map(|start: usize| table[start..].first_chunk().expect("tables are whole windows")))
    }

    /// Gathers, responds and scatters a few flows at a time, so that the division hides behind the memory operations.
    /// In a function of its own, where the loop has all registers. Not for wider vectors: compilers would gather with
    /// them, which is slower than four loads.
    #[inline(never)]
    fn logs<const WIDTH: usize, const WEIGH: bool, const LENGTH: usize>(
        &mut self,
        prices: [&[[R; 2]; LENGTH]; WIDTH],
        mut scatter: impl FnMut(usize, u16, [R; 2]),
    ) {
        let (rows, last_rows) = self.ids.as_chunks::<WIDTH>().0.as_chunks::<LOGS>();
        let (scales, last_scales) = self.scales.as_chunks::<LOGS>();
        let (floors, last_floors) = self.floors.as_chunks::<LOGS>();
        let (rates, last_rates) = self.rates.as_chunks_mut::<LOGS>();
        for (((rows, scales), floors), rates) in rows.iter().zip(scales).zip(floors).zip(rates) {
            *rates = logs::<R, LOGS, WIDTH, WEIGH, LENGTH>(rows, scales, floors, prices, &mut scatter);
        }
        for (((row, &scale), &floor), rate) in last_rows.iter().zip(last_scales).zip(last_floors).zip(last_rates) {
            [*rate] = logs::<R, 1, WIDTH, WEIGH, LENGTH>(&[*row], &[scale], &[floor], prices, &mut scatter);
        }
    }

    /// Gathers, responds and scatters in loops of their own: what lies between is long, and done several at a time.
    #[inline(never)]
    fn powers<const WIDTH: usize, const WEIGH: bool, const LENGTH: usize>(
        &mut self,
        prices: [&[[R; 2]; LENGTH]; WIDTH],
        mut scatter: impl FnMut(usize, u16, [R; 2]),
    ) {
        let rows = self.ids.as_chunks::<WIDTH>().0;
        let columns = self.scales.chunks(POWERS).zip(self.exponents.chunks(POWERS)).zip(self.floors.chunks(POWERS));
        for ((rows, rates), ((scales, exponents), floors)) in
            rows.chunks(POWERS).zip(self.rates.chunks_mut(POWERS)).zip(columns)
        {
            let (mut path_prices, mut priced, mut slopes) = ([R::ONE; POWERS], [R::ONE; POWERS], [R::ONE; POWERS]);
            for ((row, price), priced) in rows.iter().zip(&mut path_prices).zip(&mut priced) {
                [*price, *priced] = gather(row, prices);
            }
            vectorized(
                #[inline(always)]
                || {
                    for (price, &floor) in path_prices.iter_mut().zip(floors) {
                        *price = price.at_least(floor);
                    }
                    for (((rate, &price), &scale), &exponent) in
                        rates.iter_mut().zip(&path_prices).zip(scales).zip(exponents)
                    {
                        *rate = power(price, scale, exponent);
                    }
                    let found = rates.iter().zip(exponents).zip(&path_prices);
                    for (slope, ((&rate, &exponent), &price)) in slopes.iter_mut().zip(found) {
                        *slope = exponent * rate / price;
                    }
                    if WEIGH {
                        for (slope, &priced) in slopes.iter_mut().zip(&priced) {
                            *slope = *slope * priced.at_least(R::ONE);
                        }
                    }
                },
            );
            for ((row, &rate), &slope) in rows.iter().zip(&*rates).zip(&slopes) {
                for (position, &id) in row.iter().enumerate() {
                    scatter(position, id, [rate, slope]);
                }
            }
        }
    }

    /// Paths of many segments.
    fn respond_one_by_one<const WEIGH: bool>(&mut self, prices: &[[R; 2]], sums: &mut [[R; 2]]) {
        let width = self.windows.len();
        for (place, ids) in self.ids.chunks_exact(width).enumerate() {
            let segments = || ids.iter().zip(&self.windows).map(|(&id, &start)| start as usize + usize::from(id));
            let (mut price, mut priced) = (R::default(), R::default());
            for segment in segments() {
                price += prices[segment][0];
                priced += prices[segment][1];
            }
            let (price, scale) = (price.at_least(self.floors[place]), self.scales[place]);
            let (rate, mut slope) = match self.law {
                Law::Log => (scale / price, scale / price / price),
                Law::Power => {
                    let exponent = self.exponents[place];
                    let rate = power(price, scale, exponent);
                    (rate, exponent * rate / price)
                }
            };
            if WEIGH {
                slope = slope * priced.at_least(R::ONE);
            }
            self.rates[place] = rate;
            for segment in segments() {
                add(&mut sums[segment], [rate, slope]);
            }
        }
    }

    /// F-NORM, given the load per capacity of every segment.
    pub(crate) fn normalize(&mut self, fullness: &[R]) {
        self.feasible.resize(self.rates.len(), R::default());
        macro_rules! of_width {
            ($($width:literal)*) => {
                match self.windows.len() {
                    $($width => self.normalize_in_windows::<$width>(fullness),)*
                    _ => self.normalize_one_by_one(fullness),
                }
            };
        }
        of_width!(1 2 3 4 5 6 7 8);
    }

    fn normalize_in_windows<const WIDTH: usize>(&mut self, fullness: &[R]) {
        match self.length {
            TILE => self.normalize_in::<WIDTH, TILE>(fullness),
            _ => self.normalize_in::<WIDTH, WINDOW>(fullness),
        }
    }

    #[inline(never)]
    fn normalize_in<const WIDTH: usize, const LENGTH: usize>(&mut self, fullness: &[R]) {
        let (_, fullness) = self.look_in::<_, WIDTH, LENGTH>(fullness);
        let rows = self.ids.as_chunks::<WIDTH>().0;
        for ((row, &rate), feasible) in rows.iter().zip(&self.rates).zip(&mut self.feasible) {
            let mut fullest = R::ONE;
            for (&id, fullness) in row.iter().zip(fullness) {
                fullest = fullest.at_least(fullness[usize::from(id) % LENGTH]);
            }
            *feasible = rate / fullest;
        }
    }

    fn normalize_one_by_one(&mut self, fullness: &[R]) {
        let rows = self.ids.chunks_exact(self.windows.len());
        for ((ids, &rate), feasible) in rows.zip(&self.rates).zip(&mut self.feasible) {
            let mut fullest = R::ONE;
            for (&id, &start) in ids.iter().zip(&self.windows) {
                fullest = fullest.at_least(fullness[start as usize + usize::from(id)]);
            }
            *feasible = rate / fullest;
        }
    }
}

/// exp(log w − (log q)/α), within what floats and sums of ten million of them can hold.
#[inline(always)]
fn power<R: Real>(price: R, scale: R, exponent: R) -> R {
    let exponent = scale.wide() - ln(price.wide()) * exponent.wide();
    R::of(exp(exponent.clamp(LEAST_EXPONENT, MOST_EXPONENT)))
}

/// [price, priced] of a path.
#[inline(always)]
fn gather<R: Real, const WIDTH: usize, const LENGTH: usize>(
    row: &[u16; WIDTH],
    prices: [&[[R; 2]; LENGTH]; WIDTH],
) -> [R; 2] {
    let mut sum = prices[0][usize::from(row[0]) % LENGTH];
    for position in 1..WIDTH {
        add(&mut sum, prices[position][usize::from(row[position]) % LENGTH]);
    }
    sum
}

/// sum += to, which is one instruction where both lie together.
#[inline(always)]
pub(super) fn add<R: Real>(sum: &mut [R; 2], to: [R; 2]) {
    sum[0] += to[0];
    sum[1] += to[1];
}

/// Rates of a few flows at once, which lets the compiler do their arithmetic in one register.
#[inline(always)]
fn logs<R: Real, const FLOWS: usize, const WIDTH: usize, const WEIGH: bool, const LENGTH: usize>(
    rows: &[[u16; WIDTH]; FLOWS],
    scales: &[R; FLOWS],
    floors: &[R; FLOWS],
    prices: [&[[R; 2]; LENGTH]; WIDTH],
    scatter: &mut impl FnMut(usize, u16, [R; 2]),
) -> [R; FLOWS] {
    // Loops and not from_fn, which may stay a call: then nothing of this is in registers.
    let (mut path_prices, mut priced) = ([R::default(); FLOWS], [R::default(); FLOWS]);
    for flow in 0..FLOWS {
        [path_prices[flow], priced[flow]] = gather(&rows[flow], prices);
    }
    let (mut rates, mut slopes) = ([R::default(); FLOWS], [R::default(); FLOWS]);
    for flow in 0..FLOWS {
        let inverse = R::ONE / path_prices[flow].at_least(floors[flow]);
        rates[flow] = scales[flow] * inverse;
        slopes[flow] = rates[flow] * inverse;
    }
    if WEIGH {
        for flow in 0..FLOWS {
            slopes[flow] = slopes[flow] * priced[flow].at_least(R::ONE);
        }
    }
    for flow in 0..FLOWS {
        for (position, &id) in rows[flow].iter().enumerate() {
            scatter(position, id, [rates[flow], slopes[flow]]);
        }
    }
    rates
}
