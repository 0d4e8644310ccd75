//! Rates that follow prices at once: xWI, and allocators whose flows do not wait for a tick.

use crate::common::{Plain, largest_difference, random_network, routes};
use netnum_core::{AlphaFair, Ask, MinFct, Options, Paths, Problem, Solver, Topology, Utilities};
use netnum_sim::{
    Clocked, ClockedOptions, Ecmp, Ideal, Objective, Pairs, Poisson, Policy, Report, RunSettings, Sizes, Workload, Xwi,
    XwiOptions, policy, simulate,
};

fn run(net: &Topology, workload: &Workload, policy: &mut dyn Policy) -> Report {
    simulate(net, workload, &mut Ecmp::new(1), policy, &RunSettings::default(), &mut ()).unwrap()
}

fn fast_ned(normalizer: &str, utility: &str) -> Box<dyn Policy + Send> {
    let options = format!(
        r#"{{"at_once": true, "method": "fast-ned", "normalizer": "{normalizer}", "update_threshold": 0,
            "interval": 16e-6, "utility": "{utility}"}}"#
    );
    policy("flowtune", &serde_json::from_str::<Options>(&options).unwrap()).unwrap()
}

/// What every policy here has in common, by name.
fn all() -> Vec<Box<dyn Policy + Send>> {
    let named = |name| policy(name, &Options::new()).unwrap();
    vec![named("xwi"), named("gradient"), named("rcp"), fast_ned("f-norm", "proportional"), fast_ned("fill", "min-fct")]
}

/// The utility of rates for flows of some sizes.
type OfSizes<'a> = &'a dyn Fn(&[f64]) -> Utilities;

/// xWI as anyone would write it first: time goes from tick to event to tick, rates and prices come from a new solver of
/// whatever flows there are.
fn xwi_by_hand(net: &Topology, workload: &Workload, routes: &[Plain], interval: f64, utility: OfSizes<'_>) -> Vec<f64> {
    let (arrivals, mut times) = (workload.arrivals(), vec![f64::NAN; workload.len()]);
    let (mut active, mut left): (Vec<usize>, Vec<f64>) = (vec![], vec![]);
    let (mut now, mut next, mut tick) = (0.0, 0, 0u32);
    let mut prices: Option<Vec<f64>> = None;
    let solver = |active: &[usize], prices: &Option<Vec<f64>>| {
        let links = |&flow: &usize| routes[flow].iter().map(|hop| hop.0 as u32).collect::<Vec<_>>();
        let paths = Paths::from_lists(active.iter().map(links));
        let sizes: Vec<f64> = active.iter().map(|&flow| 8.0 * workload.sizes()[flow]).collect();
        let problem = Problem::new(net.capacities().to_vec(), paths, utility(&sizes)).unwrap();
        let ask = Ask::by("xwi");
        let ask = if let Some(prices) = prices { ask.with_prices(prices.clone()) } else { ask };
        Solver::new(&problem, &ask).unwrap()
    };
    while next < arrivals.len() || !active.is_empty() {
        let rates = if active.is_empty() { vec![] } else { solver(&active, &prices).raw_rates() };
        let due = if active.is_empty() { f64::INFINITY } else { f64::from(tick) * interval };
        let arrival = arrivals.get(next).copied().unwrap_or(f64::INFINITY);
        let ends = left.iter().zip(&rates).map(|(left, rate)| now + left / rate);
        let (place, end) = ends.enumerate().fold(
            (0, f64::INFINITY),
            |least, (place, end)| {
                if end < least.1 { (place, end) } else { least }
            },
        );
        let until = due.min(arrival).min(end);
        left.iter_mut().zip(&rates).for_each(|(left, rate)| *left -= rate * (until - now));
        now = until;
        if end == until {
            times[active[place]] = now - arrivals[active[place]];
            active.remove(place);
            left.remove(place);
        } else if arrival == until {
            active.push(next);
            left.push(8.0 * workload.sizes()[next]);
            next += 1;
            tick = tick.max((now / interval).ceil() as u32);
        } else {
            tick += 1;
            let mut solver = solver(&active, &prices);
            solver.step(1).unwrap();
            // With η > 1 a link without flows loses half of its price.
            let mut moved: Vec<f64> =
                prices.map_or(vec![0.0; net.capacities().len()], |prices| prices.iter().map(|p| 0.5 * p).collect());
            for &(link, _) in active.iter().flat_map(|&flow| &routes[flow]) {
                moved[link] = solver.prices()[link];
            }
            prices = Some(moved);
        }
    }
    times
}

#[test]
fn xwi_agrees_with_a_new_solver_at_every_tick_and_event() {
    let utilities: [(Objective, OfSizes<'_>); 3] = [
        (Objective::Proportional, &|_| AlphaFair::proportional().into()),
        (Objective::AlphaFair(2.0), &|_| AlphaFair::new(2.0, 1.0).unwrap().into()),
        (Objective::MinFct, &|sizes| MinFct::new(sizes.to_vec(), MinFct::EPSILON).unwrap().into()),
    ];
    for seed in 0..4 {
        let net = random_network(6, seed);
        let workload = match seed {
            3 => {
                let pairs = Pairs::all_to_all(&net).unwrap();
                Workload::at_once(&net, &pairs, &Sizes::web_search(), seed).unwrap()
            }
            _ => {
                let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(60);
                Workload::poisson(&net, &arrivals, &Pairs::Uniform, seed).unwrap()
            }
        };
        let interval = 1e-3;
        for (utility, of_sizes) in &utilities {
            let options = XwiOptions::default().with_interval(interval).with_utility(*utility);
            let report = run(&net, &workload, &mut Xwi::new(options).unwrap());
            let routes = routes(&net, &workload, &mut Ecmp::new(1));
            let expected = xwi_by_hand(&net, &workload, &routes, interval, of_sizes);
            let difference = largest_difference(&report.completion_times, &expected, report.time);
            assert!(difference < 1e-6, "seed {seed}, {utility:?}: {difference:e}");
        }
    }
}

#[test]
fn all_bytes_arrive_and_no_link_is_ever_over_its_capacity() {
    let net = Topology::leaf_spine(4, 4, 2, 10e9, 20e9).unwrap();
    let arrivals = Poisson::new(Sizes::web_search(), 0.6).with_flows(400);
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 2).unwrap();
    for mut policy in all() {
        let report = run(&net, &workload, policy.as_mut());
        let name = report.policy.clone();
        assert_eq!(report.ended(), 400, "{name}");
        for (link, (peak, capacity)) in report.peak_loads.iter().zip(net.capacities()).enumerate() {
            assert!(*peak <= capacity * (1.0 + 1e-9), "{name}: link {link} had {peak} of {capacity}");
        }
        let routes = routes(&net, &workload, &mut Ecmp::new(1));
        let mut bytes = vec![0.0; net.capacities().len()];
        for (route, size) in routes.iter().zip(workload.sizes()) {
            route.iter().for_each(|hop| bytes[hop.0] += size);
        }
        for (found, expected) in report.link_bytes.iter().zip(&bytes) {
            assert!((found - expected).abs() <= 1e-9 * expected, "{name}: {found} of {expected}");
        }
    }
}

#[test]
fn a_flow_alone_never_waits_for_a_tick() {
    let net = Topology::single_link(8e9).unwrap();
    // 1 MB at 8 Gbit/s is 1 ms; the second flow comes between two ticks, on a link that has been empty.
    let workload = Workload::new(vec![1e-6, 0.0100033], vec![0; 2], vec![1; 2], vec![1e6; 2]).unwrap();
    for mut policy in all() {
        let report = run(&net, &workload, policy.as_mut());
        for time in &report.completion_times {
            assert!((time - 1e-3).abs() < 1e-12, "{}: {time}", report.policy);
        }
    }
    let waiting = run(&net, &workload, &mut Clocked::new(ClockedOptions::default()).unwrap());
    assert!(waiting.completion_times[0] > 1.005e-3, "{:?}", waiting.completion_times);
}

#[test]
fn long_flows_share_as_the_optimum_does() {
    let net = Topology::leaf_spine(2, 8, 4, 10e9, 40e9).unwrap();
    let workload =
        Workload::new(vec![0.0, 0.01, 0.02, 0.03, 0.04], vec![0, 1, 2, 3, 4], vec![8, 8, 8, 8, 9], vec![30e6; 5])
            .unwrap();
    let fair = run(&net, &workload, &mut Ideal::proportional());
    let names = ["xwi", "gradient", "rcp"];
    let named = names.map(|name| policy(name, &Options::new()).unwrap());
    for mut policy in named.into_iter().chain([fast_ned("f-norm", "proportional")]) {
        let report = run(&net, &workload, policy.as_mut());
        for (time, fair) in report.completion_times.iter().zip(&fair.completion_times) {
            assert!((time / fair - 1.0).abs() < 0.05, "{}: {time} and {fair}", report.policy);
        }
    }
}

#[test]
fn a_short_flow_with_the_utility_for_it_passes_a_long_one() {
    let net = Topology::single_link(8e9).unwrap();
    let workload = Workload::new(vec![0.0, 5.0033e-3], vec![0; 2], vec![1; 2], vec![10e6, 0.1e6]).unwrap();
    let xwi = XwiOptions::default().with_interval(60e-6).with_heaviest(1e6).with_utility(Objective::MinFct);
    let mut policies: [Box<dyn Policy>; 2] = [Box::new(Xwi::new(xwi).unwrap()), fast_ned("fill", "min-fct")];
    for policy in &mut policies {
        let report = run(&net, &workload, policy.as_mut());
        let [long, short] = report.completion_times[..] else { panic!("two flows") };
        assert!((0.1e-3..=0.101e-3).contains(&short), "{}: {short}", report.policy);
        assert!((long / 10.1e-3 - 1.0).abs() < 1e-3, "{}: {long}", report.policy);
    }
}

#[test]
fn options_out_of_their_range_are_refused_by_name() {
    let refused = |name: &str, options: &str| {
        policy(name, &serde_json::from_str::<Options>(options).unwrap()).err().expect("an error").to_string()
    };
    for (name, option, value, expected) in [
        ("xwi", "interval", 0, "a finite number > 0"),
        ("xwi", "beta", 1, "a number >= 0 and < 1"),
        ("xwi", "heaviest", -2, "a finite number > 0"),
        ("gradient", "delay", 2, "0 or 1"),
    ] {
        let says = format!("option {option:?} of policy {name:?} is {value}, expected {expected}");
        assert_eq!(refused(name, &format!("{{{option:?}: {value}}}")), says);
    }
    let unknown = refused("xwi", r#"{"gamma": 1}"#);
    assert!(unknown.starts_with("policy \"xwi\" has no option \"gamma\"; known options: beta, "), "{unknown}");
    let names = [("gradient", "gradient"), ("rcp", "rcp")];
    for (name, shown) in names {
        assert_eq!(policy(name, &Options::new()).unwrap().name(), shown);
    }
    assert_eq!(fast_ned("fill", "proportional").name(), "fast-ned(fill)");
}
