//! What flows wait for, and their coflows, as Python gives and takes them.

use netnum_sim::{AllReduce, Dependencies, Error, Workload};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::detach::Pacer;
use crate::error::{ProblemError, setting, wrong_type};
use crate::numbers;

/// In place of the number of a coflow, for a flow that is in none.
const NONE: i64 = -1;

/// A list with the flows that each flow waits for, or a pair of arrays.
pub(super) fn dependencies(
    after: &Bound<'_, PyAny>,
    delay: Option<&Bound<'_, PyAny>>,
    flows: usize,
) -> PyResult<impl FnOnce() -> Result<Dependencies, Error> + Send + use<>> {
    let mut indptr = vec![0];
    let mut indices = Vec::new();
    if let Some((starts, waited)) = arrays_of(after)? {
        let starts = numbers::integers("after[0]", &starts)?;
        let start = |start: i64| usize::try_from(start).map_err(|_| setting("after[0]", start, "numbers >= 0"));
        indptr = starts.into_iter().map(start).collect::<PyResult<_>>()?;
        if indptr.len() != flows + 1 {
            let expected = format!("{} numbers, one more than there are flows", flows + 1);
            return Err(setting("after[0]", format!("of length {}", indptr.len()), &expected));
        }
        let waited = numbers::integers("after[1]", &waited)?;
        let of = |place: usize| indptr.partition_point(|&start| start <= place).saturating_sub(1);
        indices = waited
            .into_iter()
            .enumerate()
            .map(|(place, before)| number(of(place), before, flows))
            .collect::<PyResult<_>>()?;
    } else {
        let mut pacer = Pacer::new(after.py());
        for (flow, own) in numbers::entries(after)?.try_iter()?.enumerate() {
            let own = own?;
            pacer.did(1)?;
            if numbers::is_integer(&own) {
                indices.push(number(flow, own.extract()?, flows)?);
            } else if !own.is_none() {
                let listed = numbers::integers(&format!("after[{flow}]"), &own)?;
                for before in listed {
                    indices.push(number(flow, before, flows)?);
                }
            }
            indptr.push(indices.len());
        }
        if indptr.len() != flows + 1 {
            let message = format!("after has {} entries, expected {flows}, one per flow", indptr.len() - 1);
            return Err(ProblemError::new_err(message));
        }
    }
    let delays = delay.map_or_else(|| Ok(vec![0.0; flows]), |delay| numbers::for_each("delay", delay, flows))?;
    Ok(move || Dependencies::new(indptr, indices, delays))
}

/// The number of a flow that another one waits for.
fn number(flow: usize, before: i64, flows: usize) -> PyResult<u32> {
    let expected = || format!("flow {flow} has after {before}, expected a flow from 0 to {}", flows.saturating_sub(1));
    u32::try_from(before).map_err(|_| ProblemError::new_err(expected()))
}

/// The two arrays of a compressed matrix, if that is given: a tuple, or what SciPy has.
fn arrays_of<'py>(after: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    if let Ok(pair) = after.cast::<PyTuple>() {
        return match pair.extract() {
            Ok(arrays) => Ok(Some(arrays)),
            Err(_) => {
                let message = "after must be a list with the flows that each flow waits for, or a tuple of two arrays, \
                               (indptr, indices)";
                Err(PyTypeError::new_err(message))
            }
        };
    }
    if after.is_instance_of::<PyList>() || !after.hasattr("tocsr")? {
        return Ok(None);
    }
    let rows = after.call_method0("tocsr")?;
    Ok(Some((rows.getattr("indptr")?, rows.getattr("indices")?)))
}

/// What [`dependencies`] takes.
pub(super) type Arrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

pub(super) fn shown<'py>(py: Python<'py>, dependencies: &Dependencies) -> Arrays<'py> {
    (numbers::indices(py, dependencies.indptr()), numbers::indices(py, dependencies.indices()))
}

/// The coflow of every flow, -1 or None for one that is in none.
pub(super) fn coflows(coflow: &Bound<'_, PyAny>) -> PyResult<Vec<Option<u32>>> {
    let given = match coflow.cast::<PyList>() {
        Ok(list) => {
            let one = |(flow, one): (usize, Bound<'_, PyAny>)| match one.is_none() {
                true => Ok(NONE),
                false if numbers::is_integer(&one) => one.extract(),
                false => Err(wrong_type(&format!("coflow[{flow}]"), "an int or None", &one)),
            };
            list.iter().enumerate().map(one).collect::<PyResult<_>>()?
        }
        Err(_) => numbers::integers("coflow", coflow)?,
    };
    let number = |(flow, coflow): (usize, i64)| match u32::try_from(coflow) {
        Ok(coflow) if coflow < u32::MAX => Ok(Some(coflow)),
        _ if coflow == NONE => Ok(None),
        _ => {
            let expected = "the number of a coflow, from 0 on, or -1 or None for none";
            Err(ProblemError::new_err(format!("flow {flow} has coflow {coflow}, expected {expected}")))
        }
    };
    given.into_iter().enumerate().map(number).collect()
}

/// The coflow of every flow, -1 for none.
pub(super) fn coflows_of(workload: &Workload) -> Vec<i64> {
    (0..workload.len()).map(|flow| workload.coflow(flow).map_or(NONE, i64::from)).collect()
}

/// An all-reduce by its name.
pub(super) fn all_reduce(name: &str) -> PyResult<AllReduce> {
    let known = AllReduce::ALL.into_iter().find(|algorithm| algorithm.name() == name);
    known.ok_or_else(|| {
        let names = AllReduce::ALL.map(AllReduce::name);
        let near = netnum_core::internal::did_you_mean(name, &names);
        setting("algorithm", format!("{name:?}"), &format!("one of {}{near}", names.join(", ")))
    })
}
