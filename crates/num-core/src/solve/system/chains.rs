//! Chains: links that every path crosses one after the other, if it goes on.
//!
//! On wide-area networks half of the nodes have two neighbours. A path that crosses a whole chain then has one item in
//! place of its links, and the products of two paths as many entries as they have items. An entry of a chain is one of
//! each of its links:
//!
//! ```text
//! M = B N Bᵀ      N over rows of links and of chains; B: the identity, and beside it the links of each chain
//! ```

use super::{ABSENT, Rows};
use crate::paths::Paths;

/// The chains of all paths.
#[derive(Default)]
pub(super) struct Chains {
    /// Of every link the chain that begins with it, or [`ABSENT`].
    of_first: Vec<u32>,
    /// The links of chain c are `links[starts[c]..starts[c + 1]]`.
    starts: Vec<usize>,
    links: Vec<u32>,
}

/// The rows of links, and after them one of every chain that has several of these.
pub(super) struct ChainRows<'a> {
    pub(super) rows: &'a Rows,
    chains: &'a Chains,
    /// Of every chain; [`ABSENT`] where none of its links has one.
    of: Vec<u32>,
    /// The rows of the links of each chain that has its own.
    members: Vec<Vec<u32>>,
}

/// A link that is followed by several, or follows several.
const SEVERAL: u32 = ABSENT - 1;

impl Chains {
    pub(super) fn new(routing: &Paths, links: usize) -> Self {
        let (mut next, mut before) = (vec![ABSENT; links], vec![ABSENT; links]);
        let note = |known: &mut u32, link: u32| *known = if [ABSENT, link].contains(known) { link } else { SEVERAL };
        for path in 0..routing.len() {
            for pair in routing.links(path).windows(2) {
                note(&mut next[pair[0] as usize], pair[1]);
                note(&mut before[pair[1] as usize], pair[0]);
            }
        }
        let after = |link: u32| {
            let next = next[link as usize];
            (next < SEVERAL && before[next as usize] == link).then_some(next)
        };
        let is_first = |&link: &u32| {
            let before = before[link as usize];
            before >= SEVERAL || next[before as usize] != link
        };
        let mut chains = Self { of_first: vec![ABSENT; links], starts: vec![0], links: Vec::new() };
        for first in (0..links as u32).filter(is_first).filter(|&link| after(link).is_some()) {
            chains.of_first[first as usize] = chains.starts.len() as u32 - 1;
            chains.links.extend(std::iter::successors(Some(first), |&link| after(link)));
            chains.starts.push(chains.links.len());
        }
        chains
    }

    fn links(&self, chain: usize) -> &[u32] {
        &self.links[self.starts[chain]..self.starts[chain + 1]]
    }

    /// The rows of chains where links have these.
    pub(super) fn rows<'a>(&'a self, rows: &'a Rows) -> ChainRows<'a> {
        let (mut of, mut all_members) = (Vec::new(), Vec::new());
        for chain in 0..self.starts.len().saturating_sub(1) {
            let of_links = self.links(chain).iter().map(|&link| rows.of[link as usize]);
            let members: Vec<u32> = of_links.filter(|&row| row != ABSENT).collect();
            of.push(match *members {
                [] => ABSENT,
                [only] => only,
                _ => (rows.links.len() + all_members.len()) as u32,
            });
            if members.len() > 1 {
                all_members.push(members);
            }
        }
        ChainRows { rows, chains: self, of, members: all_members }
    }
}

impl ChainRows<'_> {
    /// Appends the rows of what a path crosses: of whole chains, and of the other links.
    pub(super) fn cross(&self, mut path: &[u32], found: &mut Vec<u32>) {
        while let Some((&first, rest)) = path.split_first() {
            let chain = self.chains.of_first[first as usize];
            let whole = if chain == ABSENT { 1 } else { self.chains.links(chain as usize).len() };
            let (row, left) = match path.get(whole..) {
                Some(left) if chain != ABSENT => (self.of[chain as usize], left),
                _ => (self.rows.of[first as usize], rest),
            };
            if row != ABSENT {
                found.push(row);
            }
            path = left;
        }
    }

    /// How many there are, of links and of chains.
    pub(super) fn len(&self) -> usize {
        self.rows.links.len() + self.members.len()
    }

    /// Adds what a symmetric matrix, by columns from the diagonal on, has for chains to their links.
    pub(super) fn fold(&self, matrix: &mut [f64]) {
        let (size, all) = (self.rows.links.len(), self.len());
        let place = |one: u32, other: u32| one.min(other) as usize * all + one.max(other) as usize;
        // The columns of chains first: what they have for two chains becomes entries of a link and a chain.
        for column in (0..all as u32).rev() {
            for (row, members) in (size as u32..).zip(&self.members).filter(|(row, _)| *row >= column) {
                let value = matrix[place(column, row)];
                if row == column {
                    for (count, &one) in members.iter().enumerate() {
                        members[count..].iter().for_each(|&other| matrix[place(one, other)] += value);
                    }
                } else {
                    let times = |member| if member == column { 2.0 * value } else { value };
                    members.iter().for_each(|&member| matrix[place(column, member)] += times(member));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: &[u32]) -> Rows {
        let links = (0..of.len() as u32).filter(|&link| of[link as usize] != ABSENT).collect();
        Rows { scale: vec![1.0; of.len()], of: of.to_vec(), links }
    }

    #[test]
    fn chains_are_links_that_all_paths_cross_one_after_the_other_unless_they_end_there() {
        let lists: [&[u32]; 5] = [&[0, 1, 2], &[1, 2, 3], &[2], &[0, 1, 2, 4], &[0, 1]];
        let chains = Chains::new(&Paths::from_lists(lists), 5);
        assert_eq!((&*chains.starts, &*chains.links, chains.of_first[0]), (&[0, 3][..], &[0, 1, 2][..], 0));
        let found = |of: &[u32]| {
            let rows = rows(of);
            let of_chains = chains.rows(&rows);
            lists.map(|path| {
                let mut found = Vec::new();
                of_chains.cross(path, &mut found);
                found
            })
        };
        assert_eq!(found(&[0, 1, 2, 3, 4]), [vec![5], vec![1, 2, 3], vec![2], vec![5, 4], vec![0, 1]]);
        assert_eq!(found(&[ABSENT, 0, ABSENT, 1, 2]), [vec![0], vec![0, 1], vec![], vec![0, 2], vec![0]]);
        let around = Paths::from_lists([[0, 1], [1, 2], [2, 0]]);
        assert_eq!(Chains::new(&around, 3).starts, [0], "a ring begins nowhere");
    }

    #[test]
    fn an_entry_of_a_chain_is_one_of_each_of_its_links() {
        let (chains, rows) = (Chains::new(&Paths::from_lists([&[0, 2][..], &[1]]), 3), rows(&[0, 1, 2]));
        let of_chains = chains.rows(&rows);
        let mut matrix = vec![0.0; 16];
        // Of link 0, of links 0 and 1 and the chain of 0 and 2, and of the chain.
        (matrix[0], matrix[3], matrix[4 + 3], matrix[3 * 4 + 3]) = (1000.0, 1.0, 10.0, 100.0);
        of_chains.fold(&mut matrix);
        let of_links: Vec<&[f64]> = (0..3).map(|column| &matrix[4 * column + column..4 * column + 3]).collect();
        assert_eq!(of_links, [&[1102.0, 10.0, 101.0][..], &[0.0, 10.0], &[100.0]]);
    }
}
