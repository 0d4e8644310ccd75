//! An allocator and its endpoints over loopback, for a minute. `make soak` is an hour of it, and
//! `NETNUM_SOAK='30 1 1000'` 30 s of one endpoint that starts 1000 flowlets a second.
//!
//! The daemon runs in this process, and endpoints talk to it over QUIC. Flowlets last 50 ms. Measured are the time from
//! a flowlet's start to its first rate, and the memory of the process, ten times. In the end no flowlet is left, as
//! many have ended as have started, and the process is no larger in the second half of the time than in the first. So
//! it is a program of its own.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use netnum_service::Certificates;
use netnum_service::daemon::{Config, Daemon};
use netnum_service::protocol::{EndpointProtocol, Flowlet, Short};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use tokio::time::timeout;

#[path = "it/certificates.rs"]
mod certificates;
#[path = "it/client.rs"]
mod client;

use certificates::Authority;
use client::{client_config, metric};

/// Seconds, endpoints, and flowlets that start in a second, of all endpoints.
const DEFAULT: &str = "60 20 10000";
const LASTS: Duration = Duration::from_millis(50);
/// Latencies are counted in bins of 10 µs, up to 1 s.
const BINS: usize = 100_000;
/// Bytes by which memory may grow from one half of the time to the other, beside a tenth of itself.
const GROWTH: f64 = 8e6;
/// By when every end is acknowledged, after the last start. A message is repeated after 0.6 s.
const DRAINED: Duration = Duration::from_secs(120);

#[test]
#[ignore = "a minute"]
fn soak() {
    let text = std::env::var("NETNUM_SOAK").unwrap_or(DEFAULT.into());
    let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().unwrap()).collect();
    let &[seconds, endpoints, per_second] = numbers.as_slice() else { panic!("NETNUM_SOAK is not like {DEFAULT}") };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("soak");
    let authority = Authority::new(&folder, "authority");
    let daemon = Daemon::start(&config(&folder, &authority, endpoints)).unwrap();
    let shared = Arc::new(Shared { started: AtomicU64::new(0), waits: (0..BINS).map(|_| AtomicU64::new(0)).collect() });
    let every = Duration::from_secs(1).mul_f64(endpoints as f64 / per_second as f64);
    let (to, of_endpoints) = (daemon.address(), shared.clone());
    let running = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let tasks = (0..endpoints).map(|number| {
                let tls = authority.sign(&format!("{number}.test"));
                tokio::spawn(endpoint(tls, to, number, Duration::from_secs(seconds), every, of_endpoints.clone()))
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
    });
    let memory: Vec<f64> = (0..10)
        .map(|_| {
            thread::sleep(Duration::from_secs(seconds).div_f64(10.0));
            resident()
        })
        .collect();
    running.join().unwrap();
    let metric = |name: &str| metric(&daemon, &format!("netnum_{name}")) as u64;
    let (told, started) = (metric("flowlets_started_total"), shared.started.load(Ordering::Relaxed));
    assert!(0 < told && told <= started, "{told} of {started}");
    println!(
        "{endpoints} endpoints, {per_second} flowlets/s for {seconds} s: {started} started, {} of them ended before \
         they could be told; {} ticks, {} overran; from start to rate p50 {:.2} ms, p99 {:.2} ms; memory {} MB",
        started - told,
        metric("ticks_total"),
        metric("overruns_total"),
        shared.quantile(0.5),
        shared.quantile(0.99),
        memory.iter().map(|bytes| format!("{:.1}", bytes / 1e6)).collect::<Vec<_>>().join(" ")
    );
    for (name, expected) in [
        ("flowlets_ended_total", told),
        ("flowlets_unrouted_total", 0),
        ("flowlets", 0),
        ("datagrams_refused_total", 0),
    ] {
        assert_eq!(metric(name), expected, "{name}");
    }
    // Medians, as datagrams wait where the machine pauses.
    let [early, late] = [0, 5].map(|from| {
        let mut half = memory[from..from + 5].to_vec();
        half.sort_by(f64::total_cmp);
        half[2]
    });
    assert!(late <= 1.1 * early + GROWTH, "memory grew: {memory:?}");
    daemon.stop();
}

/// Endpoints and a sink behind one switch. Rates live long, so that no pause of a busy machine ends a session.
fn config(folder: &std::path::Path, authority: &Authority, endpoints: u64) -> Config {
    let (mut hosts, mut net) = (String::from("10.255.0.1 sink.test sink\n"), String::from("sink s 10e9\n"));
    for number in 0..endpoints {
        let address = Ipv4Addr::from_bits(0x0a00_0001 + number as u32);
        writeln!(hosts, "{address} {number}.test {number}").unwrap();
        writeln!(net, "{number} s 10e9").unwrap();
    }
    fs::write(folder.join("hosts"), hosts).unwrap();
    fs::write(folder.join("network"), net).unwrap();
    let Certificates { authority, certificate, key } = authority.sign("allocator.test");
    let text = format!(
        "listen = '127.0.0.1:0'\nstatus = '127.0.0.1:0'\nnetwork = 'network'\nhosts = 'hosts'\n\
         [rates]\nlifetime_us = 10000000\n\
         [tls]\nauthority = {authority:?}\ncertificate = {certificate:?}\nkey = {key:?}\n"
    );
    let file = folder.join("allocator.toml");
    fs::write(&file, text).unwrap();
    Config::read(&file).unwrap()
}

/// What all endpoints have counted.
struct Shared {
    started: AtomicU64,
    waits: Vec<AtomicU64>,
}

impl Shared {
    fn waited(&self, time: Duration) {
        let bin = (time.as_micros() / 10).min(BINS as u128 - 1);
        self.waits[bin as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Milliseconds.
    fn quantile(&self, part: f64) -> f64 {
        let all: u64 = self.waits.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        let (mut left, mut bin) = ((all as f64 * part) as u64, 0);
        while bin < BINS && left >= self.waits[bin].load(Ordering::Relaxed) {
            left -= self.waits[bin].load(Ordering::Relaxed);
            bin += 1;
        }
        bin as f64 / 100.0
    }
}

/// One flowlet every so often for such a time, and until the allocator knows that all have ended.
async fn endpoint(
    tls: Certificates,
    to: SocketAddr,
    number: u64,
    lasts: Duration,
    every: Duration,
    shared: Arc<Shared>,
) {
    let client = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let connection = client.connect_with(client_config(&tls, true), to, "allocator.test").unwrap().await.unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let mut ports = rng.clone();
    let mut protocol = EndpointProtocol::new(Box::new(move || rng.random()));
    let began = Instant::now();
    let (mut next, mut ends, mut waiting) = (Duration::ZERO, VecDeque::new(), FxHashMap::default());
    let (mut out, mut news) = (Vec::new(), Vec::new());
    loop {
        let now = began.elapsed();
        while next <= now.min(lasts) {
            next += every;
            let ports: u32 = ports.random();
            let id = protocol.start(Flowlet {
                destination: Ipv4Addr::new(10, 255, 0, 1),
                destination_port: ports as u16,
                source_port: (ports >> 16) as u16,
                weight: Short::floor(1024.0),
                cap: Short::INFINITE,
            });
            shared.started.fetch_add(1, Ordering::Relaxed);
            waiting.insert(id, now);
            ends.push_back((now + LASTS, id));
        }
        while ends.front().is_some_and(|end| end.0 <= now) {
            let (_, id) = ends.pop_front().unwrap();
            protocol.end(id);
            // One without a rate by now has waited so long.
            waiting.remove(&id).into_iter().for_each(|_| shared.waited(LASTS));
        }
        if now > lasts && ends.is_empty() && protocol.pending() == 0 {
            break;
        }
        assert!(now < lasts + DRAINED, "{} ends are not acknowledged", protocol.pending());
        while protocol.poll(began.elapsed(), &mut out) {
            connection.send_datagram(out.clone().into()).unwrap();
        }
        let due = ends.front().map_or(Duration::MAX, |end| end.0).min(protocol.due_at());
        let due = if next <= lasts { due.min(next) } else { due };
        if let Ok(bytes) = timeout(due.saturating_sub(began.elapsed()), connection.read_datagram()).await {
            let now = began.elapsed();
            protocol.receive(&bytes.unwrap(), now, &mut news).unwrap();
            for id in news.drain(..) {
                waiting.remove(&id).into_iter().for_each(|at| shared.waited(now - at));
            }
        }
    }
}

/// Bytes of memory that this process holds; 0 where there is no /proc.
fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
    4096.0 * pages.unwrap_or(0.0)
}
