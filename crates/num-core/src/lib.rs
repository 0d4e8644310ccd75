//! Network utility maximization: the rates of flows that maximize the sum of their utilities within link capacities.
//!
//! ```text
//! maximize    Σ_f U_f(y_f)                 one utility per flow
//! subject to  y_f = Σ_{p ∈ f} x_p          a flow's rate is the sum over its paths
//!             Σ_{p ∋ l} x_p ≤ c_l          no link above its capacity
//!             0 ≤ x_p ≤ r_p                optional cap per path
//! ```
//!
//! | symbol | word | in code |
//! |---|---|---|
//! | l, c_l | link, its capacity | `capacities` |
//! | f | flow | `group` |
//! | p | path, as a subscript; p ∈ f: the paths of flow f, l ∈ p: the links of path p | [`Paths`] |
//! | x_p | rate of a path | `rates` |
//! | y_f, y_l | sums of x_p: rate of a flow, load of a link | `flow_rates`, `loads` |
//! | G_l | excess y_l − c_l of a link | |
//! | p_l | price of a link: p with a subscript l, or alone the vector of prices | `prices` |
//! | q_p | price of a path, Σ_{l ∈ p} p_l | |
//! | U_f, w, α | utility, weight, alpha | [`Utility`] |
//!
//! All files use these symbols. Where every flow has one path, both have one letter (s in [`price`]).
//!
//! A [`Problem`] is checked when it is made. [`solve()`] or a [`Solver`] improves prices until a [`Certificate`] proves
//! the rates that go with them, and only then says [`Status::Optimal`].
//!
//! ```
//! use netnum_core::{AlphaFair, Ask, Paths, Problem, Status, solve};
//!
//! // A parking lot: one long flow over two links of capacity 1, and a short flow on each.
//! let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
//! let problem = Problem::new(vec![1.0, 1.0], paths, AlphaFair::proportional())?;
//! let solution = solve(&problem, &Ask::default())?;
//! assert_eq!(solution.status, Status::Optimal);
//! assert!((solution.rates[0] - 1.0 / 3.0).abs() < 1e-6);
//! # Ok::<(), netnum_core::Error>(())
//! ```
//!
//! Nothing here starts a thread, prints, or depends on Python.
#![forbid(unsafe_code)]

mod all_paths;
mod certificate;
mod certify;
mod concurrent_flow;
mod double_double;
mod error;
mod link_ends;
#[cfg(feature = "ndarray")]
mod matrix;
mod max_min;
mod non_finite;
mod normalize;
mod numerics;
mod paths;
mod power_law;
mod presolve;
mod problem;
mod registry;
pub mod sensitivity;
mod solve;
mod tolerances;
mod topology;
mod utility;
mod water_fill;
mod work;

pub use all_paths::{
    CarriedOverAllPaths, Cheaper, CheapestPaths, NetworkPaths, OverAllPaths, concurrent_flow_over_all_paths,
    min_utilization_over_all_paths, solve_over_all_paths,
};
pub use certificate::Certificate;
pub use certify::certify;
pub use concurrent_flow::{MulticommodityFlow, concurrent_flow, min_utilization};
pub use error::{Cause, Error, Result};
pub use max_min::{Cut, MaxMin, max_min};
pub use normalize::*;
pub use paths::Paths;
pub use power_law::PowerLaw;
pub use presolve::{Infeasibility, Presolved};
pub use problem::{Problem, Starving};
pub use registry::{OptionValue, Options};
pub use solve::{
    Ask, Cadence, METHODS, Method, Observer, PriorityClass, Progress, Settings, Solution, Solver, State, Status, Stop,
    solve,
};
pub use topology::{EcmpSplit, KShortest, Link, LinkAttribute, Node, Topology};
pub use utility::families::*;
pub use utility::{Curvature, FairShare, Parameter, ParameterName, Utilities, Utility, utility_laws};
#[cfg(feature = "mpi")]
pub use work::MpiWorld;
pub use work::{AllReduce, Ranks, StopToken, Workers};
use work::{interrupt, interruptible_list};

/// Rules by which the price of a link moves, for [`Ask::by_rule`] and allocators.
pub mod price {
    pub use crate::solve::price::rules::*;
    pub use crate::solve::price::{LinkState, Memory, PriceRule, Sums};
}

/// Items that the other crates of netnum and tests use below the public face. They may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::all_paths::{check_over_all_paths, over_first_paths, solve_with_link_costs};
    pub use crate::error::{
        below_one, check_capacity, check_length, check_price, check_rate, did_you_mean, expected_below,
    };
    pub use crate::link_ends::{LinkEnds, spread};
    pub use crate::max_min::MaxMinBasis;
    pub use crate::solve::price::{
        LARGEST_PRICE, LARGEST_SUM, LinkPrices, Links, PowerDemand, PowerDemands, PricesSnapshot, Reduced, Respond,
        UNLIMITED,
    };
    pub use crate::solve::solve_on;
    pub use crate::utility::{Spec, Units, cancels, inverse};
    pub use crate::work::{Call, for_each, interruptible_list, memory, on_ranks, thread_ranks};

    pub mod cheapest_paths {
        pub use crate::all_paths::cheapest_paths::DEARER;
    }
    pub mod interrupt {
        pub use crate::work::interrupt::{Pacer, Tokens, check};
    }
    pub mod numerics {
        pub use crate::numerics::{exp, ln, vectorized};
    }
    pub mod options {
        pub use crate::registry::options::{Given, defaults, json, options_of, read_form};
    }
    pub mod path_split {
        pub use crate::solve::price::path_split::{AVOIDABLE, FOLLOW, LARGEST_EXPONENT, SMALLEST_SHARE, WHOLE};
    }
    pub mod registry {
        pub use crate::registry::{Entry, OptionInfo, OptionRange, Registry};
    }
}

/// The README's program runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
