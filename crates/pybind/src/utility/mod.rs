//! Utilities: the families as classes, Python objects as utilities, and both in the forms that a problem takes.

mod alpha_fair;
mod bandwidth_function;
mod class;
mod families;
mod short;
mod user;

use std::collections::HashMap;
use std::sync::Arc;

use netnum_core::internal::memory;
use netnum_core::{Utilities, Utility as Core, utility_laws};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyTuple, PyType};

use crate::by_name::is_a;
use crate::detach::{EnterRust, Pacer};
use crate::error::{ProblemError, UtilityError, raise, setting};
use crate::numbers;

pub(crate) use families::{add_classes, of_problem};
use short::{Made, is_short};
pub(crate) use user::UserUtility;

/// A utility of the rate of a flow: the base class of the families of netnum.
///
/// A user-defined utility does not derive from it: it is any object with the methods `value` and `marginal`, and
/// `demand` and `demand_slope` where there are formulas for them.
///
/// Examples
/// --------
/// >>> utility = netnum.AlphaFair(2.0)
/// >>> isinstance(utility, netnum.Utility)
/// True
/// >>> utility.value(2.0), utility.marginal(2.0), utility.demand(0.25)
/// (-0.5, 0.25, 2.0)
#[pyclass(frozen, subclass, module = "netnum")]
pub(crate) struct Utility {
    core: Arc<dyn Core>,
}

/// One of the core's functions of a flow and its rate or price.
type Function = fn(&dyn Core, usize, f64) -> f64;

#[pymethods]
impl Utility {
    /// U(x), the utility of a rate. May be -inf at 0.
    ///
    /// Parameters
    /// ----------
    /// rates : array of float
    ///     Any shape when the parameters are scalars. When they are arrays over n flows the last axis has n entries, or
    ///     1 (or there is none) for the same rate of every flow.
    ///
    /// Returns
    /// -------
    /// array of float, or float
    ///     Of the same shape, or with a last axis of n entries.
    fn value<'py>(&self, rates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.each("rates", rates, |utility, flow, rate| utility.value(flow, rate))
    }

    /// U'(x), the marginal utility of a rate. May be inf at 0.
    ///
    /// Parameters
    /// ----------
    /// rates : array of float
    ///     As in `value`.
    ///
    /// Returns
    /// -------
    /// array of float, or float
    fn marginal<'py>(&self, rates: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.each("rates", rates, |utility, flow, rate| utility.marginal(flow, rate))
    }

    /// The rate that maximizes U(x) - price * x.
    ///
    /// Parameters
    /// ----------
    /// prices : array of float
    ///     Prices of one unit of rate, > 0; shapes as in `value`.
    ///
    /// Returns
    /// -------
    /// array of float, or float
    fn demand<'py>(&self, prices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.each("prices", prices, |utility, flow, price| utility.demand(flow, price))
    }

    /// The slope of `demand`, <= 0.
    ///
    /// Parameters
    /// ----------
    /// prices : array of float
    ///     As in `demand`.
    ///
    /// Returns
    /// -------
    /// array of float, or float
    fn demand_slope<'py>(&self, prices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.each("prices", prices, |utility, flow, price| utility.demand_slope(flow, price))
    }
}

impl Utility {
    fn each<'py>(&self, name: &str, value: &Bound<'py, PyAny>, function: Function) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let (arguments, mut shape) = numbers::floats_of_any_shape(name, value)?;
        let answers: Vec<f64> = match self.core.flows() {
            None => arguments.iter().map(|&argument| function(&*self.core, 0, argument)).collect(),
            Some(flows) => {
                let one_for_all = shape.last().is_none_or(|&last| last == 1);
                if !one_for_all && shape.last() != Some(&flows) {
                    let message = format!("{name} has shape {shape:?}, expected a last axis of {flows}, one per flow");
                    return Err(ProblemError::new_err(message));
                }
                if shape.pop().is_none() || one_for_all {
                    let bytes = arguments.len() as u128 * flows as u128 * 8;
                    memory::check(&format!("{} times {flows} answers", arguments.len()), bytes).map_err(raise)?;
                    let of_flows = |&argument: &f64| (0..flows).map(move |flow| function(&*self.core, flow, argument));
                    shape.push(flows);
                    arguments.iter().flat_map(of_flows).collect()
                } else {
                    shape.push(flows);
                    let flow_of = |(place, &argument): (usize, &f64)| function(&*self.core, place % flows, argument);
                    arguments.iter().enumerate().map(flow_of).collect()
                }
            }
        };
        if shape.is_empty() {
            return Ok(PyFloat::new(py, answers[0]).into_any());
        }
        Ok(PyArray1::from_vec(py, answers).reshape(shape)?.into_any())
    }
}

/// One utility: of a family, or user-defined, or in a short form.
fn one(value: &Bound<'_, PyAny>) -> PyResult<Arc<dyn Core>> {
    one_of(&Made::none(value.py()).full(value.clone())?, &mut Vec::new())
}

/// One utility; a user-defined one is also added to a list.
fn one_of(value: &Bound<'_, PyAny>, users: &mut Vec<Arc<UserUtility>>) -> PyResult<Arc<dyn Core>> {
    if let Ok(utility) = value.cast::<Utility>() {
        return Ok(Arc::clone(&utility.get().core));
    }
    let user = Arc::new(UserUtility::new(value)?);
    users.push(Arc::clone(&user));
    Ok(user)
}

/// The utilities of a problem's flows, as they were given.
pub(crate) struct Given {
    pub(crate) utilities: Utilities,
    /// The Python object or tuple of them.
    pub(crate) shown: Py<PyAny>,
    /// Those that are Python objects.
    pub(crate) users: Vec<Arc<UserUtility>>,
}

/// The utilities of a problem's flows.
pub(crate) fn utilities(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    let (py, short) = (value.py(), Made::none(value.py()));
    let is_one = value.is_instance_of::<Utility>() || value.is_instance_of::<PyType>() || value.hasattr("marginal")?;
    let is_one = is_one || is_short(value)?;
    let is_several = !is_one && (value.hasattr("dtype")? || is_a(value, "Sequence")?);
    let mut users = Vec::new();
    if !is_several {
        let value = short.full(value.clone())?;
        let utilities = one_of(&value, &mut users)?.into();
        return Ok(Given { utilities, shown: value.unbind(), users });
    }
    let full = |(flow, one): (usize, PyResult<_>)| short.full(one?).map_err(|error| about_flow(flow, error, py));
    let list: Vec<Bound<'_, PyAny>> = value.try_iter()?.enumerate().map(full).collect::<PyResult<_>>()?;
    // An object that several flows share is called once for all of them.
    let mut known: HashMap<*mut pyo3::ffi::PyObject, Arc<dyn Core>> = HashMap::new();
    let mut utilities = Vec::with_capacity(list.len());
    let mut pacer = Pacer::new(value.py());
    for (flow, value) in list.iter().enumerate() {
        pacer.did(1)?;
        let utility = match known.get(&value.as_ptr()) {
            Some(utility) => Arc::clone(utility),
            None => one_of(value, &mut users).map_err(|error| about_flow(flow, error, value.py()))?,
        };
        known.insert(value.as_ptr(), Arc::clone(&utility));
        utilities.push(utility);
    }
    let shown = PyTuple::new(value.py(), list)?.into_any().unbind();
    Ok(Given { utilities: utilities.into(), shown, users })
}

/// Adds to an exception the flow whose utility has the wrong type, or a name or an exponent that there is not.
fn about_flow(flow: usize, error: PyErr, py: Python<'_>) -> PyErr {
    let message = format!("flow {flow}: {}", error.value(py));
    match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(message),
        false if error.get_type(py).is(py.get_type::<UtilityError>()) => UtilityError::new_err(message),
        false => error,
    }
}

/// A problem's utilities in a `repr`.
pub(crate) fn repr(utility: &Bound<'_, PyAny>) -> PyResult<String> {
    match utility.cast::<PyTuple>() {
        Ok(list) => Ok(format!("{} utilities", list.len())),
        Err(_) if utility.is_instance_of::<Utility>() => Ok(utility.repr()?.to_string()),
        Err(_) => Ok(utility.get_type().name()?.to_string()),
    }
}

/// Check the laws that every method relies on, at rates over twelve decades around `scale`.
///
/// 1. U' is not negative, and does not increase with the rate (U is concave);
/// 2. differences of U agree with its marginals;
/// 3. the demand at price U'(x) is x, and does not increase with the price;
/// 4. the demand slope is not positive, and agrees with finite differences of the demand.
///
/// Laws 3 and 4 are not checked for linear utilities, whose demand is not a single number, and none for max-min
/// fairness, which has no values.
///
/// Parameters
/// ----------
/// utility : utility
///     One of netnum's, or a user-defined object with the methods ``value`` and ``marginal``, and optionally ``demand``
///     and ``demand_slope``, on arrays. It is called with arrays of one entry; where its parameters are arrays over
///     flows it may answer with one entry per flow.
/// flow : int
///     The flow whose parameters are checked.
/// scale : float
///     A typical rate, > 0.
///
/// Raises
/// ------
/// UtilityError
///     Naming the law that is broken, with the numbers that show it. An exception of the utility itself is raised
///     unchanged.
///
/// Examples
/// --------
/// >>> class Root:
/// ...     def value(self, rates):
/// ...         return 2 * np.sqrt(rates)
/// ...     def marginal(self, rates):
/// ...         return 1 / np.sqrt(rates)
/// >>> netnum.check_utility(Root())  # nothing is wrong
#[pyfunction]
#[pyo3(signature = (utility, flow=None, scale=1.0))]
#[pyo3(text_signature = "(utility, flow=0, scale=1.0)")]
pub(crate) fn check_utility(utility: &Bound<'_, PyAny>, flow: Option<&Bound<'_, PyAny>>, scale: f64) -> PyResult<()> {
    let core = one(utility)?;
    let flow = flow.map_or(Ok(0), |flow| numbers::count("flow", flow, 0))?;
    if let Some(flows) = core.flows().filter(|&flows| flow >= flows) {
        return Err(setting("flow", flow, &format!("at most {}", flows.saturating_sub(1))));
    }
    if !(scale.is_finite() && scale > 0.0) {
        return Err(setting("scale", scale, "a finite number > 0"));
    }
    utility.py().enter_rust(|| utility_laws(&*core, flow, scale))
}
