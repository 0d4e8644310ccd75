//! The agent of a host, in network namespaces of this machine: where it may make them. Tests wait for conditions, never
//! for times.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use netnum_service::Certificates;

use crate::certificates::Authority;
use crate::service::wait_for;

const AGENT: &str = env!("CARGO_BIN_EXE_netnum-agent");
/// Of the link of the host, in bits per second.
const CAPACITY: f64 = 40e6;
const SINK: Ipv4Addr = Ipv4Addr::new(10, 79, 0, 2);
/// What the allocator's headroom and threshold leave of it, in bytes per second.
const SHARED: f64 = 0.98 * CAPACITY / 8.0;

/// Two namespaces with a device `eth` each, between them a link: a host at 10.79.0.1 and a sink at 10.79.0.2. Deleted
/// when it is dropped, with what still runs in them.
struct Namespaces {
    host: String,
    sink: String,
}

fn output(command: &str) -> Output {
    let mut words = command.split_whitespace();
    Command::new(words.next().unwrap()).args(words).output().unwrap_or_else(|error| panic!("{command}: {error}"))
}

fn run(command: &str) -> String {
    let Output { status, stdout, stderr } = output(command);
    assert!(status.success(), "{command}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

impl Namespaces {
    /// None where this process may not make them, or the kernel has no `htb`, which it says.
    fn new(name: &str) -> Option<Self> {
        let [host, sink] = ["host", "sink"].map(|end| format!("netnum-{name}-{end}-{}", std::process::id()));
        let why_not = || {
            let made =
                Command::new("ip").args(["netns", "add", &host]).output().map_err(|error| format!("ip: {error}"))?;
            let there = Self { host: host.clone(), sink: sink.clone() };
            if !made.status.success() {
                return Err(String::from_utf8_lossy(&made.stderr).into_owned());
            }
            run(&format!("ip netns add {sink}"));
            run(&format!("ip -n {host} link add eth type veth peer name eth netns {sink}"));
            for (name, address) in [(&host, 1), (&sink, 2)] {
                run(&format!("ip -n {name} address add 10.79.0.{address}/24 dev eth"));
                run(&format!("ip -n {name} link set eth up"));
            }
            let htb = output(&format!("ip netns exec {sink} tc qdisc add dev eth root htb"));
            if htb.status.success() { Ok(there) } else { Err(String::from_utf8_lossy(&htb.stderr).into_owned()) }
        };
        why_not()
            .inspect_err(|why| eprintln!("not tested here, as it needs root, iproute2 and htb: {}", why.trim()))
            .ok()
    }

    /// A program in the host's namespace.
    fn in_host(&self, program: &str, arguments: &[&Path]) -> Child {
        Command::new("ip").args(["netns", "exec", &self.host, program]).args(arguments).spawn().unwrap()
    }

    /// What tc shows of the host's device.
    fn tc(&self, arguments: &str) -> String {
        run(&format!("ip netns exec {} tc {arguments}", self.host))
    }

    /// Rate, in bytes per second, and bytes sent of every class of the host.
    fn classes(&self) -> Vec<(f64, f64)> {
        let text = self.tc("-s class show dev eth");
        let rates = after(&text, "rate").map(bytes_per_second);
        rates.zip(after(&text, "Sent").map(|bytes| bytes.parse().unwrap())).collect()
    }

    /// Bytes that the qdisc at the root of the host's device has sent.
    fn sent(&self) -> f64 {
        let text = self.tc("-s qdisc show dev eth");
        after(&text, "Sent").next().unwrap().parse().unwrap()
    }

    /// Kind and handle of the qdisc at the root of the host's device.
    fn root(&self) -> String {
        let text = self.tc("qdisc show dev eth");
        text.split(' ').skip(1).take(2).collect::<Vec<&str>>().join(" ")
    }
}

/// The words after each that is this one.
fn after<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    text.split_whitespace().zip(text.split_whitespace().skip(1)).filter(move |pair| pair.0 == name).map(|pair| pair.1)
}

/// A rate as tc writes it, such as 19560Kbit.
fn bytes_per_second(rate: &str) -> f64 {
    let digits = rate.find(char::is_alphabetic).unwrap();
    let unit = match &rate[digits..] {
        "bit" => 1.0,
        "Kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        other => panic!("{other} is no unit of tc"),
    };
    rate[..digits].parse::<f64>().unwrap() * unit / 8.0
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in [&self.host, &self.sink] {
            let _ = output(&format!("ip netns del {name}"));
        }
    }
}

/// A program that is killed when it is dropped.
struct Program(Child);

impl Program {
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs something in a thread of such a network namespace.
fn within<T: Send>(name: &str, body: impl FnOnce() -> T + Send) -> T {
    let file = File::open(Path::new("/run/netns").join(name)).unwrap();
    let inside = move || {
        // SAFETY: the file is open, and only the namespace of this thread changes.
        assert_eq!(unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) }, 0);
        body()
    };
    std::thread::scope(|scope| scope.spawn(inside).join().unwrap())
}

/// A plain TCP stream from the host to the sink, which never stops writing, and of which all is read.
struct Stream {
    sender: TcpStream,
    arrived: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Stream {
    fn new(namespaces: &Namespaces, sink: IpAddr) -> Self {
        let listener = within(&namespaces.sink, || TcpListener::bind((SINK, 0)).unwrap());
        let port = listener.local_addr().unwrap().port();
        let sender = within(&namespaces.host, || TcpStream::connect((sink, port)).unwrap());
        let mut receiver = listener.accept().unwrap().0;
        let (arrived, mut writer) = (Arc::new(AtomicU64::new(0)), sender.try_clone().unwrap());
        let count = arrived.clone();
        let write = move || while writer.write_all(&[1; 16_384]).is_ok() {};
        let read = move || {
            let mut all = vec![0; 1 << 16];
            while let Ok(read @ 1..) = receiver.read(&mut all) {
                count.fetch_add(read as u64, Ordering::Relaxed);
            }
        };
        Self { sender, arrived, threads: vec![std::thread::spawn(write), std::thread::spawn(read)] }
    }

    fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.sender.shutdown(std::net::Shutdown::Both);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// Configurations of an allocator at the sink and of an agent of the host.
fn write_configs(name: &str) -> [PathBuf; 2] {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    let authority = Authority::new(&folder, "authority");
    let tls = |name: &str| {
        let Certificates { authority, certificate, key } = authority.sign(name);
        format!("[tls]\nauthority = {authority:?}\ncertificate = {certificate:?}\nkey = {key:?}\n")
    };
    let write = |name: &str, text: String| {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        file
    };
    write("network", format!("h s {CAPACITY}\nr s 10e9\n"));
    write("hosts", "10.79.0.1 host.test h\n10.79.0.2 sink.test r\n".into());
    let address = "10.79.0.2:4433";
    let files = "network = 'network'\nhosts = 'hosts'";
    // A busy machine may leave programs waiting: no rate expires meanwhile, and no flowlet ends.
    let rates = "[rates]\nlifetime_us = 6000000\n";
    let patient = "idle_us = 10000000\nrate_aware = false";
    let of_allocator = format!("listen = '{address}'\n{files}\n{}{rates}", tls("allocator.test"));
    let of_agent = format!("allocator = '{address}'\nname = 'allocator.test'\n{patient}\n{}", tls("host.test"));
    [write("allocator.toml", of_allocator), write("agent.toml", of_agent)]
}

fn is_near(rate: f64, expected: f64) -> bool {
    (rate / expected - 1.0).abs() < 0.02
}

#[test]
fn programs_that_know_nothing_of_it_share_a_link_as_the_allocator_says_until_it_is_killed() {
    let Some(namespaces) = Namespaces::new("agent") else { return };
    let [allocator_file, agent_file] = write_configs("agent");
    let start = || {
        let command = ["netns", "exec", &namespaces.sink, env!("CARGO_BIN_EXE_netnum-allocator")];
        Program(Command::new("ip").args(command).arg(&allocator_file).spawn().unwrap())
    };
    let allocator = start();
    let start_agent = || Program(namespaces.in_host(AGENT, &[&agent_file, "eth".as_ref()]));
    let agent = start_agent();
    let one = Stream::new(&namespaces, SINK.into());
    // A socket of IPv6 may have a connection of IPv4, where there is IPv6.
    let mapped = TcpListener::bind("[::]:0").map(|_| SINK.to_ipv6_mapped().into());
    let other = Stream::new(&namespaces, mapped.unwrap_or(SINK.into()));
    let halves =
        |classes: &[(f64, f64)]| classes.len() == 2 && classes.iter().all(|each| is_near(each.0, SHARED / 2.0));
    wait_for("a half for each", || halves(&namespaces.classes()));

    // Each keeps to its limit, and nothing goes another way.
    let (since, before, total) = (Instant::now(), namespaces.classes(), namespaces.sent());
    let growth = || -> (f64, Vec<f64>) {
        let total = namespaces.sent() - total;
        (total, namespaces.classes().iter().zip(&before).map(|(now, before)| now.1 - before.1).collect())
    };
    let mut sent = growth();
    wait_for("two megabytes of each", || {
        sent = growth();
        sent.1.iter().all(|&bytes| bytes > 2e6)
    });
    let most = SHARED / 2.0 * 1.02 * since.elapsed().as_secs_f64() + 200e3;
    assert!(sent.1.iter().all(|&bytes| bytes < most), "{sent:?}, at most {most}");
    assert!(sent.0 < 1.1 * sent.1.iter().sum::<f64>(), "{sent:?}");

    drop(other);
    wait_for("the whole for one", || matches!(namespaces.classes()[..], [(rate, _)] if is_near(rate, SHARED)));

    allocator.kill();
    wait_for("the end of all limits", || namespaces.classes().is_empty());
    assert!(!namespaces.tc("filter show dev eth parent 6e6e:").contains("flowid"));
    let arrived = one.arrived();
    wait_for("ten megabytes more", || one.arrived() > arrived + 10_000_000);

    let _allocator = start();
    wait_for("its limit again", || matches!(namespaces.classes()[..], [(rate, _)] if is_near(rate, SHARED)));
    assert_eq!(namespaces.root(), "htb 6e6e:");
    agent.kill();
    wait_for("the end of the qdisc", || namespaces.root() == "noqueue 0:");

    let mut agent = start_agent();
    wait_for("its limit once more", || matches!(namespaces.classes()[..], [(rate, _)] if is_near(rate, SHARED)));
    namespaces.tc("qdisc del dev eth root");
    wait_for("the end of an agent whose qdisc was taken away", || agent.0.try_wait().unwrap().is_some());
    assert!(!agent.0.wait().unwrap().success());
}

#[test]
fn an_agent_that_cannot_start_changes_nothing_and_says_why() {
    let [_, file] = write_configs("agent refused");
    let refused = |command: &mut Command, device: &str| {
        let Output { status, stdout, stderr } = command.args([file.as_os_str(), device.as_ref()]).output().unwrap();
        assert!(!status.success() && stdout.is_empty());
        let said = String::from_utf8(stderr).unwrap();
        said.lines().last().unwrap_or_default().to_string()
    };
    let without_tc = refused(Command::new(AGENT).env("PATH", "/nowhere"), "lo");
    assert_eq!(without_tc, "error: there is no tc on PATH: it is a part of iproute2");
    let Some(namespaces) = Namespaces::new("refused") else { return };
    let within = || {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &namespaces.host, AGENT]);
        command
    };
    assert_eq!(refused(&mut within(), "eth7"), "error: there is no device eth7");
    namespaces.tc("qdisc add dev eth root handle 7: pfifo limit 9");
    let occupied = refused(&mut within(), "eth");
    assert_eq!(occupied, "error: eth has a qdisc at its root, pfifo 7:, which is left as it is");
    assert_eq!(namespaces.root(), "pfifo 7:");
    namespaces.tc("qdisc replace dev eth root handle 6e6e: htb");
    let another = refused(&mut within(), "eth");
    let expected = "error: eth has a qdisc at its root, htb 6e6e:, which is left as it is: it is that of an agent, and \
                    where none runs `tc qdisc del dev eth root` takes it away";
    assert_eq!(another, expected);
}

#[test]
fn an_agent_that_is_stopped_leaves_nothing_behind() {
    let Some(namespaces) = Namespaces::new("stopped") else { return };
    let [_, file] = write_configs("agent stopped");
    let mut agent = Program(namespaces.in_host(AGENT, &[&file, "eth".as_ref()]));
    wait_for("its qdisc", || namespaces.root() == "htb 6e6e:");
    run(&format!("kill -TERM {}", agent.0.id()));
    assert!(agent.0.wait().unwrap().success());
    assert_eq!(namespaces.root(), "noqueue 0:");
}

#[test]
fn a_tc_that_hangs_is_killed_and_nothing_is_limited() {
    let Some(namespaces) = Namespaces::new("hung") else { return };
    let [_, file] = write_configs("agent hung");
    let mut agent = Program(namespaces.in_host(AGENT, &[&file, "eth".as_ref()]));
    let reads_commands = |process: &str| {
        fs::read_to_string(format!("/proc/{process}/cmdline")).is_ok_and(|words| words == "tc\0-batch\0-\0")
    };
    let mut tc = None;
    wait_for("its tc", || {
        let all = run(&format!("ip netns pids {}", namespaces.host));
        tc = all.lines().find(|process| reads_commands(process)).map(String::from);
        tc.is_some()
    });
    run(&format!("kill -STOP {}", tc.unwrap()));
    wait_for("the end of an agent whose tc hangs", || agent.0.try_wait().unwrap().is_some());
    assert!(!agent.0.wait().unwrap().success());
    assert_eq!(namespaces.root(), "noqueue 0:");
}
