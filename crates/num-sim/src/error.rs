//! Errors of a simulation's input. Every variant names the place; nothing is repaired silently.

use netnum_core::internal::options::Given;

/// Bad input, naming the flow, point, line, policy or setting. Nothing has been simulated when one is returned, except
/// for [`Error::Policy`], [`Error::Routing`], [`Error::ClosedLoop`] and [`Error::StandsStill`], whose causes arise
/// during the run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core, about a network, a setting or a problem.
    #[error(transparent)]
    Core(#[from] netnum_core::Error),
    /// A flow with a number out of its range.
    #[error("flow {flow} has {what} {value}, expected {expected}")]
    Flow {
        /// Number of the flow.
        flow: usize,
        /// The name of the number.
        what: &'static str,
        /// The number.
        value: f64,
        /// Its range.
        expected: String,
    },
    /// A trace that goes back in time.
    #[error(
        "flow {flow} arrives at {time}, before flow {} at {previous}; expected flows in order of arrival",
        flow - 1
    )]
    Unsorted {
        /// The first flow that is too early.
        flow: usize,
        /// Its arrival.
        time: f64,
        /// The arrival of the flow before it.
        previous: f64,
    },
    /// Flows that wait for each other, so that none of them starts.
    #[error("flows {} wait for each other in a circle, expected flows that can start", listed(flows))]
    Circle {
        /// Each waits for the next one, and the last for the first.
        flows: Vec<usize>,
    },
    /// Points that do not form a distribution of sizes.
    #[error("point {point} of the sizes {what}, expected {expected}")]
    Sizes {
        /// Index of the point.
        point: usize,
        /// The reason.
        what: String,
        /// The form that is expected.
        expected: &'static str,
    },
    /// A share of a path that is negative or not finite.
    #[error("path {path} has share {value}, expected a finite number >= 0")]
    Share {
        /// Index of the path.
        path: usize,
        /// The share.
        value: f64,
    },
    /// Text that does not form a trace.
    #[error("line {line} of the trace {what}")]
    Trace {
        /// Number of the line, from 1.
        line: usize,
        /// The reason.
        what: String,
    },
    /// A rate or a time of a policy that cannot be used.
    #[error("policy {policy:?} {what}")]
    Policy {
        /// Name of the policy.
        policy: String,
        /// The reason, naming the flow.
        what: String,
    },
    /// An answer of a closed loop that cannot be used.
    #[error("the closed loop {what}")]
    ClosedLoop {
        /// The reason.
        what: String,
    },
    /// A clock that stands still: policy, sources, routing and closed loop lead to events at one moment without end.
    #[error("the clock stands still at {time} s: it has hardly advanced in {events} events; the last was {last}")]
    StandsStill {
        /// The time, in seconds.
        time: f64,
        /// The number of events since it last moved noticeably.
        events: u64,
        /// The last of them, naming the flow or the policy.
        last: String,
    },
    /// A route that cannot be used, a missing route, or a route for a slot without a flow.
    #[error("routing {routing:?}: {what}")]
    Routing {
        /// Name of the routing.
        routing: String,
        /// The reason, naming the flow.
        what: String,
    },
}

impl Error {
    /// Whether this is a request to stop, and not a failure.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Self::Core(netnum_core::Error::Stopped))
    }

    /// The error as one of an option, where its setting is one of the options that were given.
    pub(crate) fn about_option(self, given: &Given<'_>) -> Self {
        match self {
            Self::Core(error) => Self::Core(given.about_option(error)),
            error => error,
        }
    }

    pub(crate) fn setting(name: &str, value: impl ToString, expected: &str) -> Self {
        let (name, value, expected) = (name.into(), value.to_string(), expected.into());
        Self::Core(netnum_core::Error::Setting { name, value, expected })
    }

    pub(crate) fn option(of: &str, option: &str, value: impl ToString, expected: &str) -> Self {
        Self::Core(netnum_core::Error::option(of, option, value, expected))
    }
}

/// Refuses a setting that is not a finite number > 0.
pub(crate) fn positive(setting: &str, value: f64) -> Result<()> {
    if_positive(value, |expected| Error::setting(setting, value, expected))
}

/// Refuses an option of a policy or a routing that is not a finite number > 0.
pub(crate) fn positive_option(of: &str, option: &str, value: f64) -> Result<()> {
    if_positive(value, |expected| Error::option(of, option, value, expected))
}

/// The first numbers of a list.
fn listed(flows: &[usize]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<String> = flows.iter().take(SHOWN).map(usize::to_string).collect();
    let more = if flows.len() > SHOWN { format!(", … ({} in all)", flows.len()) } else { String::new() };
    shown.join(", ") + &more
}

fn if_positive(value: f64, error: impl FnOnce(&str) -> Error) -> Result<()> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(error("a finite number > 0")) }
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
