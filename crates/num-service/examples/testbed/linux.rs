//! The testbed: namespaces, programs that run in them, and what they measure.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::net::{Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use netnum_service::daemon::{Config, Daemon};
use netnum_service::endpoint::{Endpoint, EndpointConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::certificates::Authority;

const SENDERS: usize = 8;
/// Of the link to the receiver, in bits per second, with Ethernet headers.
const CAPACITY: f64 = 200e6;
/// Of a segment's bytes on the wire those that are payload: 1448 of 1514.
const PAYLOAD: f64 = 1448.0 / 1514.0;
/// Between two changes of the number of flows.
const CHANGE: Duration = Duration::from_secs(3);
/// Throughput is measured over so long.
const BIN: Duration = Duration::from_millis(10);
const COFLOWS: usize = 20;
const TRANSFERS: usize = 25;
const TRANSFER: usize = 100_000;
const RECEIVER: &str = "10.77.0.9:5001";
const ALLOCATOR: &str = "10.77.0.100:4433";
const RELAY: &str = "10.77.0.100:4434";
/// Of the datagrams through the relay so many are lost. Of the rest half of this part is overtaken, and of those that
/// are not half of it is sent twice.
const LOSS: f64 = 0.2;
/// Of the runs with a failure: before it, during it, after it.
const PART: Duration = Duration::from_secs(3);

#[derive(Parser)]
enum Role {
    /// Builds the namespaces, runs everything, and takes them down.
    All { folder: PathBuf, page: Option<PathBuf> },
    /// Counts the bytes of each flow.
    Receiver { until: f64, out: PathBuf },
    /// Sends as fast as it can.
    Sender { flow: u64, from: f64, until: f64, tls: Option<PathBuf> },
    /// Sends many short transfers at once, at each of these times.
    Coflows { first: u64, from: f64, every: f64, tls: Option<PathBuf> },
    /// The allocator, until its input ends; every line of it says that the network has changed.
    Allocator { config: PathBuf },
    /// Passes datagrams between endpoints and the allocator, and loses, doubles and reorders some, both ways.
    Relay,
}

pub(crate) fn main() {
    match Role::parse() {
        Role::All { folder, page } => all(&folder, page.as_deref()),
        Role::Receiver { until, out } => receive(until, &out),
        Role::Sender { flow, from, until, tls } => send(flow, from, until, tls.as_deref()),
        Role::Coflows { first, from, every, tls } => send_coflows(first, from, every, tls.as_deref()),
        Role::Allocator { config } => {
            tracing_subscriber::fmt().with_writer(std::io::stderr).init();
            let config = Config::read(&config).unwrap();
            let daemon = Daemon::start(&config).unwrap();
            for line in io::stdin().lines() {
                line.unwrap();
                daemon.reload(&config).unwrap();
            }
        }
        Role::Relay => relay(),
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

fn sleep_until(time: f64) {
    if let Ok(wait) = Duration::try_from_secs_f64(time - now()) {
        thread::sleep(wait);
    }
}

/// Bytes of a flow, and when its last one came.
type Received = (Arc<AtomicU64>, Arc<Mutex<f64>>);

/// Writes the bins of every flow, and when each flow had its last byte.
fn receive(until: f64, out: &Path) {
    let listener = TcpListener::bind(RECEIVER).unwrap();
    let counts: Arc<Mutex<BTreeMap<u64, Received>>> = Arc::default();
    let shared = counts.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, shared) = (stream.unwrap(), shared.clone());
            thread::spawn(move || {
                let (mut flow, mut until) = ([0; 8], [0; 8]);
                if stream.read_exact(&mut flow).and_then(|()| stream.read_exact(&mut until)).is_err() {
                    return;
                }
                let until = f64::from_be_bytes(until);
                let (count, last) = Received::default();
                shared.lock().unwrap().insert(u64::from_be_bytes(flow), (count.clone(), last.clone()));
                let mut buffer = vec![0; 1 << 16];
                while now() < until
                    && let Ok(read @ 1..) = stream.read(&mut buffer)
                {
                    count.fetch_add(read as u64, Ordering::Relaxed);
                }
                *last.lock().unwrap() = now();
            });
        }
    });
    let mut bins = Vec::new();
    let mut next = now();
    while now() < until {
        next += BIN.as_secs_f64();
        sleep_until(next);
        let counted: Vec<(u64, u64)> =
            counts.lock().unwrap().iter().map(|(&flow, count)| (flow, count.0.load(Ordering::Relaxed))).collect();
        // Only flows that are there now are of interest; ended ones keep their count.
        bins.push(json!([now(), counted]));
    }
    let ends: Vec<(u64, f64)> =
        counts.lock().unwrap().iter().map(|(&flow, end)| (flow, *end.1.lock().unwrap())).collect();
    fs::write(out, json!({ "bins": bins, "ends": ends }).to_string()).unwrap();
}

fn endpoint(tls: Option<&Path>) -> Option<Endpoint> {
    let config: EndpointConfig = toml::from_str(&fs::read_to_string(tls?).unwrap()).unwrap();
    Some(Endpoint::connect(config).unwrap())
}

/// A stream of this flow, which the receiver closes at such a time, whatever waits then.
fn connect(flow: u64, until: f64, endpoint: Option<&Endpoint>) -> Arc<TcpStream> {
    let to: SocketAddrV4 = RECEIVER.parse().unwrap();
    let stream = Arc::new(TcpStream::connect(to).unwrap());
    (&*stream).write_all(&[flow.to_be_bytes(), until.to_be_bytes()].concat()).unwrap();
    if let Some(endpoint) = endpoint {
        endpoint.attach(&stream, to, 1.0).unwrap();
    }
    stream
}

fn send(flow: u64, from: f64, until: f64, tls: Option<&Path>) {
    let endpoint = endpoint(tls);
    sleep_until(from);
    let stream = connect(flow, until, endpoint.as_ref());
    stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while now() < until {
        let _ = (&*stream).write(&[0; 16_384]);
    }
    // The receiver resets the connection, and the end of the flowlet is reported.
    thread::sleep(Duration::from_millis(200));
}

fn relay() {
    let inside = Arc::new(UdpSocket::bind(RELAY).unwrap());
    let mut outsides: BTreeMap<SocketAddr, (Arc<UdpSocket>, Faults)> = BTreeMap::new();
    let mut buffer = [0; 2048];
    loop {
        let (count, from) = inside.recv_from(&mut buffer).unwrap();
        let seed = outsides.len() as u64;
        let (outside, faults) = outsides.entry(from).or_insert_with(|| {
            let outside = Arc::new(UdpSocket::bind("10.77.0.100:0").unwrap());
            outside.connect(ALLOCATOR).unwrap();
            let (back, inside) = (outside.clone(), inside.clone());
            thread::spawn(move || {
                let (mut faults, mut buffer) = (Faults::new(2 * seed + 1), [0; 2048]);
                loop {
                    let count = back.recv(&mut buffer).unwrap();
                    faults.pass(&buffer[..count], |bytes| drop(inside.send_to(bytes, from)));
                }
            });
            (outside, Faults::new(2 * seed))
        });
        faults.pass(&buffer[..count], |bytes| drop(outside.send(bytes)));
    }
}

/// What the relay does to datagrams of one direction.
struct Faults {
    rng: ChaCha8Rng,
    late: Option<Vec<u8>>,
}

impl Faults {
    fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), late: None }
    }

    fn pass(&mut self, bytes: &[u8], mut send: impl FnMut(&[u8])) {
        if self.rng.random::<f64>() < LOSS {
            return;
        }
        if self.late.is_none() && self.rng.random::<f64>() < LOSS / 2.0 {
            self.late = Some(bytes.to_vec());
            return;
        }
        send(bytes);
        if self.rng.random::<f64>() < LOSS / 2.0 {
            send(bytes);
        }
        self.late.take().into_iter().for_each(|late| send(&late));
    }
}

fn send_coflows(first: u64, from: f64, every: f64, tls: Option<&Path>) {
    let endpoint = endpoint(tls);
    for coflow in 0..COFLOWS {
        sleep_until(from + every * coflow as f64);
        thread::scope(|scope| {
            for transfer in 0..TRANSFERS {
                let endpoint = endpoint.as_ref();
                let flow = (coflow * SENDERS * TRANSFERS + transfer) as u64 + first * TRANSFERS as u64;
                scope.spawn(move || {
                    let stream = connect(flow, f64::INFINITY, endpoint);
                    (&*stream).write_all(&vec![0; TRANSFER]).unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                    // The receiver has all of it: until then the socket is watched, and its rate is up to date.
                    (&*stream).read_to_end(&mut Vec::new()).unwrap();
                });
            }
        });
    }
    thread::sleep(Duration::from_secs(1));
}

/// Namespaces that are taken down when it is dropped.
struct Namespaces;

const SWITCH: &str = "netnum-switch";
const SINK: &str = "netnum-receiver";

fn sender(number: usize) -> String {
    format!("netnum-sender-{number}")
}

fn run(command: &str) {
    let mut words = command.split_whitespace();
    let status = Command::new(words.next().unwrap()).args(words).status().expect("the command is installed");
    assert!(status.success(), "{command}: {status}");
}

impl Namespaces {
    fn new() -> Self {
        drop(Self);
        let this = Self;
        for name in (1..=SENDERS).map(sender).chain([SWITCH.into(), SINK.into()]) {
            run(&format!("ip netns add {name}"));
            run(&format!("ip -n {name} link set lo up"));
        }
        run(&format!("ip -n {SWITCH} link add bridge type bridge"));
        run(&format!("ip -n {SWITCH} link set bridge up"));
        run(&format!("ip -n {SWITCH} address add 10.77.0.100/24 dev bridge"));
        for (number, name) in (1..=SENDERS).map(|number| (number, sender(number))).chain([(9, SINK.into())]) {
            run(&format!("ip -n {SWITCH} link add port{number} type veth peer name eth netns {name}"));
            run(&format!("ip -n {SWITCH} link set port{number} master bridge up"));
            run(&format!("ip -n {name} link set eth up"));
            run(&format!("ip -n {name} address add 10.77.0.{number}/24 dev eth"));
        }
        run(&format!(
            "ip netns exec {SWITCH} tc qdisc add dev port9 root tbf rate {CAPACITY} burst 32000 latency 20ms"
        ));
        this
    }

    /// TCP of the senders gets another congestion control, and windows of one run are none of the next.
    fn set_control(&self, control: &str) {
        for number in 1..=SENDERS {
            let name = sender(number);
            let route = format!("10.77.0.0/24 dev eth scope link src 10.77.0.{number}");
            run(&format!("ip -n {name} route replace {route} congctl {control}"));
            run(&format!("ip -n {name} tcp_metrics flush all"));
        }
    }

    /// The link to the receiver gets another capacity.
    fn set_capacity(&self, capacity: f64) {
        run(&format!(
            "ip netns exec {SWITCH} tc qdisc change dev port9 root tbf rate {capacity} burst 32000 latency 20ms"
        ));
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in (1..=SENDERS).map(sender).chain([SWITCH.into(), SINK.into()]) {
            let _ = Command::new("ip").args(["netns", "del", &name]).stderr(Stdio::null()).status();
        }
    }
}

fn within(name: &str, arguments: &[String]) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name]).arg(program).args(arguments).stdin(Stdio::piped()).spawn().unwrap()
}

struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Certificates and configurations.
fn write_configs(folder: &Path) {
    let authority = Authority::new(folder, "authority");
    let mut hosts = String::from("10.77.0.9 receiver.test r\n");
    for number in 1..=SENDERS {
        hosts += &format!("10.77.0.{number} sender-{number}.test {number}\n");
        let own = authority.sign(&format!("sender-{number}.test"));
        for (kind, address) in [("sender", ALLOCATOR), ("relayed", RELAY)] {
            let text = format!(
                "allocator = '{address}'\nname = 'allocator.test'\n\
                 [tls]\nauthority = {:?}\ncertificate = {:?}\nkey = {:?}\n",
                own.authority, own.certificate, own.key
            );
            fs::write(folder.join(format!("{kind}-{number}.toml")), text).unwrap();
        }
    }
    fs::write(folder.join("hosts"), hosts).unwrap();
    write_network(folder, CAPACITY);
    let own = authority.sign("allocator.test");
    let text = format!(
        "listen = '{ALLOCATOR}'\nnetwork = 'network'\nhosts = 'hosts'\n[rates]\nheadroom = 0.01\nlifetime_us = 500000\n\
         [tls]\nauthority = {:?}\ncertificate = {:?}\nkey = {:?}\n",
        own.authority, own.certificate, own.key
    );
    fs::write(folder.join("allocator.toml"), text).unwrap();
}

fn write_network(folder: &Path, capacity: f64) {
    let senders: String = (1..=SENDERS).map(|number| format!("{number} s 10e9\n")).collect();
    fs::write(folder.join("network"), format!("r s {capacity}\n{senders}")).unwrap();
}

const SCHEMES: [&str; 4] = ["cubic", "reno", "bbr", "netnum"];

fn all(folder: &Path, page: Option<&Path>) {
    fs::create_dir_all(folder).unwrap();
    let folder = fs::canonicalize(folder).unwrap();
    let namespaces = Namespaces::new();
    write_configs(&folder);
    let mut results = json!({ "eight_to_one": {}, "coflows": {} });
    let mut picture = Picture::default();
    for scheme in SCHEMES {
        namespaces.set_control(if scheme == "netnum" { "cubic" } else { scheme });
        let _allocator = (scheme == "netnum").then(|| start_allocator(&folder));
        results["eight_to_one"][scheme] = eight_to_one(&folder, scheme, &mut picture);
        println!("eight to one, {scheme}: {}", results["eight_to_one"][scheme]);
        if matches!(scheme, "cubic" | "netnum") {
            results["coflows"][scheme] = coflows(&folder, scheme);
            println!("coflows, {scheme}: {}", results["coflows"][scheme]);
        }
    }
    namespaces.set_control("cubic");
    let allocator = RefCell::new(Some(start_allocator(&folder)));
    let kill = || drop(allocator.borrow_mut().take());
    results["killed"] = failure(&folder, "sender", kill, || drop(allocator.replace(Some(start_allocator(&folder)))));
    println!("the allocator is killed, and starts again: {}", results["killed"]);
    let set = |capacity| {
        namespaces.set_capacity(capacity);
        write_network(&folder, capacity);
        allocator.borrow().iter().for_each(|allocator| writeln!(allocator.0.stdin.as_ref().unwrap()).unwrap());
    };
    results["halved"] = failure(&folder, "sender", || set(CAPACITY / 2.0), || set(CAPACITY));
    println!("the link halves: {}", results["halved"]);
    let _relay = Stopped(within(SWITCH, &["relay".into()]));
    results["lossy"] = failure(&folder, "relayed", || {}, || {});
    println!("datagrams are lost: {}", results["lossy"]);
    drop(namespaces);
    // Programs share the cores with whatever else runs: of the last quarter of an hour.
    let load = fs::read_to_string("/proc/loadavg").unwrap();
    results["load"] = load.split(' ').nth(2).unwrap().parse::<f64>().unwrap().into();
    results["cores"] = thread::available_parallelism().unwrap().get().into();
    fs::write(folder.with_file_name("testbed.json"), format!("{results:#}\n")).unwrap();
    if let Some(page) = page {
        write_page(page, &results);
        fs::write(page.with_extension("svg"), picture.finish()).unwrap();
    }
}

fn start_allocator(folder: &Path) -> Stopped {
    let config = folder.join("allocator.toml").display().to_string();
    Stopped(within(SWITCH, &["allocator".into(), config]))
}

/// Flows of one sender each, flow i from and until such times. `kind` names the configuration of their endpoints, if
/// they have some. `meanwhile` runs with them.
fn run_flows(
    folder: &Path,
    kind: Option<&str>,
    time_of: impl Fn(usize) -> (f64, f64),
    meanwhile: impl FnOnce(),
) -> Bins {
    let out = folder.join("bins.json");
    let end = (1..=SENDERS).map(|number| time_of(number).1).fold(0.0, f64::max);
    let receiver = within(SINK, &["receiver".into(), end.to_string(), out.display().to_string()]);
    let senders = (1..=SENDERS).map(|number| {
        let (from, until) = time_of(number);
        let mut arguments = vec!["sender".into(), number.to_string(), from.to_string(), until.to_string()];
        arguments.extend(tls_of(folder, number, kind));
        within(&sender(number), &arguments)
    });
    let senders: Vec<Child> = senders.collect();
    meanwhile();
    for mut child in std::iter::once(receiver).chain(senders) {
        child.wait().unwrap();
    }
    let text: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    let bins: Vec<(f64, Vec<(u64, u64)>)> = serde_json::from_value(text["bins"].clone()).unwrap();
    Bins(bins.into_iter().map(|(time, counts)| (time, counts.into_iter().collect())).collect())
}

fn tls_of(folder: &Path, number: usize, kind: Option<&str>) -> Option<String> {
    kind.map(|kind| folder.join(format!("{kind}-{number}.toml")).display().to_string())
}

/// Bytes of each flow by time.
struct Bins(Vec<(f64, BTreeMap<u64, u64>)>);

impl Bins {
    /// Bytes of a flow up to a time.
    fn at(&self, flow: usize, time: f64) -> u64 {
        let place = self.0.partition_point(|bin| bin.0 <= time).saturating_sub(1);
        self.0[place].1.get(&(flow as u64)).copied().unwrap_or(0)
    }

    /// Bits per second.
    fn rates(&self, flows: &[usize], from: f64, width: f64) -> Vec<f64> {
        flows.iter().map(|&flow| (self.at(flow, from + width) - self.at(flow, from)) as f64 * 8.0 / width).collect()
    }

    /// Jain's index over 20 ms, the payload in bits per second, and the time until all stay at their share.
    fn measure(&self, flows: &[usize], from: f64, to: f64) -> Part {
        let windows = ((to - from) / 0.02) as usize;
        let jains = (0..windows).map(|window| jain(&self.rates(flows, from + 0.02 * window as f64, 0.02)));
        let settle = settle(to - from, |time| {
            let rates = self.rates(flows, from + time, 0.05);
            let share = rates.iter().sum::<f64>() / rates.len() as f64;
            rates.iter().all(|rate| (rate / share - 1.0).abs() <= 0.1)
        });
        let goodput = self.rates(flows, from, to - from).iter().sum();
        Part { jain: mean(&jains.collect::<Vec<_>>()), goodput, settle }
    }
}

struct Part {
    jain: f64,
    goodput: f64,
    settle: f64,
}

/// One flow more every three seconds until there are eight, then one fewer.
fn eight_to_one(folder: &Path, scheme: &str, picture: &mut Picture) -> Value {
    let (begin, step) = (now() + 2.0, CHANGE.as_secs_f64());
    let time_of = |number: usize| (begin + step * (number - 1) as f64, begin + step * (SENDERS + number - 1) as f64);
    let bins = run_flows(folder, (scheme == "netnum").then_some("sender"), time_of, || {});
    picture.add(scheme, &bins, begin, step * (2 * SENDERS - 1) as f64);
    let parts = (0..2 * SENDERS - 1).map(|change| {
        let (from, to) = (begin + step * change as f64, begin + step * (change + 1) as f64);
        let flows: Vec<usize> =
            (1..=SENDERS).filter(|&number| time_of(number).0 <= from && from < time_of(number).1).collect();
        (flows.len(), bins.measure(&flows, from, to))
    });
    let parts: Vec<(usize, Part)> = parts.collect();
    // A flow alone is at its share, whatever it does.
    let shared: Vec<&Part> = parts.iter().filter(|(flows, _)| *flows > 1).map(|(_, part)| part).collect();
    let jains: Vec<f64> = shared.iter().map(|part| part.jain).collect();
    let settles: Vec<f64> = shared.iter().map(|part| part.settle).collect();
    let goodputs: Vec<f64> = parts.iter().map(|(_, part)| part.goodput).collect();
    json!({ "jain": mean(&jains), "goodput": mean(&goodputs), "settle": mean(&settles) })
}

/// Eight flows; something happens after the first of three parts, and is undone after the second.
fn failure(folder: &Path, kind: &str, happens: impl FnOnce(), ends: impl FnOnce()) -> Value {
    let (begin, part) = (now() + 2.0, PART.as_secs_f64());
    // A second for TCP and the first rates, which eight to one measures.
    let at = |number: usize| begin + 1.0 + part * number as f64;
    let meanwhile = || {
        sleep_until(at(1));
        happens();
        sleep_until(at(2));
        ends();
    };
    let bins = run_flows(folder, Some(kind), |_| (begin, at(3)), meanwhile);
    let flows: Vec<usize> = (1..=SENDERS).collect();
    let parts = (0..3).map(|number| {
        let Part { jain, goodput, settle } = bins.measure(&flows, at(number), at(number + 1));
        json!({ "jain": jain, "goodput": goodput, "settle": settle })
    });
    parts.collect()
}

/// Throughput of each flow over time, a panel per scheme, as SVG.
#[derive(Default)]
struct Picture {
    panels: usize,
    text: String,
}

impl Picture {
    const SIZE: (f64, f64) = (720.0, 130.0);
    const WIDTH: f64 = 0.1;
    const COLORS: [&str; SENDERS] =
        ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000"];

    fn add(&mut self, scheme: &str, bins: &Bins, begin: f64, lasts: f64) {
        let (width, height) = Self::SIZE;
        let top = 10.0 + self.panels as f64 * (height + 20.0);
        self.panels += 1;
        writeln!(
            self.text,
            "<rect x='50' y='{top}' width='{width}' height='{height}' fill='none' stroke='#999'/>\n\
             <text x='60' y='{}'>{scheme}</text>\n<text x='45' y='{}' text-anchor='end'>{}</text>\n\
             <text x='45' y='{}' text-anchor='end'>0</text>",
            top + 16.0,
            top + 10.0,
            CAPACITY / 1e6,
            top + height
        )
        .unwrap();
        for (flow, color) in (1..).zip(Self::COLORS) {
            let points = (0..(lasts / Self::WIDTH) as usize).map(|bin| {
                let from = Self::WIDTH * bin as f64;
                let rate = bins.rates(&[flow], begin + from, Self::WIDTH)[0];
                let (x, y) = (50.0 + width * from / lasts, top + height * (1.0 - (rate / CAPACITY).min(1.0)));
                format!("{x:.1},{y:.1}")
            });
            let points = points.collect::<Vec<_>>().join(" ");
            writeln!(self.text, "<polyline points='{points}' fill='none' stroke='{color}'/>").unwrap();
        }
    }

    fn finish(self) -> String {
        let height = 20.0 + self.panels as f64 * (Self::SIZE.1 + 20.0);
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 780 {height}' font-family='sans-serif' \
             font-size='12'>\n<rect width='780' height='{height}' fill='white'/>\n{}\
             <text x='50' y='{}'>payload of each flow, Mbit/s, over {} s</text>\n</svg>\n",
            self.text,
            height - 6.0,
            CHANGE.as_secs() as usize * (2 * SENDERS - 1)
        )
    }
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    if squares == 0.0 { 0.0 } else { sum * sum / (rates.len() as f64 * squares) }
}

/// When the last window begins in which a flow is away from its share, up to the whole time.
fn settle(whole: f64, is_settled: impl Fn(f64) -> bool) -> f64 {
    let windows = (whole / 0.05) as usize - 1;
    let last = (0..windows).rev().find(|&window| !is_settled(0.05 * window as f64));
    match last {
        None => 0.0,
        Some(last) if last + 1 == windows => whole,
        Some(last) => 0.05 * (last + 1) as f64,
    }
}

/// Eight senders make 25 transfers each to the receiver at once, again and again.
fn coflows(folder: &Path, scheme: &str) -> Value {
    let (out, begin) = (folder.join("ends.json"), now() + 2.0);
    let whole = (SENDERS * TRANSFERS * TRANSFER) as f64 * 8.0 / (CAPACITY * PAYLOAD);
    let every = 2.0 * whole;
    let end = begin + every * COFLOWS as f64 + 2.0;
    let receiver = within(SINK, &["receiver".into(), end.to_string(), out.display().to_string()]);
    let senders = (1..=SENDERS).map(|number| {
        let first = (number - 1).to_string();
        let mut arguments = vec!["coflows".into(), first, begin.to_string(), every.to_string()];
        arguments.extend(tls_of(folder, number, (scheme == "netnum").then_some("sender")));
        within(&sender(number), &arguments)
    });
    let senders: Vec<Child> = senders.collect();
    for mut child in std::iter::once(receiver).chain(senders) {
        child.wait().unwrap();
    }
    let text: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    let ends: Vec<(u64, f64)> = serde_json::from_value(text["ends"].clone()).unwrap();
    let mut times: Vec<f64> = (0..COFLOWS)
        .map(|coflow| {
            let of_coflow = ends.iter().filter(|end| end.0 as usize / (SENDERS * TRANSFERS) == coflow);
            of_coflow.map(|end| end.1).fold(0.0, f64::max) - (begin + every * coflow as f64)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let quantile = |part: f64| times[((times.len() as f64 * part).ceil() as usize).clamp(1, times.len()) - 1];
    json!({ "p50": quantile(0.5), "p90": quantile(0.9), "p95": quantile(0.95), "fluid": whole })
}

/// The date, as the system writes it.
fn today() -> String {
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output().expect("every system has a date");
    String::from_utf8_lossy(&date.stdout).trim().to_string()
}

fn write_page(page: &Path, results: &Value) {
    let number = |path: &str, digits: usize| format!("{:.digits$}", results.pointer(path).unwrap().as_f64().unwrap());
    let mut text = String::from(
        "# The testbed\n\n\
         `make testbed` writes this page. Eight senders in network namespaces share a link of 200 Mbit/s\n\
         (`tbf`, 20 ms of queue) to one receiver. `netnum` is CUBIC whose sockets are paced at the allocator's rates\n\
         (headroom 1 %, threshold 1 %, a tick of 1 ms). ",
    );
    text += &format!("The machine had {} cores, and a load of {}.\n\n", results["cores"], number("/load", 1));
    text += &format!("This run was on {}.\n\n", today());
    text += "## Eight to one\n\n\
         One flow more every 3 s until there are eight, then one fewer. Jain's index over 20 ms (mean), payload\n\
         received, and the mean time after a change until every flow stays within 10 % of its share (windows of\n\
         50 ms; never counts as 3 s). Index and time are of the parts with two flows or more.\n\n\
         | scheme | Jain's index | goodput, Mbit/s | settles after, s |\n|---|---|---|---|\n";
    for scheme in SCHEMES {
        let of = |what: &str, digits| number(&format!("/eight_to_one/{scheme}/{what}"), digits);
        let goodput = results["eight_to_one"][scheme]["goodput"].as_f64().unwrap() / 1e6;
        text += &format!("| {scheme} | {} | {goodput:.1} | {} |\n", of("jain", 3), of("settle", 2));
    }
    text += "\n![Throughput of each flow over time, by scheme](testbed.svg)\n";
    text += &format!(
        "\n## Coflows\n\n\
         Eight senders make {TRANSFERS} transfers each of {} kB to one receiver at once, {COFLOWS} times. Seconds\n\
         until the last byte has arrived; in the fluid model {} s.\n\n\
         | scheme | p50 | p90 | p95 |\n|---|---|---|---|\n",
        TRANSFER / 1000,
        number("/coflows/netnum/fluid", 2)
    );
    for scheme in ["cubic", "netnum"] {
        let [p50, p90, p95] = ["p50", "p90", "p95"].map(|what| number(&format!("/coflows/{scheme}/{what}"), 2));
        text += &format!("| {scheme} | {p50} | {p90} | {p95} |\n");
    }
    text += &format!(
        "\n## Failures\n\n\
         Eight flows, measured for {0} s before, {0} s while and {0} s after. `killed`: the allocator is killed, and\n\
         started again. `halved`: the link has half of its capacity, and the allocator is told so. `lossy`: a relay\n\
         between endpoints and allocator loses 20 % of all datagrams, lets 10 % of the rest be overtaken, and doubles\n\
         10 % of the others, all the time.\n\n\
         | run | part | Jain's index | goodput, Mbit/s | settles after, s |\n|---|---|---|---|---|\n",
        PART.as_secs()
    );
    for run in ["killed", "halved", "lossy"] {
        for (part, name) in ["before", "while", "after"].into_iter().enumerate() {
            let of = |what: &str, digits| number(&format!("/{run}/{part}/{what}"), digits);
            let goodput = results[run][part]["goodput"].as_f64().unwrap() / 1e6;
            writeln!(text, "| {run} | {name} | {} | {goodput:.1} | {} |", of("jain", 3), of("settle", 2)).unwrap();
        }
    }
    let of = |path: &str| results.pointer(path).unwrap().as_f64().unwrap();
    let ratio = |path: &str, one: &str, other: &str| of(&path.replace('*', one)) / of(&path.replace('*', other));
    text += &format!(
        "\n## What was wanted\n\n\
         | what | wanted | measured |\n|---|---|---|\n\
         | Jain's index | 0.95 | {:.3} |\n\
         | time to settle, beside CUBIC's | at most 0.33 | {:.2} |\n\
         | goodput, beside CUBIC's | 0.95 | {:.2} |\n\
         | CUBIC's p95 of a coflow, beside netnum's | 1.2 | {:.2} |\n",
        of("/eight_to_one/netnum/jain"),
        ratio("/eight_to_one/*/settle", "netnum", "cubic"),
        ratio("/eight_to_one/*/goodput", "netnum", "cubic"),
        ratio("/coflows/*/p95", "cubic", "netnum")
    );
    fs::write(page, text).unwrap();
}
