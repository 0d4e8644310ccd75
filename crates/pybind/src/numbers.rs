//! Array-likes → `Vec`, checked; `Vec` → NumPy arrays without a copy.

use netnum_core::Parameter;
use numpy::{Element, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

use crate::error::{ProblemError, setting};

/// Loads what arrays are made with, once and for all. At the first array it would be too late: a Ctrl-C that arrives
/// there would come out of the middle of rust-numpy, as a panic.
pub(crate) fn load_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    py.check_signals()?;
    read_only(py, vec![0.0]);
    Ok(())
}

/// A NumPy array of numbers, or a `TypeError`.
fn array<'py>(name: &str, value: &Bound<'py, PyAny>, kinds: &[u8], what: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = value.py();
    let array = py.import("numpy")?.call_method1("asarray", (value,)).map_err(|error| {
        // NumPy's word for nested lists of different lengths.
        if !error.is_instance_of::<PyValueError>(py) {
            return error;
        }
        let ours = ProblemError::new_err(format!("{name} is not an array of {what}: {}", error.value(py)));
        ours.set_cause(py, Some(error));
        ours
    })?;
    let array = array.cast_into::<PyUntypedArray>()?;
    if kinds.contains(&array.dtype().kind()) || array.len() == 0 {
        return Ok(array);
    }
    Err(PyTypeError::new_err(format!("{name} must be an array of {what}, not of dtype {}", array.dtype())))
}

fn vector<T: Element>(name: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<T>> {
    if array.ndim() != 1 {
        let shape = array.getattr("shape")?;
        return Err(ProblemError::new_err(format!("{name} has shape {shape}, expected one dimension")));
    }
    flat(array)
}

/// All entries, row by row.
fn flat<T: Element>(array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<T>> {
    let numbers = array.call_method1("astype", (T::get_dtype(array.py()), "C", "unsafe", false, false))?;
    let numbers = numbers.call_method1("reshape", (-1,))?;
    Ok(numbers.cast::<PyArray1<T>>()?.readonly().to_vec()?)
}

/// Numbers, one-dimensional.
pub(crate) fn floats(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    vector(name, &array(name, value, b"fiu", "numbers")?)
}

/// Numbers of any shape, row by row, and the shape.
pub(crate) fn floats_of_any_shape(name: &str, value: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let array = array(name, value, b"fiu", "numbers")?;
    Ok((flat(&array)?, array.shape().to_vec()))
}

/// Integers, one-dimensional.
pub(crate) fn integers(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    vector(name, &array(name, value, b"iu", "integers")?)
}

/// Pairs of integers: an array of shape (rows, 2).
pub(crate) fn pairs(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<[i64; 2]>> {
    let array = array(name, value, b"iu", "integers")?;
    if array.len() > 0 && (array.ndim() != 2 || array.shape()[1] != 2) {
        let shape = array.getattr("shape")?;
        return Err(ProblemError::new_err(format!("{name} has shape {shape}, expected two columns")));
    }
    Ok(flat::<i64>(&array)?.as_chunks::<2>().0.to_vec())
}

/// A parameter of a utility: a number, or one number per flow.
pub(crate) fn parameter(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    if value.is_instance_of::<PyFloat>() || is_integer(value) {
        return Ok(Parameter::Same(value.extract()?));
    }
    let array = array(name, value, b"fiu", "numbers")?;
    if array.ndim() == 0 {
        return Ok(Parameter::Same(flat(&array)?[0]));
    }
    Ok(Parameter::PerFlow(vector(name, &array)?))
}

/// The parameter as Python sees it: a float, or an array that cannot be written to.
pub(crate) fn parameter_out<'py>(py: Python<'py>, parameter: &Parameter) -> Bound<'py, PyAny> {
    match parameter {
        Parameter::Same(value) => PyFloat::new(py, *value).into_any(),
        Parameter::PerFlow(values) => read_only(py, values.clone()).into_any(),
    }
}

/// A parameter in a `repr`.
pub(crate) fn parameter_repr(parameter: &Parameter) -> String {
    match parameter {
        Parameter::Same(value) => format!("{value:?}"),
        Parameter::PerFlow(values) => format!("array of {}", values.len()),
    }
}

/// One number.
pub(crate) fn float(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match parameter(name, value)? {
        Parameter::Same(value) => Ok(value),
        Parameter::PerFlow(_) => Err(PyTypeError::new_err(format!("{name} must be a number, not an array"))),
    }
}

/// A whole number that is at least `least`.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>, least: usize) -> PyResult<usize> {
    match value.extract::<usize>() {
        Ok(count) if count >= least => Ok(count),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            let kind = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("{name} must be an integer, not {kind}")))
        }
        _ if value.lt(least)? => Err(setting(name, value, &format!("at least {least}"))),
        _ => Err(setting(name, value, &format!("at most {}", usize::MAX))),
    }
}

/// The vector as a NumPy array that cannot be written to. The numbers are moved, not copied.
pub(crate) fn read_only<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    let array = PyArray1::from_vec(py, values);
    array.readwrite().make_nonwriteable();
    array
}

/// Indices as NumPy's own index type.
pub(crate) fn indices<'py, T: TryInto<i64> + Copy>(py: Python<'py>, values: &[T]) -> Bound<'py, PyArray1<i64>> {
    read_only(py, values.iter().map(|&value| value.try_into().unwrap_or(i64::MAX)).collect())
}

fn is_integer(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>()
}
