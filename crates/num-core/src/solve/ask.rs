//! How a problem is to be solved: the method with its options, where it starts, who works, and when it stops.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Settings;
use super::auto::{AUTO, Auto, FAST_NED};
use super::method::Method;
use super::methods::MethodInfo;
use super::price::{PriceMethod, Rule};
use super::takes::SMOOTH;
use crate::error::{Error, Result};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::work::{Ranks, Workers};

/// How a problem is to be solved. By default: the best method for it from its own first prices, on the calling thread,
/// to the default [`Settings`].
///
/// ```
/// use netnum_core::{AlphaFair, Ask, Paths, Problem, Settings, solve};
///
/// let problem = Problem::new(vec![10.0], Paths::from_lists([[0], [0]]), AlphaFair::new(1.0, vec![1.0, 3.0])?)?;
/// let ask = Ask::by("ned").with_option("gamma", 0.5).with_settings(Settings::default().with_tol(1e-9));
/// assert!((solve(&problem, &ask)?.rates[0] - 2.5).abs() < 1e-6);
/// # Ok::<(), netnum_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Ask {
    pub(super) by: By,
    pub(super) start: Start,
    pub(crate) workers: Arc<dyn Workers>,
    /// By path; empty where any best split will do.
    pub(crate) tie_costs: Vec<f64>,
    /// Whether rates are found more exactly than the settings have it, where that is near.
    pub(super) is_exact: bool,
    pub(crate) settings: Settings,
}

/// The method.
#[derive(Clone)]
pub(super) enum By {
    Name(String, BTreeMap<String, f64>),
    Rule(&'static str, Arc<dyn Fn() -> Rule + Send + Sync>),
    Method(&'static str, Arc<MakeMethod>),
}

/// Makes a user-defined method for a problem in natural units.
type MakeMethod = dyn Fn(&Presolved) -> Result<Box<dyn Method>> + Send + Sync;

/// Makes the method that was chosen.
pub(super) type MakeChosen<'a> = Box<dyn FnOnce(&Arc<Presolved>) -> Result<Box<dyn Method>> + 'a>;

/// Where a solve starts, in the caller's units.
#[derive(Debug, Clone)]
pub(super) enum Start {
    /// At the method's own first prices.
    Cold,
    /// At prices, one per link.
    Prices(Vec<f64>),
    /// At prices and rates of all paths.
    Point(Vec<f64>, Vec<f64>),
}

impl Default for Ask {
    fn default() -> Self {
        Self::by(AUTO)
    }
}

impl From<Settings> for Ask {
    fn from(settings: Settings) -> Self {
        Self::default().with_settings(settings)
    }
}

impl Ask {
    /// By the name of a method, or `auto`. A solve by another name is an error that lists those that there are.
    pub fn by(method: &str) -> Self {
        Self::of(By::Name(method.into(), BTreeMap::new()))
    }

    /// By a price rule, of the library or user-defined, on single-path, strictly concave problems. `make` makes one in
    /// its first state.
    pub fn by_rule<R: Into<Rule>>(name: &'static str, make: impl Fn() -> R + Send + Sync + 'static) -> Self {
        Self::of(By::Rule(name, Arc::new(move || make().into())))
    }

    /// By a user-defined [`Method`], which `make` makes for a problem in natural units.
    ///
    /// ```
    /// use netnum_core::{AlphaFair, Ask, Method, Paths, Presolved, Problem, Result, State, Status, solve};
    ///
    /// /// p ← p (load/c)^½, link by link.
    /// struct Multiplicative;
    ///
    /// impl Method for Multiplicative {
    ///     fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
    ///         state.rates = problem.path_demands(&state.prices)?;
    ///         Ok(f64::MAX)
    ///     }
    ///     fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
    ///         let loads = problem.loads(&state.rates);
    ///         for (price, (load, capacity)) in state.prices.iter_mut().zip(loads.iter().zip(problem.capacities())) {
    ///             *price *= (load / capacity).sqrt();
    ///         }
    ///         state.rates = problem.path_demands(&state.prices)?;
    ///         Ok(f64::MAX)
    ///     }
    /// }
    ///
    /// let paths = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
    /// let problem = Problem::new(vec![1.0, 2.0], paths, AlphaFair::proportional())?;
    /// let solution = solve(&problem, &Ask::by_method("multiplicative", |_| Ok(Box::new(Multiplicative))))?;
    /// assert_eq!((solution.status, &*solution.method), (Status::Optimal, "multiplicative"));
    /// # Ok::<(), netnum_core::Error>(())
    /// ```
    pub fn by_method(
        name: &'static str,
        make: impl Fn(&Presolved) -> Result<Box<dyn Method>> + Send + Sync + 'static,
    ) -> Self {
        Self::of(By::Method(name, Arc::new(make)))
    }

    fn of(by: By) -> Self {
        let workers = Arc::new(Ranks::alone());
        Self { by, start: Start::Cold, workers, tie_costs: Vec::new(), is_exact: false, settings: Settings::default() }
    }

    /// With an option of the method. Nothing for a method that has a name of its own: its maker knows its options.
    pub fn with_option(mut self, name: &str, value: f64) -> Self {
        if let By::Name(_, options) = &mut self.by {
            options.insert(name.into(), value);
        }
        self
    }

    /// With options of the method, by name.
    pub fn with_options(self, options: &BTreeMap<String, f64>) -> Self {
        options.iter().fold(self, |ask, (name, &value)| ask.with_option(name, value))
    }

    /// From given prices, those of a similar problem's solution, say: one per link.
    pub fn with_prices(self, prices: Vec<f64>) -> Self {
        Self { start: Start::Prices(prices), ..self }
    }

    /// From the prices and rates of the solution of a problem on the same paths, whose capacities, caps or utilities
    /// were others. The interior point then takes a fraction of its steps.
    pub fn with_point(self, prices: Vec<f64>, rates: Vec<f64>) -> Self {
        Self { start: Start::Point(prices, rates), ..self }
    }

    /// By these workers: threads of netnum-parallel, or [`Ranks`], of which each has a part of the flows.
    pub fn with_workers(self, workers: Arc<dyn Workers>) -> Self {
        Self { workers, ..self }
    }

    /// Of all splits over several paths that give flows these rates, the one of least Σ k_p x_p, given a cost of every
    /// path: a second stage, for where many splits are best.
    pub fn with_tie_costs(self, tie_costs: Vec<f64>) -> Self {
        Self { tie_costs, ..self }
    }

    /// Until this is reached.
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// Takes the method of that name, with the options that are given.
    pub(crate) fn with_method(mut self, method: &str) -> Self {
        if let By::Name(name, _) = &mut self.by {
            *name = method.into();
        }
        self
    }

    /// The prices to start from, if any are given.
    pub(crate) fn start_prices(&self) -> Option<&[f64]> {
        match &self.start {
            Start::Cold => None,
            Start::Prices(prices) | Start::Point(prices, _) => Some(prices),
        }
    }

    /// The prices and rates to start from, if both are given.
    pub(crate) fn start_point(&self) -> Option<(&[f64], &[f64])> {
        match &self.start {
            Start::Point(prices, rates) => Some((prices, rates)),
            _ => None,
        }
    }

    /// Starts from the method's own first prices.
    pub(crate) fn cold(&self) -> Self {
        Self { start: Start::Cold, ..self.clone() }
    }

    /// The name of the method.
    pub(crate) fn method(&self) -> &str {
        match &self.by {
            By::Name(name, _) => name,
            By::Rule(name, _) | By::Method(name, _) => name,
        }
    }

    /// Whether the method is one of a name, and not the caller's own.
    pub(crate) fn is_by_name(&self) -> bool {
        matches!(self.by, By::Name(..))
    }

    /// Checks that the options are those of a method, which may be the one that `auto` chooses.
    ///
    /// # Errors
    /// Those of [`MethodInfo::of`], [`Error::UnknownOption`], [`Error::OptionOfAuto`] and [`Error::Option`].
    pub(crate) fn check_options(&self, method: &str, problem: &Problem) -> Result<()> {
        let By::Name(_, options) = &self.by else { return Ok(()) };
        let info = MethodInfo::of(method, problem)?;
        let checked = info.check_options(options);
        checked.map_err(|error| if self.is_auto() { error.of_auto(info.name) } else { error })
    }

    /// Whether `auto` chooses the method.
    pub(super) fn is_auto(&self) -> bool {
        matches!(&self.by, By::Name(name, _) if name == AUTO)
    }

    /// The name of the first method, and how it is made of the prepared problem. It can take the problem.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::Unsupported`].
    pub(super) fn choose<'a>(&'a self, problem: &'a Problem) -> Result<(&'static str, MakeChosen<'a>)> {
        let over_ranks = !self.workers.ranks().are_alone();
        Ok(match &self.by {
            By::Rule(name, make) => {
                SMOOTH.check(name, problem)?;
                (name, Box::new(move |presolved| Ok(Box::new(PriceMethod::new(make(), name, presolved)?))))
            }
            By::Method(name, make) => (name, Box::new(move |presolved| make(presolved))),
            By::Name(name, options) => {
                let first = match &**name {
                    AUTO if over_ranks => FAST_NED,
                    AUTO => Auto::first(problem),
                    name => name,
                };
                let of_part = |error: Error| if over_ranks { error.of_part() } else { error };
                let info = MethodInfo::of(first, problem).map_err(of_part)?;
                if over_ranks && info.rule().is_none() {
                    let (method, what) = (info.name.into(), "a part of a problem".into());
                    let instead = "use \"fast-ned\", which moves prices by a rule";
                    return Err(Error::Unsupported { method, what, instead });
                }
                let of_auto = move |error: Error| if self.is_auto() { error.of_auto(info.name) } else { error };
                (info.name, Box::new(move |presolved| info.make(options, problem, presolved).map_err(of_auto)))
            }
        })
    }

    /// Checks that all ranks ask for the same.
    ///
    /// # Errors
    /// [`Error::RanksDiffer`], and those of [`Ranks`].
    pub(super) fn check_same(&self) -> Result<()> {
        let ranks = self.workers.ranks();
        if ranks.are_alone() {
            return Ok(());
        }
        let none = BTreeMap::new();
        let (method, options) = match &self.by {
            By::Name(name, options) => (&**name, options),
            By::Rule(name, _) | By::Method(name, _) => (*name, &none),
        };
        let method = if method == AUTO { FAST_NED } else { method };
        let prices = match &self.start {
            Start::Cold => &[][..],
            Start::Prices(prices) | Start::Point(prices, _) => prices,
        };
        let Settings { tol, stop, max_iterations, time_limit, trace } = self.settings;
        ranks.check_same(&[
            format!("the method is {method:?}"),
            format!("tol is {tol:e}"),
            format!("stop is {:?}", stop.name()),
            format!("max_iterations is {max_iterations}"),
            match time_limit {
                Some(limit) => format!("the time limit is {} s", limit.as_secs_f64()),
                None => "there is no time limit".into(),
            },
            if trace { "there is a trace" } else { "there is no trace" }.into(),
            format!("{} prices are given to start from", prices.len()),
            format!("{} options of the method are given", options.len()),
        ])?;
        // Names first: a value has a meaning only with a known one.
        let names: Vec<String> = options.keys().map(|name| format!("option {name:?} is given")).collect();
        ranks.check_same(&names)?;
        let values: Vec<String> = options.iter().map(|(name, value)| format!("option {name:?} is {value}")).collect();
        ranks.check_same(&values)?;
        ranks.check_same_links(prices, "first price")
    }
}

impl fmt::Debug for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name, options) => write!(f, "{name:?} {options:?}"),
            Self::Rule(name, _) | Self::Method(name, _) => write!(f, "{name:?}"),
        }
    }
}
