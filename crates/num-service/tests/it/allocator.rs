//! The allocator without I/O: its network, its flowlets, its state.

use std::collections::BTreeMap;
use std::time::Duration;

use netnum_core::Topology;
use netnum_service::allocator::{FlowletAllocator, Hosts, RateSettings};
use netnum_service::protocol::{EndpointProtocol, Flowlet, Random, Short};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TICK: Duration = Duration::from_millis(1);
const HOSTS: &str = "# addresses of a star\n10.0.0.1 a.test a\n10.0.0.2 b.test b\n10.0.0.3 c.test c\n";

/// Three hosts around a switch, and a second switch between a and c.
fn net(capacity_of_c: f64) -> Topology {
    let text = format!("a s 100e6\nb s 100e6\nc s {capacity_of_c}\na t 40e6\nt c 40e6");
    Topology::from_edges(&text).unwrap()
}

fn seeded(seed: u64) -> Random {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Box::new(move || rng.random())
}

fn exact() -> RateSettings {
    let mut settings = RateSettings::default();
    (settings.update_threshold, settings.iterations) = (0.0, 20);
    settings
}

fn one_iteration() -> RateSettings {
    let mut settings = exact();
    settings.iterations = 1;
    settings
}

struct Hub {
    allocator: FlowletAllocator,
    endpoints: Vec<EndpointProtocol>,
    now: Duration,
    loss: f64,
    rng: ChaCha8Rng,
}

impl Hub {
    fn new(net: Topology, settings: RateSettings) -> Self {
        let hosts = Hosts::read(HOSTS, &net).unwrap();
        let endpoints = (0..3).map(|seed| EndpointProtocol::new(seeded(seed))).collect();
        let allocator = FlowletAllocator::new(net, hosts, settings, || seeded(9)).unwrap();
        Self { allocator, endpoints, now: Duration::ZERO, loss: 0.0, rng: ChaCha8Rng::seed_from_u64(7) }
    }

    fn is_lost(&mut self) -> bool {
        self.rng.random::<f64>() < self.loss
    }

    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.now += TICK;
            for endpoint in 0..self.endpoints.len() {
                // A handshake, and what follows from it.
                for _ in 0..3 {
                    let (mut out, mut answer) = (Vec::new(), Vec::new());
                    if self.endpoints[endpoint].poll(self.now, &mut out) && !self.is_lost() {
                        self.allocator.receive(endpoint, &out, self.now, &mut answer).unwrap();
                    }
                    if !answer.is_empty() && !self.is_lost() {
                        self.endpoints[endpoint].receive(&answer, self.now, &mut Vec::new()).unwrap();
                    }
                }
            }
            let mut sent = Vec::new();
            self.allocator.tick(self.now, |endpoint, bytes| sent.push((endpoint, bytes.to_vec()))).unwrap();
            for (endpoint, bytes) in sent {
                if !self.is_lost() {
                    self.endpoints[endpoint].receive(&bytes, self.now, &mut Vec::new()).unwrap();
                }
            }
        }
    }

    fn rate(&self, endpoint: usize, id: u32) -> f64 {
        self.endpoints[endpoint].rate(id, self.now).expect("the flowlet has a rate")
    }
}

fn to(destination: u8, source_port: u16) -> Flowlet {
    Flowlet {
        destination: [10, 0, 0, destination].into(),
        destination_port: 80,
        source_port,
        weight: Short::floor(1024.0),
        cap: Short::INFINITE,
    }
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 2e-3 * expected, "{found} instead of {expected}");
}

#[test]
fn flowlets_to_one_host_share_its_link_by_weight_and_cap() {
    let mut hub = Hub::new(net(80e6), exact());
    let one = hub.endpoints[1].start(to(3, 1));
    let other = hub.endpoints[1].start(Flowlet { weight: Short::floor(3.0 * 1024.0), ..to(3, 2) });
    hub.run(100);
    assert_near(hub.rate(1, one), 20e6);
    assert_near(hub.rate(1, other), 60e6);
    hub.endpoints[1].change(other, Flowlet { cap: Short::floor(30e6), ..to(3, 2) });
    hub.run(100);
    assert_near(hub.rate(1, one), 50e6);
    assert_near(hub.rate(1, other), 30e6);
    hub.endpoints[1].end(other);
    hub.run(100);
    assert_near(hub.rate(1, one), 80e6);
    assert_eq!(hub.allocator.flowlets(), 1);
}

#[test]
fn the_five_tuple_chooses_among_shortest_paths() {
    let mut hub = Hub::new(net(100e6), exact());
    let ids: Vec<u32> = (0..20).map(|port| hub.endpoints[0].start(to(3, port))).collect();
    hub.run(200);
    let total: f64 = ids.iter().map(|&id| hub.rate(0, id)).sum();
    assert_near(total, 140e6);
}

#[test]
fn flowlets_of_a_failed_link_take_another_path_and_come_back() {
    let mut hub = Hub::new(net(100e6), exact());
    let ids: Vec<u32> = (0..8).map(|port| hub.endpoints[0].start(to(3, port))).collect();
    hub.run(200);
    hub.allocator.set_network(net(0.0)).unwrap();
    hub.run(200);
    ids.iter().for_each(|&id| assert_near(hub.rate(0, id), 5e6));
    hub.allocator.set_network(net(100e6)).unwrap();
    hub.run(200);
    assert_near(ids.iter().map(|&id| hub.rate(0, id)).sum(), 140e6);
}

#[test]
fn a_flowlet_without_a_path_keeps_the_rate_0_until_its_link_returns() {
    let mut hub = Hub::new(net(100e6), exact());
    let id = hub.endpoints[1].start(to(3, 1));
    hub.run(50);
    hub.allocator.set_network(net(0.0)).unwrap();
    // b reaches c through a and the other switch.
    hub.run(100);
    assert_near(hub.rate(1, id), 40e6);
    let cut = Topology::from_edges("a s 100e6\nb s 0\nc s 0\na t 40e6\nt c 40e6").unwrap();
    hub.allocator.set_network(cut).unwrap();
    hub.run(100);
    assert_eq!(hub.rate(1, id), 0.0);
    hub.allocator.set_network(net(100e6)).unwrap();
    hub.run(100);
    assert_near(hub.rate(1, id), 100e6);
}

#[test]
fn what_is_no_host_is_left_to_tcp_and_counted() {
    let mut hub = Hub::new(net(100e6), exact());
    let id = hub.endpoints[0].start(to(77, 1));
    let itself = hub.endpoints[0].start(to(1, 1));
    hub.run(20);
    assert_eq!(hub.rate(0, id), f64::INFINITY);
    assert_eq!(hub.rate(0, itself), f64::INFINITY);
    assert_eq!(hub.allocator.counts().unrouted, 2);
    hub.endpoints[0].end(id);
    hub.run(20);
    assert_eq!(hub.allocator.counts().ended, 1);
}

#[test]
fn a_flowlet_that_cannot_have_a_rate_any_more_is_left_to_tcp_until_it_can() {
    let good = to(3, 1);
    for refused in [
        Flowlet { weight: Short::floor(0.0), ..good },
        Flowlet { weight: Short::INFINITE, ..good },
        Flowlet { cap: Short::floor(0.9), ..good },
        Flowlet { destination: [10, 0, 0, 77].into(), ..good },
    ] {
        let mut hub = Hub::new(net(80e6), exact());
        let (id, other) = (hub.endpoints[1].start(good), hub.endpoints[1].start(to(3, 2)));
        hub.run(100);
        assert_near(hub.rate(1, id), 40e6);
        hub.endpoints[1].change(id, refused);
        hub.run(100);
        assert_eq!(hub.rate(1, id), f64::INFINITY, "{refused:?}");
        assert_near(hub.rate(1, other), 80e6);
        assert_eq!((hub.allocator.flowlets(), hub.allocator.counts().unrouted), (1, 1));
        hub.endpoints[1].change(id, good);
        hub.run(100);
        assert_near(hub.rate(1, id), 40e6);
    }
}

#[test]
fn a_flowlet_that_becomes_another_one_gets_a_rate_though_its_path_is_the_same() {
    let mut hub = Hub::new(net(80e6), RateSettings::default());
    let id = hub.endpoints[1].start(to(3, 1));
    hub.run(100);
    hub.endpoints[1].change(id, to(3, 2));
    assert_eq!(hub.endpoints[1].rate(id, hub.now), None);
    hub.run(100);
    assert!(hub.rate(1, id) > 70e6);
    let counts = hub.allocator.counts();
    assert_eq!((counts.started, counts.ended), (2, 1));
}

#[test]
fn a_change_of_a_cap_is_no_start() {
    let mut hub = Hub::new(net(80e6), exact());
    let id = hub.endpoints[1].start(to(3, 1));
    hub.run(20);
    hub.endpoints[1].change(id, Flowlet { cap: Short::floor(1e6), ..to(3, 1) });
    hub.run(20);
    assert_eq!((hub.allocator.counts().started, hub.allocator.flowlets()), (1, 1));
}

#[test]
fn with_a_fifth_of_datagrams_lost_rates_are_the_same_in_the_end() {
    let rates_with = |loss: f64| {
        let mut hub = Hub::new(net(90e6), RateSettings::default());
        hub.loss = loss;
        let ids: Vec<(usize, u32)> = (0..30).map(|n| (n % 2, hub.endpoints[n % 2].start(to(3, n as u16)))).collect();
        hub.run(400);
        for &(endpoint, id) in &ids[..10] {
            hub.endpoints[endpoint].end(id);
        }
        hub.run(600);
        // Thresholds let rates stay within a hundredth of what they become.
        ids[10..].iter().map(|&(endpoint, id)| hub.rate(endpoint, id)).collect::<Vec<_>>()
    };
    for (lossy, whole) in rates_with(0.2).into_iter().zip(rates_with(0.0)) {
        assert!((lossy / whole - 1.0).abs() < 0.03, "{lossy} instead of {whole}");
    }
}

#[test]
fn rates_that_endpoints_have_never_overload_a_link() {
    // One path between any two.
    let star = Topology::from_edges("a s 60e6\nb s 100e6\nc s 90e6").unwrap();
    let mut hub = Hub::new(star, RateSettings::default());
    let (mut ids, mut most) = (Vec::new(), 0.0_f64);
    for round in 0..300_u16 {
        let endpoint = usize::from(round % 2);
        ids.push((endpoint, hub.endpoints[endpoint].start(to(3, round))));
        if ids.len() > 12 {
            let (endpoint, id) = ids.remove(usize::from(round * 7 % 12));
            hub.endpoints[endpoint].end(id);
        }
        hub.run(3);
        let of = |from: usize| -> f64 {
            let own = ids.iter().filter(|&&(endpoint, _)| endpoint == from);
            own.filter_map(|&(endpoint, id)| hub.endpoints[endpoint].rate(id, hub.now)).sum()
        };
        let (of_a, of_b) = (of(0), of(1));
        assert!(of_a <= 60e6 && of_b <= 100e6 && of_a + of_b <= 90e6, "{of_a} of a and {of_b} of b");
        most = most.max(of_a + of_b);
    }
    assert!(most > 80e6, "the link into c never filled, {most}");
    assert!(hub.allocator.utilization().iter().all(|&part| part <= 1.0));
}

#[test]
fn an_allocator_goes_on_from_its_snapshot_with_the_rates_it_had() {
    let mut hub = Hub::new(net(90e6), exact());
    let ids: Vec<u32> = (0..5).map(|port| hub.endpoints[1].start(to(3, port))).collect();
    hub.run(100);
    let before: Vec<f64> = ids.iter().map(|&id| hub.rate(1, id)).collect();
    let text = hub.allocator.to_json();
    let hosts = hub.allocator.hosts().clone();
    let (restored, lost) =
        FlowletAllocator::from_json(&text, net(90e6), hosts, exact(), || seeded(77), hub.now).unwrap();
    assert_eq!((restored.flowlets(), restored.counts().started, restored.counts().ended), (5, 5, 0));
    assert_eq!(lost, [""; 0]);
    hub.allocator = restored;
    // A flowlet ends while the allocator is away.
    hub.endpoints[1].end(ids[4]);
    hub.run(1);
    for (&id, before) in ids[..4].iter().zip(&before) {
        let rate = hub.rate(1, id);
        assert!(rate >= *before * 0.999, "{rate} after {before}");
    }
    hub.run(100);
    assert_near(hub.rate(1, ids[0]), 90e6 / 4.0);
    assert_eq!(hub.allocator.flowlets(), 4);
}

/// Three flowlets, one of each pair of a star, whose rates take some ticks to be right.
fn star_with_rates() -> (Hub, [f64; 3]) {
    let star = Topology::from_edges("a s 100e6\nb s 60e6\nc s 30e6").unwrap();
    let mut hub = Hub::new(star, one_iteration());
    let flowlets = [(0, to(2, 1)), (0, to(3, 2)), (1, to(3, 3))];
    let ids = flowlets.map(|(from, flowlet)| hub.endpoints[from].start(flowlet));
    hub.run(1000);
    let rates = [0, 1, 2].map(|flowlet| hub.rate(flowlets[flowlet].0, ids[flowlet]));
    (hub, rates)
}

#[test]
fn a_snapshot_knows_links_by_name_and_says_what_has_no_place_any_more() {
    let (hub, before) = star_with_rates();
    let text = hub.allocator.to_json();
    let restore = |edges: &str, hosts: &str, change: fn(&mut RateSettings)| {
        let mut settings = one_iteration();
        change(&mut settings);
        let net = Topology::from_edges(edges).unwrap();
        let hosts = Hosts::read(hosts, &net).unwrap();
        FlowletAllocator::from_json(&text, net, hosts, settings, || seeded(77), hub.now)
    };
    // Links of `edges` with their utilization by what was sent before, after one tick of what is restored.
    let goes_on = |edges: &str| {
        let (mut restored, lost) = restore(edges, HOSTS, |_| {}).unwrap();
        restored.tick(hub.now, |_, _| {}).unwrap();
        let names = restored.network().link_names();
        let parts: BTreeMap<_, _> = names.into_iter().zip(restored.utilization()).collect();
        assert_near(parts["a -> s"] * 100e6, before[0] + before[1]);
        assert_near(parts["b -> s"] * 60e6, before[2]);
        assert_near(parts["s -> b"] * 60e6, before[0]);
        assert_near(parts["s -> c"] * 30e6, before[1] + before[2]);
        lost
    };
    assert_eq!(goes_on("a s 100e6\nb s 60e6\nc s 30e6"), [""; 0]);
    let turned = "c s 30e6\nd s 1e6\nb s 60e6\na s 100e6";
    assert_eq!(goes_on(turned), ["prices of some links are not restored, new: d -> s, s -> d"]);
    let (moved, lost) = restore("a s 100e6\nb s 60e6\nc t 30e6", HOSTS, |_| {}).unwrap();
    assert_eq!((moved.flowlets(), moved.counts().unrouted), (1, 2));
    let links = "prices of some links are not restored, missing: c -> s, s -> c; new: c -> t, t -> c";
    assert_eq!(lost, [links, "2 flowlets have no path, and are TCP's alone"]);
    let star = "a s 100e6\nb s 60e6\nc s 30e6";
    let (fewer, lost) = restore(star, "10.0.0.2 b.test b\n10.0.0.3 c.test c", |_| {}).unwrap();
    assert_eq!((fewer.flowlets(), fewer.counts().started), (1, 1));
    assert_eq!(lost, ["2 flowlets end, as no host has the name of their endpoint"]);
    // Of settings, prices depend on α alone.
    assert!(restore(star, HOSTS, |settings| (settings.gamma, settings.headroom) = (0.5, 0.1)).is_ok());
    let error = restore(star, HOSTS, |settings| settings.alpha = 2.0).err().unwrap();
    assert_eq!(error.to_string(), "snapshot: its alpha is 1, the one set is 2");
}

#[test]
fn a_snapshot_that_is_damaged_is_refused_with_what_is_wrong() {
    let (hub, _) = star_with_rates();
    let text = hub.allocator.to_json();
    let error = |from: &str, to: &str| {
        let (net, hosts) = (hub.allocator.network().clone(), hub.allocator.hosts().clone());
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text);
        let restored = FlowletAllocator::from_json(&damaged, net, hosts, exact(), || seeded(77), hub.now);
        restored.err().expect("it is damaged").to_string()
    };
    assert_eq!(error("\"a -> s\",", ""), "snapshot: it has 6 prices of 5 links");
    let prices = text.split_once("\"prices\":[").unwrap().1.split_once(']').unwrap().0;
    let negative = error(prices, "1,2,3,4,5,-6");
    assert_eq!(negative, "snapshot: link 5 has price -6, expected a finite number >= 0");
    assert_eq!(error("\"id\":1", "\"id\":0"), "snapshot: flowlet 0 of a.test is written twice");
    assert!(error("\"rate\"", "\"speed\"").starts_with("snapshot: unknown field `speed`"));
}

#[test]
fn endpoints_that_do_not_return_are_forgotten_after_a_lifetime() {
    let mut hub = Hub::new(net(90e6), exact());
    let gone = hub.endpoints[0].start(to(2, 1));
    let id = hub.endpoints[2].start(to(2, 1));
    hub.run(100);
    assert_near(hub.rate(2, id), 50e6);
    assert_near(hub.rate(0, gone), 50e6);
    hub.endpoints.remove(0);
    // The others keep their numbers.
    hub.endpoints.insert(0, EndpointProtocol::new(seeded(50)));
    hub.run(100);
    assert_near(hub.rate(2, id), 90e6);
}

#[test]
fn wrong_files_are_named_by_line() {
    let net = net(1e6);
    let error = |text: &str| Hosts::read(text, &net).unwrap_err().to_string();
    assert_eq!(error("10.0.0.1 a.test"), "line 1: found \"10.0.0.1 a.test\", expected an address, a name and a node");
    assert_eq!(error("\n::1 a.test a"), "line 2: \"::1\" is not an IPv4 address");
    assert_eq!(error("10.0.0.1 a.test z"), "line 1: the network has no node \"z\"");
    assert_eq!(
        error("10.0.0.1 a.test a\n10.0.0.1 b.test b"),
        "line 2: 10.0.0.1 is named twice: another program of a host has a line with an address that no other line has"
    );
    assert_eq!(error("10.0.0.1 a.test a\n10.0.0.2 A.test b"), "line 2: a.test is at another node above");
}

#[test]
fn a_network_of_other_links_is_refused_and_the_old_one_stays() {
    let mut hub = Hub::new(net(90e6), exact());
    let other = Topology::from_edges("a s 1\nb s 1\nc s 1").unwrap();
    let error = hub.allocator.set_network(other).unwrap_err().to_string();
    let expected = "a network that is read again has the same links, and one that has failed has capacity 0: \
                    missing: a -> t, t -> a, t -> c and 1 more";
    assert!(error.ends_with(expected), "{error}");
    let other = Topology::from_edges("a s 1\nb s 1\nc s 1\na t 1\nt c 1\na s 1").unwrap();
    let error = hub.allocator.set_network(other).unwrap_err().to_string();
    assert!(error.ends_with("capacity 0: new: a -> s #2, s -> a #2"), "{error}");
    assert_eq!(hub.allocator.network().links().len(), 10);
}

#[test]
fn lines_of_a_network_that_is_read_again_may_come_in_another_order() {
    let mut hub = Hub::new(net(90e6), exact());
    let id = hub.endpoints[1].start(to(3, 1));
    hub.run(100);
    assert_near(hub.rate(1, id), 90e6);
    let turned = Topology::from_edges("t c 40e6\na t 40e6\nc s 30e6\nb s 100e6\na s 100e6").unwrap();
    hub.allocator.set_network(turned).unwrap();
    hub.run(100);
    assert_near(hub.rate(1, id), 30e6);
}

#[test]
fn settings_out_of_range_are_named() {
    let error = |change: fn(&mut RateSettings)| {
        let mut settings = RateSettings::default();
        change(&mut settings);
        settings.check().unwrap_err().to_string()
    };
    assert_eq!(
        error(|settings| settings.tick = Duration::from_micros(99)),
        "tick_us is 99, expected 100 to 100000 microseconds"
    );
    assert_eq!(
        error(|settings| settings.lifetime = settings.tick * 31),
        "lifetime_us is 31000, expected at least 32 ticks and at most an hour"
    );
    assert_eq!(error(|settings| settings.iterations = 0), "iterations is 0, expected at least 1");
    assert_eq!(error(|settings| settings.gamma = 0.0), "gamma is 0, expected a number > 0");
    for (alpha, change) in [
        (0.0, (|settings| settings.alpha = 0.0) as fn(&mut RateSettings)),
        (-1.0, |settings| {
            settings.alpha = -1.0;
        }),
    ] {
        assert_eq!(error(change), format!("alpha is {alpha}, expected a number > 0"));
    }
    assert_eq!(
        error(|settings| settings.update_threshold = 1.0),
        "update_threshold is 1, expected a number >= 0 and < 1"
    );
    assert_eq!(error(|settings| settings.headroom = f64::NAN), "headroom is NaN, expected a number >= 0 and < 1");
}
