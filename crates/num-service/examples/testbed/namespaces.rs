//! Namespaces, what runs in them, and the files that it reads.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::super::certificates::Authority;
use super::{ALLOCATOR, CAPACITY, RELAY, SENDERS};

/// Namespaces that are taken down when it is dropped.
pub(super) struct Namespaces;

pub(super) const SWITCH: &str = "netnum-switch";
pub(super) const SINK: &str = "netnum-receiver";

pub(super) fn sender(number: usize) -> String {
    format!("netnum-sender-{number}")
}

fn run(command: &str) {
    let mut words = command.split_whitespace();
    let status = Command::new(words.next().unwrap()).args(words).status().expect("the command is installed");
    assert!(status.success(), "{command}: {status}");
}

impl Namespaces {
    pub(super) fn new() -> Self {
        drop(Self);
        let this = Self;
        for name in (1..=SENDERS).map(sender).chain([SWITCH.into(), SINK.into()]) {
            run(&format!("ip netns add {name}"));
            run(&format!("ip -n {name} link set lo up"));
            // TCP between near hosts sends bursts of 64 kB else, whatever its pacing.
            run(&format!("ip netns exec {name} sysctl -q -w net.ipv4.tcp_tso_rtt_log=0"));
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

    /// TCP of the senders gets another congestion control, and windows of one run are none of the next. All begin with
    /// two segments: ten of 200 transfers at once are six times the queue.
    pub(super) fn set_control(&self, control: &str) {
        for number in 1..=SENDERS {
            let name = sender(number);
            let route = format!("10.77.0.0/24 dev eth scope link src 10.77.0.{number}");
            run(&format!("ip -n {name} route replace {route} congctl {control} initcwnd 2"));
            run(&format!("ip -n {name} tcp_metrics flush all"));
        }
    }

    /// The link to the receiver gets another capacity.
    pub(super) fn set_capacity(&self, capacity: f64) {
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

pub(super) fn within(name: &str, arguments: &[String]) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name]).arg(program).args(arguments).stdin(Stdio::piped()).spawn().unwrap()
}

pub(super) struct Stopped(pub(super) Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Certificates and configurations.
pub(super) fn write_configs(folder: &Path) {
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

pub(super) fn write_network(folder: &Path, capacity: f64) {
    let senders: String = (1..=SENDERS).map(|number| format!("{number} s 10e9\n")).collect();
    fs::write(folder.join("network"), format!("r s {capacity}\n{senders}")).unwrap();
}
