//! A tournament tree: the link with the smallest level.
//!
//! A binary tree with the links as leaves; every node holds the smaller of its two children. Changing a level takes one
//! comparison for every row, whose operands are known beforehand and which needs no branch.

use std::hint::select_unpredictable;

/// Links whose levels are computed together: a power of two.
const AROUND: usize = 8;

/// Levels of links; ∞ for a link that is done.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// Node 1 is the root, 2n and 2n + 1 are the children of n; the leaves are the last half. A level that is not
    /// negative is ordered as its bits are; the link's number stands below them, so that equal levels have an order
    /// too.
    nodes: Vec<u128>,
}

fn node(link: usize, level: f64) -> u128 {
    u128::from(level.to_bits()) << 64 | link as u128
}

fn level_of(node: u128) -> f64 {
    f64::from_bits((node >> 64) as u64)
}

/// The smaller of two nodes. Without a branch, which the compiler would make of `min`: which one it is cannot be
/// predicted.
fn first(one: u128, other: u128) -> u128 {
    select_unpredictable(one < other, one, other)
}

impl Tournament {
    /// All links done.
    pub(crate) fn new(links: usize) -> Self {
        Self { nodes: vec![node(0, f64::INFINITY); 2 * links.next_power_of_two()] }
    }

    /// Gives every link a level ≥ 0, from link 0 on.
    pub(crate) fn set_all(&mut self, levels: impl Iterator<Item = f64>) {
        let leaves = self.nodes.len() / 2;
        for (link, (leaf, level)) in self.nodes[leaves..].iter_mut().zip(levels).enumerate() {
            *leaf = node(link, level);
        }
        for parent in (1..leaves).rev() {
            self.nodes[parent] = first(self.nodes[2 * parent], self.nodes[2 * parent + 1]);
        }
    }

    /// Gives one link another level ≥ 0.
    pub(crate) fn set(&mut self, link: usize, level: f64) {
        let mut place = self.nodes.len() / 2 + link;
        let mut winner = node(link, level);
        while place > 1 {
            self.nodes[place] = winner;
            winner = first(winner, self.nodes[place ^ 1]);
            place /= 2;
        }
        self.nodes[place] = winner;
    }

    /// Gives the links around one other levels ≥ 0, those that are not done: their levels are outdated too, and one
    /// climb to the root serves all.
    pub(crate) fn set_around(&mut self, link: usize, level: impl Fn(usize) -> f64) {
        let leaves = self.nodes.len() / 2;
        let start = leaves + link / AROUND * AROUND;
        let mut places = start..(start + AROUND).min(2 * leaves);
        for place in places.clone() {
            let link = place - leaves;
            if level_of(self.nodes[place]) < f64::INFINITY {
                self.nodes[place] = node(link, level(link));
            }
        }
        while places.start > 1 {
            places = places.start / 2..places.end.div_ceil(2);
            for place in places.clone() {
                self.nodes[place] = first(self.nodes[2 * place], self.nodes[2 * place + 1]);
            }
        }
    }

    /// The link with the smallest level, and that level; `None` when all are done.
    pub(crate) fn first(&self) -> Option<(usize, f64)> {
        let root = self.nodes[1];
        let level = level_of(root);
        level.is_finite().then_some((root as u64 as usize, level))
    }
}

#[cfg(test)]
mod tests {
    use super::Tournament;

    #[test]
    fn the_first_of_any_number_of_links_is_found_until_all_are_done() {
        for links in [0, 1, 2, 3, 16, 17, 5000] {
            let level = |link: usize| ((link * 7919) % 6007) as f64;
            let mut tournament = Tournament::new(links);
            tournament.set_all((0..links).map(level));
            let mut order: Vec<usize> = (0..links).collect();
            order.sort_by(|&one, &other| level(one).total_cmp(&level(other)));
            for link in order {
                assert_eq!(tournament.first(), Some((link, level(link))), "{links} links");
                tournament.set(link, f64::INFINITY);
            }
            assert_eq!(tournament.first(), None);
        }
    }
}
