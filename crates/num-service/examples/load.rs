//! How much of one core an allocator takes: `cargo run --release -p netnum-service --example load -- 500 200 10000`.
//!
//! Endpoints of a leaf-spine fabric start so many flowlets a second each, to random others, which last 50 ms. Both
//! state machines run, without sockets; the allocator's part of each tick is timed: what it receives, the iteration,
//! and what it sends.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use netnum_core::Topology;
use netnum_service::allocator::{FlowletAllocator, Hosts, RateSettings};
use netnum_service::protocol::{EndpointProtocol, Flowlet, Random, Short};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LASTS: Duration = Duration::from_millis(50);
const TICKS: u32 = 300;

fn address(endpoint: usize) -> [u8; 4] {
    [10, (endpoint >> 16) as u8, (endpoint >> 8) as u8, endpoint as u8]
}

fn seeded(seed: u64) -> Random {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Box::new(move || rng.random())
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let &[endpoints, per_second, tick_us] = numbers.as_slice() else {
        return eprintln!("load ENDPOINTS FLOWLETS-PER-SECOND TICK-US");
    };
    let net = Topology::leaf_spine(endpoints.div_ceil(20), 20, 4, 10e9, 40e9).unwrap();
    let host = |endpoint| {
        let [a, b, c, d] = address(endpoint);
        format!("{a}.{b}.{c}.{d} {endpoint}.test server {endpoint}\n")
    };
    let hosts = Hosts::read(&(0..endpoints).map(host).collect::<String>(), &net).unwrap();
    let mut settings = RateSettings::default();
    settings.tick = Duration::from_micros(tick_us as u64);
    settings.lifetime = settings.tick * 64;
    settings.iterations = 1;
    let tick = settings.tick;
    let mut allocator = FlowletAllocator::new(net, hosts, settings, || seeded(1)).unwrap();
    let mut sides: Vec<EndpointProtocol> =
        (0..endpoints).map(|number| EndpointProtocol::new(seeded(3 + number as u64))).collect();
    let mut random = seeded(2);
    let mut ends: VecDeque<(Duration, usize, u32)> = VecDeque::new();
    let (mut now, mut owed, mut out, mut answer) = (Duration::ZERO, 0.0, Vec::new(), Vec::new());
    let (mut times, mut news) = (Vec::new(), Vec::new());
    for _ in 0..TICKS {
        now += tick;
        owed += endpoints as f64 * per_second as f64 * tick.as_secs_f64();
        while owed >= 1.0 {
            owed -= 1.0;
            let (from, to) = (random() as usize % endpoints, random() as usize % endpoints);
            let ports = random();
            let id = sides[from].start(Flowlet {
                destination: address(to).into(),
                destination_port: ports as u16,
                source_port: (ports >> 16) as u16,
                weight: Short::floor(1024.0),
                cap: Short::INFINITE,
            });
            ends.push_back((now + LASTS, from, id));
        }
        while ends.front().is_some_and(|end| end.0 <= now) {
            let (_, from, id) = ends.pop_front().unwrap();
            sides[from].end(id);
        }
        let mut busy = Duration::ZERO;
        for (endpoint, side) in sides.iter_mut().enumerate() {
            while side.poll(now, &mut out) {
                let started = Instant::now();
                allocator.receive(endpoint, &out, now, &mut answer).unwrap();
                busy += started.elapsed();
                if !answer.is_empty() {
                    side.receive(&answer, now, &mut news).unwrap();
                }
            }
        }
        let mut sent = Vec::new();
        let started = Instant::now();
        allocator.tick(now, |endpoint, bytes| sent.push((endpoint, bytes.to_vec()))).unwrap();
        times.push((busy + started.elapsed()).as_secs_f64());
        for (endpoint, bytes) in sent {
            sides[endpoint].receive(&bytes, now, &mut news).unwrap();
        }
        news.clear();
    }
    // After half of the time as many flowlets end as start.
    let mut times = times.split_off(TICKS as usize / 2);
    times.sort_by(f64::total_cmp);
    let part = |time: f64| 100.0 * time / tick.as_secs_f64();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!(
        "{endpoints} endpoints x {per_second} flowlets/s, {} at once, a tick of {tick:?}: p50 {:.2} ms, {:.0} % of it; \
         p99 {:.2} ms, {:.0} %",
        allocator.flowlets(),
        1e3 * p50,
        part(p50),
        1e3 * p99,
        part(p99)
    );
}
