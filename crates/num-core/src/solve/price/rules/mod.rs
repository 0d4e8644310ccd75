//! The price rules of the library: a file each, and a line in the list below.

mod by_name;
mod delayed;
mod fast_ned;
mod fgm;
mod gradient;
mod ned;
mod newton_like;
mod rcp;

use by_name::rules;
pub(in crate::solve) use by_name::{DELAY, MakeRule, RuleInfo, RuleOf, RuleSetup, gamma};
pub(in crate::solve) use delayed::Delayed;
pub use fast_ned::FastNed;
pub use fgm::Fgm;
pub use gradient::Gradient;
pub use ned::Ned;
pub use newton_like::NewtonLike;
pub use rcp::Rcp;

use crate::solve::price::RuleLoops;

rules! {
    FastNed(FastNed),
    Ned(Ned),
    Gradient(Delayed<Gradient>),
    Fgm(Fgm),
    NewtonLike(NewtonLike),
    Rcp(Delayed<Rcp>),
}
