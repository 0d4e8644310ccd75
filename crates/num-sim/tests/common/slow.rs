//! Sources and schedulers as anyone would write them first: at every event all levels, orders and rates are found anew,
//! and every flow is moved on to the next one. It shares no code with the crate.

use netnum_sim::Workload;

use super::{Plain, progressive_filling};

/// Numbers that differ by this part of them are equal.
const SAME: f64 = 1e-12;
/// 64 kB, in bits.
const CHUNK: f64 = 8.0 * 65_536.0;

/// A flow that has arrived and not ended. Amounts are in bits.
pub(crate) struct Live {
    pub(crate) number: usize,
    route: Plain,
    /// The capacity of its first link.
    first: f64,
    arrival: f64,
    size: f64,
    sent: f64,
    produced: f64,
    /// ∞ if all is at hand.
    production: f64,
    empty: bool,
    full: bool,
    copy_rate: f64,
    chunk: f64,
    chunk_time: f64,
}

impl Live {
    fn cap(&self) -> f64 {
        if self.empty && self.produced < self.size { self.production } else { f64::INFINITY }
    }

    fn pace(&self, rate: f64) -> f64 {
        match () {
            () if self.produced >= self.size => 0.0,
            () if self.full => rate.min(self.production),
            () => self.production,
        }
    }

    fn backlog(&self) -> f64 {
        (self.produced - self.sent).max(0.0)
    }

    /// The time that it still takes in an idle network.
    fn remaining(&self) -> f64 {
        (self.size - self.produced) / self.production.min(self.first) + self.backlog() / self.first
    }

    fn estimate(&self) -> f64 {
        self.produced / self.copy_rate.min(self.first) + self.backlog() / self.first
    }

    fn copy(&mut self, pace: f64, mut time: f64) {
        while pace > 0.0 && self.chunk + pace * time >= CHUNK {
            let step = (CHUNK - self.chunk) / pace;
            self.copy_rate = 0.25 * CHUNK / (self.chunk_time + step) + 0.75 * self.copy_rate;
            (self.chunk, self.chunk_time, time) = (0.0, 0.0, time - step);
        }
        self.chunk += pace * time;
        self.chunk_time += time;
    }
}

/// Which flow goes first.
pub(crate) enum Order {
    Size,
    Time,
    /// By arrival + slack · time alone.
    Deadline(f64),
}

/// The policies of the crate, written once more.
pub(crate) enum Scheduler {
    Fair,
    Ordered(Order),
    /// Thresholds in bits.
    Pias(Vec<f64>),
    Rax {
        knows: bool,
        thresholds: Vec<f64>,
        interval: f64,
        /// By number, the level at the last tick.
        levels: Vec<usize>,
        next: f64,
    },
}

impl Scheduler {
    pub(crate) fn rax(knows: bool, thresholds: Vec<f64>, interval: f64) -> Self {
        Self::Rax { knows, thresholds, interval, levels: vec![], next: 0.0 }
    }

    /// The rates, and when they may be others though nothing has happened.
    fn rates(&mut self, now: f64, flows: &[Live], capacities: &[f64]) -> (Vec<f64>, f64) {
        match self {
            Self::Fair => (by_levels(&vec![0; flows.len()], flows, capacities), f64::INFINITY),
            Self::Pias(thresholds) => {
                let reached = |sent: f64| thresholds.iter().filter(|&&it| sent >= it * (1.0 - SAME)).count();
                let levels: Vec<usize> = flows.iter().map(|flow| reached(flow.sent)).collect();
                let rates = by_levels(&levels, flows, capacities);
                let mut next = f64::INFINITY;
                for ((flow, rate), &level) in flows.iter().zip(&rates).zip(&levels) {
                    if level < thresholds.len() {
                        next = next.min(now + (thresholds[level] - flow.sent) / rate);
                    }
                }
                (rates, next)
            }
            Self::Rax { knows, thresholds, interval, levels, next } => {
                let level = |flow: &Live| {
                    let time = if *knows { flow.remaining() } else { flow.estimate() };
                    thresholds.iter().filter(|&&threshold| time >= threshold).count()
                };
                let due = now >= *next * (1.0 - SAME);
                if due {
                    *next = ((now / *interval + 0.5).floor() + 1.0) * *interval;
                    if *next - *interval > now * (1.0 + SAME) {
                        *next -= *interval;
                    }
                }
                for flow in flows {
                    if due || levels.len() <= flow.number {
                        levels.resize(levels.len().max(flow.number + 1), 0);
                        levels[flow.number] = level(flow);
                    }
                }
                let of_flows: Vec<usize> = flows.iter().map(|flow| levels[flow.number]).collect();
                (by_levels(&of_flows, flows, capacities), *next)
            }
            Self::Ordered(order) => {
                let order = &*order;
                let key = |flow: &Live| match order {
                    Order::Size => flow.size - flow.sent,
                    Order::Time => flow.remaining(),
                    Order::Deadline(slack) => {
                        let alone = |&(link, share): &(usize, f64)| capacities[link] / share;
                        flow.arrival + *slack * flow.size / flow.route.iter().map(alone).fold(f64::INFINITY, f64::min)
                    }
                };
                let slope = |flow: &Live, rate: f64| match order {
                    Order::Size => -rate,
                    Order::Time => {
                        let pace = flow.pace(rate);
                        (pace - rate) / flow.first - pace / flow.production.min(flow.first)
                    }
                    Order::Deadline(_) => 0.0,
                };
                let mut queue: Vec<usize> = (0..flows.len()).collect();
                queue.sort_by(|&one, &other| {
                    key(&flows[one]).total_cmp(&key(&flows[other])).then(flows[one].number.cmp(&flows[other].number))
                });
                let (mut left, mut rates) = (capacities.to_vec(), vec![0.0; flows.len()]);
                for &place in &queue {
                    let flow = &flows[place];
                    let fits = flow.route.iter().map(|&(link, share)| left[link].max(0.0) / share);
                    rates[place] = fits.fold(flow.cap(), f64::min);
                    flow.route.iter().for_each(|&(link, share)| left[link] -= share * rates[place]);
                }
                let mut next = f64::INFINITY;
                for (rank, &behind) in queue.iter().enumerate() {
                    for &ahead in &queue[..rank] {
                        let [one, other] =
                            [behind, ahead].map(|place| (key(&flows[place]), slope(&flows[place], rates[place])));
                        if one.1 < other.1 {
                            next = next.min(now + (one.0 - other.0).max(1e-15 * one.0) / (other.1 - one.1));
                        }
                    }
                }
                // By so much that the two can be told apart.
                (rates, next.max(now * (1.0 + 2e-14)))
            }
        }
    }
}

/// Max-min rates, one level after the other. A cap is a link of one's own.
fn by_levels(levels: &[usize], flows: &[Live], capacities: &[f64]) -> Vec<f64> {
    let (mut left, mut rates) = (capacities.to_vec(), vec![0.0; flows.len()]);
    for level in 0..=levels.iter().copied().max().unwrap_or(0) {
        let of_level: Vec<usize> = (0..flows.len()).filter(|&place| levels[place] == level).collect();
        let (mut links, mut routes) = (left.clone(), vec![]);
        for &place in &of_level {
            let mut route = flows[place].route.clone();
            if flows[place].cap() < f64::INFINITY {
                route.push((links.len(), 1.0));
                links.push(flows[place].cap());
            }
            routes.push(route);
        }
        for (&place, rate) in of_level.iter().zip(progressive_filling(&links, &routes)) {
            rates[place] = rate;
            for &(link, share) in &flows[place].route {
                left[link] -= share * rate;
            }
        }
        for (left, capacity) in left.iter_mut().zip(capacities) {
            if *left < 1e-11 * capacity {
                *left = 0.0;
            }
        }
    }
    rates
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) times: Vec<f64>,
    /// Bytes over every link, by adding up rates.
    pub(crate) link_bytes: Vec<f64>,
    /// The highest load of a link, relative to its capacity.
    pub(crate) peak: f64,
    pub(crate) end: f64,
}

/// Lets flows pass, moving all of them on at every event.
pub(crate) fn simulate(capacities: &[f64], workload: &Workload, routes: &[Plain], mut scheduler: Scheduler) -> Outcome {
    let arrivals = workload.arrivals();
    let buffer = workload.production().map_or(f64::INFINITY, |production| 8.0 * production.buffer());
    let mut outcome =
        Outcome { times: vec![f64::NAN; arrivals.len()], link_bytes: vec![0.0; capacities.len()], peak: 0.0, end: 0.0 };
    let (mut flows, mut now, mut arrived): (Vec<Live>, f64, usize) = (vec![], 0.0, 0);
    while arrived < arrivals.len() || !flows.is_empty() {
        let (rates, asks) = scheduler.rates(now, &flows, capacities);
        let mut next = arrivals.get(arrived).copied().unwrap_or(f64::INFINITY);
        if !flows.is_empty() {
            next = next.min(asks);
        }
        let mut step = (next - now).max(0.0);
        let mut loads = vec![0.0; capacities.len()];
        for (flow, &rate) in flows.iter_mut().zip(&rates) {
            flow.empty = flow.empty && rate >= flow.production * (1.0 - SAME);
            flow.full = flow.full && rate <= flow.production;
            let pace = flow.pace(rate);
            let mut within = |time: f64| step = if time < step { time } else { step };
            within((flow.size - flow.sent) / rate);
            within((flow.size - flow.produced) / pace);
            if pace > rate && !flow.empty {
                within((buffer - flow.backlog()) / (pace - rate));
            }
            if pace < rate && flow.produced < flow.size {
                within(flow.backlog() / (rate - pace));
            }
            flow.route.iter().for_each(|&(link, share)| loads[link] += share * rate);
        }
        assert!(step < f64::INFINITY, "somebody starves");
        for ((bytes, load), capacity) in outcome.link_bytes.iter_mut().zip(&loads).zip(capacities) {
            *bytes += load * step / 8.0;
            outcome.peak = outcome.peak.max(load / capacity);
        }
        for (flow, &rate) in flows.iter_mut().zip(&rates) {
            let (pace, was_behind) = (flow.pace(rate), flow.pace(rate) < rate);
            flow.copy(pace, step);
            flow.sent += rate * step;
            flow.produced += pace * step;
            if flow.produced >= flow.size * (1.0 - SAME) {
                flow.produced = flow.size;
            } else if flow.empty || (was_behind && flow.backlog() <= SAME * flow.size) {
                (flow.empty, flow.sent) = (true, flow.produced);
            } else if flow.backlog() >= buffer * (1.0 - SAME) {
                (flow.full, flow.produced) = (true, flow.sent + buffer);
            }
        }
        now = if step == next - now { next } else { now + step };
        flows.retain(|flow| {
            let ends = flow.sent >= flow.size * (1.0 - SAME);
            if ends {
                outcome.times[flow.number] = now - flow.arrival;
            }
            !ends
        });
        while arrivals.get(arrived).is_some_and(|&arrival| arrival <= now) {
            let (size, route) = (8.0 * workload.sizes()[arrived], routes[arrived].clone());
            let production = workload.production().map_or(f64::INFINITY, |production| production.rates()[arrived]);
            let first = capacities[route[0].0];
            let from_source = production < f64::INFINITY;
            flows.push(Live {
                number: arrived,
                route,
                first,
                arrival: now,
                size,
                sent: 0.0,
                produced: if from_source { 0.0 } else { size },
                production,
                empty: from_source,
                full: false,
                copy_rate: if from_source { first } else { f64::INFINITY },
                chunk: 0.0,
                chunk_time: 0.0,
            });
            arrived += 1;
        }
    }
    outcome.end = now;
    outcome
}
