//! Flat directions of the dual: prices move from the links into a node to the links out of it.
//!
//! ```text
//! δ_l = φ(head of l) − φ(tail of l)     φ = 0 where many paths begin or end: no path costs more or less
//! ψ_l(δ) = min over r of ½ H_l r² − G_l (δ + r) with p_l + δ + r ≥ 0      ψ_l' = min(−G_l, H_l (p_l + δ))
//! φ = argmin Σ ψ_l(δ_l) + ½ Σ τ_v H_v φ_v²      Newton's method, by conjugate gradients
//! ```
//!
//! A fabric has such a direction for each of its switches, or nearly: few of the flows that go up into a switch of a
//! rack stay in the rack. G/H is small along them, and so are steps. With few switches the conjugate directions of a
//! rule are enough; with thousands each direction has another length, which ends where the first price reaches 0. On 64
//! racks of 16 under 4 spines, with unequal capacities, 2 × 64 + 4 eigenvalues of the scaled Hessian are below 0.03 and
//! belong to these directions, all others are above 0.1; after ten steps of fast NED 98 % of the squared error of the
//! prices is there.
//!
//! Path prices, and so rates, stay as they are under such a move as long as no price would fall below 0. A link whose
//! price is kept at 0 is a spring of stiffness H_l between its ends. So the least dual along all these directions is a
//! problem on nodes and links only: it takes O(links) operations and no response of the flows. The springs leave out
//! how flows join them, so that δ is an estimate: after a step that the rule refuses, half of it is tried.
//!
//! Nodes are found from the paths: the end of a link is the beginning of the one that a path crosses next. Paths of
//! two links would join the ways into a rack with those out of it; they are left out, and count as paths that end and
//! begin there, a part τ_v of all crossings of the node. Where links lie along paths in no order no node is found.
//! Where coefficients differ along paths, as links in units of their own, such moves change path prices: none is made.

use std::ops::Range;

use super::links::{MOST_REFUSALS, at_least};
use crate::error::Result;
use crate::interrupt::{self, Pacer};
use crate::link_ends::{LinkEnds, spread};
use crate::paths::Paths;
use crate::work::Ranks;

/// Moves of prices that leave path prices as they are.
#[derive(Debug)]
pub(super) struct FlatDirections {
    /// Those with an end at one of the nodes *(given)*.
    edges: Vec<Edge>,
    /// τ_v of every node *(given)*.
    leaks: Vec<f64>,
    /// φ of every node, and of the ground, which is 0 *(iterate)*.
    potentials: Vec<f64>,
    /// Per link of the edges *(derived)*.
    states: Vec<State>,
    springs: Vec<Spring>,
    nodes: Vec<Node>,
    line: Line,
    /// The part of δ that is tried.
    trust: f64,
    /// How often it may still be tried.
    left: usize,
}

/// Links from one node to another, numbered one after the other: those of all servers of a rack are one edge.
#[derive(Debug, Clone, Copy)]
struct Edge {
    first: u32,
    count: u32,
    tail: u32,
    head: u32,
}

impl Edge {
    fn links(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Edges, each with the states of its links.
fn with_states<'a>(edges: &'a [Edge], mut states: &'a [State]) -> impl Iterator<Item = (&'a Edge, &'a [State])> {
    edges.iter().map(move |edge| {
        let own;
        (own, states) = states.split_at(edge.count as usize);
        (edge, own)
    })
}

/// p, G and H of a link.
#[derive(Debug, Clone, Copy)]
struct State {
    price: f64,
    excess: f64,
    slope: f64,
}

impl State {
    /// Whether the price is held at 0 at a δ.
    fn is_held(&self, shift: f64) -> bool {
        self.slope * (self.price + shift) < -self.excess
    }

    /// ψ(δ), as coefficients of 1, t and t² of δ = shift + t by.
    fn parabola(&self, is_held: bool, shift: f64, by: f64) -> [f64; 3] {
        let &Self { price, excess, slope } = self;
        let end = price + shift;
        // Chosen one by one, without a branch: which links are held is in no order.
        let value =
            if is_held { excess * price + 0.5 * slope * end * end } else { -excess * (shift + 0.5 * excess / slope) };
        let derivative = if is_held { slope * end } else { -excess };
        [value, derivative * by, if is_held { 0.5 * slope * by * by } else { 0.0 }]
    }
}

/// The dual along the present change of the potentials, for lengths up to `reach`: links that are held, or not, all the
/// way are one parabola together.
#[derive(Debug)]
struct Line {
    reach: f64,
    parabola: [f64; 3],
    /// The others, each with its δ at 0 and per length.
    turning: Vec<(State, f64, f64)>,
}

/// The links of an edge whose prices are held at 0, together.
#[derive(Debug, Clone, Copy)]
struct Spring {
    tail: u32,
    head: u32,
    slope: f64,
}

/// Vectors of Newton's method and of conjugate gradients.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// H_v: the sum of the slopes of its links.
    slope: f64,
    gradient: f64,
    diagonal: f64,
    change: f64,
    residual: f64,
    search: f64,
    product: f64,
}

/// Paths that are looked at per link, of many: for the number of nodes, and for all of them. With 16 for all of
/// them steps are refused more often on 1024 racks, which costs more than it saves.
const FIRST_SAMPLE: usize = 4;
const SAMPLE: usize = 64;
/// Nodes with a larger τ are ground.
const MOST_LEAKING: f64 = 1.0 / 64.0;
/// With fewer nodes conjugate gradients over the links do as well.
const FEWEST_NODES: usize = 64;
/// Steps of Newton's method per iteration, products for each, and their accuracy.
const NEWTON_STEPS: usize = 2;
const PRODUCTS: usize = 10;
const ACCURACY: f64 = 1e-2;
/// Stiffness of a node without springs, relative to the slopes of its links.
const LEAST_STIFFNESS: f64 = 1e-4;
/// Lengths of Newton steps, on from one that is asked for, which a pass over the links serves.
const REACH: f64 = 2.0;
/// A Newton step gains at least this part of what its slope foretells.
const LEAST_GAIN: f64 = 1e-4;
/// Trust after a refusal, and after a step that was accepted; below the least nothing is tried again.
const REFUSED: f64 = 0.5;
const ACCEPTED: f64 = 1.2;
const LEAST_TRUST: f64 = 1.0 / 32.0;
/// At a gap far below 1e-6 the estimate may be too coarse for the rest of the error, and the rule is faster alone.
const MOST_SHIFTS: usize = 64;

/// Ends that meet on one rank meet on all. Every side learns the least side that it meets on any rank, until none
/// learns anything new.
///
/// # Errors
/// Those of [`Ranks`].
fn join_over(ranks: &Ranks, ends: &mut LinkEnds, links: usize) -> Result<()> {
    while !ranks.are_alone() {
        let nodes: Vec<f64> = (0..2 * links).map(|side| ends.node(side) as f64).collect();
        let mut least = nodes.clone();
        ranks.min(&mut least)?;
        for (side, &least) in least.iter().enumerate() {
            ends.unite(side, least as usize);
        }
        if !ranks.any(least != nodes)? {
            break;
        }
    }
    Ok(())
}

impl FlatDirections {
    /// Those of some paths on all ranks, or none where there are few, or coefficients. O(links), times the length of
    /// paths.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped), and those of [`Ranks`].
    pub(super) fn of(links: usize, paths: &Paths, ranks: &Ranks) -> Result<Option<Self>> {
        // Both sides of a link are numbered; a node has one at least.
        let is_small = 2 * links < FEWEST_NODES || links > (u32::MAX / 2) as usize;
        if is_small || ranks.any(paths.coefficients().is_some())? {
            return Ok(None);
        }
        let (mut ends, mut pacer) = (LinkEnds::new(links), Pacer::new());
        let sample = |per_link| spread(paths.len().min(per_link * links), paths.len()).map(|path| paths.links(path));
        // On a fabric of few switches some of the paths show that. Where nearly all paths have two links, nodes may be
        // missed that all paths would show: then the rule goes on without them.
        join_ends(&mut ends, sample(FIRST_SAMPLE))?;
        join_over(ranks, &mut ends, links)?;
        if ends.nodes() < FEWEST_NODES {
            return Ok(None);
        }
        join_ends(&mut ends, sample(SAMPLE))?;
        join_over(ranks, &mut ends, links)?;
        // Crossings of every end, and those that begin or end there.
        let (mut crossings, mut leaks) = (vec![0.0; 2 * links], vec![0.0; 2 * links]);
        for path in sample(SAMPLE) {
            for &link in path {
                crossings[link as usize] += 1.0;
            }
            let last = path.len() - 1;
            let (begins, stops) = if path.len() > 2 { (&path[..1], &path[last..]) } else { (path, path) };
            begins.iter().for_each(|&link| leaks[links + link as usize] += 1.0);
            stops.iter().for_each(|&link| leaks[link as usize] += 1.0);
            pacer.did(path.len())?;
        }
        ranks.sum(&mut crossings[..links])?;
        ranks.sum(&mut leaks)?;
        crossings.copy_within(..links, links);
        for side in 0..2 * links {
            let node = ends.node(side);
            if node != side {
                crossings[node] += crossings[side];
                leaks[node] += leaks[side];
            }
        }
        // 0/0 where the sample crosses none.
        let leak = |node: usize| leaks[node] / crossings[node];
        let (mut number, mut nodes) = (vec![u32::MAX; 2 * links], Vec::new());
        for (side, number) in number.iter_mut().enumerate() {
            if ends.node(side) == side && leak(side) <= MOST_LEAKING {
                *number = nodes.len() as u32;
                nodes.push(leak(side));
            }
        }
        let ground = nodes.len() as u32;
        let mut end = |side: usize| number[ends.node(side)].min(ground);
        let mut edges: Vec<Edge> = Vec::new();
        for link in 0..links {
            let (tail, head) = (end(links + link), end(link));
            match edges.last_mut() {
                Some(last) if (last.tail, last.head, last.links().end) == (tail, head, link) => last.count += 1,
                _ if tail == head => {}
                _ => edges.push(Edge { first: link as u32, count: 1, tail, head }),
            }
        }
        let moving = edges.iter().map(|edge| edge.count as usize).sum();
        if nodes.len() < FEWEST_NODES || edges.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            potentials: vec![0.0; nodes.len() + 1],
            states: Vec::with_capacity(moving),
            springs: Vec::with_capacity(edges.len()),
            nodes: vec![Node::default(); nodes.len() + 1],
            line: Line { reach: 0.0, parabola: [0.0; 3], turning: Vec::new() },
            trust: 1.0,
            left: MOST_SHIFTS,
            leaks: nodes,
            edges,
        }))
    }

    /// As found, before a first shift.
    pub(super) fn restart(&mut self) {
        (self.trust, self.left) = (1.0, MOST_SHIFTS);
    }

    /// Whether shifts are still worth their time.
    pub(super) fn goes_on(&self) -> bool {
        self.trust >= LEAST_TRUST && self.left > 0
    }

    /// After a step with a shift: the next one is smaller if the rule refused this one, and larger if not.
    pub(super) fn judge(&mut self, was_refused: bool) {
        if self.goes_on() {
            self.trust = if was_refused { REFUSED * self.trust } else { (ACCEPTED * self.trust).min(1.0) };
            self.left -= 1;
        }
    }

    /// Calls a function with every link that moves at some prices and [load, slope], and with its δ.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn shift(
        &mut self,
        prices: &[f64],
        capacities: &[f64],
        sums: &[[f64; 2]],
        mut shift: impl FnMut(usize, f64),
    ) -> Result<()> {
        self.begin(prices, capacities, sums);
        for _ in 0..NEWTON_STEPS {
            interrupt::check()?;
            let slope = self.direct();
            if slope.is_nan() || slope >= 0.0 {
                break;
            }
            let (mut length, mut trials) = (1.0, 0);
            self.lay_line(REACH * length);
            let (value, mut next) = (self.value(0.0), self.value(length));
            let gains = |next: f64, length: f64| next <= value + LEAST_GAIN * length * slope;
            while !gains(next, length) && trials < MOST_REFUSALS {
                (length, trials) = (0.5 * length, trials + 1);
                next = self.value(length);
            }
            if trials == MOST_REFUSALS {
                break;
            }
            if trials == 0 {
                for _ in 0..MOST_REFUSALS {
                    let further = self.value(2.0 * length);
                    if further.is_nan() || further >= next {
                        break;
                    }
                    (length, next) = (2.0 * length, further);
                }
            }
            for (potential, node) in self.potentials.iter_mut().zip(&self.nodes) {
                *potential += length * node.change;
            }
        }
        for edge in &self.edges {
            let potential = |node: u32| self.potentials[node as usize];
            let by = self.trust * (potential(edge.head) - potential(edge.tail));
            edge.links().for_each(|link| shift(link, by));
        }
        Ok(())
    }

    fn begin(&mut self, prices: &[f64], capacities: &[f64], sums: &[[f64; 2]]) {
        let Self { edges, potentials, states, nodes, .. } = self;
        potentials.fill(0.0);
        nodes.fill(Node::default());
        states.clear();
        for edge in &*edges {
            let links = edge.links();
            let columns = prices[links.clone()].iter().zip(&capacities[links.clone()]).zip(&sums[links]);
            let mut total = 0.0;
            for ((&price, &capacity), &[load, slope]) in columns {
                let slope = at_least(slope, f64::MIN_POSITIVE);
                states.push(State { price, excess: load - capacity, slope });
                total += slope;
            }
            nodes[edge.tail as usize].slope += total;
            nodes[edge.head as usize].slope += total;
        }
    }

    /// Σ ψ and the leaks' part, so far along the present change.
    fn value(&mut self, length: f64) -> f64 {
        if length > self.line.reach {
            self.lay_line(REACH * length);
        }
        let Line { parabola: [value, slope, bend], turning, .. } = &self.line;
        let of = |&(state, shift, by): &(State, f64, f64)| {
            let shift = shift + length * by;
            state.parabola(state.is_held(shift), shift, 0.0)[0]
        };
        value + length * (slope + length * bend) + turning.iter().map(of).sum::<f64>()
    }

    /// Finds the dual along the present change.
    fn lay_line(&mut self, reach: f64) {
        let Self { edges, potentials, states, nodes, leaks, line, .. } = self;
        line.reach = reach;
        line.turning.clear();
        let mut sum = [0.0; 3];
        let mut add = |parabola: [f64; 3]| sum.iter_mut().zip(parabola).for_each(|(sum, value)| *sum += value);
        for (&Edge { tail, head, .. }, states) in with_states(edges, states) {
            let (tail, head) = (tail as usize, head as usize);
            let (shift, by) = (potentials[head] - potentials[tail], nodes[head].change - nodes[tail].change);
            for state in states {
                let is_held = state.is_held(shift);
                if is_held == state.is_held(shift + reach * by) {
                    add(state.parabola(is_held, shift, by));
                } else {
                    line.turning.push((*state, shift, by));
                }
            }
        }
        for ((node, leak), potential) in nodes.iter().zip(leaks).zip(potentials) {
            let stiffness = *leak * node.slope;
            add([
                0.5 * stiffness * *potential * *potential,
                stiffness * *potential * node.change,
                0.5 * stiffness * node.change * node.change,
            ]);
        }
        line.parabola = sum;
    }

    /// Newton's direction at the present potentials; returns the slope along it.
    fn direct(&mut self) -> f64 {
        let Self { edges, potentials, states, springs, nodes, leaks, .. } = self;
        springs.clear();
        for ((node, &leak), &potential) in nodes.iter_mut().zip(&*leaks).zip(&*potentials) {
            node.gradient = leak * node.slope * potential;
            node.diagonal = (leak + LEAST_STIFFNESS) * node.slope;
        }
        for (&Edge { tail, head, .. }, states) in with_states(edges, states) {
            let shift = potentials[head as usize] - potentials[tail as usize];
            let (mut derivative, mut stiffness) = (0.0, 0.0);
            for &State { price, excess, slope } in states {
                let held = slope * (price + shift);
                let is_held = held < -excess;
                derivative += if is_held { held } else { -excess };
                stiffness += if is_held { slope } else { 0.0 };
            }
            nodes[head as usize].gradient += derivative;
            nodes[tail as usize].gradient -= derivative;
            if stiffness > 0.0 {
                springs.push(Spring { tail, head, slope: stiffness });
                nodes[head as usize].diagonal += stiffness;
                nodes[tail as usize].diagonal += stiffness;
            }
        }
        let ground = leaks.len();
        nodes[ground] = Node::default();
        let (mut norm, mut slope) = (0.0, 0.0);
        for node in &mut nodes[..ground] {
            (node.change, node.residual) = (0.0, -node.gradient);
            node.search = node.residual / node.diagonal;
            norm += node.residual * node.search;
        }
        let enough = ACCURACY * ACCURACY * norm;
        for _ in 0..PRODUCTS {
            if norm.is_nan() || norm <= enough {
                break;
            }
            multiply(springs, leaks, nodes);
            let curvature: f64 = nodes[..ground].iter().map(|node| node.search * node.product).sum();
            let length = norm / curvature;
            let mut next = 0.0;
            for node in &mut nodes[..ground] {
                node.change += length * node.search;
                node.residual -= length * node.product;
                next += node.residual * node.residual / node.diagonal;
            }
            let beta = next / norm;
            for node in &mut nodes[..ground] {
                node.search = node.residual / node.diagonal + beta * node.search;
            }
            norm = next;
        }
        for node in &nodes[..ground] {
            slope += node.gradient * node.change;
        }
        slope
    }
}

/// The product of Newton's matrix with the search direction.
fn multiply(springs: &[Spring], leaks: &[f64], nodes: &mut [Node]) {
    for (node, leak) in nodes.iter_mut().zip(leaks) {
        node.product = (leak + LEAST_STIFFNESS) * node.slope * node.search;
    }
    for &Spring { tail, head, slope } in springs {
        let force = slope * (nodes[head as usize].search - nodes[tail as usize].search);
        nodes[head as usize].product += force;
        nodes[tail as usize].product -= force;
    }
}

/// Joins the ends of links that paths cross one after the other.
fn join_ends<'a>(ends: &mut LinkEnds, paths: impl Iterator<Item = &'a [u32]>) -> Result<()> {
    let mut pacer = Pacer::new();
    for path in paths.filter(|path| path.len() > 2) {
        for pair in path.windows(2) {
            ends.join(pair[0], pair[1]);
        }
        pacer.did(path.len())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;

    const RACKS: usize = 100;
    const SPINES: usize = 4;

    fn fabric(flows: usize) -> (Topology, Paths) {
        let net = Topology::leaf_spine(RACKS, 4, SPINES, 10.0, 10.0).unwrap();
        let (sources, destinations) = net.random_pairs(flows, 7).unwrap();
        let paths = net.ecmp(&sources, &destinations, 7).unwrap();
        (net, paths)
    }

    #[test]
    fn prices_move_in_every_switch_and_no_path_between_racks_costs_more_or_less() {
        let (net, paths) = fabric(200_000);
        let links = net.capacities().len();
        let mut flat = FlatDirections::of(links, &paths, &Ranks::alone()).unwrap().unwrap();
        assert_eq!(flat.leaks.len(), 2 * RACKS + SPINES);
        let uneven = |link: usize| 0.5 + (link * 7919 % 1000) as f64 / 1000.0;
        let prices: Vec<f64> = (0..links).map(uneven).collect();
        let sums: Vec<_> = (0..links).map(|link| [10.0 * uneven(link + 1), 10.0]).collect();
        let mut shifts = vec![0.0; links];
        flat.shift(&prices, net.capacities(), &sums, |link, by| shifts[link] = by).unwrap();
        assert!(shifts.iter().filter(|shift| shift.abs() > 1e-3).count() > links / 2);
        for path in paths.iter().filter(|path| path.len() > 2) {
            let sum: f64 = path.iter().map(|&link| shifts[link as usize]).sum();
            assert!(sum.abs() < 1e-9, "{sum}");
        }
    }

    #[test]
    fn the_dual_along_a_line_is_the_sum_over_links_at_every_length() {
        let (net, paths) = fabric(200_000);
        let links = net.capacities().len();
        let mut flat = FlatDirections::of(links, &paths, &Ranks::alone()).unwrap().unwrap();
        let uneven = |link: usize| 0.5 + (link * 7919 % 1000) as f64 / 1000.0;
        let prices: Vec<f64> = (0..links).map(uneven).collect();
        let sums: Vec<_> = (0..links).map(|link| [10.0 * uneven(link + 1), 10.0]).collect();
        flat.begin(&prices, net.capacities(), &sums);
        assert!(flat.direct() < 0.0);
        flat.lay_line(2.0);
        let turning = flat.line.turning.len();
        assert!(turning > 0 && turning < flat.states.len(), "{turning} of {}", flat.states.len());
        for length in [0.0, 0.25, 1.0, 2.0, 3.0, 1000.0] {
            let at = |node: u32| length * flat.nodes[node as usize].change;
            let of_link = |(edge, state): (&Edge, &State)| {
                let end = state.price + at(edge.head) - at(edge.tail);
                let (excess, slope) = (state.excess, state.slope);
                let least = (end + excess / slope).max(0.0) - end;
                0.5 * slope * least * least - excess * (end - state.price + least)
            };
            let links = with_states(&flat.edges, &flat.states)
                .flat_map(|(edge, states)| states.iter().map(move |state| (edge, state)));
            let of_links: f64 = links.map(of_link).sum();
            let of_nodes = |(leak, node): (&f64, &Node)| 0.5 * leak * node.slope * (length * node.change).powi(2);
            let expected = of_links + flat.leaks.iter().zip(&flat.nodes).map(of_nodes).sum::<f64>();
            let found = flat.value(length);
            assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} for {expected} at {length}");
        }
    }

    #[test]
    fn nothing_is_learned_from_few_switches_or_links_in_no_order() {
        let net = Topology::leaf_spine(9, 16, 4, 10.0, 40.0).unwrap();
        let (sources, destinations) = net.random_pairs(5000, 7).unwrap();
        let paths = net.ecmp(&sources, &destinations, 7).unwrap();
        assert!(FlatDirections::of(net.capacities().len(), &paths, &Ranks::alone()).unwrap().is_none());
        let shuffled = (0..5000u32).map(|flow| [0, 1, 2, 3].map(|k| (flow * 7919 + k * (k + 1) * 104_729) % 1000));
        assert!(FlatDirections::of(1000, &Paths::from_lists(shuffled), &Ranks::alone()).unwrap().is_none());
    }

    #[test]
    fn after_refusals_in_a_row_no_more_is_tried() {
        let (net, paths) = fabric(20_000);
        let mut flat = FlatDirections::of(net.capacities().len(), &paths, &Ranks::alone()).unwrap().unwrap();
        let mut ends = |_: &i32| {
            flat.judge(true);
            !flat.goes_on()
        };
        assert_eq!((1..100).find(&mut ends), Some(6));
    }
}
