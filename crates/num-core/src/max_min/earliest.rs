//! Which link fills first: the smallest of many levels, as a tree of minima.
//!
//! Row 0 holds the level of every link, every entry above the smallest of its sixteen children. Finding the smallest
//! level and changing one take log₁₆ of the links, sixteen comparisons a row that a vector unit does at once.

/// Children of a node.
const ARITY: usize = 16;

/// Levels of links; ∞ for a link that is done.
#[derive(Debug)]
pub(super) struct Earliest {
    /// From the links to the root, which is the only node of the last row; each row but that is filled up with ∞.
    rows: Vec<Vec<f64>>,
}

impl Earliest {
    /// All levels 0.
    pub(super) fn new(links: usize) -> Self {
        let mut rows = Vec::new();
        let mut nodes = links;
        loop {
            let mut row = vec![f64::INFINITY; nodes.max(1).next_multiple_of(ARITY)];
            row[..nodes].fill(0.0);
            rows.push(row);
            if nodes <= ARITY {
                return Self { rows };
            }
            nodes = nodes.div_ceil(ARITY);
        }
    }

    /// Gives every link a level.
    pub(super) fn set_all(&mut self, levels: impl Iterator<Item = f64>) {
        for (entry, level) in self.rows[0].iter_mut().zip(levels) {
            *entry = level;
        }
        for above in 1..self.rows.len() {
            let (below, row) = self.rows.split_at_mut(above);
            for (entry, children) in row[0].iter_mut().zip(below[above - 1].as_chunks().0) {
                *entry = smallest(children);
            }
        }
    }

    /// Gives one link another level.
    pub(super) fn set(&mut self, link: usize, level: f64) {
        let (mut node, mut value) = (link, level);
        let top = self.rows.len() - 1;
        for row in &mut self.rows[..top] {
            row[node] = value;
            node /= ARITY;
            value = smallest(&row.as_chunks().0[node]);
        }
        self.rows[top][node] = value;
    }

    /// The link with the smallest level, and that level; `None` when all are done.
    pub(super) fn first(&self) -> Option<(usize, f64)> {
        let mut node = 0;
        let mut level = f64::INFINITY;
        for row in self.rows.iter().rev() {
            let children = &row.as_chunks().0[node];
            level = smallest(children);
            node = node * ARITY + place(children, level);
        }
        level.is_finite().then_some((node, level))
    }
}

fn smallest(children: &[f64; ARITY]) -> f64 {
    let less = |one: f64, other: f64| if other < one { other } else { one };
    // Four at a time, so that no comparison waits for all before it.
    let mut lanes = [f64::INFINITY; 4];
    for four in children.as_chunks::<4>().0 {
        for (lane, &child) in lanes.iter_mut().zip(four) {
            *lane = less(*lane, child);
        }
    }
    less(less(lanes[0], lanes[1]), less(lanes[2], lanes[3]))
}

/// The first place of a value.
fn place(children: &[f64; ARITY], value: f64) -> usize {
    let same = |mask: u32, (place, &child): (usize, &f64)| mask | u32::from(child == value) << place;
    children.iter().enumerate().fold(0, same).trailing_zeros() as usize % ARITY
}

#[cfg(test)]
mod tests {
    use super::Earliest;

    #[test]
    fn the_first_of_any_number_of_links_is_found_until_all_are_done() {
        for links in [0, 1, 15, 16, 17, 256, 257, 5000] {
            let level = |link: usize| ((link * 7919) % 6007) as f64;
            let mut earliest = Earliest::new(links);
            earliest.set_all((0..links).map(level));
            let mut order: Vec<usize> = (0..links).collect();
            order.sort_by(|&one, &other| level(one).total_cmp(&level(other)));
            for link in order {
                assert_eq!(earliest.first(), Some((link, level(link))), "{links} links");
                earliest.set(link, f64::INFINITY);
            }
            assert_eq!(earliest.first(), None);
        }
    }
}
