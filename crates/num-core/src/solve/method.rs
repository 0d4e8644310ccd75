//! The methods by name, their options, and what they can take.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Settings;
use super::auto::AUTO;
use super::interior_point::InteriorPoint;
use super::max_min::MaxMinMethod;
use super::newton::Newton;
use super::price::{BUILT_IN, PriceMethod, Rule, RuleSetup, first_alpha};
use super::xwi::Xwi;
use crate::error::{Error, Result, did_you_mean};
use crate::max_min::Inequality;
use crate::presolve::Presolved;
use crate::problem::Problem;
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
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MethodInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    pub(super) takes: Takes,
    pub(super) make: Make,
}

/// How a method is made from the values of its options.
#[derive(Debug, Clone, Copy)]
pub(super) enum Make {
    Rule(fn(&[f64], &RuleSetup) -> Rule),
    Method(fn(&[f64], &Problem, &Presolved) -> Made),
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

/// An option of a method: a number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// The value it has unless given.
    pub default: f64,
    /// The values it may have.
    pub range: OptionRange,
    /// What it does, in one line.
    pub summary: &'static str,
}

/// The values that an option may have, all finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionRange {
    /// Greater than 0.
    Positive,
    /// 0 or greater.
    NotNegative,
    /// From 0 to 1, 1 excluded.
    Share,
    /// 0 or 1.
    Switch,
}

impl OptionRange {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::NotNegative => value >= 0.0 && value.is_finite(),
            Self::Share => (0.0..1.0).contains(&value),
            Self::Switch => value == 0.0 || value == 1.0,
        }
    }

    /// # Errors
    /// [`Error::Setting`] with this name for a value out of the range.
    pub(super) fn check(self, name: &str, value: f64) -> Result<()> {
        if self.holds(value) {
            return Ok(());
        }
        Err(Error::Setting { name: name.into(), value: value.to_string(), expected: self.to_string() })
    }
}

impl fmt::Display for OptionRange {
    /// `a finite number > 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Positive => "a finite number > 0",
            Self::NotNegative => "a finite number >= 0",
            Self::Share => "a number >= 0 and < 1",
            Self::Switch => "0 or 1",
        })
    }
}

pub(super) const fn gamma(default: f64, summary: &'static str) -> OptionInfo {
    OptionInfo { name: "gamma", default, range: OptionRange::Positive, summary }
}

pub(super) const DELAY: OptionInfo = OptionInfo {
    name: "delay",
    default: 0.0,
    range: OptionRange::Switch,
    summary: "1: prices reach flows an iteration late",
};

/// Every method by name, the one to use first: those that move prices by a rule, then the others.
pub static METHODS: &[MethodInfo] = &ALL;

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
        options: &[
            gamma(1.0, "step until a curvature is known"),
            OptionInfo {
                name: "plain",
                default: 0.0,
                range: OptionRange::Switch,
                summary: "1: as published, without bound set and line search; fragile",
            },
        ],
        takes: SMOOTH,
        make: Make::Method(|options, _, problem| Ok(Box::new(Newton::new(options[0], options[1] == 1.0, problem)?))),
    },
    MethodInfo {
        name: "xwi",
        summary: "xWI of NUMFabric: weights from prices, rates by weighted max-min, prices from residuals",
        options: &[
            OptionInfo {
                name: "eta",
                default: 5.0,
                range: OptionRange::NotNegative,
                summary: "price decay of links below capacity",
            },
            OptionInfo {
                name: "beta",
                default: 0.5,
                range: OptionRange::Share,
                summary: "weight of the old price in a step",
            },
            OptionInfo {
                name: "heaviest",
                default: 10.0,
                range: OptionRange::Positive,
                summary: "largest weight of a path, relative to its smallest capacity",
            },
        ],
        takes: STRICT,
        make: Make::Method(|options, _, problem| {
            Ok(Box::new(Xwi::new([options[0], options[1], options[2]], problem)?))
        }),
    },
    MethodInfo {
        name: "interior-point",
        summary: "primal-dual interior point: any utilities and paths, to high accuracy",
        options: &[],
        takes: Takes { curvatures: &[Curvature::Strict, Curvature::Linear], several_paths: true },
        make: Make::Method(|_, _, problem| Ok(Box::new(InteriorPoint::new(problem)?))),
    },
    MethodInfo {
        name: "max-min",
        summary: "water-filling, over several paths by dual simplex: the max-min fair rates, exactly",
        options: &[],
        takes: Takes { curvatures: &[Curvature::MaxMin], several_paths: true },
        make: Make::Method(|_, problem, _| Ok(Box::new(MaxMinMethod::new(problem)?))),
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

/// The method of a name.
pub(super) fn find(name: &str) -> Option<&'static MethodInfo> {
    METHODS.iter().find(|method| method.name == name)
}

impl MethodInfo {
    /// The method of a name, if it can take the problem.
    ///
    /// # Errors
    /// [`Error::UnknownMethod`] with the nearest known name, [`Error::Unsupported`] naming the method that would do.
    pub(super) fn of(name: &str, problem: &Problem) -> Result<&'static Self> {
        let Some(method) = find(name) else {
            let known: Vec<&str> = std::iter::once(AUTO).chain(METHODS.iter().map(|method| method.name)).collect();
            let (nearest, known) = (did_you_mean(name, &known), known.join(", "));
            return Err(Error::UnknownMethod { name: name.into(), nearest, known });
        };
        method.takes.check(method.name, problem)?;
        Ok(method)
    }

    /// The iteration, with its options checked.
    ///
    /// # Errors
    /// Those of [`values`](Self::values), and [`Error::Unsupported`] when the method needs more of the utilities than
    /// their curvature.
    pub(super) fn make(
        &'static self,
        options: &BTreeMap<String, f64>,
        problem: &Problem,
        presolved: &Arc<Presolved>,
    ) -> Made {
        let values = self.values(options).map_err(|error| error.or_setting(&Settings::NAMES))?;
        match self.make {
            Make::Method(make) => make(&values, problem, presolved),
            Make::Rule(make) => {
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
    pub(super) fn rule(&self) -> Option<fn(&[f64], &RuleSetup) -> Rule> {
        match self.make {
            Make::Rule(make) => Some(make),
            Make::Method(_) => None,
        }
    }

    /// The value of every option of [`options`](Self::options), in their order: as given by name, or by default.
    ///
    /// # Errors
    /// [`Error::UnknownOption`] with the known ones, [`Error::Setting`] for a value out of the option's range.
    pub fn values(&'static self, options: &BTreeMap<String, f64>) -> Result<Vec<f64>> {
        for (name, &value) in options {
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(self.unknown_option(name));
            };
            option.range.check(name, value)?;
        }
        let value = |option: &OptionInfo| options.get(option.name).copied().unwrap_or(option.default);
        Ok(self.options.iter().map(value).collect())
    }

    fn unknown_option(&self, name: &str) -> Error {
        let known: Vec<&str> = self.options.iter().map(|option| option.name).collect();
        let nearest = did_you_mean(name, &known);
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Error::UnknownOption { method: self.name, name: name.into(), nearest, known }
    }
}
