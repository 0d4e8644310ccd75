//! Network utility maximization: say what each flow's rate is worth, and find the rates that are worth the most in all.
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
//! | l, c_l | link, capacity | `capacities` |
//! | p, f | path, flow | [`Paths`], `group` |
//! | x_p, y_f | rate of a path, of a flow | `rates`, `flow_rates` |
//! | p_l, q_p | price of a link, of a path | `prices` |
//! | y_l, G_l | load, excess of a link | `loads` |
//! | U_f, w, α | utility, weight, alpha | [`Utility`] |
//!
//! A [`Problem`] is checked when it is made. [`solve()`] or a [`Solver`] improves prices until a [`Certificate`] proves
//! the rates that go with them, and only then says [`Status::Optimal`].
//!
//! ```
//! use netnum_core::{AlphaFair, Paths, Problem, Settings, Status, solve};
//!
//! // A parking lot: one long flow over two links of capacity 1, and a short flow on each.
//! let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
//! let problem = Problem::new(vec![1.0, 1.0], paths, AlphaFair::proportional())?;
//! let solution = solve(&problem, &Settings::default())?;
//! assert_eq!(solution.status, Status::Optimal);
//! assert!((solution.rates[0] - 1.0 / 3.0).abs() < 1e-6);
//! # Ok::<(), netnum_core::Error>(())
//! ```
//!
//! Nothing here starts a thread, prints, or depends on Python.
#![forbid(unsafe_code)]

mod certificate;
mod certify;
pub mod error;
pub mod interrupt;
pub mod interruptible_list;
#[cfg(feature = "ndarray")]
mod matrix;
mod max_min;
pub mod memory;
mod normalize;
pub mod numerics;
mod paths;
mod power_law;
mod presolve;
mod problem;
pub mod solve;
pub mod testing;
pub mod topology;
pub mod utility;

pub use certificate::Certificate;
pub use certify::certify;
pub use error::{Error, Result};
pub use interrupt::StopToken;
pub use max_min::{MaxMin, MaxMinBasis, max_min};
pub use normalize::{FNorm, Fill, Normalizer, UNorm, normalize};
pub use paths::Paths;
pub use power_law::PowerLaw;
pub use problem::Problem;
pub use solve::price::{self, PriceRule};
pub use solve::{METHODS, Progress, Settings, Solution, Solver, Status, Stop, solve};
pub use topology::{Found, KShortest, Link, Topology};
pub use utility::{AlphaFair, BandwidthFunction, Curvature, FairShare, Linear, MinFct, Parameter, Utilities, Utility};

/// The README's program runs as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
