//! The methods by name, their options, and what they can take.

use std::collections::BTreeMap;

use super::Settings;
use super::interior_point::InteriorPoint;
use super::price::{FastNed, Gradient, Ned, PriceMethod};
use crate::error::{Error, Result};
use crate::presolve::Presolved;
use crate::problem::Problem;
use crate::utility::Curvature;

/// Where an iteration stands, in natural units.
pub(crate) struct State {
    /// Price of every link *(iterate)*.
    pub(crate) prices: Vec<f64>,
    /// Rate that every path asks for at these prices, not normalized *(derived)*.
    pub(crate) rates: Vec<f64>,
}

/// One way of improving prices. The loop around it (limits, observing, certifying, stopping) exists once, in
/// [`Solver`](super::Solver).
pub(crate) trait Method: Send {
    /// Begins at the prices in `state`, forgetting everything before. Leaves there the rates that go with them, and
    /// returns a guess at the relative gap, from which the loop decides when to certify.
    fn start(&mut self, problem: &Presolved, state: &mut State) -> f64;

    /// One iteration: better prices, the rates that go with them, and again a guess at the gap.
    fn step(&mut self, problem: &Presolved, state: &mut State) -> f64;

    /// Whether a step costs more than a certificate, so that each is worth one near the end.
    fn is_dear(&self) -> bool {
        false
    }

    /// Whether more steps would change nothing.
    fn is_stuck(&self) -> bool {
        false
    }
}

/// A method's entry in [`METHODS`].
#[derive(Debug)]
pub struct MethodInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    make: fn(&[f64], &Presolved) -> Box<dyn Method>,
}

/// An option of a method: a finite number > 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// The value it has unless given.
    pub default: f64,
    /// What it does, in one line.
    pub summary: &'static str,
}

const fn gamma(default: f64, summary: &'static str) -> OptionInfo {
    OptionInfo { name: "gamma", default, summary }
}

/// Every method by name, the one to use first.
pub static METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "fast-ned",
        summary: "NED with a majorized diagonal, momentum per link and a slope test",
        options: &[gamma(1.0, "longest step")],
        make: |options, problem| Box::new(PriceMethod::new(FastNed::new(options[0]), problem)),
    },
    MethodInfo {
        name: "ned",
        summary: "Newton with the exact diagonal, as published by Flowtune",
        options: &[gamma(0.4, "step")],
        make: |options, problem| Box::new(PriceMethod::new(Ned::new(options[0]), problem)),
    },
    MethodInfo {
        name: "gradient",
        summary: "dual gradient descent",
        options: &[gamma(1.0, "step, relative to the longest that is safe at the start")],
        make: |options, problem| Box::new(PriceMethod::new(Gradient::new(options[0]), problem)),
    },
    MethodInfo {
        name: "interior-point",
        summary: "primal-dual interior point: every problem, to any accuracy",
        options: &[],
        make: |_, problem| Box::new(InteriorPoint::new(problem)),
    },
];

/// The name that stands for the best method for a problem.
pub(super) const AUTO: &str = "auto";

impl MethodInfo {
    /// The method of a name, `auto` included, if it can take the problem.
    ///
    /// # Errors
    /// [`Error::UnknownMethod`] with the nearest known name, [`Error::Unsupported`] naming the method that would do.
    pub(super) fn of(name: &str, problem: &Problem) -> Result<&'static Self> {
        let wanted = if name == AUTO { METHODS[0].name } else { name };
        let Some(method) = METHODS.iter().find(|method| method.name == wanted) else {
            let known: Vec<&str> = std::iter::once(AUTO).chain(METHODS.iter().map(|method| method.name)).collect();
            let (nearest, known) = (nearest(name, &known), known.join(", "));
            return Err(Error::UnknownMethod { name: name.into(), nearest, known });
        };
        let unsupported =
            |what: &str, instead| Err(Error::Unsupported { method: method.name.into(), what: what.into(), instead });
        match problem.curvature() {
            Curvature::MaxMin => unsupported("max-min utilities", "\"max-min\" will, from a later version on"),
            _ if method.name == "interior-point" => Ok(method),
            Curvature::Linear => unsupported("linear utilities", "\"interior-point\" will, from a later version on"),
            Curvature::Strict if !problem.is_single_path() => {
                unsupported("flows with several paths", "\"interior-point\" will, from a later version on")
            }
            Curvature::Strict => Ok(method),
        }
    }

    /// The iteration, with its options checked.
    ///
    /// # Errors
    /// [`Error::UnknownOption`] with the known ones, [`Error::Setting`] for a value that is not finite and positive.
    pub(super) fn make(&'static self, options: &BTreeMap<String, f64>, problem: &Presolved) -> Result<Box<dyn Method>> {
        let known: Vec<&str> = self.options.iter().map(|option| option.name).collect();
        for (name, &value) in options {
            if !known.contains(&name.as_str()) {
                let of_settings = nearest(name, &Settings::NAMES).replace("mean", "mean the setting");
                let nearest = Some(nearest(name, &known)).filter(|text| !text.is_empty()).unwrap_or(of_settings);
                let known = known.join(", ");
                return Err(Error::UnknownOption { method: self.name, name: name.clone(), nearest, known });
            }
            if !(value.is_finite() && value > 0.0) {
                let expected = "a finite number > 0".into();
                return Err(Error::Setting { name: name.clone(), value: value.to_string(), expected });
            }
        }
        let value = |option: &OptionInfo| options.get(option.name).copied().unwrap_or(option.default);
        Ok((self.make)(&self.options.iter().map(value).collect::<Vec<_>>(), problem))
    }
}

/// `, did you mean …?` when a known name is near, else nothing.
fn nearest(name: &str, known: &[&str]) -> String {
    let scored = known.iter().map(|&other| (strsim::jaro_winkler(name, other), other));
    match scored.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((score, other)) if score > 0.7 => format!(", did you mean {other:?}?"),
        _ => String::new(),
    }
}
