//! The optimum over all paths of a network: paths are generated from prices, and the proof is over all of them.
//!
//! ```text
//! round     solve over the paths so far                                             prices p ≥ 0, rates y
//!           d_f(p) = cost of the cheapest path of the whole network, for every flow f
//!           D(p) = c·p + Σ_f max { U_f(y) − y d_f(p) : m_f ≤ y ≤ r_f } ≥ the optimum over all paths
//!           stop where D(p) − Σ U_f(y_f) is small on the scale of the certificate, and so is the KKT residual
//!           add the cheapest path of every flow for which it is cheaper than all that it has
//! ```
//!
//! This is column generation. The prices of an interior point are those of a centre, and few rounds are needed; those
//! of a vertex would swing. The bound r_f is the flow's cap, and the capacities out of its source and into its
//! destination: without it D would be infinite where a path is free.
//!
//! The certificate over all paths is that of the problem with the cheapest path of every flow among its paths
//! (`crate::certificate`). A flow may carry more over other paths than over those it has there: `Problem::with_reaches`
//! says how much, so that the bound holds. So the gap and the residual are defined in one place, and the paths that a
//! round adds are those that its certificate was about.
//!
//! Floats hold no difference of paths that matters to a flow which pays 10¹² times less than another: before the rounds
//! end, the cheapest paths of those that pay most are searched for once more, in whole numbers.
//!
//! | file | contents |
//! |---|---|
//! | `cheapest_paths.rs` | the trait [`CheapestPaths`]: prices in, cheapest paths out |
//! | `network_paths.rs` | all paths of a network, under limits |
//! | `graph.rs`, `search.rs` | the network as it is searched; Dijkstra, and Bellman and Ford |
//! | `first_paths.rs` | a few paths per flow to begin with |
//! | `dual_descent.rs` | those where demands follow prices |
//! | `again.rs` | or those of an answer, to go on from |
//! | `rounds.rs` | the loop of rounds |
//! | `shorter.rs` | the same rates over shorter paths where these have room |
//! | `few_paths.rs`, `vertex.rs` | the same rates over few paths |
//! | `cuts.rs` | max-min: the paths that are missing under its cuts |
//! | `floors.rs` | the paths that are missing for floors |
//! | `demands.rs` | the largest fraction of all demands, and the least utilization |
//! | `missing.rs` | the paths that are missing at some prices, and what they say about the gap |
//!
//! Source: Ford and Fulkerson, *A suggested computation for maximal multi-commodity network flows*, Management Science
//! 1958; for prices of a centre Gondzio, González-Brevis and Munari, *New developments in the primal-dual column
//! generation technique*, EJOR 2013.

mod again;
pub(crate) mod cheapest_paths;
mod cuts;
mod demands;
mod dual_descent;
mod few_paths;
mod first_paths;
mod floors;
mod graph;
mod missing;
mod network_paths;
mod rounds;
mod search;
mod shorter;
mod vertex;

pub use cheapest_paths::{Cheaper, CheapestPaths};
pub use demands::{CarriedOverAllPaths, concurrent_flow_over_all_paths, min_utilization_over_all_paths};
pub use network_paths::{NetworkPaths, over_first_paths};
pub use rounds::{OverAllPaths, check_over_all_paths, solve_over_all_paths, solve_with_link_costs};
