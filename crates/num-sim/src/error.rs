//! Errors of a simulation's input. Every variant names the place; nothing is repaired silently.

use netnum_core::error::did_you_mean;

/// Bad input, naming the flow, point, line, policy or setting. Nothing has been simulated when one is returned, except
/// for [`Error::Policy`], [`Error::Routing`] and [`Error::StandsStill`], whose causes arise during the run.
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
    /// An unknown name.
    #[error("unknown {kind} {name:?}{nearest}; known: {known}")]
    UnknownName {
        /// Its kind: a policy, a routing, sizes.
        kind: &'static str,
        /// The name.
        name: String,
        /// `, did you mean …?`, or nothing.
        nearest: String,
        /// The names that exist.
        known: String,
    },
    /// An option that a policy or a routing does not have.
    #[error("{of} has no option {option:?}{nearest}; known options: {known}")]
    UnknownOption {
        /// The policy or the routing.
        of: String,
        /// The option.
        option: String,
        /// `, did you mean …?`, or nothing.
        nearest: String,
        /// The names that exist.
        known: String,
    },
    /// An option with a value that it cannot have.
    #[error("option {option:?} of {of} is {value}, expected {expected}")]
    Option {
        /// The policy or the routing.
        of: String,
        /// The option; a part of it follows after a dot.
        option: String,
        /// The value.
        value: String,
        /// The form that is expected.
        expected: String,
    },
    /// A rate or a time of a policy that cannot be used.
    #[error("policy {policy:?} {what}")]
    Policy {
        /// Name of the policy.
        policy: String,
        /// The reason, naming the flow.
        what: String,
    },
    /// A clock that stands still: policy, sources and routing lead to events at one moment without end.
    #[error(
        "the clock stands still at {time} s, after {events} events without an arrival or an end; the last was {last}"
    )]
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

    pub(crate) fn setting(name: &str, value: impl ToString, expected: &str) -> Self {
        let (name, value, expected) = (name.into(), value.to_string(), expected.into());
        Self::Core(netnum_core::Error::Setting { name, value, expected })
    }

    pub(crate) fn unknown<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        Self::UnknownName { kind, name: name.into(), nearest: did_you_mean(name, &known), known: known.join(", ") }
    }

    pub(crate) fn option(of: &str, option: &str, value: impl ToString, expected: &str) -> Self {
        let (value, expected) = (value.to_string(), expected.into());
        Self::Option { of: of.into(), option: option.into(), value, expected }
    }

    pub(crate) fn unknown_option<'a>(of: String, option: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = did_you_mean(option, &known);
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Self::UnknownOption { of, option: option.into(), nearest, known }
    }
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
