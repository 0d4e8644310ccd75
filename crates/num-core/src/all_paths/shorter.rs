//! Shorter paths where they are as good: what a flow sends over more links than it has to is moved to its paths of
//! fewer links, as far as these have room.
//!
//! An interior point splits a flow over all the paths that cost the same, and where links are idle those are detours
//! as well. Rates of flows stay, and with them the gap, where nothing but utilities counts. Paths that were never
//! looked for may be shorter still.

use super::missing::Missing;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::problem::Problem;
use crate::tolerances::{IDLE_SHARE, SUMMED};

/// A path costs the same where it is dearer by no more than this part of U'.
const SAME: f64 = 1e-7;
/// What one flow leaves may be room for others: all flows are looked at so often, or until nothing moves.
const PASSES: usize = 4;

/// Rates of all paths with less on long paths and more on short ones that cost no more, under the prices that say what
/// is missing; none where there are no such paths.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn over_shorter_paths(
    problem: &Problem,
    missing: &Missing,
    rates: &[f64],
    flow_rates: &[f64],
) -> Result<Option<Vec<f64>>> {
    let (paths, group) = (problem.paths(), problem.group());
    let marginals = problem.marginals(flow_rates);
    let length = |path: u32| paths.links(path as usize).len();
    let is_used = |path: u32, rate: f64| rate > IDLE_SHARE * flow_rates[group[path as usize] as usize];
    // Of every flow the shortest of the paths that cost as little as any.
    let most = |flow: usize| missing.least[flow] + SAME * marginals[flow];
    let is_good = |path: u32| {
        !problem.is_closed(path as usize) && missing.path_costs[path as usize] <= most(group[path as usize] as usize)
    };
    let mut shortest = vec![usize::MAX; problem.flows()];
    let all = || 0..paths.len() as u32;
    for path in all().filter(|&path| is_good(path)) {
        let shortest = &mut shortest[group[path as usize] as usize];
        *shortest = length(path).min(*shortest);
    }
    let mut may_be_shorter = vec![false; problem.flows()];
    for path in all().filter(|&path| is_used(path, rates[path as usize])) {
        let flow = group[path as usize] as usize;
        may_be_shorter[flow] |= length(path) > shortest[flow];
    }
    let of_flow = |path: &u32| group[*path as usize];
    let mut own: Vec<u32> = all().filter(|path| may_be_shorter[of_flow(path) as usize]).collect();
    if own.is_empty() {
        return Ok(None);
    }
    own.sort_by_key(|path| (of_flow(path), length(*path)));
    let (mut rates, loads) = (rates.to_vec(), problem.loads(rates)?);
    let room = |(capacity, load): (&f64, f64)| {
        if *capacity < f64::INFINITY { capacity * (1.0 - SUMMED) - load } else { *capacity }
    };
    let mut room: Vec<f64> = problem.capacities().iter().zip(loads).map(room).collect();
    let (mut is_left, mut pacer) = (vec![false; problem.links()], Pacer::new());
    for _ in 0..PASSES {
        let mut has_moved = false;
        for own in own.chunk_by(|one, other| of_flow(one) == of_flow(other)) {
            for (place, &long) in own.iter().enumerate().rev() {
                let links = paths.links(long as usize);
                pacer.did(1 + place)?;
                let shorter = own[..place].iter().take_while(|short| length(**short) < links.len());
                for &short in shorter.filter(|short| is_good(**short)) {
                    if !is_used(long, rates[long as usize]) {
                        break;
                    }
                    pacer.did(3 * links.len())?;
                    links.iter().for_each(|&link| is_left[link as usize] = true);
                    let entered = paths.links(short as usize).iter().filter(|link| !is_left[**link as usize]);
                    let moved = entered.map(|&link| room[link as usize]).fold(rates[long as usize], f64::min);
                    if is_used(long, moved) {
                        has_moved = true;
                        rates[long as usize] -= moved;
                        rates[short as usize] += moved;
                        links.iter().for_each(|&link| room[link as usize] += moved);
                        paths.links(short as usize).iter().for_each(|&link| room[link as usize] -= moved);
                    }
                    links.iter().for_each(|&link| is_left[link as usize] = false);
                }
            }
        }
        if !has_moved {
            break;
        }
    }
    Ok(Some(rates))
}

#[cfg(test)]
mod tests {
    use crate::all_paths::{NetworkPaths, OverAllPaths, solve_over_all_paths};
    use crate::solve::{Ask, Status};
    use crate::topology::{Link, Topology};
    use crate::utility::{AlphaFair, Linear, Utilities};

    /// a → d directly with 4; and over b and c with 9, of which a flow from b to c takes as much as it has.
    fn solved(demand: f64, other: f64, utility: impl Into<Utilities>) -> (Vec<Vec<u32>>, Vec<f64>) {
        let names = ["a", "b", "c", "d"].map(String::from).to_vec();
        let links = [(0, 3, 4.0), (0, 1, 9.0), (1, 2, 9.0), (2, 3, 9.0)];
        let links = links.map(|(from, to, capacity)| Link { from, to, capacity }).to_vec();
        let net = Topology::new("net", names, 4, vec![0; 4], links).unwrap();
        let all = NetworkPaths::new(&net, &["a", "b"], &["d", "c"]).unwrap();
        let problem = all.problem(&net, utility).unwrap().with_flow_caps(vec![demand, other]).unwrap();
        let OverAllPaths { problem, solution, .. } =
            solve_over_all_paths(&problem, &all, &Ask::default(), &mut ()).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        assert_eq!(solution.loads, problem.loads(&solution.rates).unwrap());
        (problem.paths().iter().map(<[u32]>::to_vec).collect(), solution.rates)
    }

    #[test]
    fn a_link_with_room_has_all() {
        for alpha in [0.0, 0.5, 1.0, 2.0] {
            let utility: Utilities = match alpha {
                0.0 => Linear::new(vec![1.0; 2]).unwrap().into(),
                _ => AlphaFair::new(alpha, vec![1.0; 2]).unwrap().into(),
            };
            // Both fit on their shortest paths; then the first does not.
            let (paths, _) = solved(3.0, 2.0, utility.clone());
            assert_eq!(paths, [vec![0], vec![2]]);
            let (paths, rates) = solved(6.0, 2.0, utility);
            assert_eq!(paths, [vec![0], vec![1, 2, 3], vec![2]]);
            assert!((rates[0] - 4.0).abs() <= 1e-9 * 4.0, "{alpha}: {rates:?}");
            assert!((rates[1] - 2.0).abs() <= 1e-5, "{alpha}: {rates:?}");
        }
    }
}
