//! What flows wait for, and their coflows, as Python gives and takes them.

use netnum_sim::{AllReduce, Dependencies, Error, Workload};
use numpy::PyArray1;
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
    let (mut indptr, mut indices) = (vec![0], Vec::new());
    if let Some((starts, waited)) = arrays_of(after)? {
        let starts = numbers::integers("after[0]", &starts)?;
        let start = |(place, start): (usize, i64)| {
            usize::try_from(start).map_err(|_| setting(&format!("after[0][{place}]"), start, "a number >= 0"))
        };
        indptr = starts.into_iter().enumerate().map(start).collect::<PyResult<_>>()?;
        if indptr.len() != flows + 1 {
            let expected = format!("{} numbers, one more than there are flows", flows + 1);
            return Err(setting("after[0]", format!("of length {}", indptr.len()), &expected));
        }
        let waited = numbers::integers("after[1]", &waited)?;
        let of = |place: usize| indptr.partition_point(|&start| start <= place).saturating_sub(1);
        let number = |(place, before): (usize, i64)| number(of(place), before, flows);
        indices = waited.into_iter().enumerate().map(number).collect::<PyResult<_>>()?;
    } else {
        let Ok(listed) = after.cast::<PyList>() else { return Err(wrong_after(after)) };
        let mut pacer = Pacer::new(after.py());
        for (flow, own) in listed.iter().enumerate() {
            pacer.did(1)?;
            if numbers::is_integer(&own) {
                let before = own.extract::<i64>();
                let too_large = |_| out_of_range(flow, &own.to_string(), flows);
                indices.push(number(flow, before.map_err(too_large)?, flows)?);
            } else if !own.is_none() {
                for before in numbers::integers(&format!("after[{flow}]"), &own)? {
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
    u32::try_from(before).map_err(|_| out_of_range(flow, &before.to_string(), flows))
}

fn out_of_range(flow: usize, before: &str, flows: usize) -> PyErr {
    let last = flows.saturating_sub(1);
    ProblemError::new_err(format!("flow {flow} has after {before}, expected a flow from 0 to {last}"))
}

fn wrong_after(after: &Bound<'_, PyAny>) -> PyErr {
    let what =
        "a list with the flows that each flow waits for, a tuple of two arrays, (indptr, indices), or a sparse matrix";
    wrong_type("after", what, after)
}

/// The two arrays of a compressed matrix, if that is given: a tuple, or what SciPy has.
fn arrays_of<'py>(after: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    if let Ok(pair) = after.cast::<PyTuple>() {
        return pair.extract().map(Some).map_err(|_| wrong_after(after));
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
                false if numbers::is_integer(&one) => one.extract().map_err(|_| no_coflow(flow, &one.to_string())),
                false => Err(wrong_type(
                    &format!("coflow[{flow}]"),
                    "an int or None (pandas.factorize(names)[0] numbers names)",
                    &one,
                )),
            };
            list.iter().enumerate().map(one).collect::<PyResult<_>>()?
        }
        Err(_) => numbers::integers("coflow", coflow)?,
    };
    let number = |(flow, coflow): (usize, i64)| match u32::try_from(coflow) {
        Ok(coflow) if coflow < u32::MAX => Ok(Some(coflow)),
        _ if coflow == NONE => Ok(None),
        _ => Err(no_coflow(flow, &coflow.to_string())),
    };
    given.into_iter().enumerate().map(number).collect()
}

fn no_coflow(flow: usize, coflow: &str) -> PyErr {
    let expected = "the number of a coflow, from 0 on, or -1 or None for none";
    ProblemError::new_err(format!("flow {flow} has coflow {coflow}, expected {expected}"))
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
