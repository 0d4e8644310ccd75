//! The simulator that anyone would write first: at every event all levels, orders, rates and marks are found anew, from
//! their definitions, and every flow is moved on by hand to the next event. It shares no code with the crate; but which
//! path of a flow is up to its routing, which is given what is found here. Splits that a routing makes of all flows at
//! once are replayed as they were.

use netnum_core::Topology;
use netnum_sim::{CapacityChange, Marking, Marks, NetworkState, Route, Routing, Workload};

use super::{Plain, hops, progressive_filling};

/// Numbers that differ by this part of them are equal.
const SAME: f64 = 1e-12;
/// Rates and loads that differ by this part of them are equal, where links mark.
const ALIKE: f64 = 1e-9;
/// 64 kB, in bits.
const CHUNK: f64 = 8.0 * 65_536.0;

/// The number by which flows are ordered, the smallest first, and how fast it changes at a rate.
type Key = dyn Fn(&Slow<'_>, &Live, f64) -> (f64, f64);

/// The policies of the crate, written once more.
pub(crate) enum Scheduler {
    Fair,
    Ordered(Box<Key>),
    /// One coflow after the other: that which has started first, or that which is done first alone. At events only, so
    /// that all events must be arrivals, ends and changes of links.
    Coflows {
        fifo: bool,
    },
    /// Thresholds in bits.
    Pias(Vec<f64>),
    Rax {
        knows: bool,
        thresholds: Vec<f64>,
        interval: f64,
    },
}

impl Scheduler {
    pub(crate) fn by(key: impl Fn(&Slow<'_>, &Live, f64) -> (f64, f64) + 'static) -> Self {
        Self::Ordered(Box::new(key))
    }
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) times: Vec<f64>,
    pub(crate) copy_rates: Vec<f64>,
    /// ∫ rate dt and ∫ pace of production dt of every flow, ∫ load dt of every link, in bytes.
    pub(crate) sent: Vec<f64>,
    pub(crate) produced: Vec<f64>,
    pub(crate) link_bytes: Vec<f64>,
    pub(crate) moves: usize,
    pub(crate) end: f64,
}

/// From some moment on, the routes of flows by number, where they follow from all flows at once.
pub(crate) type Splits = Vec<(f64, Vec<(usize, Route)>)>;

/// A flow that has arrived and not ended. Amounts are in bits.
pub(crate) struct Live {
    number: usize,
    route: Route,
    pub(crate) arrival: f64,
    /// The rate that it has where it is alone.
    pub(crate) alone: f64,
    pub(crate) size: f64,
    /// Until now.
    rate: f64,
    pub(crate) sent: f64,
    produced: f64,
    /// ∞ if all is at hand.
    production: f64,
    empty: bool,
    full: bool,
    /// Whether what waits to be sent, if anything, is too little to count.
    capped: bool,
    copy_rate: f64,
    chunk: f64,
    chunk_time: f64,
    /// At the last tick, where levels follow from a clock.
    level: usize,
    /// Since the last review.
    marks: Marks,
    reviews: u32,
}

impl Live {
    fn cap(&self) -> f64 {
        if self.capped && self.produced < self.size { self.production } else { f64::INFINITY }
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

/// The network of a moment.
pub(crate) struct Slow<'a> {
    net: &'a Topology,
    scheduler: &'a Scheduler,
    workload: &'a Workload,
    /// When every flow has started, ∞ before.
    starts: Vec<f64>,
    capacities: Vec<f64>,
    flows: Vec<Live>,
    now: f64,
    /// The next of the scheduler's clock.
    tick: f64,
}

impl Slow<'_> {
    /// What every link carries at the rates until now.
    fn loads(&self) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        for flow in &self.flows {
            hops(&flow.route).for_each(|(link, share)| loads[link] += share * flow.rate);
        }
        loads
    }

    /// The rate that the first link of a flow allows at the start.
    fn first(&self, flow: &Live) -> f64 {
        first(self.net, &flow.route)
    }

    /// The time that a flow still takes in an idle network.
    fn remaining(&self, flow: &Live) -> f64 {
        let first = self.first(flow);
        (flow.size - flow.produced) / flow.production.min(first) + flow.backlog() / first
    }

    fn estimate(&self, flow: &Live) -> f64 {
        let first = self.first(flow);
        flow.produced / flow.copy_rate.min(first) + flow.backlog() / first
    }

    /// [`remaining`](Self::remaining), and how fast it changes at a rate.
    pub(crate) fn remaining_at(&self, flow: &Live, rate: f64) -> (f64, f64) {
        let (first, pace) = (self.first(flow), flow.pace(rate));
        (self.remaining(flow), (pace - rate) / first - pace / flow.production.min(first))
    }

    /// The weight of a flow.
    pub(crate) fn weight(&self, flow: &Live) -> f64 {
        self.workload.weights().map_or(1.0, |weights| weights[flow.number])
    }

    /// The level of every flow. Who is ordered has one for himself.
    fn levels(&self) -> Vec<usize> {
        let level = |flow: &Live| match self.scheduler {
            Scheduler::Fair | Scheduler::Coflows { .. } => 0,
            Scheduler::Pias(thresholds) => thresholds.iter().filter(|&&it| flow.sent >= it * (1.0 - SAME)).count(),
            Scheduler::Rax { .. } => flow.level,
            Scheduler::Ordered(key) => {
                let key = |flow: &Live| (key(self, flow, 0.0).0, flow.number);
                self.flows.iter().filter(|other| key(other) < key(flow)).count()
            }
        };
        self.flows.iter().map(level).collect()
    }

    /// Rates of coflows: in proportion to what is left, one coflow after the other, and then fairly.
    fn coflow_rates(&self, fifo: bool) -> Vec<f64> {
        // The lowest number with which a flow belongs together.
        let coflow = |flow: &Live| match self.workload.coflow(flow.number) {
            Some(coflow) => {
                (0..self.starts.len()).filter(|&other| self.workload.coflow(other) == Some(coflow)).collect()
            }
            None => vec![flow.number],
        };
        let of: Vec<Vec<usize>> = self.flows.iter().map(coflow).collect();
        let together = |place: usize| (0..of.len()).filter(|&other| of[other] == of[place]).collect::<Vec<usize>>();
        let seconds = |places: &[usize], free: &[f64]| {
            let mut demands = vec![0.0; free.len()];
            for &place in places {
                let flow = &self.flows[place];
                hops(&flow.route).for_each(|(link, share)| demands[link] += share * (flow.size - flow.sent));
            }
            let on = |(demand, free): (&f64, &f64)| if *demand > 0.0 { demand / free } else { 0.0 };
            demands.iter().zip(free).map(on).fold(0.0, f64::max)
        };
        let number = |place: usize| self.flows[place].number;
        let firsts = (0..of.len()).filter(|&place| together(place).iter().all(|&other| number(other) >= number(place)));
        let key = |place: usize| match fifo {
            true => of[place].iter().map(|&flow| self.starts[flow]).fold(f64::INFINITY, f64::min),
            false => seconds(&together(place), &self.capacities),
        };
        let mut order: Vec<(f64, usize)> = firsts.map(|place| (key(place), place)).collect();
        order.sort_by(|one, other| one.0.total_cmp(&other.0).then(number(one.1).cmp(&number(other.1))));
        let (mut free, mut rates) = (self.capacities.clone(), vec![0.0; of.len()]);
        for (_, first) in order {
            let places = together(first);
            let seconds = seconds(&places, &free);
            for &place in places.iter().filter(|_| seconds < f64::INFINITY) {
                rates[place] = (self.flows[place].size - self.flows[place].sent) / seconds;
                hops(&self.flows[place].route).for_each(|(link, share)| free[link] -= share * rates[place]);
            }
            for (free, capacity) in free.iter_mut().zip(&self.capacities) {
                *free = if *free < 1e-12 * capacity { 0.0 } else { *free };
            }
        }
        let routes: Vec<Plain> = self.flows.iter().map(|flow| hops(&flow.route).collect()).collect();
        let more = progressive_filling(&free, &routes);
        rates.iter().zip(more).map(|(rate, more)| rate + more).collect()
    }

    /// Weighted max-min rates, one level after the other. A cap is a link for one flow.
    fn rates(&self, levels: &[usize]) -> Vec<f64> {
        if let Scheduler::Coflows { fifo } = *self.scheduler {
            return self.coflow_rates(fifo);
        }
        let (mut left, mut rates) = (self.capacities.clone(), vec![0.0; levels.len()]);
        for level in 0..=levels.iter().copied().max().unwrap_or(0) {
            let of_level: Vec<usize> = (0..levels.len()).filter(|&place| levels[place] == level).collect();
            let (mut links, mut routes) = (left.clone(), vec![]);
            for &place in &of_level {
                // All rise alike in units of their weights.
                let (flow, weight) = (&self.flows[place], self.weight(&self.flows[place]));
                let mut route: Plain = hops(&flow.route).map(|(link, share)| (link, weight * share)).collect();
                if flow.cap() < f64::INFINITY {
                    route.push((links.len(), weight));
                    links.push(flow.cap());
                }
                routes.push(route);
            }
            for (&place, level) in of_level.iter().zip(progressive_filling(&links, &routes)) {
                let (rate, cap) = (self.weight(&self.flows[place]) * level, self.flows[place].cap());
                // At its cap to the last digit.
                let rate = if rate >= cap * (1.0 - SAME) { cap } else { rate };
                rates[place] = rate;
                hops(&self.flows[place].route).for_each(|(link, share)| left[link] -= share * rate);
            }
            for (left, capacity) in left.iter_mut().zip(&self.capacities) {
                if *left < 1e-11 * capacity {
                    *left = 0.0;
                }
            }
        }
        rates
    }

    /// When rates may be others though nothing has happened.
    fn asks_again(&self, levels: &[usize], rates: &[f64]) -> f64 {
        let mut next = f64::INFINITY;
        match self.scheduler {
            _ if self.flows.is_empty() => {}
            Scheduler::Fair | Scheduler::Coflows { .. } => {}
            Scheduler::Rax { .. } => next = self.tick,
            Scheduler::Pias(thresholds) => {
                for ((flow, rate), &level) in self.flows.iter().zip(rates).zip(levels) {
                    if level < thresholds.len() {
                        next = next.min(self.now + (thresholds[level] - flow.sent) / rate);
                    }
                }
            }
            Scheduler::Ordered(key) => {
                let keys = self.flows.iter().zip(rates).map(|(flow, &rate)| key(self, flow, rate));
                let keys: Vec<(f64, f64)> = keys.collect();
                for (behind, (key, slope)) in keys.iter().enumerate() {
                    for (ahead, (other, its_slope)) in keys.iter().enumerate() {
                        if levels[ahead] < levels[behind] && slope < its_slope {
                            next = next.min(self.now + (key - other).max(1e-15 * key) / (its_slope - slope));
                        }
                    }
                }
                // By so much that the two differ.
                next = next.max(self.now * (1.0 + 2e-14));
            }
        }
        next
    }

    /// The part of every flow's bytes that is marked.
    fn marked(&self, marking: Marking, rates: &[f64]) -> Vec<f64> {
        let links = self.capacities.len();
        let (mut loads, mut fastest, mut count) = (vec![0.0; links], vec![0.0f64; links], vec![0.0; links]);
        for (flow, &rate) in self.flows.iter().zip(rates) {
            for (link, share) in hops(&flow.route) {
                loads[link] += share * rate;
                fastest[link] = fastest[link].max(rate);
                count[link] += 1.0;
            }
        }
        let least = |link: usize, part: f64| loads[link] >= part * self.capacities[link] * (1.0 - ALIKE);
        let of_switch = |link: usize| {
            let (from, ends) = (self.net.links()[link].from as usize, self.net.ends());
            from >= ends || ends == self.net.node_names().len()
        };
        let mut congested = vec![false; links];
        for (flow, rate) in self.flows.iter().zip(rates) {
            let holds = |link: &usize| least(*link, 1.0) && *rate >= fastest[*link] * (1.0 - ALIKE);
            if let Some(first) = hops(&flow.route).map(|hop| hop.0).find(holds) {
                congested[first] |= of_switch(first);
            }
        }
        let marks = |link: usize| match marking {
            Marking::Saturated => f64::from(congested[link]),
            Marking::Dctcp { rtt, threshold } if congested[link] => {
                let packets = (self.capacities[link] * rtt / 8.0 + threshold) / 1500.0;
                (2.0 * count[link] / packets).sqrt().min(1.0)
            }
            Marking::Dctcp { .. } => 0.0,
            Marking::Utilization(from) => f64::from(of_switch(link) && least(link, from)),
            other => panic!("no marking {other:?} here"),
        };
        let part = |flow: &Live| {
            let common = hops(&flow.route).filter(|hop| hop.1 >= 1.0).map(|hop| 1.0 - marks(hop.0)).product::<f64>();
            let apart = hops(&flow.route).filter(|hop| hop.1 < 1.0).map(|hop| hop.1 * marks(hop.0)).sum::<f64>();
            1.0 - common * (1.0 - apart.min(1.0))
        };
        self.flows.iter().map(part).collect()
    }
}

/// The rate that the first link of a route allows at the start.
fn first(net: &Topology, route: &Route) -> f64 {
    let (link, coefficient) = hops(route).next().expect("routes have links");
    net.capacities()[link] / coefficient
}

/// Lets the flows of a workload pass, under changes of capacities.
pub(crate) fn simulate(
    net: &Topology,
    workload: &Workload,
    routing: &mut dyn Routing,
    scheduler: &Scheduler,
    changes: &[CapacityChange],
    splits: &Splits,
) -> Outcome {
    routing.begin_run(net, workload).expect("all ends are joined");
    let (period, marking) = (routing.period(), routing.marking());
    let buffer = workload.production().map_or(f64::INFINITY, |production| 8.0 * production.buffer());
    // A backlog below this counts as none, where routes follow from caps.
    let slack: f64 = if routing.follows_caps() { 8.0 * 1500.0 } else { 0.0 };
    let starts = vec![f64::INFINITY; workload.len()];
    let capacities = net.capacities().to_vec();
    let mut slow = Slow { net, scheduler, workload, starts, capacities, flows: vec![], now: 0.0, tick: 0.0 };
    // When flows have ended, ∞ before, and when one of them starts, as far as that is known.
    let mut ends = vec![f64::INFINITY; workload.len()];
    let start = |flow: usize, ends: &[f64]| {
        let after = workload.dependencies().map_or(&[][..], |all| all.after(flow));
        let last = after.iter().map(|&before| ends[before as usize]).fold(f64::NEG_INFINITY, f64::max);
        workload.arrivals()[flow].max(last + workload.dependencies().map_or(0.0, |all| all.delay(flow)))
    };
    let mut outcome = Outcome {
        times: vec![f64::NAN; workload.len()],
        copy_rates: vec![f64::NAN; workload.len()],
        sent: vec![0.0; workload.len()],
        produced: vec![0.0; workload.len()],
        link_bytes: vec![0.0; net.capacities().len()],
        moves: 0,
        end: 0.0,
    };
    let (mut arrived, mut changed, mut replayed, mut ticks) = (0, 0, 0, 0.0);
    let review = |flow: &Live| flow.arrival + f64::from(flow.reviews + 1) * period;
    while arrived < workload.len() || !slow.flows.is_empty() {
        // What is true from now on.
        let levels = slow.levels();
        let rates = slow.rates(&levels);
        for (flow, &rate) in slow.flows.iter_mut().zip(&rates) {
            flow.empty &= rate >= flow.production * (1.0 - SAME);
            flow.full &= rate <= flow.production;
            // Without a slack, a backlog counts with its first bit.
            flow.capped &= flow.empty || slack > 0.0;
        }
        let parts = slow.marked(marking, &rates);
        // Until when.
        let change = changes.get(changed).map_or(f64::INFINITY, |change| change.time);
        let known = slow.flows.iter().map(review).fold(change, f64::min);
        let waiting = (0..workload.len()).filter(|&flow| slow.starts[flow] == f64::INFINITY);
        let known = waiting.map(|flow| start(flow, &ends)).fold(known, f64::min);
        let known = known.min(splits.get(replayed).map_or(f64::INFINITY, |split| split.0));
        let known = known.min(slow.asks_again(&levels, &rates));
        let mut step = (known - slow.now).max(0.0);
        for (flow, &rate) in slow.flows.iter().zip(&rates) {
            let pace = flow.pace(rate);
            let mut within = |time: f64| step = if time < step { time } else { step };
            within((flow.size - flow.sent) / rate);
            within((flow.size - flow.produced) / pace);
            if pace > rate && !flow.empty {
                let room = if flow.capped { slack.min(buffer) } else { buffer };
                within((room - flow.backlog()) / (pace - rate));
            }
            if pace < rate && flow.produced < flow.size {
                within(flow.backlog() / (rate - pace));
            }
        }
        assert!(step < f64::INFINITY, "a flow starves");
        // Until then.
        let mut loads = vec![0.0; slow.capacities.len()];
        for ((flow, &rate), part) in slow.flows.iter_mut().zip(&rates).zip(&parts) {
            let (number, pace) = (flow.number, flow.pace(rate));
            flow.rate = rate;
            hops(&flow.route).for_each(|(link, share)| loads[link] += share * rate);
            flow.marks.sent += rate * step;
            flow.marks.marked += part * rate * step;
            flow.copy(pace, step);
            flow.sent += rate * step;
            flow.produced += pace * step;
            outcome.sent[number] += rate * step / 8.0;
            outcome.produced[number] += pace * step / 8.0;
            let (sent, produced, little) =
                (8.0 * outcome.sent[number], 8.0 * outcome.produced[number], 1e-9 * flow.size);
            assert!(sent <= produced + little, "flow {number} has sent {sent} of {produced}");
            assert!(
                produced <= sent + buffer + little,
                "flow {number} has sent {sent} of {produced}, with a full buffer"
            );
            if flow.produced >= flow.size * (1.0 - SAME) {
                flow.produced = flow.size;
            } else if flow.empty || (pace < rate && flow.backlog() <= SAME * flow.size) {
                (flow.empty, flow.capped, flow.sent) = (true, true, flow.produced);
            } else if flow.backlog() >= buffer * (1.0 - SAME) {
                (flow.full, flow.capped, flow.produced) = (true, false, flow.sent + buffer);
            } else if flow.backlog() >= slack * (1.0 - SAME) {
                flow.capped = false;
            }
        }
        for (link, (load, capacity)) in loads.iter().zip(&slow.capacities).enumerate() {
            assert!(*load <= capacity * (1.0 + 1e-9), "link {link} carries {load} of {capacity}");
            outcome.link_bytes[link] += load * step / 8.0;
        }
        slow.now = if step == known - slow.now { known } else { slow.now + step };
        let now = slow.now;
        // What happens then.
        while changes.get(changed).is_some_and(|change| change.time <= now) {
            slow.capacities[changes[changed].link as usize] = changes[changed].capacity;
            changed += 1;
        }
        slow.flows.retain(|flow| {
            let is_over = flow.sent >= flow.size * (1.0 - SAME);
            if is_over {
                ends[flow.number] = now;
                outcome.times[flow.number] = now - flow.arrival;
                outcome.copy_rates[flow.number] =
                    if flow.copy_rate < f64::INFINITY { flow.copy_rate } else { f64::NAN };
            }
            !is_over
        });
        for place in 0..slow.flows.len() {
            if change > now && review(&slow.flows[place]) > now {
                continue;
            }
            let loads = slow.loads();
            let network =
                NetworkState { net, time: now, capacities: &slow.capacities, no_limit: f64::INFINITY, loads: &loads };
            let flow = &mut slow.flows[place];
            let before = flow.route.clone();
            if change <= now {
                routing.reroute(flow.number, &network, &mut flow.route).expect("there is a route");
            }
            if review(flow) <= now {
                let marks = std::mem::replace(&mut flow.marks, Marks { sent: 0.0, marked: 0.0 });
                routing.review(flow.number, marks, &network, &mut flow.route).expect("there is a route");
                flow.reviews += 1;
            }
            outcome.moves += usize::from(flow.route != before);
        }
        let old = slow.flows.len();
        let waiting = (0..workload.len()).filter(|&flow| slow.starts[flow] == f64::INFINITY);
        let mut due: Vec<(f64, usize)> = waiting.map(|flow| (start(flow, &ends), flow)).collect();
        due.retain(|&(start, _)| start <= now);
        due.sort_by(|one, other| one.partial_cmp(other).expect("no NaN"));
        for (_, number) in due {
            let size = 8.0 * workload.sizes()[number];
            arrived += 1;
            slow.starts[number] = now;
            let (mut route, loads) = (Route::default(), slow.loads());
            let network =
                NetworkState { net, time: now, capacities: &slow.capacities, no_limit: f64::INFINITY, loads: &loads };
            routing.route(number, &network, &mut route).expect("there is a route");
            if changed > 0 {
                routing.reroute(number, &network, &mut route).expect("there is a route");
            }
            let production = workload.production().map_or(f64::INFINITY, |production| production.rates()[number]);
            let at_hand = production == f64::INFINITY;
            let alone = hops(&route).map(|(link, share)| net.capacities()[link] / share).fold(f64::INFINITY, f64::min);
            let copy_rate = if at_hand { f64::INFINITY } else { first(net, &route) };
            let produced = if at_hand { size } else { 0.0 };
            outcome.produced[number] = produced / 8.0;
            slow.flows.push(Live {
                number,
                route,
                arrival: now,
                alone,
                size,
                rate: 0.0,
                sent: 0.0,
                produced,
                production,
                empty: !at_hand,
                full: false,
                capped: !at_hand,
                copy_rate,
                chunk: 0.0,
                chunk_time: 0.0,
                level: 0,
                marks: Marks { sent: 0.0, marked: 0.0 },
                reviews: 0,
            });
        }
        if let Scheduler::Rax { knows, thresholds, interval } = scheduler {
            // All at a tick, else those that have arrived.
            let from = if now >= slow.tick { 0 } else { old };
            while slow.tick <= now {
                ticks += 1.0;
                slow.tick = ticks * interval;
            }
            for place in from..slow.flows.len() {
                let flow = &slow.flows[place];
                let time = if *knows { slow.remaining(flow) } else { slow.estimate(flow) };
                slow.flows[place].level = thresholds.iter().filter(|&&threshold| time >= threshold).count();
            }
        }
        while let Some((_, routes)) = splits.get(replayed).filter(|split| split.0 <= now) {
            replayed += 1;
            for flow in &mut slow.flows {
                if let Some((_, route)) = routes.iter().find(|route| route.0 == flow.number) {
                    outcome.moves += usize::from(flow.route != *route);
                    flow.route.clone_from(route);
                }
            }
        }
    }
    outcome.end = slow.now;
    outcome
}
