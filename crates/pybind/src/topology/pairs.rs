//! Pairs of ends in the forms that are taken wherever pairs are: two ends, two columns of ends, pairs one by one,
//! demands.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::Topology;
use crate::detach::Pacer;
use crate::error::ProblemError;
use crate::{hints, numbers, path_forms};

/// Pairs of ends, with the volume of each where they are demands.
pub(crate) struct Pairs {
    pub(crate) sources: Vec<usize>,
    pub(crate) destinations: Vec<usize>,
    pub(crate) volumes: Option<Vec<f64>>,
}

impl From<Vec<(usize, usize)>> for Pairs {
    fn from(pairs: Vec<(usize, usize)>) -> Self {
        let (sources, destinations) = pairs.into_iter().unzip();
        Self { sources, destinations, volumes: None }
    }
}

/// Pairs from two arguments, an end each or a column of ends each, or from the first alone.
pub(crate) fn of_arguments(
    net: &Bound<'_, Topology>,
    names: [&str; 2],
    sources: &Bound<'_, PyAny>,
    destinations: Option<&Bound<'_, PyAny>>,
) -> PyResult<Pairs> {
    let Some(destinations) = destinations else { return of_one(net, sources) };
    let (this, [first, second]) = (net.get(), names);
    if is_end(sources)? && is_end(destinations)? {
        return Ok(vec![(this.end_of(first, sources)?, this.end_of(second, destinations)?)].into());
    }
    if is_number(destinations)? && !is_end(sources)? {
        let message =
            format!("{second} is {destinations}, expected ends: what follows pairs is given by name, as seed=1");
        return Err(PyTypeError::new_err(message));
    }
    let (sources, destinations) = (this.ends_of(first, sources)?, this.ends_of(second, destinations)?);
    Ok(Pairs { sources, destinations, volumes: None })
}

/// Pairs from one argument: a pair, a list or an array of pairs, two arrays of ends, or demands.
pub(crate) fn of_one(net: &Bound<'_, Topology>, given: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    let this = net.get();
    if let Ok(two) = given.cast::<PyTuple>()
        && two.len() == 2
    {
        let (first, second) = (two.get_item(0)?, two.get_item(1)?);
        if is_end(&first)? && is_end(&second)? {
            return Ok(vec![(this.end_of("pairs[0]", &first)?, this.end_of("pairs[1]", &second)?)].into());
        }
        // As `random_pairs` and `all_pairs` give them.
        if is_column(&first)? && is_column(&second)? {
            let (sources, destinations) = (this.ends_of("sources", &first)?, this.ends_of("destinations", &second)?);
            return Ok(Pairs { sources, destinations, volumes: None });
        }
        if first.is_instance_of::<PyList>() && second.is_instance_of::<PyList>() {
            let message = "pairs are a tuple of two lists, which may be two pairs or sources and destinations: give \
                           [(source, destination), ...], or the two lists as two arguments";
            return Err(PyTypeError::new_err(message));
        }
    }
    if may_be_demands(this, given)? {
        let stated = given.py().import("netnum.demands._given")?.call_method1("stated", (net, given))?;
        if stated.is_instance_of::<PyList>() {
            return listed(this, &stated);
        }
        if !stated.is_none() {
            return Ok(Pairs {
                sources: this.ends_of("sources", &stated.getattr("sources")?)?,
                destinations: this.ends_of("destinations", &stated.getattr("destinations")?)?,
                volumes: Some(numbers::floats("volumes", &stated.getattr("volumes")?)?),
            });
        }
    }
    listed(this, given)
}

/// Pairs from an array or a table of two columns, or from a sequence of pairs, in which ends may have names.
fn listed(net: &Topology, pairs: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    let rows = numbers::rows_of(pairs)?;
    let is_array = rows.hasattr("dtype")? && !path_forms::names_nodes(&rows)?;
    if is_array || rows.is_instance_of::<PyString>() || rows.try_iter().is_err() {
        return numbered(net, &rows);
    }
    let (mut listed, mut pacer, mut is_named) = (Vec::new(), Pacer::new(pairs.py()), false);
    for row in rows.try_iter()? {
        pacer.did(1)?;
        let row = row?;
        if is_end(&row)? {
            let what = format!("pairs[{}] must be two ends, not {}", listed.len(), row.repr()?);
            return Err(PyTypeError::new_err(format!("{what}: one pair is a tuple, (source, destination)")));
        }
        is_named = is_named || has_name(&row);
        listed.push(row);
    }
    if !is_named {
        return numbered(net, PyList::new(pairs.py(), listed)?.as_any());
    }
    let pair = |(place, pair): (usize, &Bound<'_, PyAny>)| {
        pacer.did(1)?;
        let Ok([source, destination]) = pair.extract::<[Bound<'_, PyAny>; 2]>() else {
            return Err(PyTypeError::new_err(format!("pairs[{place}] must be two ends, not {}", pair.repr()?)));
        };
        let end = |end| net.end_of(&format!("an end of pairs[{place}]"), end);
        Ok((end(&source)?, end(&destination)?))
    };
    listed.iter().enumerate().map(pair).collect::<PyResult<Vec<_>>>().map(Into::into)
}

/// Two nodes from two arguments, or from a pair in the first.
pub(crate) fn two_nodes<'py>(
    function: &str,
    source: &Bound<'py, PyAny>,
    destination: Option<&Bound<'py, PyAny>>,
) -> PyResult<[Bound<'py, PyAny>; 2]> {
    match (destination, source.cast::<PyTuple>()) {
        (Some(destination), _) => Ok([source.clone(), destination.clone()]),
        (None, Ok(pair)) if pair.len() == 2 => Ok([pair.get_item(0)?, pair.get_item(1)?]),
        (None, _) => {
            hints::needed(source.py(), function, "destination", None).cloned().map(|none| [none.clone(), none])
        }
    }
}

/// Pairs of integers.
fn numbered(net: &Topology, pairs: &Bound<'_, PyAny>) -> PyResult<Pairs> {
    let end = |pair: usize, end: i64| net.index_of(|| format!("an end of pairs[{pair}]"), end);
    let pair = |(pair, [source, destination]): (usize, [i64; 2])| Ok((end(pair, source)?, end(pair, destination)?));
    numbers::pairs("pairs", pairs)?.into_iter().enumerate().map(pair).collect::<PyResult<Vec<_>>>().map(Into::into)
}

/// Whether something is a name or an integer, of Python or of NumPy.
pub(crate) fn is_end(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let is_plain = value.is_instance_of::<PyString>() || numbers::is_integer(value);
    Ok(is_plain || value.hasattr("dtype")? && value.getattr("ndim")?.extract::<usize>()? == 0)
}

/// Whether something is a number, and no name.
pub(crate) fn is_number(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_end(value)? && !value.is_instance_of::<PyString>())
}

/// Whether something is an array of one dimension.
pub(crate) fn is_column(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.hasattr("dtype")? && value.hasattr("ndim")? && value.getattr("ndim")?.extract::<usize>()? == 1)
}

/// Whether it is worth asking Python whether something states demands: of lists, and of arrays of two columns, it is
/// not.
fn may_be_demands(net: &Topology, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    if given.hasattr("dtype")? && !given.hasattr("tocsc")? {
        let shape: Vec<usize> = given.getattr("shape")?.extract()?;
        if shape.len() == 3 {
            let message = "pairs has three dimensions: a matrix of demands is one of them, and \
                           netnum.solve_many(problem, flow_caps=...) takes many, a row of volumes for each";
            return Err(ProblemError::new_err(message));
        }
        return Ok(shape == [net.core.ends(); 2]);
    }
    Ok(given.is_instance_of::<PyDict>()
        || given.hasattr("volumes")?
        || given.hasattr("columns")?
        || given.hasattr("tocsc")?
        || given.hasattr("keys")?)
}

/// Whether an end of a pair is a name.
fn has_name(pair: &Bound<'_, PyAny>) -> bool {
    let ends: Vec<Bound<'_, PyAny>> = pair.extract().unwrap_or_default();
    ends.iter().any(|end| end.is_instance_of::<PyString>())
}

/// Refuses volumes where only ends are taken.
pub(crate) fn without_volumes(pairs: Pairs) -> PyResult<Vec<(usize, usize)>> {
    if pairs.volumes.is_some() {
        let message = "pairs have volumes, which flows of a workload do not: give np.column_stack([demands.sources, \
                       demands.destinations])";
        return Err(ProblemError::new_err(message));
    }
    Ok(pairs.sources.into_iter().zip(pairs.destinations).collect())
}
