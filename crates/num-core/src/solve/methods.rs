//! The methods by name, with their options.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::auto::AUTO;
use super::interior_point::InteriorPoint;
use super::max_min::MaxMinMethod;
use super::newton::Newton;
use super::price::{BUILT_IN, MakeRule, PriceMethod, Rule, RuleInfo, RuleSetup, first_alpha, gamma};
use super::takes::{SMOOTH, STRICT, Takes};
use super::xwi::Xwi;
use super::{Method, Settings};
use crate::error::{Error, Result};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::registry::options::Numbers;
use crate::registry::{Entry, OptionInfo, OptionRange, Registry};
use crate::utility::Curvature;

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

const fn method(takes: Takes, make: fn(&Numbers, &Problem, &Presolved) -> Made) -> Make {
    Make { takes, by: By::Method(make) }
}

/// The method that moves prices by a rule.
const fn by_rule(rule: &RuleInfo) -> MethodInfo {
    let make = Make { takes: rule.make.takes, by: By::Rule(rule.make.make) };
    MethodInfo { name: rule.name, summary: rule.summary, options: rule.options, make }
}

/// Every method by name: those that move prices by a rule, then the others. Options are numbers.
#[doc(hidden)]
pub static METHODS: &Registry<Make> = &Registry::new("method", &ALL);

static ALL: [MethodInfo; BUILT_IN.len() + OTHERS.len()] = {
    let mut all = [OTHERS[0]; BUILT_IN.len() + OTHERS.len()];
    let (rules, others) = all.split_at_mut(BUILT_IN.len());
    let mut next = 0;
    while next < rules.len() {
        rules[next] = by_rule(&BUILT_IN[next]);
        next += 1;
    }
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
        make: method(SMOOTH, |options, _, problem| {
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
        make: method(STRICT, |options, _, problem| {
            Ok(Box::new(Xwi::new(["eta", "beta", "heaviest"].map(|name| options[name]), problem)?))
        }),
    },
    MethodInfo {
        name: "interior-point",
        summary: "primal-dual interior point: any utilities and paths, to high accuracy",
        options: Vec::new,
        make: method(
            Takes { curvatures: &[Curvature::Strict, Curvature::Linear], several_paths: true },
            |_, _, problem| InteriorPoint::of_large(problem),
        ),
    },
    MethodInfo {
        name: "max-min",
        summary: "water-filling, over several paths by dual simplex: the max-min fair rates, exactly",
        options: Vec::new,
        make: method(Takes { curvatures: &[Curvature::MaxMin], several_paths: true }, |_, problem, presolved| {
            Ok(Box::new(MaxMinMethod::new(problem, Arc::clone(&presolved.workers))?))
        }),
    },
];

impl MethodInfo {
    /// The method of a name, if it can take the problem.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest known name, [`Error::Unsupported`] naming the method that would do.
    pub(crate) fn of(name: &str, problem: &Problem) -> Result<&'static Self> {
        let method = METHODS
            .find(name)
            .ok_or_else(|| Error::unknown_name(METHODS.kind, name, std::iter::once(AUTO).chain(METHODS.names())))?;
        method.make.takes.check(method.name, problem)?;
        Ok(method)
    }

    /// Checks the options.
    ///
    /// # Errors
    /// Those of [`Registry::numbers`].
    pub(crate) fn check_options(&self, options: &Numbers) -> Result<()> {
        METHODS.numbers(self, options).map(drop).map_err(|error| error.or_setting(&Settings::NAMES))
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
                let setup = RuleSetup { alpha: first_alpha(presolved)?, price_per_rate: units.rate / units.price() };
                let rule = make(&values, &setup);
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

impl Rule {
    /// The rule of a method, by name as its options are, for flows of this α in the caller's units. Rules that suit
    /// every α take no notice of it.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest rule; [`Error::Setting`] for a method that moves no prices by a rule,
    /// or an option out of its range; [`Error::UnknownOption`].
    pub fn by_name(method: &str, options: &BTreeMap<String, f64>, alpha: f64) -> Result<Self> {
        let rule = METHODS.find(method).and_then(|info| Some((info, info.rule()?)));
        let Some((info, make)) = rule else {
            if METHODS.find(method).is_none() && method != AUTO {
                return Err(Error::unknown_name(METHODS.kind, method, BUILT_IN.iter().map(|info| info.name)));
            }
            let names: Vec<String> = BUILT_IN.iter().map(|info| format!("{:?}", info.name)).collect();
            let (last, others) = names.split_last().expect("there are rules");
            let expected = format!("{} or {last}", others.join(", "));
            return Err(Error::Setting { name: "method".into(), value: format!("{method:?}"), expected });
        };
        let setup = RuleSetup { alpha, price_per_rate: 1.0 };
        Ok(make(&METHODS.numbers(info, options)?, &setup))
    }
}
