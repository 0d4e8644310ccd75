//! The methods by name, their options, and what they can take.

use std::sync::Arc;

use super::Settings;
use super::auto::AUTO;
use super::interior_point::InteriorPoint;
use super::max_min::MaxMinMethod;
use super::newton::Newton;
use super::price::{BUILT_IN, PriceMethod, Rule, RuleSetup, first_alpha};
use super::xwi::Xwi;
use crate::error::{Error, Result};
use crate::max_min::Inequality;
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::registry::options::Numbers;
use crate::registry::{Entry, OptionInfo, OptionRange, Registry};
use crate::utility::Curvature;

/// Prices and rates of an iteration, in natural units.
#[derive(Debug, Clone)]
pub struct State {
    /// Price of every link *(iterate)*.
    pub prices: Vec<f64>,
    /// Demand of every path at these prices, not normalized *(derived)*.
    pub rates: Vec<f64>,
}

/// One way of improving prices. The loop around it (limits, observing, certifying, stopping) exists once, in
/// [`Solver`](super::Solver). A method does not say that it is done: the certificate does.
/// [`Ask::by_method`](super::Ask::by_method) has an example.
pub trait Method: Send {
    /// Starts at the prices in `state`, without any memory of earlier steps. Writes their rates to `state`, and returns
    /// an estimate of the relative gap, from which the loop decides when to certify.
    ///
    /// # Errors
    /// [`Error::Stopped`] when a token in force says so. It may be begun again.
    fn start(&mut self, problem: &Presolved, state: &mut State) -> Result<f64>;

    /// As [`start`](Self::start) near the optimum: `state` has the prices and rates of the solution of a similar
    /// problem. Override where the rates are used.
    fn resume(&mut self, problem: &Presolved, state: &mut State) -> Result<f64> {
        self.start(problem, state)
    }

    /// One iteration: new prices and an estimate of the gap. Their rates are in `state` after
    /// [`write_rates`](Self::write_rates).
    ///
    /// # Errors
    /// [`Error::Stopped`] when a token in force says so. The next step goes on from there.
    fn step(&mut self, problem: &Presolved, state: &mut State) -> Result<f64>;

    /// Writes the rates at the present prices to `state`, where steps do not.
    fn write_rates(&mut self, _state: &mut State) {}

    /// Why its rates are max-min fair, where it finds such rates for flows with several paths.
    #[doc(hidden)]
    fn witness(&self) -> &[Inequality] {
        &[]
    }

    /// Whether a step costs more than a certificate. Near the end each step is then certified.
    fn is_expensive(&self) -> bool {
        false
    }

    /// Whether further steps leave the state unchanged.
    fn has_stalled(&self) -> bool {
        false
    }
}

/// A method ready to start, or why it cannot take the problem.
type Made = Result<Box<dyn Method>>;

/// A method's entry in [`METHODS`].
pub(crate) type MethodInfo = Entry<Make>;

/// How a method is made, and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct Make {
    takes: Takes,
    by: By,
}

/// How a method is made from the values of its options.
#[derive(Debug, Clone, Copy)]
enum By {
    Rule(MakeRule),
    Method(fn(&Numbers, &Problem, &Presolved) -> Made),
}

/// Makes a price rule from the values of its options.
pub(super) type MakeRule = fn(&Numbers, &RuleSetup) -> Rule;

impl Make {
    /// A method that moves prices by a rule.
    pub(super) const fn rule(takes: Takes, make: MakeRule) -> Self {
        Self { takes, by: By::Rule(make) }
    }

    const fn method(takes: Takes, make: fn(&Numbers, &Problem, &Presolved) -> Made) -> Self {
        Self { takes, by: By::Method(make) }
    }
}

/// What utilities a method can take, and whether flows may have several paths.
#[derive(Debug, Clone, Copy)]
pub(super) struct Takes {
    curvatures: &'static [Curvature],
    several_paths: bool,
}

/// Flows with one path or several.
pub(super) const STRICT: Takes = Takes { curvatures: &[Curvature::Strict], several_paths: true };

/// Flows with one path: the dual is smooth in the prices.
pub(super) const SMOOTH: Takes = Takes { curvatures: &[Curvature::Strict], several_paths: false };

pub(super) const fn gamma(default: f64, summary: &'static str) -> OptionInfo {
    OptionInfo::number("gamma", default, OptionRange::Positive, summary)
}

pub(super) const DELAY: OptionInfo =
    OptionInfo::number("delay", 0.0, OptionRange::Switch, "1: prices reach flows an iteration late");

/// Every method by name: those that move prices by a rule, then the others. Options are numbers.
pub static METHODS: &Registry<Make> = &Registry::new("method", &ALL);

static ALL: [MethodInfo; BUILT_IN.len() + OTHERS.len()] = {
    let mut all = [OTHERS[0]; BUILT_IN.len() + OTHERS.len()];
    let (rules, others) = all.split_at_mut(BUILT_IN.len());
    rules.copy_from_slice(BUILT_IN);
    others.copy_from_slice(OTHERS);
    all
};

const OTHERS: &[MethodInfo] = &[
    MethodInfo {
        name: "newton",
        summary: "Newton on the dual with the full Hessian, in two metrics and with a line search",
        options: || {
            let plain = "1: as published, without bound set and line search; fragile";
            vec![
                gamma(1.0, "step until a curvature is known"),
                OptionInfo::number("plain", 0.0, OptionRange::Switch, plain),
            ]
        },
        make: Make::method(SMOOTH, |options, _, problem| {
            Ok(Box::new(Newton::new(options["gamma"], options["plain"] == 1.0, problem)?))
        }),
    },
    MethodInfo {
        name: "xwi",
        summary: "xWI of NUMFabric: weights from prices, rates by weighted max-min, prices from residuals",
        options: || {
            let heaviest = "largest weight of a path, relative to its smallest capacity";
            vec![
                OptionInfo::number("eta", 5.0, OptionRange::NotNegative, "price decay of links below capacity"),
                OptionInfo::number("beta", 0.5, OptionRange::Share, "weight of the old price in a step"),
                OptionInfo::number("heaviest", 10.0, OptionRange::Positive, heaviest),
            ]
        },
        make: Make::method(STRICT, |options, _, problem| {
            Ok(Box::new(Xwi::new(["eta", "beta", "heaviest"].map(|name| options[name]), problem)?))
        }),
    },
    MethodInfo {
        name: "interior-point",
        summary: "primal-dual interior point: any utilities and paths, to high accuracy",
        options: Vec::new,
        make: Make::method(
            Takes { curvatures: &[Curvature::Strict, Curvature::Linear], several_paths: true },
            |_, _, problem| Ok(Box::new(InteriorPoint::new(problem)?)),
        ),
    },
    MethodInfo {
        name: "max-min",
        summary: "water-filling, over several paths by dual simplex: the max-min fair rates, exactly",
        options: Vec::new,
        make: Make::method(Takes { curvatures: &[Curvature::MaxMin], several_paths: true }, |_, problem, _| {
            Ok(Box::new(MaxMinMethod::new(problem)?))
        }),
    },
];

impl Takes {
    /// # Errors
    /// [`Error::Unsupported`] naming what the problem has that the method cannot take, and what to use instead.
    pub(super) fn check(&self, method: &str, problem: &Problem) -> Result<()> {
        match self.refusal(problem) {
            Some((what, instead)) => Err(Error::Unsupported { method: method.into(), what: what.into(), instead }),
            None => Ok(()),
        }
    }

    fn refusal(&self, problem: &Problem) -> Option<(&'static str, &'static str)> {
        let curvature = problem.curvature();
        if curvature == Curvature::MaxMin && !problem.has_only(curvature) {
            return Some(("max-min utilities beside others", "give every flow alpha = inf, or none"));
        }
        if !self.curvatures.contains(&curvature) {
            return Some(match curvature {
                Curvature::MaxMin => ("max-min utilities", "use \"max-min\""),
                Curvature::Linear => ("linear utilities", "use \"interior-point\""),
                Curvature::Strict => {
                    ("utilities with a finite alpha", "use max_min(problem) for their limit, or \"interior-point\"")
                }
            });
        }
        let several = !self.several_paths && !problem.is_single_path();
        several.then_some(("flows with several paths", "use \"interior-point\" or \"fast-ned\""))
    }
}

impl MethodInfo {
    /// The method of a name, if it can take the problem.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest known name, [`Error::Unsupported`] naming the method that would do.
    pub(super) fn of(name: &str, problem: &Problem) -> Result<&'static Self> {
        let method = METHODS
            .find(name)
            .ok_or_else(|| Error::unknown_name(METHODS.kind, name, std::iter::once(AUTO).chain(METHODS.names())))?;
        method.make.takes.check(method.name, problem)?;
        Ok(method)
    }

    /// The iteration, with its options checked.
    ///
    /// # Errors
    /// Those of [`Registry::numbers`], and [`Error::Unsupported`] when the method needs more of the utilities than
    /// their curvature.
    pub(super) fn make(&self, options: &Numbers, problem: &Problem, presolved: &Arc<Presolved>) -> Made {
        let values = METHODS.numbers(self, options).map_err(|error| error.or_setting(&Settings::NAMES))?;
        match self.make.by {
            By::Method(make) => make(&values, problem, presolved),
            By::Rule(make) => {
                let units = presolved.units;
                let (alpha, price_per_rate) = (first_alpha(presolved)?, units.rate / units.price());
                let mut rule_setup = RuleSetup::for_alpha(alpha);
                rule_setup.price_per_rate = price_per_rate;
                let rule = make(&values, &rule_setup);
                Ok(Box::new(PriceMethod::new(rule, self.name, presolved)?))
            }
        }
    }

    /// How its price rule is made, where it has one.
    pub(super) fn rule(&self) -> Option<MakeRule> {
        match self.make.by {
            By::Rule(make) => Some(make),
            By::Method(_) => None,
        }
    }
}
