//! NED, the Newton-exact-diagonal method, as published.
//!
//! ```text
//! p_l ← [p_l + γ G_l/H_l]₊          G_l = Σ a_ls x_s − c_l,  H_l = Σ a_ls² |x_s'|
//! ```
//!
//! Newton's method with the Hessian's diagonal only, which is exact because flows report the slope of their demand.
//! Locally stable iff γ < 2/λ with λ the largest eigenvalue of the diagonally scaled Hessian over the priced links.
//! λ grows with the number of priced links on a path, so γ = 1 oscillates for ever on leaf-spines, fat-trees and
//! wide-area networks with α ≤ 2, and k equal links in series fail from γ = 2/k on. The 0.4 of the paper's experiments
//! reaches a gap of 1e−3 almost everywhere and then has a slow tail; [`FastNed`](super::FastNed) has neither problem.
//! Source: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017, algorithm 1.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::registry::OptionRange;
use crate::solve::price::{LinkState, Memory, PriceRule, RuleInfo, RuleOf, gamma};
use crate::solve::takes::SMOOTH;

/// The Newton-exact-diagonal method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ned {
    gamma: f64,
}

impl Ned {
    pub(in crate::solve) const INFO: RuleInfo = RuleInfo {
        name: "ned",
        summary: "Newton with the exact diagonal, as published by Flowtune",
        options: || vec![gamma(0.4, "step")],
        make: RuleOf { takes: SMOOTH, make: |options, _| Self::new(options["gamma"]).into() },
    };

    /// γ > 0.
    pub fn new(gamma: f64) -> Self {
        Self { gamma }
    }
}

impl PriceRule for Ned {
    fn check(&self) -> Result<()> {
        OptionRange::Positive.check("gamma", self.gamma)
    }

    fn depends_on_network(&self) -> bool {
        false
    }

    fn advance(&self, link: &LinkState, _memory: &mut Memory) -> f64 {
        link.price + self.gamma * link.newton_step
    }
}
