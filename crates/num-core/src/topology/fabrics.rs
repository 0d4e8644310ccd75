//! The networks that papers use, by name, and any other from its list of edges.
//!
//! Their link order is part of the interface: measured data and test cases refer to links by number.

use std::collections::HashMap;

use super::{Link, Topology, too_many};
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::work::memory;

impl Topology {
    /// Two nodes and one link, from node 0 to node 1.
    ///
    /// # Errors
    /// [`Error::Capacity`] for a capacity that is negative or not a number.
    pub fn single_link(capacity: f64) -> Result<Self> {
        Ok(Self::parking_lot(1, capacity)?.named("single link"))
    }

    /// `n` links in a chain: link `i` runs from node `i` to node `i + 1`, and all `n + 1` nodes are ends.
    ///
    /// # Errors
    /// [`Error::Setting`] for no links, [`Error::Topology`] for more than can be numbered, [`Error::Capacity`] as in
    /// [`new`](Self::new).
    pub fn parking_lot(n: usize, capacity: f64) -> Result<Self> {
        at_least(1, "n", n)?;
        fits(n as u128 + 1, n as u128)?;
        let mut plan = Plan::new("parking lot");
        plan.nodes("node", n + 1, 0)?;
        for node in 0..n {
            plan.link(node, node + 1, capacity)?;
        }
        plan.finish(n + 1)
    }

    /// Servers around one hub, each with a link up and a link down, all of one capacity.
    ///
    /// Links, for H = `servers`: server `h` -> hub at `h`, hub -> server `h` at `H + h`.
    ///
    /// # Errors
    /// [`Error::Setting`] for fewer than two servers, [`Error::Topology`] for more than can be numbered,
    /// [`Error::Capacity`] as in [`new`](Self::new).
    pub fn star(servers: usize, capacity: f64) -> Result<Self> {
        at_least(2, "servers", servers)?;
        fits(servers as u128 + 1, 2 * servers as u128)?;
        let mut plan = Plan::new("star");
        plan.nodes("server", servers, 0)?;
        plan.names.push("hub".into());
        plan.tiers.push(1);
        plan.both_ways((0..servers).map(|server| (server, servers)), capacity)?;
        plan.finish(servers)
    }

    /// Racks of servers, every rack joined to every spine.
    ///
    /// Links, for H = `racks * servers_per_rack` servers and F = `racks * spines`:
    ///
    /// | links | from | to | capacity |
    /// |---|---|---|---|
    /// | `h` | server `h` | its rack, `h / servers_per_rack` | `server_capacity` |
    /// | `H + h` | that rack | server `h` | `server_capacity` |
    /// | `2H + r * spines + s` | rack `r` | spine `s` | `fabric_capacity` |
    /// | `2H + F + r * spines + s` | spine `s` | rack `r` | `fabric_capacity` |
    ///
    /// 9 racks of 16 servers under 4 spines, with links of 10 and 40 Gbit/s, is the network of Perry, Balakrishnan and
    /// Shah, "Flowtune: Flowlet Control for Datacenter Networks", NSDI 2017.
    ///
    /// # Errors
    /// [`Error::Setting`] for no racks, servers or spines, [`Error::Topology`] for a single server in all or more links
    /// than can be numbered, [`Error::Capacity`] as in [`new`](Self::new).
    pub fn leaf_spine(
        racks: usize,
        servers_per_rack: usize,
        spines: usize,
        server_capacity: f64,
        fabric_capacity: f64,
    ) -> Result<Self> {
        at_least(1, "racks", racks)?;
        at_least(1, "servers_per_rack", servers_per_rack)?;
        at_least(1, "spines", spines)?;
        let [r, h, s] = [racks, servers_per_rack, spines].map(|count| count as u128);
        fits((r.saturating_mul(h + 1)).saturating_add(s), r.saturating_mul(2 * (h + s)))?;
        let servers = racks * servers_per_rack;
        let (rack, spine) = (|r: usize| servers + r, |s: usize| servers + racks + s);
        let mut plan = Plan::new("leaf-spine");
        plan.nodes("server", servers, 0)?;
        plan.nodes("rack", racks, 1)?;
        plan.nodes("spine", spines, 2)?;
        plan.both_ways((0..servers).map(|server| (server, rack(server / servers_per_rack))), server_capacity)?;
        plan.both_ways(grid(racks, spines).map(|(r, s)| (rack(r), spine(s))), fabric_capacity)?;
        plan.finish(servers)
    }

    /// The fat tree of `k`-port switches: `k` pods of k/2 edge and k/2 aggregation switches, (k/2)² core switches, k³/4
    /// servers, and (k/2)² shortest paths between servers of different pods. All links have one capacity.
    ///
    /// With m = k/2, edge and aggregation switches are numbered pod by pod (pod `p` owns `p * m..(p + 1) * m` of each),
    /// and every step below has H = k³/4 links:
    ///
    /// | links | from | to |
    /// |---|---|---|
    /// | `h` | server `h` | its edge switch, `h / m` |
    /// | `H + h` | that edge switch | server `h` |
    /// | `2H + e * m + a` | edge switch `e` | aggregation switch `a` of its pod |
    /// | `3H + e * m + a` | that aggregation switch | edge switch `e` |
    /// | `4H + g * m + j` | aggregation switch `g` | core switch `(g % m) * m + j` |
    /// | `5H + g * m + j` | that core switch | aggregation switch `g` |
    ///
    /// Source: Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008,
    /// §3.
    ///
    /// # Errors
    /// [`Error::Setting`] unless `k` is even and at least 2, [`Error::Topology`] for more links than can be numbered,
    /// [`Error::Capacity`] as in [`new`](Self::new).
    pub fn fat_tree(k: usize, capacity: f64) -> Result<Self> {
        if k < 2 || k % 2 == 1 {
            return Err(Error::setting("k", k, "an even number >= 2"));
        }
        let m = k / 2;
        let (ports, half) = (k as u128, m as u128);
        let links = (ports * ports).saturating_mul(3 * half);
        fits((links / 6).saturating_add(ports.saturating_mul(3 * half)), links)?; // at most so many nodes
        let (servers, switches) = (k * m * m, k * m);
        let (edge, aggregation) = (|e: usize| servers + e, |g: usize| servers + switches + g);
        let core = |c: usize| servers + 2 * switches + c;
        let mut plan = Plan::new("fat tree");
        plan.nodes("server", servers, 0)?;
        plan.nodes("edge", switches, 1)?;
        plan.nodes("aggregation", switches, 2)?;
        plan.nodes("core", m * m, 3)?;
        plan.both_ways((0..servers).map(|server| (server, edge(server / m))), capacity)?;
        plan.both_ways(grid(switches, m).map(|(e, a)| (edge(e), aggregation(e / m * m + a))), capacity)?;
        plan.both_ways(grid(switches, m).map(|(g, j)| (aggregation(g), core(g % m * m + j))), capacity)?;
        plan.finish(servers)
    }

    /// A network from text with one edge per line, `node node capacity`, separated by white space. Blank lines and
    /// lines that start with `#` are skipped.
    ///
    /// Edges are undirected: edge `i`, "a b c", is link `2i` from a to b and link `2i + 1` from b to a, each of
    /// capacity c. A text that lists every edge once in each direction therefore has two links each way. Nodes are
    /// numbered in the order of their first appearance, and all of them are ends.
    ///
    /// ```
    /// # use netnum_core::{Topology, Error};
    /// let net = Topology::from_edges("# a triangle\nA B 10\nB C 10\nC A 2.5")?;
    /// assert_eq!(net.link_names()[4..], ["C -> A", "A -> C"]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Topology`] with the number of the line, counted from 1, for a line that is not two nodes and a number,
    /// a capacity that is negative or not a number, and an edge from a node to itself; also for a text
    /// without edges.
    pub fn from_edges(text: &str) -> Result<Self> {
        let mut plan = Plan::new("graph");
        let mut nodes: HashMap<&str, usize> = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            plan.pacer.did(1)?;
            let wrong = |what: String| Err(Error::Topology(format!("line {}: {what}", number + 1)));
            let fields: Vec<&str> = line.split_whitespace().collect();
            if fields.first().is_none_or(|field| field.starts_with('#')) {
                continue;
            }
            let &[one, other, number] = fields.as_slice() else {
                return wrong(format!("found {line:?}, expected node node capacity"));
            };
            let Ok(capacity) = number.parse::<f64>() else {
                return wrong(format!("capacity {number:?} is not a number"));
            };
            if capacity.is_nan() || capacity < 0.0 {
                return wrong(format!("capacity {number}, expected a number >= 0 (inf for no limit)"));
            }
            if one == other {
                return wrong(format!("edge from {one} to itself"));
            }
            let [a, b] = [one, other].map(|name| {
                *nodes.entry(name).or_insert_with(|| {
                    plan.names.push(name.into());
                    plan.names.len() - 1
                })
            });
            plan.link(a, b, capacity)?;
            plan.link(b, a, capacity)?;
        }
        if plan.links.is_empty() {
            return Err(Error::Topology(
                "a network needs at least two nodes, this one has none: expected lines of node node capacity".into(),
            ));
        }
        plan.tiers = vec![0; plan.names.len()];
        let ends = plan.names.len();
        plan.finish(ends)
    }
}

/// A network under construction. Its builders have checked that every number fits in a `u32`.
struct Plan {
    name: &'static str,
    names: Vec<String>,
    tiers: Vec<u8>,
    links: Vec<Link>,
    pacer: Pacer,
}

impl Plan {
    fn new(name: &'static str) -> Self {
        Self { name, names: Vec::new(), tiers: Vec::new(), links: Vec::new(), pacer: Pacer::new() }
    }

    /// Appends `count` nodes named `kind 0`, `kind 1`, …
    fn nodes(&mut self, kind: &str, count: usize, tier: u8) -> Result<()> {
        for number in 0..count {
            self.names.push(format!("{kind} {number}"));
            self.pacer.did(1)?;
        }
        self.tiers.extend(std::iter::repeat_n(tier, count));
        Ok(())
    }

    fn link(&mut self, from: usize, to: usize, capacity: f64) -> Result<()> {
        self.links.push(Link { from: from as u32, to: to as u32, capacity });
        self.pacer.did(1)
    }

    /// Appends a link for every pair, and then one in the opposite direction for every pair.
    fn both_ways(&mut self, mut pairs: impl Iterator<Item = (usize, usize)> + Clone, capacity: f64) -> Result<()> {
        pairs.clone().try_for_each(|(from, to)| self.link(from, to, capacity))?;
        pairs.try_for_each(|(from, to)| self.link(to, from, capacity))
    }

    fn finish(self, ends: usize) -> Result<Topology> {
        Topology::new(self.name, self.names, ends, self.tiers, self.links)
    }
}

/// All pairs (i, j) of `0..rows` and `0..columns`, row by row.
fn grid(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..rows).flat_map(move |i| (0..columns).map(move |j| (i, j)))
}

fn at_least(least: usize, name: &str, value: usize) -> Result<()> {
    if value < least { Err(Error::setting(name, value, format!("at least {least}"))) } else { Ok(()) }
}

/// Refuses counts that a `u32` or memory cannot hold, before anything of that size is built.
fn fits(nodes: u128, links: u128) -> Result<()> {
    for (what, count) in [("links", links), ("nodes", nodes)] {
        if count > u128::from(u32::MAX) {
            return Err(too_many(what, count));
        }
    }
    // A node takes some 100 bytes, its name included, and a link 48.
    memory::check(&format!("a network of {nodes} nodes and {links} links"), nodes * 100 + links * 48)
}
