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

use super::real::Real;

/// Segments that 16 bits can number. Tables are at least this long, so that no look-up needs a check of its bounds.
pub(crate) const WINDOW: usize = 1 << 16;

/// Flows that are gathered, responded to and scattered at a time.
const LOGS: usize = 4;

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
    pub(crate) windows: Vec<u32>,
    law: Law,
    /// Segments of flow i: `ids[i * windows.len()..]`.
    ids: Vec<u16>,
    scales: Vec<R>,
    /// Of powers only.
    exponents: Vec<R>,
    floors: Vec<R>,
    rates: Vec<R>,
    /// The engine's numbers of the flows.
    flows: Vec<u32>,
}

impl<R: Real> Bucket<R> {
    pub(crate) fn new(law: Law, windows: Vec<u32>) -> Self {
        let (ids, flows) = (Vec::new(), Vec::new());
        let (scales, exponents, floors, rates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { windows, law, ids, scales, exponents, floors, rates, flows }
    }

    pub(crate) fn law(&self) -> Law {
        self.law
    }

    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }

    pub(crate) fn rates(&self) -> &[R] {
        &self.rates
    }

    /// Appends a flow.
    pub(crate) fn push(&mut self, flow: u32, ids: impl Iterator<Item = u16>, response: &Response) {
        self.ids.extend(ids);
        self.scales.push(R::of(response.scale));
        if self.law == Law::Power {
            self.exponents.push(R::of(response.exponent));
        }
        self.floors.push(R::of(response.floor));
        self.rates.push(R::default());
        self.flows.push(flow);
    }

    /// Takes a flow out, and puts the last one in its place: returns that one's number, if there is one.
    pub(crate) fn swap_remove(&mut self, place: usize) -> Option<u32> {
        let width = self.windows.len();
        let last = self.flows.len() - 1;
        self.ids.copy_within(last * width.., place * width);
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
        let whole = self.windows.iter().all(|&start| start == 0);
        macro_rules! of_width {
            ($($width:literal)*) => {
                match (self.windows.len(), self.law, whole) {
                    $(($width, Law::Log, true) => self.logs::<$width, WEIGH>(prices, sums),)*
                    _ => self.any::<WEIGH>(prices, sums),
                }
            };
        }
        of_width!(1 2 3 4 5 6 7 8);
    }

    #[inline(never)]
    fn logs<const WIDTH: usize, const WEIGH: bool>(&mut self, prices: &[[R; 2]], sums: &mut [[R; 2]]) {
        let prices: &[[R; 2]; WINDOW] = prices.first_chunk().expect("tables are at least this long");
        let sums: &mut [[R; 2]; WINDOW] = sums.first_chunk_mut().expect("tables are at least this long");
        let (rows, last_rows) = self.ids.as_chunks::<WIDTH>().0.as_chunks::<LOGS>();
        let (scales, last_scales) = self.scales.as_chunks::<LOGS>();
        let (floors, last_floors) = self.floors.as_chunks::<LOGS>();
        let (rates, last_rates) = self.rates.as_chunks_mut::<LOGS>();
        for (((rows, scales), floors), rates) in rows.iter().zip(scales).zip(floors).zip(rates) {
            *rates = logs::<R, LOGS, WIDTH, WEIGH>(rows, scales, floors, prices, sums);
        }
        for (((row, &scale), &floor), rate) in last_rows.iter().zip(last_scales).zip(last_floors).zip(last_rates) {
            [*rate] = logs::<R, 1, WIDTH, WEIGH>(&[*row], &[scale], &[floor], prices, sums);
        }
    }

    fn any<const WEIGH: bool>(&mut self, prices: &[[R; 2]], sums: &mut [[R; 2]]) {
        let width = self.windows.len();
        for (place, ids) in self.ids.chunks_exact(width).enumerate() {
            let segments = || ids.iter().zip(&self.windows).map(|(&id, &start)| start as usize + usize::from(id));
            let (mut price, mut priced) = (R::default(), R::default());
            for segment in segments() {
                price += prices[segment][0];
                priced += prices[segment][1];
            }
            let price = price.at_least(self.floors[place]);
            let inverse = R::ONE / price;
            let (rate, mut slope) = match self.law {
                Law::Log => (self.scales[place] * inverse, self.scales[place] * inverse * inverse),
                Law::Power => {
                    let exponent = self.exponents[place].wide();
                    let rate =
                        R::of((self.scales[place].wide() - price.wide().ln() * exponent).clamp(-690.0, 667.0).exp());
                    (rate, self.exponents[place] * rate * inverse)
                }
            };
            if WEIGH {
                slope = slope * priced.at_least(R::ONE);
            }
            self.rates[place] = rate;
            for segment in segments() {
                sums[segment][0] += rate;
                sums[segment][1] += slope;
            }
        }
    }
}

/// Rates of a few flows at once, which lets the compiler do their arithmetic in one register.
#[inline(always)]
fn logs<R: Real, const FLOWS: usize, const WIDTH: usize, const WEIGH: bool>(
    rows: &[[u16; WIDTH]; FLOWS],
    scales: &[R; FLOWS],
    floors: &[R; FLOWS],
    prices: &[[R; 2]; WINDOW],
    sums: &mut [[R; 2]; WINDOW],
) -> [R; FLOWS] {
    let (mut path_prices, mut priced) = ([R::default(); FLOWS], [R::default(); FLOWS]);
    for flow in 0..FLOWS {
        let first = prices[usize::from(rows[flow][0])];
        (path_prices[flow], priced[flow]) = (first[0], first[1]);
        for &segment in &rows[flow][1..] {
            let entry = prices[usize::from(segment)];
            path_prices[flow] += entry[0];
            if WEIGH {
                priced[flow] += entry[1];
            }
        }
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
        for &segment in &rows[flow] {
            let sum = &mut sums[usize::from(segment)];
            sum[0] += rates[flow];
            sum[1] += slopes[flow];
        }
    }
    rates
}
