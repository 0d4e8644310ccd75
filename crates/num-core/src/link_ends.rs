//! Ends of links that meet at a node, found from paths: the end of a link is the beginning of the one crossed next.

/// Disjoint sets of link ends: side `l` is the head of link `l`, side `links + l` its tail. The smallest side of a set
/// stands for its node. Links number less than 2³¹.
#[derive(Debug)]
pub struct LinkEnds {
    links: usize,
    parents: Vec<u32>,
}

impl LinkEnds {
    /// Ends that do not meet, two for each of so many links. O(links).
    pub fn new(links: usize) -> Self {
        Self { links, parents: (0..2 * links as u32).collect() }
    }

    /// The node of a side. O(log links), less after earlier calls.
    ///
    /// # Panics
    /// If there is no such side.
    pub fn node(&mut self, mut side: usize) -> usize {
        while self.parents[side] as usize != side {
            let parent = self.parents[side] as usize;
            self.parents[side] = self.parents[parent];
            side = parent;
        }
        side
    }

    /// How many nodes there are where links meet. O(links).
    pub fn nodes(&mut self) -> usize {
        let mut joined = vec![false; self.parents.len()];
        for side in 0..joined.len() {
            let node = self.node(side);
            joined[node] |= node != side;
        }
        joined.into_iter().filter(|&is_joined| is_joined).count()
    }

    /// The head of one link is where the next one begins.
    ///
    /// # Panics
    /// If there is no such link.
    pub fn join(&mut self, one: u32, next: u32) {
        self.unite(one as usize, self.links + next as usize);
    }

    /// Two sides are at one node.
    ///
    /// # Panics
    /// If there is no such side.
    pub fn unite(&mut self, one: usize, other: usize) {
        let (one, other) = (self.node(one), self.node(other));
        self.parents[one.max(other)] = one.min(other) as u32;
    }
}

/// Places of `sample` of `of` things, spread evenly over them and in no pattern of their order.
pub fn spread(sample: usize, of: usize) -> impl Iterator<Item = usize> {
    let place = move |i: usize| (((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize * of) >> 32;
    (0..sample).map(move |i| if sample == of { i } else { place(i) })
}
