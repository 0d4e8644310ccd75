//! Whether paths join the ends of a network, and the likely cause where most pairs have none.

use std::collections::HashSet;

use super::Topology;
use super::next_links::Routes;

/// The share of pairs without a path is counted over the pairs of so many destinations at most.
const DESTINATIONS: usize = 64;
/// From which part on that is said. A line of links one way, such as a parking lot, has no path for half of its pairs.
const MOST: f64 = 0.51;

impl Topology {
    /// That most pairs of ends have no path, and why; `None` if most have one. O(64 (nodes + links)).
    pub(super) fn disconnection(&self) -> Option<String> {
        if let Some(unfolded) = &self.unfolded {
            return unfolded.net.disconnection();
        }
        let unjoined = self.unjoined();
        let joined: HashSet<(u32, u32)> = self.links().iter().map(|link| (link.from, link.to)).collect();
        let one_way = self.links().iter().filter(|link| !joined.contains(&(link.to, link.from))).count();
        let failed = self.links().iter().filter(|link| link.capacity == 0.0).count();
        let cause = match (one_way, self.links().len()) {
            (_, 0) => "there are no links".to_owned(),
            (_, links) if failed > 0 => format!("{failed} of {links} links have failed"),
            (one_way, links) if one_way == links => "links lead one way only, directed=False reads both".to_owned(),
            (one_way, links) if 2 * one_way > links => {
                format!("{one_way} of {links} links lead one way only, directed=False reads both")
            }
            _ => format!("no link joins its {} parts", self.parts()),
        };
        (unjoined > MOST).then(|| format!("{:.0} % of pairs have no path: {cause}", 100.0 * unjoined))
    }

    /// The part of the pairs of ends that no path joins: of all pairs up to 64 ends, and else of those of 64
    /// destinations at equal distances in the list of ends.
    fn unjoined(&self) -> f64 {
        let mut routes = Routes::new(self, None);
        let ends = self.ends();
        let destinations = ends.min(DESTINATIONS);
        let lost = |place: usize| {
            let target = self.attachment((2 * place * ends + ends) / (2 * destinations)).node;
            let aimed = routes.aim(target);
            (0..ends).filter(|&end| aimed.is_ok() && !routes.reaches(self.attachment(end).node)).count()
        };
        (0..destinations).map(lost).sum::<usize>() as f64 / (destinations * (ends - 1)) as f64
    }

    /// How many parts there are that no link joins.
    fn parts(&self) -> usize {
        let mut part: Vec<usize> = (0..self.node_names().len()).collect();
        let root = |part: &mut Vec<usize>, mut node: usize| {
            while part[node] != node {
                part[node] = part[part[node]];
                node = part[node];
            }
            node
        };
        for link in self.links().iter().filter(|link| link.capacity > 0.0) {
            let (one, other) = (root(&mut part, link.from as usize), root(&mut part, link.to as usize));
            part[one] = other;
        }
        part.iter().enumerate().filter(|&(node, &of)| of == node).count()
    }
}
