//! Rows of links as a trie: rows that begin alike share the nodes of their beginnings.
//!
//! Paths from one source follow few trees. On wide-area networks with a flow for every pair of nodes there are ten
//! times fewer nodes than crossings. Sums along all rows and sums over all rows then cost O(nodes), and Σ w r rᵀ over
//! all rows costs O(Σ depth of a node).

#[cfg(test)]
use super::Row;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::tolerances::NONE;

/// The nodes below the root, which is node 0, in the order of a walk down the tree: the children of a node follow it.
#[derive(Default)]
pub(crate) struct Trie {
    /// Of every node but the root: the node above it, and the link that leads to it.
    nodes: Vec<[u32; 2]>,
}

/// Comparisons per crossing at most: of networks in which nodes have many children no trie is made.
const MOST_COMPARISONS: usize = 8;

impl Trie {
    /// The trie of some rows, and the node at which each ends; none where it has more than a part of the crossings.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(crate) fn new<'a>(
        rows: impl Iterator<Item = &'a [u32]>,
        links: usize,
        part: f64,
    ) -> Result<Option<(Self, Vec<u32>)>> {
        let (mut pacer, mut crossings, mut comparisons) = (Pacer::new(), 0, 0);
        let mut grown = Grown::new(links);
        let mut ends = Vec::new();
        for row in rows {
            ends.push(grown.insert(row, &mut comparisons));
            crossings += row.len();
            pacer.did(row.len())?;
            if comparisons > MOST_COMPARISONS * crossings {
                return Ok(None);
            }
        }
        if grown.nodes.len() as f64 > part * crossings as f64 {
            return Ok(None);
        }
        let (trie, numbers) = grown.finish();
        ends.iter_mut().for_each(|end| *end = numbers[*end as usize]);
        Ok(Some((trie, ends)))
    }

    /// The number of nodes, with the root.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() + 1
    }

    /// The links of all nodes, in their order.
    pub(crate) fn links(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|&[_, link]| link)
    }

    /// Sets the sum of the links' values from the root to every node: at its end that of a row.
    pub(crate) fn gather(&self, value: impl Fn(usize) -> f64, sums: &mut [f64]) {
        sums[0] = 0.0;
        for (node, &[above, link]) in self.nodes.iter().enumerate() {
            sums[node + 1] = sums[above as usize] + value(link as usize);
        }
    }

    /// Sets the largest of the links' values, at least 0, from the root to every node.
    pub(crate) fn largest(&self, value: impl Fn(usize) -> f64, largest: &mut [f64]) {
        largest[0] = 0.0;
        for (node, &[above, link]) in self.nodes.iter().enumerate() {
            largest[node + 1] = value(link as usize).max(largest[above as usize]);
        }
    }

    /// Adds what ends at every node to all links on the way there, and leaves zeros at the nodes.
    pub(crate) fn scatter(&self, at: &mut [f64], mut add: impl FnMut(usize, f64)) {
        for (node, &[above, link]) in self.nodes.iter().enumerate().rev() {
            let sum = std::mem::take(&mut at[node + 1]);
            add(link as usize, sum);
            at[above as usize] += sum;
        }
        at[0] = 0.0;
    }

    /// Gives Σ w r rᵀ, given the weights of the rows at their ends, which are used up: for each link and each two links
    /// of a row an entry, at their rows in the matrix and in either order. `row` gives a link's row, if any.
    pub(crate) fn add_square(
        &self,
        weights: &mut [f64],
        row: impl Fn(usize) -> Option<u32>,
        mut add: impl FnMut(u32, u32, f64),
    ) {
        for (node, &[above, _]) in self.nodes.iter().enumerate().rev() {
            weights[above as usize] += weights[node + 1];
        }
        // The rows on the way to the present node, and how many there are on the way to each.
        let (mut way, mut counts) = (Vec::<u32>::new(), vec![0u32; self.len()]);
        for (node, &[above, link]) in self.nodes.iter().enumerate() {
            let weight = std::mem::take(&mut weights[node + 1]);
            way.truncate(counts[above as usize] as usize);
            if let Some(own) = row(link as usize) {
                if weight != 0.0 {
                    way.iter().for_each(|&row| add(own, row, weight));
                    add(own, own, weight);
                }
                way.push(own);
            }
            counts[node + 1] = way.len() as u32;
        }
        weights[0] = 0.0;
    }
}

/// A trie in the making, its nodes in the order in which rows need them.
struct Grown {
    nodes: Vec<Node>,
    /// The child of the root for each link, or [`NONE`].
    first: Vec<u32>,
}

struct Node {
    above: u32,
    link: u32,
    /// The child that was used last, and the next child of the node above, or [`NONE`].
    child: u32,
    next: u32,
}

impl Grown {
    fn new(links: usize) -> Self {
        Self { nodes: vec![Node { above: 0, link: NONE, child: NONE, next: NONE }], first: vec![NONE; links] }
    }

    fn insert(&mut self, row: &[u32], comparisons: &mut usize) -> u32 {
        let Some((&first, rest)) = row.split_first() else { return 0 };
        let mut at = self.first[first as usize];
        if at == NONE {
            at = self.push(0, first);
            self.first[first as usize] = at;
        }
        for &link in rest {
            let (mut before, mut child) = (NONE, self.nodes[at as usize].child);
            while child != NONE && self.nodes[child as usize].link != link {
                (before, child) = (child, self.nodes[child as usize].next);
                *comparisons += 1;
            }
            if child == NONE {
                child = self.push(at, link);
            } else if before != NONE {
                self.nodes[before as usize].next = self.nodes[child as usize].next;
            }
            if self.nodes[at as usize].child != child {
                self.nodes[child as usize].next = self.nodes[at as usize].child;
                self.nodes[at as usize].child = child;
            }
            at = child;
        }
        at
    }

    fn push(&mut self, above: u32, link: u32) -> u32 {
        self.nodes.push(Node { above, link, child: NONE, next: NONE });
        self.nodes.len() as u32 - 1
    }

    /// In the order of a walk down the tree, and the new numbers of all nodes.
    fn finish(self) -> (Trie, Vec<u32>) {
        let (mut numbers, mut nodes) = (vec![0; self.nodes.len()], Vec::with_capacity(self.nodes.len() - 1));
        for root in self.first.into_iter().filter(|&root| root != NONE) {
            let mut left = vec![root];
            while let Some(node) = left.pop() {
                let Node { above, link, child, .. } = self.nodes[node as usize];
                nodes.push([numbers[above as usize], link]);
                numbers[node as usize] = nodes.len() as u32;
                let mut child = child;
                while child != NONE {
                    left.push(child);
                    child = self.nodes[child as usize].next;
                }
            }
        }
        (Trie { nodes }, numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [&[u32]; 7] = [&[0, 1, 2], &[3], &[0, 1, 4], &[0, 1, 2], &[], &[3, 1], &[0, 5]];

    fn trie() -> (Trie, Vec<u32>) {
        Trie::new(ROWS.into_iter(), 6, 1.0).unwrap().unwrap()
    }

    #[test]
    fn rows_that_begin_alike_share_nodes_and_more_nodes_than_asked_for_are_no_trie() {
        let (trie, ends) = trie();
        assert_eq!((trie.len(), ends[0], ends[4]), (8, ends[3], 0));
        assert!(Trie::new(ROWS.into_iter(), 6, 0.5).unwrap().is_none());
    }

    #[test]
    fn sums_along_rows_are_those_of_each_row_to_the_bit() {
        let (trie, ends) = trie();
        let (values, mut sums) = ([0.1, 1.7, 0.3, 1e-9, 5.0, 0.7], vec![f64::NAN; trie.len()]);
        trie.gather(|link| values[link], &mut sums);
        for (row, end) in ROWS.into_iter().zip(ends) {
            let own: f64 = Row { links: row, coefficients: None }.sum(&values);
            assert_eq!(sums[end as usize] + 0.0, own + 0.0);
        }
    }

    #[test]
    fn sums_over_rows_and_their_squares_are_those_of_all_rows() {
        let (trie, ends) = trie();
        let (mut at, mut loads, mut expected) = (vec![0.0; trie.len()], [0.0; 6], [0.0; 6]);
        let (mut square, mut expected_square) = (vec![0.0; 25], vec![0.0; 25]);
        // Link 4 has no row.
        let row_of = |link: usize| [Some(0), Some(1), Some(2), Some(3), None, Some(4)][link];
        for turn in 0..2 {
            for (number, (row, &end)) in ROWS.into_iter().zip(&ends).enumerate() {
                let weight = f64::from(1 << number);
                at[end as usize] += weight;
                if turn == 0 {
                    row.iter().for_each(|&link| expected[link as usize] += weight);
                    continue;
                }
                let rows: Vec<usize> =
                    row.iter().filter_map(|&link| row_of(link as usize)).map(|row| row as usize).collect();
                for (place, later) in rows.iter().enumerate() {
                    rows[..=place].iter().for_each(|earlier| expected_square[later * 5 + earlier] += weight);
                }
            }
            match turn {
                0 => trie.scatter(&mut at, |link, sum| loads[link] += sum),
                _ => trie.add_square(&mut at, row_of, |later, earlier, weight| {
                    square[later as usize * 5 + earlier as usize] += weight;
                }),
            }
            assert!(at.iter().all(|&left| left == 0.0));
        }
        assert_eq!((loads, square), (expected, expected_square));
    }
}
