//! The testbed: the experiments, and the programs that run in namespaces for them.
//!
//! | file | what it does |
//! |---|---|
//! | `namespaces.rs` | namespaces, what runs in them, and its files |
//! | `programs.rs` | programs that send and receive |
//! | `relay.rs` | loses datagrams |
//! | `measure.rs` | shares, goodput and the time to settle |
//! | `page.rs` | the tables and the picture |

mod measure;
mod namespaces;
mod page;
mod programs;
mod relay;

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use measure::{Bins, Part, mean};
use namespaces::{Namespaces, SINK, SWITCH, Stopped, sender, within, write_configs, write_network};
use netnum_service::daemon::{Config, Daemon};
use page::{Picture, write_page};
use programs::{receive, send, send_coflows};
use relay::relay;
use serde_json::{Value, json};

const SENDERS: usize = 8;
/// Of the link to the receiver, in bits per second, with Ethernet headers.
const CAPACITY: f64 = 200e6;
/// The part of the link that headroom and the threshold, a hundredth each, leave to the allocator's flows.
const PACED: f64 = 0.98;
/// Of a segment's bytes on the wire those that are payload: 1448 of 1514.
const PAYLOAD: f64 = 1448.0 / 1514.0;
/// Between two changes of the number of flows.
const CHANGE: Duration = Duration::from_secs(3);
/// Throughput is measured over so long.
const BIN: Duration = Duration::from_millis(10);
const COFLOWS: usize = 20;
const TRANSFERS: usize = 25;
const TRANSFER: usize = 100_000;
/// Before a coflow begins, in seconds: its connections are made then. TCP waits for a second where the first packet of
/// a handshake is lost, which no rate can mend.
const HANDSHAKES: f64 = 0.4;
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

const SCHEMES: [&str; 5] = ["cubic", "reno", "bbr", "netnum", "agent"];
/// Those that make coflows, too.
const WITH_COFLOWS: [&str; 3] = ["cubic", "netnum", "agent"];

fn all(folder: &Path, page: Option<&Path>) {
    fs::create_dir_all(folder).unwrap();
    let folder = fs::canonicalize(folder).unwrap();
    let namespaces = Namespaces::new();
    write_configs(&folder);
    let mut results = json!({ "eight_to_one": {}, "coflows": {} });
    let mut picture = Picture::default();
    for scheme in SCHEMES {
        let is_allocated = matches!(scheme, "netnum" | "agent");
        namespaces.set_control(if is_allocated { "cubic" } else { scheme });
        let _allocator = is_allocated.then(|| start_allocator(&folder));
        let limited = if scheme == "agent" { SENDERS } else { 0 };
        let _agents: Vec<Stopped> = (1..=limited).map(|number| start_agent(&folder, number)).collect();
        results["eight_to_one"][scheme] = eight_to_one(&folder, scheme, &mut picture);
        println!("eight to one, {scheme}: {}", results["eight_to_one"][scheme]);
        if WITH_COFLOWS.contains(&scheme) {
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

fn start_agent(folder: &Path, number: usize) -> Stopped {
    let program = std::env::current_exe().unwrap().with_file_name("../netnum-agent");
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &sender(number)]).arg(program);
    Stopped(command.arg(folder.join(format!("sender-{number}.toml"))).arg("eth").spawn().unwrap())
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
