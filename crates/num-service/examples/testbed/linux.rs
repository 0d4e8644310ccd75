//! The testbed: namespaces, programs that run in them, and what they measure.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use netnum_service::daemon::{Config, Daemon};
use netnum_service::endpoint::{Endpoint, EndpointConfig};
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
    /// The allocator.
    Allocator { config: PathBuf },
}

pub(crate) fn main() {
    match Role::parse() {
        Role::All { folder, page } => all(&folder, page.as_deref()),
        Role::Receiver { until, out } => receive(until, &out),
        Role::Sender { flow, from, until, tls } => send(flow, from, until, tls.as_deref()),
        Role::Coflows { first, from, every, tls } => send_coflows(first, from, every, tls.as_deref()),
        Role::Allocator { config } => {
            tracing_subscriber::fmt().with_writer(std::io::stderr).init();
            let _daemon = Daemon::start(&Config::read(&config).unwrap()).unwrap();
            loop {
                thread::park();
            }
        }
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
                let mut flow = [0; 8];
                if stream.read_exact(&mut flow).is_err() {
                    return;
                }
                let (count, last) = Received::default();
                shared.lock().unwrap().insert(u64::from_be_bytes(flow), (count.clone(), last.clone()));
                let mut buffer = vec![0; 1 << 16];
                while let Ok(read @ 1..) = stream.read(&mut buffer) {
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

fn connect(flow: u64, endpoint: Option<&Endpoint>) -> Arc<TcpStream> {
    let to: SocketAddrV4 = RECEIVER.parse().unwrap();
    let stream = Arc::new(TcpStream::connect(to).unwrap());
    (&*stream).write_all(&flow.to_be_bytes()).unwrap();
    if let Some(endpoint) = endpoint {
        endpoint.attach(&stream, to, 1.0).unwrap();
    }
    stream
}

fn send(flow: u64, from: f64, until: f64, tls: Option<&Path>) {
    let endpoint = endpoint(tls);
    sleep_until(from);
    let stream = connect(flow, endpoint.as_ref());
    stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while now() < until {
        let _ = (&*stream).write(&[0; 16_384]);
    }
    // What is queued is not part of the experiment.
    std::process::exit(0);
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
                    let stream = connect(flow, endpoint);
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
    Command::new("ip").args(["netns", "exec", name]).arg(program).args(arguments).spawn().unwrap()
}

struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Certificates and configurations. Returns the allocator's, and the folder of the senders'.
fn write_configs(folder: &Path) -> PathBuf {
    let authority = Authority::new(folder, "authority");
    let mut hosts = String::from("10.77.0.9 receiver.test r\n");
    let mut net = format!("r s {CAPACITY}\n");
    for number in 1..=SENDERS {
        hosts += &format!("10.77.0.{number} sender-{number}.test {number}\n");
        net += &format!("{number} s 10e9\n");
        let own = authority.sign(&format!("sender-{number}.test"));
        let text = format!(
            "allocator = '{ALLOCATOR}'\nname = 'allocator.test'\n\
             [tls]\nauthority = {:?}\ncertificate = {:?}\nkey = {:?}\n",
            own.authority, own.certificate, own.key
        );
        fs::write(folder.join(format!("sender-{number}.toml")), text).unwrap();
    }
    fs::write(folder.join("hosts"), hosts).unwrap();
    fs::write(folder.join("network"), net).unwrap();
    let own = authority.sign("allocator.test");
    let text = format!(
        "listen = '{ALLOCATOR}'\nnetwork = 'network'\nhosts = 'hosts'\n[rates]\nheadroom = 0.01\nlifetime_us = 500000\n\
         [tls]\nauthority = {:?}\ncertificate = {:?}\nkey = {:?}\n",
        own.authority, own.certificate, own.key
    );
    fs::write(folder.join("allocator.toml"), text).unwrap();
    folder.join("allocator.toml")
}

const SCHEMES: [&str; 4] = ["cubic", "reno", "bbr", "netnum"];

fn all(folder: &Path, page: Option<&Path>) {
    fs::create_dir_all(folder).unwrap();
    let folder = fs::canonicalize(folder).unwrap();
    let namespaces = Namespaces::new();
    let config = write_configs(&folder);
    let mut results = json!({ "eight_to_one": {}, "coflows": {} });
    for scheme in SCHEMES {
        let control = if scheme == "netnum" { "cubic" } else { scheme };
        for number in 1..=SENDERS {
            let name = sender(number);
            let route = format!("10.77.0.0/24 dev eth scope link src 10.77.0.{number}");
            run(&format!("ip -n {name} route replace {route} congctl {control}"));
            // Windows of one run are none of the next.
            run(&format!("ip -n {name} tcp_metrics flush all"));
        }
        let is_netnum = scheme == "netnum";
        let _allocator =
            is_netnum.then(|| Stopped(within(SWITCH, &["allocator".into(), config.display().to_string()])));
        results["eight_to_one"][scheme] = eight_to_one(&folder, is_netnum);
        println!("eight to one, {scheme}: {}", results["eight_to_one"][scheme]);
        if matches!(scheme, "cubic" | "netnum") {
            results["coflows"][scheme] = coflows(&folder, is_netnum);
            println!("coflows, {scheme}: {}", results["coflows"][scheme]);
        }
    }
    drop(namespaces);
    // Programs share the cores with whatever else runs: of the last quarter of an hour.
    let load = fs::read_to_string("/proc/loadavg").unwrap();
    results["load"] = load.split(' ').nth(2).unwrap().parse::<f64>().unwrap().into();
    results["cores"] = thread::available_parallelism().unwrap().get().into();
    fs::write(folder.with_file_name("testbed.json"), format!("{results:#}\n")).unwrap();
    if let Some(page) = page {
        write_page(page, &results);
    }
}

fn tls_of(folder: &Path, number: usize, is_netnum: bool) -> Option<String> {
    is_netnum.then(|| folder.join(format!("sender-{number}.toml")).display().to_string())
}

/// One flow more every three seconds until there are eight, then one fewer.
fn eight_to_one(folder: &Path, is_netnum: bool) -> Value {
    let (out, begin, step) = (folder.join("bins.json"), now() + 2.0, CHANGE.as_secs_f64());
    let end = begin + step * (2 * SENDERS - 1) as f64;
    let receiver = within(SINK, &["receiver".into(), end.to_string(), out.display().to_string()]);
    let time_of = |number: usize| (begin + step * (number - 1) as f64, begin + step * (SENDERS + number - 1) as f64);
    let senders = (1..=SENDERS).map(|number| {
        let (from, until) = time_of(number);
        let mut arguments = vec!["sender".into(), number.to_string(), from.to_string(), until.to_string()];
        arguments.extend(tls_of(folder, number, is_netnum));
        within(&sender(number), &arguments)
    });
    let senders: Vec<Child> = senders.collect();
    for mut child in std::iter::once(receiver).chain(senders) {
        child.wait().unwrap();
    }
    let bins = read_bins(&out);
    // Bytes of a flow between two times.
    let at = |flow: usize, time: f64| {
        let place = bins.partition_point(|bin| bin.0 <= time).saturating_sub(1);
        bins[place].1.get(&(flow as u64)).copied().unwrap_or(0)
    };
    let mut jains = Vec::new();
    let (mut settles, mut bytes) = (Vec::new(), 0);
    for change in 0..2 * SENDERS - 1 {
        let (from, to) = (begin + step * change as f64, begin + step * (change + 1) as f64);
        let flows: Vec<usize> =
            (1..=SENDERS).filter(|&number| time_of(number).0 <= from && from < time_of(number).1).collect();
        let rates = |from: f64, width: f64| -> Vec<f64> {
            flows.iter().map(|&flow| (at(flow, from + width) - at(flow, from)) as f64 * 8.0 / width).collect()
        };
        bytes += flows.iter().map(|&flow| at(flow, to) - at(flow, from)).sum::<u64>();
        if flows.len() > 1 {
            let windows = ((to - from) / 0.02) as usize;
            jains.extend((0..windows).map(|window| jain(&rates(from + 0.02 * window as f64, 0.02))));
        }
        settles.push(settle(to - from, |time| {
            let rates = rates(from + time, 0.05);
            let share = rates.iter().sum::<f64>() / rates.len() as f64;
            rates.iter().all(|rate| (rate / share - 1.0).abs() <= 0.1)
        }));
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    json!({ "jain": mean(&jains), "goodput": bytes as f64 * 8.0 / (end - begin), "settle": mean(&settles) })
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

type Bins = Vec<(f64, BTreeMap<u64, u64>)>;

fn read_bins(file: &Path) -> Bins {
    let text: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let bins: Vec<(f64, Vec<(u64, u64)>)> = serde_json::from_value(text["bins"].clone()).unwrap();
    bins.into_iter().map(|(time, counts)| (time, counts.into_iter().collect())).collect()
}

/// Eight senders make 25 transfers each to the receiver at once, again and again.
fn coflows(folder: &Path, is_netnum: bool) -> Value {
    let (out, begin) = (folder.join("ends.json"), now() + 2.0);
    let whole = (SENDERS * TRANSFERS * TRANSFER) as f64 * 8.0 / (CAPACITY * PAYLOAD);
    let every = 2.0 * whole;
    let end = begin + every * COFLOWS as f64 + 2.0;
    let receiver = within(SINK, &["receiver".into(), end.to_string(), out.display().to_string()]);
    let senders = (1..=SENDERS).map(|number| {
        let first = (number - 1).to_string();
        let mut arguments = vec!["coflows".into(), first, begin.to_string(), every.to_string()];
        arguments.extend(tls_of(folder, number, is_netnum));
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
         50 ms; never counts as 3 s).\n\n\
         | scheme | Jain's index | goodput, Mbit/s | settles after, s |\n|---|---|---|---|\n";
    for scheme in SCHEMES {
        let of = |what: &str, digits| number(&format!("/eight_to_one/{scheme}/{what}"), digits);
        let goodput = results["eight_to_one"][scheme]["goodput"].as_f64().unwrap() / 1e6;
        text += &format!("| {scheme} | {} | {goodput:.1} | {} |\n", of("jain", 3), of("settle", 2));
    }
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
