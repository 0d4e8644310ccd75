//! The keywords of a solve, which `solve`, `Solver`, `solve_many`, its chunks and the ranks of a communicator share.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use netnum_core::{Ask, METHODS, Ranks, Settings, Stop};
use netnum_parallel::Threads;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use super::Solution;
use crate::error::{setting, wrong_type};
use crate::hints;
use crate::numbers::{self, count, threads_of};
use crate::problem::Problem;

/// Those that are given; the others as they are by default.
#[derive(Default)]
pub(crate) struct Keywords<'py> {
    pub(crate) settings: Settings,
    pub(crate) warm_start: Option<Bound<'py, PyAny>>,
    pub(crate) callback: Option<Bound<'py, PyAny>>,
    pub(crate) progress: bool,
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) tie_cost: Option<Bound<'py, PyAny>>,
    pub(crate) few_paths: bool,
    pub(crate) max_paths: Option<usize>,
    /// The options of the method, by name.
    options: BTreeMap<String, f64>,
}

impl<'py> Keywords<'py> {
    /// Reads `tol`, `stop`, `max_iterations`, `time_limit` and `threads`, and those of `warm_start`, `callback`,
    /// `progress`, `trace`, `tie_cost`, `few_paths` and `max_paths` that the function `takes`. Any other is an option
    /// of the method.
    pub(crate) fn of(function: &str, given: Option<&Bound<'py, PyDict>>, takes: &[&str]) -> PyResult<Self> {
        let mut this = Self::default();
        for (name, value) in given.into_iter().flatten() {
            let name = name.cast::<PyString>()?.to_string();
            let is_own = ["tol", "stop", "max_iterations", "time_limit", "threads"].contains(&&*name);
            match (is_own || takes.contains(&&*name)).then_some(&*name) {
                Some("tol") => this.settings.tol = argument(&name, value.extract())?,
                Some("stop") => this.settings.stop = stop_of(&argument::<String>(&name, value.extract())?)?,
                Some("max_iterations") if value.is_none() => {}
                Some("max_iterations") => this.settings.max_iterations = count("max_iterations", &value, 0)?,
                Some("time_limit") => {
                    let limit = argument::<Option<f64>>(&name, value.extract())?;
                    this.settings.time_limit = limit.map(seconds).transpose()?.flatten();
                }
                Some("threads") if value.is_none() => {}
                Some("threads") => this.threads = Some(threads_of(Some(&value))?),
                Some("trace") => this.settings.trace = argument(&name, value.extract())?,
                Some("progress") => this.progress = argument(&name, value.extract())?,
                Some("callback") => this.callback = Some(value).filter(|value| !value.is_none()),
                Some("few_paths") => this.few_paths = argument(&name, value.extract())?,
                Some("max_paths") if value.is_none() => {}
                Some("max_paths") if value.is_instance_of::<PyBool>() => {
                    return Err(wrong_type("max_paths", "an integer", &value));
                }
                Some("max_paths") => this.max_paths = Some(count("max_paths", &value, 1)?),
                Some("tie_cost") => this.tie_cost = Some(value).filter(|value| !value.is_none()),
                Some("warm_start") => this.warm_start = Some(value).filter(|value| !value.is_none()),
                _ => _ = this.options.insert(name.clone(), option(function, &name, &value)?),
            }
        }
        Ok(this)
    }

    /// Those of a run of a solver, whose method and threads are settled.
    ///
    /// # Errors
    /// As Python's own for a keyword that is none.
    pub(crate) fn of_run(given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let takes = ["tol", "stop", "max_iterations", "time_limit", "callback", "progress", "trace"];
        for name in given.into_iter().flat_map(|given| given.keys()) {
            let (py, name) = (name.py(), name.cast::<PyString>()?.to_string());
            if !takes.contains(&&*name) {
                return Err(hints::unexpected(py, "Solver.solve", &name)?);
            }
        }
        Self::of("Solver.solve", given, &["callback", "progress", "trace"])
    }

    /// The `Ask` of these keywords, over ranks if there are any.
    pub(crate) fn ask(&self, method: &str, ranks: Ranks) -> PyResult<Ask> {
        let threads = Threads::new(self.threads.unwrap_or(NonZeroUsize::MIN)).with_ranks(ranks);
        let ask = Ask::by(method).with_options(&self.options).with_workers(Arc::new(threads));
        let ask = ask.with_settings(self.settings.clone());
        Ok(match &self.warm_start {
            Some(start) => ask.with_prices(prices_of(start)?),
            None => ask,
        })
    }
}

/// The value of an argument; an error has its name as a note (from Python 3.11 on), as those of Python's own functions.
fn argument<T>(name: &str, value: PyResult<T>) -> PyResult<T> {
    value.inspect_err(|error| {
        Python::attach(|py| {
            // Older versions have no notes.
            let _ = error.value(py).call_method1("add_note", (format!("while processing '{name}'"),));
        });
    })
}

fn stop_of(name: &str) -> PyResult<Stop> {
    match name {
        "rates" => Ok(Stop::Rates),
        "gap" => Ok(Stop::Gap),
        "kkt" => Ok(Stop::Kkt),
        _ => Err(setting("stop", format!("{name:?}"), "\"rates\", \"gap\" or \"kkt\"")),
    }
}

/// A time limit; none when it is longer than can be counted.
pub(crate) fn seconds(limit: f64) -> PyResult<Option<Duration>> {
    if limit >= 0.0 {
        return Ok(Duration::try_from_secs_f64(limit).ok());
    }
    Err(setting("time_limit", limit, "a number of seconds >= 0"))
}

/// Options of a method that a function is given, by name.
pub(crate) fn options_of(function: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<BTreeMap<String, f64>> {
    let one = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = name.cast::<PyString>()?.to_string();
        option(function, &name, &value).map(|value| (name, value))
    };
    options.into_iter().flat_map(|options| options.iter()).map(one).collect()
}

fn option(function: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if METHODS.iter().flat_map(|method| (method.options)()).any(|option| option.name == name) {
        return numbers::float(&format!("option {name:?}"), value);
    }
    // Else the core raises, with the names that exist, whatever the value is.
    hints::no_option(value.py(), function, name)?.map_or(Ok(f64::NAN), Err)
}

/// The prices to start from.
pub(crate) fn prices_of(warm_start: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let is_no_array = || {
        warm_start.is_instance_of::<PyBool>()
            || warm_start.is_instance_of::<PyString>()
            || warm_start.is_instance_of::<PyDict>()
            || warm_start.is_instance_of::<Problem>()
    };
    match warm_start.cast::<Solution>() {
        Ok(solution) => solution.get().price_list(warm_start.py()),
        Err(_) if is_no_array() => {
            Err(wrong_type("warm_start", "a Solution, or an array of prices, one per link", warm_start))
        }
        Err(_) => numbers::floats("prices", warm_start),
    }
}
