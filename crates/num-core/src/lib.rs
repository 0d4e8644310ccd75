//! Network utility maximization.
#![forbid(unsafe_code)]

mod certificate;
mod error;
mod normalize;
mod paths;
mod presolve;
mod problem;
pub mod solve;
pub mod utility;

pub use certificate::{Certificate, certify};
pub use error::{Error, Result};
pub use normalize::{FNorm, Normalizer, UNorm, normalize};
pub use paths::Paths;
pub use problem::Problem;
pub use solve::{METHODS, PriceRule, Progress, Settings, Solution, Solver, Status, Stop, solve};
pub use utility::{AlphaFair, BandwidthFunction, Curvature, Linear, MinFct, Parameter, Utilities, Utility};
