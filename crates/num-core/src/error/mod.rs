//! Errors of the input. Every variant names the place; nothing is repaired silently.
//!
//! A run that does not reach its tolerance is no error: it ends with a [`Status`](crate::Status).

mod cause;
mod checks;
mod did_you_mean;

pub use cause::Cause;
pub use checks::{check_capacity, check_length, check_price, check_rate};
pub use did_you_mean::did_you_mean;

/// Bad input, naming the link, path, flow or option that is wrong.
///
/// Nothing has changed when one is returned, but for [`Error::Utility`]: the values of a user-defined utility are only
/// known while a [`Solver`](crate::Solver) iterates.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A capacity that is negative or not a number. Zero is allowed: the link has failed. So is infinity: it has no
    /// limit.
    #[error("link {link} has capacity {value}, expected a number >= 0 (inf for no limit)")]
    Capacity {
        /// Index of the link.
        link: usize,
        /// The capacity that was given.
        value: f64,
    },
    /// A path without links.
    #[error("path {path} is empty, expected at least one link")]
    EmptyPath {
        /// Index of the path.
        path: usize,
    },
    /// A path through a link that does not exist.
    #[error("path {path} names link {link}, {}", expected_below("link", *links))]
    LinkOutOfRange {
        /// Index of the path.
        path: usize,
        /// The link it names.
        link: i64,
        /// How many links there are.
        links: usize,
    },
    /// A path whose links do not follow on each other in the network that it is for.
    #[error("path {path} is no walk of the network: {what}")]
    NoWalk {
        /// Index of the path.
        path: usize,
        /// Two links of it that do not meet, by name.
        what: String,
    },
    /// A path that crosses one link twice.
    #[error("path {path} visits link {link} twice")]
    RepeatedLink {
        /// Index of the path.
        path: usize,
        /// The link it repeats.
        link: usize,
    },
    /// A coefficient that is not finite and > 0: what a path uses of a link per unit of its rate.
    #[error("path {path} has coefficient {value} at link {link}, expected a finite number > 0")]
    Coefficient {
        /// Index of the path.
        path: usize,
        /// The link.
        link: usize,
        /// The coefficient that was given.
        value: f64,
    },
    /// Offsets of a compressed row structure that do not describe one.
    #[error("indptr[{position}] is {value}, expected {expected}")]
    Indptr {
        /// Position in `indptr`.
        position: usize,
        /// The offset found there.
        value: i64,
        /// The right value, in words.
        expected: String,
    },
    /// An array whose length does not fit the others.
    #[error("{what} has {found} entries, expected {expected}, one per {per}")]
    Length {
        /// Name of the array.
        what: String,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
        /// What its entries stand for.
        per: &'static str,
    },
    /// A flow number that leaves a flow without paths, or is out of range.
    #[error("group has no path for flow {flow}, expected at least one for every flow up to {}", flows - 1)]
    GroupGap {
        /// The flow without a path.
        flow: usize,
        /// How many flows the group numbers imply.
        flows: usize,
    },
    /// A flow number that is negative or has no path.
    #[error("group[{path}] is {value}, expected a flow number >= 0 and below the number of paths")]
    Group {
        /// Index of the path.
        path: usize,
        /// The flow number that was given.
        value: i64,
    },
    /// A rate cap that is negative or not a number. Infinity means none.
    #[error("path {path} has rate cap {value}, expected a number >= 0 (inf for none)")]
    RateCap {
        /// Index of the path.
        path: usize,
        /// The cap that was given.
        value: f64,
    },
    /// A flow cap that is negative or not a number. Infinity means none.
    #[error("flow {flow} has flow cap {value}, expected a number >= 0 (inf for none)")]
    FlowCap {
        /// Index of the flow.
        flow: usize,
        /// The cap that was given.
        value: f64,
    },
    /// A flow floor that is negative, not finite, or above the flow's cap.
    #[error("flow {flow} has flow floor {value}, expected {}", expected_floor(*cap))]
    FlowFloor {
        /// Index of the flow.
        flow: usize,
        /// The floor that was given.
        value: f64,
        /// The flow's cap.
        cap: f64,
    },
    /// A flow floor for which a link has no room beside other floors.
    #[error("flow {flow} has flow floor {floor}, which link {link} cannot keep: {}", no_room(*floors, *capacity))]
    FloorDoesNotFit {
        /// Index of the flow.
        flow: usize,
        /// The floor that was given.
        floor: f64,
        /// The link.
        link: usize,
        /// What all floors would use of the link.
        floors: f64,
        /// What rates may fill of it.
        capacity: f64,
    },
    /// Floors that do not fit, where there is no solution to say so.
    #[error("the floors do not fit: {} of each does; solve(problem) has the proof", below_one(*fraction))]
    FloorsDoNotFit {
        /// The largest part of all floors that fits at once.
        fraction: f64,
    },
    /// A cost of a path or a link that is negative or not finite.
    #[error("{per} {number} has cost {value}, expected a finite number >= 0")]
    Cost {
        /// `path` or `link`.
        per: &'static str,
        /// Its index.
        number: usize,
        /// The cost that was given.
        value: f64,
    },
    /// A priority that is not finite.
    #[error("flow {flow} has priority {value}, expected a finite number")]
    Priority {
        /// Index of the flow.
        flow: usize,
        /// The priority that was given.
        value: f64,
    },
    /// A linear utility of weight 0 of a flow that need not have any rate.
    #[error("flow {flow} has weight 0, expected a number > 0, or a floor (flow_floor) or a demand (flow_cap) of it")]
    Worthless {
        /// Index of the flow.
        flow: usize,
    },
    /// A flow that may have any rate.
    #[error("flow {flow} has no limit, expected a link of finite capacity on every path of it, a cap or a saturation")]
    Unlimited {
        /// Index of the flow.
        flow: usize,
    },
    /// A flow without a demand, where the demands are to be carried.
    #[error("flow {flow} has no demand, expected a finite flow cap of every flow, as with_flow_caps sets them")]
    NoDemand {
        /// Index of the flow.
        flow: usize,
    },
    /// A demand that the caps of the flow's open paths do not let through.
    #[error("flow {flow} has demand {demand}, expected at most {caps}, the sum of the caps of its open paths")]
    DemandAboveCaps {
        /// Index of the flow.
        flow: usize,
        /// Its demand.
        demand: f64,
        /// The sum of the caps of its open paths.
        caps: f64,
    },
    /// A utility parameter out of its range.
    #[error("flow {flow} has {name} {value}, expected {expected}")]
    Parameter {
        /// Index of the flow (0 for a parameter that is one number for all flows).
        flow: usize,
        /// Name of the parameter.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// The range it must lie in.
        expected: &'static str,
    },
    /// A bandwidth function that is none.
    #[error("flow {flow} has a bandwidth function whose {what}, expected {expected}")]
    BandwidthFunction {
        /// Index of the flow.
        flow: usize,
        /// The error, with the place.
        what: String,
        /// The right value, in words.
        expected: &'static str,
    },
    /// Plain data of a utility that lacks a field.
    #[error("flow {flow} of kind {kind:?} has no {name:?}")]
    MissingField {
        /// Index of the flow.
        flow: usize,
        /// The kind of its utility.
        kind: String,
        /// The field that it needs.
        name: &'static str,
    },
    /// A utility whose values break the laws that every method relies on.
    #[error("the utility of flow {flow} is broken: {what}")]
    Utility {
        /// Index of the flow.
        flow: usize,
        /// The law, where it breaks, and the numbers.
        what: String,
    },
    /// A price that is negative, infinite or not a number.
    #[error("link {link} has price {value}, expected a finite number >= 0")]
    Price {
        /// Index of the link.
        link: usize,
        /// The price that was given.
        value: f64,
    },
    /// A rate that is negative, infinite or not a number.
    #[error("path {path} has rate {value}, expected a finite number >= 0")]
    Rate {
        /// Index of the path.
        path: usize,
        /// The rate that was given.
        value: f64,
    },
    /// A name that does not exist.
    #[error("unknown {kind} {name:?}{nearest}; known: {known}")]
    UnknownName {
        /// The kind of thing: a method, a kind of utility, a normalizer, a policy, a routing, sizes.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// `, did you mean …?`, or nothing.
        nearest: String,
        /// The names that exist.
        known: String,
    },
    /// An option that a method, a policy or a routing does not have.
    #[error("{of} has no option {name:?}{nearest}; known options: {known}")]
    UnknownOption {
        /// Whose option: `method "ned"`.
        of: String,
        /// The option that was given.
        name: String,
        /// `, did you mean …?`, or nothing.
        nearest: String,
        /// The names that exist.
        known: String,
    },
    /// An option that the method which `auto` chose does not have.
    #[error(
        "\"auto\" chose {method:?}, which has no option {name:?}{nearest}; known options: {known}; \
         name the method that an option is for"
    )]
    OptionOfAuto {
        /// The method that was chosen.
        method: &'static str,
        /// The option that was given.
        name: String,
        /// `, did you mean …?`, or nothing.
        nearest: String,
        /// The names that exist.
        known: String,
    },
    /// An option of a policy or a routing with a value that it cannot have.
    #[error("option {option:?} of {of} is {value}, expected {expected}")]
    Option {
        /// Whose option: `policy "edf"`.
        of: String,
        /// The option; a part of it follows after a dot.
        option: String,
        /// The value.
        value: String,
        /// The form that is expected.
        expected: String,
    },
    /// A setting, or an option of a method, out of its range.
    #[error("{name} is {value}, expected {expected}")]
    Setting {
        /// Name of the setting.
        name: String,
        /// The value that was given.
        value: String,
        /// The right value, in words.
        expected: String,
    },
    /// A problem that a method cannot take.
    #[error("method {method:?} cannot take {what}; {instead}")]
    Unsupported {
        /// The method.
        method: String,
        /// The part of the problem that the method cannot take.
        what: String,
        /// Which method can.
        instead: &'static str,
    },
    /// A problem that a call cannot take, whatever the method.
    #[error("{who} cannot take {what}; {instead}")]
    CannotTake {
        /// The call.
        who: &'static str,
        /// The part of the problem that it cannot take.
        what: &'static str,
        /// Which call can.
        instead: &'static str,
    },
    /// What a problem over all paths of a network cannot have.
    #[error("a problem over all paths of a network takes no {what}: {instead}")]
    OverAllPaths {
        /// The part of the problem.
        what: &'static str,
        /// What to give in its place.
        instead: &'static str,
    },
    /// A solution, a problem or a parameter without derivatives.
    #[error("no sensitivity of {what}; {instead}")]
    NoSensitivity {
        /// The thing that has no derivatives.
        what: String,
        /// A remedy, or the reason.
        instead: &'static str,
    },
    /// A derivative where the optimum has none.
    #[error("the optimum is not differentiable here: {what}")]
    NotDifferentiable {
        /// The links, paths or flows, and why.
        what: String,
    },
    /// A problem, or a solution, of other paths than those of the problem that it is to change or to start.
    #[error("{name} does not fit the problem: {what}")]
    OtherPaths {
        /// The argument: `start` or `update`.
        name: &'static str,
        /// What differs.
        what: String,
    },
    /// A link that does not exist.
    #[error("there is no link {link}, {}", expected_below("link", *links))]
    UnknownLink {
        /// The link that was named.
        link: i64,
        /// How many links there are.
        links: usize,
    },
    /// A path that does not exist.
    #[error("there is no path {path}, {}", expected_below("path", *paths))]
    UnknownPath {
        /// The path that was named.
        path: i64,
        /// How many paths there are.
        paths: usize,
    },
    /// A path that was given as the cheapest of a flow, and is none.
    #[error("the cheapest path of flow {flow} is wrong: {what}")]
    CheapestPath {
        /// Index of the flow.
        flow: usize,
        /// What is wrong.
        what: String,
    },
    /// A link that is given two values at once.
    #[error("link {link} is named twice, expected every link once")]
    LinkTwice {
        /// Index of the link.
        link: usize,
    },
    /// A flow that is named twice at once.
    #[error("flow {id} is named twice, expected every flow once")]
    FlowTwice {
        /// Its id.
        id: String,
    },
    /// A flow that has ended, or that never was one of this engine's.
    #[error("there is no flow {id}: it has ended, or belongs elsewhere")]
    UnknownFlow {
        /// Its id.
        id: String,
    },
    /// Text that is not the state of an allocator, or not one that can be.
    #[error("not a snapshot: {0}")]
    Snapshot(String),
    /// Two ends that no path can join, or a network that cannot be built.
    #[error("{0}")]
    Topology(String),
    /// More of something than memory holds.
    #[error("no memory for {what}, {bytes} bytes")]
    Memory {
        /// The things that are too many, with their number.
        what: String,
        /// Their size.
        bytes: u128,
    },
    /// A rank that could not go on with a call of all ranks.
    #[error("rank {rank} has failed: {what}")]
    RankFailed {
        /// Its number.
        rank: usize,
        /// Its error.
        what: String,
    },
    /// Ranks that were given different things where all need the same.
    #[error("the ranks differ: {}{what}", .link.map(|link| format!("link {link} has ")).unwrap_or_default())]
    RanksDiffer {
        /// The link that has it, where it is of a link.
        link: Option<usize>,
        /// What differs, on which ranks.
        what: String,
    },
    /// Work that a [`StopToken`](crate::StopToken) stopped before it had anything to return.
    #[error("stopped before there was an answer")]
    Stopped,
    /// Text that is not a problem in JSON.
    #[error("not a problem in JSON: {0}")]
    Json(#[source] Cause),
    /// A problem that cannot be written, because a utility exists only as code.
    #[error("not a problem in JSON: the utility of flow {flow} is code and cannot be written")]
    UtilityIsCode {
        /// Index of the first such flow.
        flow: usize,
    },
    /// Threads that the system did not start.
    #[error("threads is {threads}, expected as many as the system can start ({source})")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// The system's refusal.
        source: Cause,
    },
}

/// What a floor may be, in words.
fn expected_floor(cap: f64) -> String {
    let most = if cap.is_finite() { format!(", at most its cap of {cap}") } else { String::new() };
    format!("a finite number >= 0{most}")
}

/// Why floors do not fit on a link.
fn no_room(floors: f64, capacity: f64) -> String {
    match capacity > 0.0 {
        true => format!("floors there would use {floors}, expected at most {capacity}"),
        false => "it has failed".into(),
    }
}

/// A fraction below 1 to four decimals, or as far below 1 or above 0 as it is: `0.9091`, `1 - 3.2e-7`, `3.2e-9`.
pub fn below_one(fraction: f64) -> String {
    match 1.0 - fraction {
        rest if rest < 5e-5 => format!("1 - {rest:.1e}"),
        _ if 0.0 < fraction && fraction < 5e-4 => format!("{fraction:.1e}"),
        _ => format!("{fraction:.4}"),
    }
}

/// The indices that exist, in words: `expected a link from 0 to 7`.
pub fn expected_below(what: &str, count: usize) -> String {
    match count {
        0 => format!("but there are no {what}s"),
        1 => format!("expected {what} 0, the only one"),
        _ => {
            let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            format!("expected {article} {what} from 0 to {}", count - 1)
        }
    }
}

impl Error {
    /// [`UnknownName`](Self::UnknownName), with the nearest name.
    pub fn unknown_name<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        Self::UnknownName { kind, name: name.into(), nearest: did_you_mean(name, &known), known: known.join(", ") }
    }

    /// [`UnknownOption`](Self::UnknownOption), with the nearest option.
    pub(crate) fn unknown_option<'a>(of: String, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = did_you_mean(name, &known);
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Self::UnknownOption { of, name: name.into(), nearest, known }
    }

    /// [`Option`](Self::Option).
    pub fn option(of: &str, option: &str, value: impl ToString, expected: &str) -> Self {
        let (value, expected) = (value.to_string(), expected.into());
        Self::Option { of: of.into(), option: option.into(), value, expected }
    }

    /// [`Setting`](Self::Setting).
    pub fn setting(name: &str, value: impl ToString, expected: impl ToString) -> Self {
        Self::Setting { name: name.into(), value: value.to_string(), expected: expected.to_string() }
    }

    /// Threads that the system did not start, and why.
    pub fn threads(threads: std::num::NonZeroUsize, refusal: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Threads { threads: threads.get(), source: Cause::new(refusal) }
    }

    /// This error, with the nearest of the caller's settings where an unknown option is near no other: settings and
    /// options are often given side by side.
    pub fn or_setting(mut self, settings: &[&str]) -> Self {
        if let Self::UnknownOption { name, nearest, .. } = &mut self
            && nearest.is_empty()
        {
            *nearest = did_you_mean(name, settings).replace("mean", "mean the setting");
        }
        self
    }

    /// This error, of a method that `auto` has chosen.
    pub(crate) fn of_auto(self, method: &'static str) -> Self {
        match self {
            Self::UnknownOption { name, nearest, known, .. } => Self::OptionOfAuto { method, name, nearest, known },
            error => error,
        }
    }

    /// This error, where no method but those that move prices by a rule may be used.
    pub(crate) fn of_part(self) -> Self {
        match self {
            Self::Unsupported { method, what, .. } => {
                Self::Unsupported { method, what, instead: "solve the whole problem in one process" }
            }
            error => error,
        }
    }

    /// This error about flow `flows[i]`, where it was about flow `i` of one utility.
    pub(crate) fn at_flows(mut self, flows: &[u32]) -> Self {
        if let Self::Parameter { flow, .. } | Self::BandwidthFunction { flow, .. } | Self::MissingField { flow, .. } =
            &mut self
        {
            *flow = flows[*flow] as usize;
        }
        self
    }
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
