//! The `htb` classes of a device: from limits of connections to commands of tc(8), without I/O.
//!
//! ```text
//! qdisc 6e6e: htb                  packets of no class are not limited
//!   class 6e6e:n                   one connection, rate = ceil = its limit
//!   filters (u32)                  by source address, destination address and both ports
//!     table 1, 256 buckets         by the last 8 bits of the source port, where it is the greater port
//!     table 2, 256 buckets         by those of the destination port, for the others
//! ```
//!
//! The greater port is mostly the one that the system has chosen, and so differs between connections: a packet is
//! compared with a 256th of each table.

use std::collections::VecDeque;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::sock_diag::Connection;
use super::socket::UNLIMITED;

/// The handle of the qdisc: that of an agent, and by convention of nobody else.
pub(super) const HANDLE: &str = "6e6e:";
/// Classes have numbers from 1 to this one, which are those of their filters too: u32 has no more in a table.
const MOST: u16 = 0xfff;
/// A class may send for so long at its rate after it had nothing to send, or was woken late.
const BURSTS_PER_SECOND: u64 = 500;
/// Bytes of a full packet, by which a burst is greater, and after which the next class has its turn.
const PACKET: u64 = 1514;

/// The classes of a device, and the commands that have made them so.
#[derive(Debug)]
pub(super) struct Classes {
    device: String,
    /// Of connections that are to be limited.
    numbers: FxHashMap<Connection, u16>,
    /// Class 1 first.
    classes: Vec<Class>,
    /// Numbers that are free again; those above all classes are too.
    free: Vec<u16>,
    /// Numbers of classes whose commands have not been taken, oldest first, each once.
    changed: VecDeque<u16>,
    /// Whether a connection has found no class, which is said once.
    was_full: bool,
    /// Commands that make the tables, until they are taken.
    tables: String,
}

#[derive(Debug, Default)]
struct Class {
    /// By the commands that were taken.
    has: Option<Connection>,
    /// With bytes per second.
    wanted: Option<(Connection, u64)>,
    is_changed: bool,
}

impl Classes {
    /// Those of a device whose root is an `htb` without classes, with the tables of their filters.
    pub(super) fn new(device: &str) -> Self {
        let mut tables = String::new();
        for (table, mask) in [(1, "0x00ff0000"), (2, "0x000000ff")] {
            let filter = format!("filter add dev {device} parent {HANDLE} protocol ip prio 1");
            let _ = writeln!(tables, "{filter} handle {table}: u32 divisor 256");
            let link = format!("match ip protocol 6 0xff link {table}: hashkey mask {mask} at 20");
            let _ = writeln!(tables, "{filter} u32 ht 800: {link}");
        }
        Self {
            device: device.into(),
            numbers: FxHashMap::default(),
            classes: Vec::new(),
            free: Vec::new(),
            changed: VecDeque::new(),
            was_full: false,
            tables,
        }
    }

    /// Limits a connection to so many bytes per second, headers counted; [`UNLIMITED`] takes its class away, with
    /// packets that wait in it. False where no class is left: the connection is not limited.
    pub(super) fn limit(&mut self, connection: Connection, bytes_per_second: u64) -> bool {
        let known = self.numbers.get(&connection).copied();
        if bytes_per_second == UNLIMITED {
            if let Some(number) = known {
                self.numbers.remove(&connection);
                self.free.push(number);
                self.change(number, None);
            }
            return true;
        }
        let Some(number) = known.or_else(|| self.take_number()) else { return false };
        self.numbers.insert(connection, number);
        self.change(number, Some((connection, bytes_per_second)));
        true
    }

    fn change(&mut self, number: u16, wanted: Option<(Connection, u64)>) {
        let class = &mut self.classes[usize::from(number) - 1];
        class.wanted = wanted;
        if !std::mem::replace(&mut class.is_changed, true) {
            self.changed.push_back(number);
        }
    }

    fn take_number(&mut self) -> Option<u16> {
        if let Some(number) = self.free.pop() {
            return Some(number);
        }
        if self.classes.len() < usize::from(MOST) {
            self.classes.push(Class::default());
            return Some(self.classes.len() as u16);
        }
        if !std::mem::replace(&mut self.was_full, true) {
            tracing::warn!("all {MOST} classes are taken: further connections are TCP's alone until one is free");
        }
        None
    }

    /// Whether there are commands to take.
    pub(super) fn has_changed(&self) -> bool {
        !(self.tables.is_empty() && self.changed.is_empty())
    }

    /// Commands, a line each, that make at most so many classes, those changed first, as they are wanted now.
    pub(super) fn take_commands(&mut self, most: usize) -> String {
        let mut commands = std::mem::take(&mut self.tables);
        for number in self.changed.drain(..most.min(self.changed.len())) {
            let class = &mut self.classes[usize::from(number) - 1];
            class.is_changed = false;
            let wanted = class.wanted.map(|(connection, _)| connection);
            let had = std::mem::replace(&mut class.has, wanted);
            if let Some(connection) = had.filter(|_| had != wanted) {
                remove(&mut commands, &self.device, number, connection);
            }
            if let Some((connection, bytes_per_second)) = class.wanted {
                let verb = if had == wanted { "change" } else { "add" };
                set_rate(&mut commands, &self.device, verb, number, bytes_per_second);
                if had != wanted {
                    add_filter(&mut commands, &self.device, number, connection);
                }
            }
        }
        commands
    }
}

fn set_rate(commands: &mut String, device: &str, verb: &str, number: u16, bytes_per_second: u64) {
    let burst = bytes_per_second / BURSTS_PER_SECOND + PACKET;
    let _ = writeln!(
        commands,
        "class {verb} dev {device} parent {HANDLE} classid {HANDLE}{number:x} htb rate {bytes_per_second}bps \
         burst {burst} cburst {burst} quantum {PACKET}"
    );
}

fn add_filter(commands: &mut String, device: &str, number: u16, connection: Connection) {
    let (bucket, Connection { source, destination, .. }) = (bucket_of(connection), connection);
    let _ = writeln!(
        commands,
        "filter add dev {device} parent {HANDLE} protocol ip prio 1 handle {bucket}{number:x} u32 ht {bucket} \
         match ip src {}/32 match ip dst {}/32 match ip sport {} 0xffff match ip dport {} 0xffff \
         flowid {HANDLE}{number:x}",
        source.ip(),
        destination.ip(),
        source.port(),
        destination.port()
    );
}

fn remove(commands: &mut String, device: &str, number: u16, connection: Connection) {
    let filter = format!("filter del dev {device} parent {HANDLE} protocol ip prio 1");
    let _ = writeln!(commands, "{filter} handle {}{number:x} u32", bucket_of(connection));
    let _ = writeln!(commands, "class del dev {device} classid {HANDLE}{number:x}");
}

/// Table and bucket of a connection's filter, as u32 writes them.
fn bucket_of(Connection { source, destination, .. }: Connection) -> String {
    let (table, port) = if source.port() > destination.port() { (1, source.port()) } else { (2, destination.port()) };
    format!("{table}:{:x}:", port & 0xff)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn connection(source: &str, destination: &str, cookie: u64) -> Connection {
        Connection { source: source.parse().unwrap(), destination: destination.parse().unwrap(), cookie }
    }

    #[test]
    fn a_limit_is_a_class_and_a_filter_and_lifting_it_takes_both_away() {
        let mut classes = Classes::new("eth0");
        assert_eq!(
            classes.take_commands(usize::MAX),
            "filter add dev eth0 parent 6e6e: protocol ip prio 1 handle 1: u32 divisor 256\n\
             filter add dev eth0 parent 6e6e: protocol ip prio 1 u32 ht 800: match ip protocol 6 0xff \
             link 1: hashkey mask 0x00ff0000 at 20\n\
             filter add dev eth0 parent 6e6e: protocol ip prio 1 handle 2: u32 divisor 256\n\
             filter add dev eth0 parent 6e6e: protocol ip prio 1 u32 ht 800: match ip protocol 6 0xff \
             link 2: hashkey mask 0x000000ff at 20\n"
        );
        let [client, server] = [("10.0.0.1:40000", "10.0.0.2:80", 7), ("10.0.0.1:443", "10.0.0.3:50000", 8)]
            .map(|(from, to, cookie)| connection(from, to, cookie));
        classes.limit(client, 1_000_000);
        classes.limit(server, 12_500);
        assert_eq!(
            classes.take_commands(usize::MAX),
            "class add dev eth0 parent 6e6e: classid 6e6e:1 htb rate 1000000bps burst 3514 cburst 3514 quantum 1514\n\
             filter add dev eth0 parent 6e6e: protocol ip prio 1 handle 1:40:1 u32 ht 1:40: match ip src 10.0.0.1/32 \
             match ip dst 10.0.0.2/32 match ip sport 40000 0xffff match ip dport 80 0xffff flowid 6e6e:1\n\
             class add dev eth0 parent 6e6e: classid 6e6e:2 htb rate 12500bps burst 1539 cburst 1539 quantum 1514\n\
             filter add dev eth0 parent 6e6e: protocol ip prio 1 handle 2:50:2 u32 ht 2:50: match ip src 10.0.0.1/32 \
             match ip dst 10.0.0.3/32 match ip sport 443 0xffff match ip dport 50000 0xffff flowid 6e6e:2\n"
        );
        // Of several limits the newest is told, and nothing of one that was lifted again.
        assert!([1_500_000, 2_000_000].iter().all(|&limit| classes.limit(client, limit)));
        classes.limit(connection("10.0.0.1:1", "10.0.0.2:2", 9), 12_500);
        classes.limit(connection("10.0.0.1:1", "10.0.0.2:2", 9), UNLIMITED);
        assert_eq!(
            classes.take_commands(usize::MAX),
            "class change dev eth0 parent 6e6e: classid 6e6e:1 htb rate 2000000bps burst 5514 cburst 5514 \
             quantum 1514\n"
        );
        classes.limit(client, 3_000_000);
        classes.limit(client, UNLIMITED);
        classes.limit(client, UNLIMITED);
        assert_eq!(
            classes.take_commands(usize::MAX),
            "filter del dev eth0 parent 6e6e: protocol ip prio 1 handle 1:40:1 u32\n\
             class del dev eth0 classid 6e6e:1\n"
        );
    }

    #[test]
    fn beyond_all_classes_connections_are_not_limited_until_one_is_free() {
        let mut classes = Classes::new("eth0");
        let all: Vec<Connection> =
            (0..=u64::from(MOST)).map(|cookie| connection("10.0.0.1:443", "10.0.0.2:50000", cookie)).collect();
        let (&last, others) = all.split_last().unwrap();
        assert!(others.iter().all(|&each| classes.limit(each, 20_000)));
        assert!(!classes.limit(last, 20_000));
        classes.take_commands(usize::MAX);
        assert!(!classes.limit(last, 30_000) && !classes.has_changed());
        assert!(classes.limit(all[41], UNLIMITED) && classes.limit(last, 30_000));
        let commands = classes.take_commands(usize::MAX);
        assert!(commands.contains("\nclass add dev eth0 parent 6e6e: classid 6e6e:2a htb rate 30000bps"), "{commands}");
    }

    #[test]
    fn commands_of_many_classes_are_taken_in_parts_as_they_are_wanted_then() {
        let mut classes = Classes::new("eth0");
        let of = |cookie| connection("10.0.0.1:443", "10.0.0.2:50000", cookie);
        (0..5).for_each(|cookie| assert!(classes.limit(of(cookie), 20_000)));
        let rates = |commands: String| commands.matches("class add").count();
        assert_eq!(rates(classes.take_commands(2)), 2);
        classes.limit(of(4), 40_000);
        assert!(classes.has_changed());
        let rest = classes.take_commands(usize::MAX);
        assert!(rest.contains("classid 6e6e:5 htb rate 40000bps") && !classes.has_changed());
        assert_eq!(rates(rest), 3);
    }

    /// What the kernel has, by the rules that it keeps: nothing is added twice, only what is there is changed or
    /// deleted, and no class that a filter leads to.
    #[derive(Default)]
    struct Kernel {
        /// Rates by class.
        classes: BTreeMap<String, u64>,
        /// Addresses, ports and class by handle.
        filters: BTreeMap<String, ([String; 4], String)>,
    }

    impl Kernel {
        fn obey(&mut self, command: &str) {
            let words: Vec<&str> = command.split(' ').collect();
            let after = |name: &str| {
                let place = words.windows(name.split(' ').count()).position(|part| part.join(" ") == name);
                words[place.expect(name) + name.split(' ').count()].to_string()
            };
            match words[..2] {
                ["class", "del"] => {
                    let class = after("classid");
                    assert!(self.filters.values().all(|filter| filter.1 != class), "busy: {command}");
                    assert!(self.classes.remove(&class).is_some(), "{command}");
                }
                ["class", verb] => {
                    let rate = after("rate").strip_suffix("bps").unwrap().parse().unwrap();
                    let before = self.classes.insert(after("classid"), rate);
                    assert_eq!(before.is_some(), verb == "change", "{command}");
                }
                ["filter", "del"] => assert!(self.filters.remove(&after("handle")).is_some(), "{command}"),
                ["filter", "add"] if words.contains(&"flowid") => {
                    let handle = after("handle");
                    assert!(handle.starts_with(&after("ht")) && self.classes.contains_key(&after("flowid")));
                    let ends = ["match ip src", "match ip dst", "match ip sport", "match ip dport"].map(after);
                    assert!(self.filters.insert(handle, (ends, after("flowid"))).is_none(), "{command}");
                }
                _ => assert!(command.contains("divisor") || command.contains("link"), "{command}"),
            }
        }

        /// The rate of a packet of such a connection, by the filters in its bucket of each table.
        fn rate_of(&self, Connection { source, destination, .. }: Connection) -> Option<u64> {
            let address = |ip| format!("{ip}/32");
            let ports = [source.port(), destination.port()].map(|port| port.to_string());
            let [from, to] = ports;
            let ends = [address(source.ip()), address(destination.ip()), from, to];
            let buckets = [(1, source.port()), (2, destination.port())];
            let buckets = buckets.map(|(table, port)| format!("{table}:{:x}:", port % 256));
            let in_buckets = |handle: &String| buckets.iter().any(|bucket| handle.starts_with(bucket));
            let (_, (_, class)) =
                self.filters.iter().find(|(handle, filter)| in_buckets(handle) && filter.0 == ends)?;
            Some(self.classes[class])
        }
    }

    proptest! {
        #[test]
        fn the_kernel_has_a_class_and_a_filter_for_each_connection_that_is_limited_and_nothing_else(
            steps in prop::collection::vec(
                (0..12_u8, prop::option::of(12_500..10_000_000_000_u64), prop::bool::ANY),
                0..200,
            )
        ) {
            // Ports whose last 8 bits are equal are in one bucket.
            let of = |number: u8| {
                let (port, other) = (30_000 + 128 * u16::from(number / 2), [80, 65_000][usize::from(number % 2)]);
                connection(&format!("10.0.0.1:{port}"), &format!("10.0.0.2:{other}"), u64::from(number))
            };
            let (mut classes, mut kernel, mut limits) = (Classes::new("eth0"), Kernel::default(), BTreeMap::new());
            for (number, limit, is_flushed) in steps {
                classes.limit(of(number), limit.unwrap_or(UNLIMITED));
                limits.insert(number, limit);
                if is_flushed {
                    classes.take_commands(usize::MAX).lines().for_each(|command| kernel.obey(command));
                    for number in 0..12 {
                        prop_assert_eq!(kernel.rate_of(of(number)), limits.get(&number).copied().flatten());
                    }
                    let limited = limits.values().flatten().count();
                    prop_assert_eq!((kernel.classes.len(), kernel.filters.len()), (limited, limited));
                }
            }
        }
    }
}
