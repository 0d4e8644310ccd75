//! The brute-force simulator for routes that change while flows run: at every event all rates, all marks and all clocks are
//! computed anew, and every flow is moved on by hand. What is reviewed, and when, follows from the definitions only; the
//! decisions are the routing's own.

use netnum_core::Topology;
use netnum_sim::{Change, Marking, Marks, Now, Route, Routing, Workload};

use super::{Plain, progressive_filling};

/// How rates follow from routes and from what is left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    MaxMin,
    Srpt,
}

/// What came of it.
pub(crate) struct Outcome {
    pub(crate) times: Vec<f64>,
    /// ∫ load dt of every link, in bytes.
    pub(crate) link_bytes: Vec<f64>,
    /// ∫ rate dt of every flow, in bytes.
    pub(crate) sent: Vec<f64>,
    pub(crate) moves: usize,
}

struct Active {
    number: usize,
    route: Route,
    left: f64,
    sent: f64,
    marked: f64,
    reviews: u32,
}

fn plain(route: &Route) -> Plain {
    route.iter().collect()
}

impl Rule {
    fn rates(self, capacities: &[f64], active: &[Active]) -> Vec<f64> {
        let routes: Vec<Plain> = active.iter().map(|flow| plain(&flow.route)).collect();
        if self == Self::MaxMin {
            return progressive_filling(capacities, &routes);
        }
        // Each in turn takes what is left of its route.
        let mut order: Vec<usize> = (0..active.len()).collect();
        order.sort_by(|&one, &other| active[one].left.total_cmp(&active[other].left));
        let (mut free, mut rates) = (capacities.to_vec(), vec![0.0; active.len()]);
        for place in order {
            let rate = routes[place].iter().map(|&(link, share)| free[link] / share).fold(f64::INFINITY, f64::min);
            routes[place].iter().for_each(|&(link, share)| free[link] = f64::max(0.0, free[link] - share * rate));
            rates[place] = rate;
        }
        rates
    }
}

/// The part of every flow's bytes that is marked.
fn marked(net: &Topology, marking: Marking, capacities: &[f64], active: &[Active], rates: &[f64]) -> Vec<f64> {
    let on = |link: usize| {
        let crosses = move |flow: &&(&Active, &f64)| flow.0.route.links().contains(&(link as u32));
        active.iter().zip(rates).filter(move |flow| crosses(&flow))
    };
    let share = |flow: &Active, link| flow.route.iter().find(|hop| hop.0 == link).expect("it crosses it").1;
    let load = |link: usize| on(link).map(|(flow, rate)| share(flow, link) * rate).sum::<f64>();
    let full = |link: usize| load(link) >= capacities[link] * (1.0 - 1e-9);
    let of_switch = |link: usize| {
        let from = net.links()[link].from as usize;
        from >= net.ends() || net.ends() == net.node_names().len()
    };
    let mut congested = vec![false; capacities.len()];
    for (flow, rate) in active.iter().zip(rates) {
        let holds = |link: &usize| full(*link) && on(*link).all(|(_, other)| *rate >= other * (1.0 - 1e-9));
        if let Some(first) = flow.route.iter().map(|hop| hop.0).find(holds) {
            congested[first] |= of_switch(first);
        }
    }
    let marks = |link: usize| match marking {
        Marking::Saturated => f64::from(congested[link]),
        Marking::Dctcp { rtt, threshold } if congested[link] => {
            let packets = (capacities[link] * rtt / 8.0 + threshold) / 1500.0;
            (2.0 * on(link).count() as f64 / packets).sqrt().min(1.0)
        }
        Marking::Dctcp { .. } => 0.0,
        Marking::Utilization(from) => {
            f64::from(of_switch(link) && load(link) >= from * capacities[link] * (1.0 - 1e-9))
        }
    };
    let part = |flow: &Active| {
        let common = flow.route.iter().filter(|hop| hop.1 >= 1.0).map(|hop| 1.0 - marks(hop.0)).product::<f64>();
        let apart = flow.route.iter().filter(|hop| hop.1 < 1.0).map(|hop| hop.1 * marks(hop.0)).sum::<f64>();
        1.0 - common * (1.0 - apart.min(1.0))
    };
    active.iter().map(part).collect()
}

/// Lets the flows of a workload pass, under changes of capacities.
pub(crate) fn brute_force_moving(
    net: &Topology,
    workload: &Workload,
    routing: &mut dyn Routing,
    rule: Rule,
    changes: &[Change],
) -> Outcome {
    routing.start(net, workload).expect("all ends are joined");
    let (arrivals, period, marking) = (workload.arrivals(), routing.period(), routing.marking());
    let mut capacities = net.capacities().to_vec();
    let mut outcome = Outcome {
        times: vec![f64::NAN; workload.len()],
        link_bytes: vec![0.0; capacities.len()],
        sent: vec![0.0; workload.len()],
        moves: 0,
    };
    let mut active: Vec<Active> = Vec::new();
    let (mut now, mut next, mut changed) = (0.0, 0, 0);
    while next < workload.len() || !active.is_empty() {
        let rates = rule.rates(&capacities, &active);
        let parts = marked(net, marking, &capacities, &active, &rates);
        let review = |flow: &Active| arrivals[flow.number] + f64::from(flow.reviews + 1) * period;
        let reviews = active.iter().map(review).fold(f64::INFINITY, f64::min);
        let arrival = arrivals.get(next).copied().unwrap_or(f64::INFINITY);
        let change = changes.get(changed).map_or(f64::INFINITY, |change| change.time);
        let event = arrival.min(reviews).min(change);
        // Ends, and under shortest-first the moments at which one flow overtakes another, are not known beforehand.
        let (mut until, mut ends, mut overtakes) = (event - now, None, None);
        for (place, (flow, rate)) in active.iter().zip(&rates).enumerate() {
            if flow.left / rate < until {
                (until, ends, overtakes) = (flow.left / rate, Some(place), None);
            }
            for (other, (ahead, slower)) in active.iter().zip(&rates).enumerate() {
                let way = (flow.left - ahead.left) / (rate - slower);
                if rule == Rule::Srpt && rate > slower && flow.left > ahead.left && way < until {
                    (until, ends, overtakes) = (way, None, Some((place, other)));
                }
            }
        }
        assert!(until < f64::INFINITY, "somebody starves");
        let mut loads = vec![0.0; capacities.len()];
        for ((flow, rate), part) in active.iter_mut().zip(&rates).zip(&parts) {
            flow.left -= rate * until;
            flow.sent += rate * until;
            flow.marked += part * rate * until;
            outcome.sent[flow.number] += rate * until / 8.0;
            flow.route.iter().for_each(|(link, share)| loads[link] += share * rate);
        }
        for (link, load) in loads.iter().enumerate() {
            assert!(*load <= capacities[link] * (1.0 + 1e-9), "link {link} carries {load} of {}", capacities[link]);
            outcome.link_bytes[link] += load * until / 8.0;
        }
        if let Some(place) = ends {
            now += until;
            let flow = active.remove(place);
            outcome.times[flow.number] = now - arrivals[flow.number];
            continue;
        }
        if let Some((flow, ahead)) = overtakes {
            now += until;
            active[flow].left = active[ahead].left * (1.0 - 2.0 * f64::EPSILON);
            continue;
        }
        now = event;
        while changes.get(changed).is_some_and(|change| change.time <= now) {
            capacities[changes[changed].link] = changes[changed].capacity;
            changed += 1;
        }
        let network = Now { net, capacities: &capacities };
        for flow in &mut active {
            let before = flow.route.clone();
            if change <= now {
                routing.reroute(flow.number, &network, &mut flow.route).expect("there is a route");
            }
            if review(flow) <= now {
                let marks = Marks { sent: flow.sent, marked: flow.marked };
                routing.review(flow.number, marks, &mut flow.route).expect("there is a route");
                (flow.sent, flow.marked) = (0.0, 0.0);
                flow.reviews += 1;
            }
            outcome.moves += usize::from(flow.route != before);
        }
        while arrivals.get(next).is_some_and(|&arrival| arrival <= now) {
            let mut route = Route::default();
            routing.route(next, &mut route).expect("there is a route");
            if changed > 0 {
                routing.reroute(next, &network, &mut route).expect("there is a route");
            }
            let left = 8.0 * workload.sizes()[next];
            active.push(Active { number: next, route, left, sent: 0.0, marked: 0.0, reviews: 0 });
            next += 1;
        }
    }
    outcome
}
