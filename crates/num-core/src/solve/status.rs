//! How a solve ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a solve ended. Only [`Optimal`](Self::Optimal) asserts a tolerance, which a certificate met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The certificate met the tolerance.
    Optimal,
    /// More iterations would change nothing: the method is exact and has ended, or rounding stops it. The solution
    /// is the best one certified.
    Stalled,
    /// The iterations ran out first; the solution is the best one certified, and what it left idle is filled.
    MaxIterations,
    /// The time ran out first; the solution is the best one certified, and what it left idle is filled.
    TimeLimit,
    /// The observer stopped it; the solution is the best one certified, and what it left idle is filled.
    Stopped,
    /// The best over fewer paths than its certificate is over, those that a limit per flow allows
    /// ([`over_few_paths`](crate::OverAllPaths::over_few_paths)): over these paths the rates are proven optimal, and
    /// the certificate has their distance to the optimum over all.
    FewerPaths,
    /// The floors do not fit: the solution has the proof, and rates that carry the largest part of all floors.
    Infeasible,
}

impl Status {
    /// The name that Python and files use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Stalled => "stalled",
            Self::MaxIterations => "max_iterations",
            Self::TimeLimit => "time_limit",
            Self::Stopped => "stopped",
            Self::FewerPaths => "fewer_paths",
            Self::Infeasible => "infeasible",
        }
    }

    /// The status of that name.
    pub fn named(name: &str) -> Option<Self> {
        let ended = [Self::Optimal, Self::Stalled, Self::MaxIterations, Self::TimeLimit, Self::Stopped];
        ended.into_iter().chain([Self::FewerPaths, Self::Infeasible]).find(|status| status.name() == name)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
