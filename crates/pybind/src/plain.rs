//! Plain data: options as Python objects, and back.

use netnum_core::{OptionValue, Options};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};

use crate::error::{setting, wrong_type};

/// Lists and dicts within each other, at most: one that contains itself has no end.
const DEEPEST: usize = 16;

/// A dict with text for keys, as plain data. `place` is the place of a value, for errors.
pub(crate) fn fields(dict: &Bound<'_, PyDict>, place: impl Fn(&str) -> String) -> PyResult<Options> {
    nested_fields(dict, place, 0)
}

/// A value as plain data. `place` is where it stands, for messages.
pub(crate) fn plain(place: &str, value: &Bound<'_, PyAny>) -> PyResult<OptionValue> {
    nested(place, value, 0)
}

fn nested_fields(dict: &Bound<'_, PyDict>, place: impl Fn(&str) -> String, depth: usize) -> PyResult<Options> {
    let mut fields = Options::new();
    for (name, value) in dict {
        let name: String = name.extract()?;
        let value = nested(&place(&name), &value, depth)?;
        fields.insert(name, value);
    }
    Ok(fields)
}

fn nested(place: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<OptionValue> {
    if depth > DEEPEST {
        return Err(setting(place, "nested too deep", &format!("at most {DEEPEST} lists or dicts within each other")));
    }
    if value.is_none() {
        return Ok(OptionValue::None);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(OptionValue::Bool(truth.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(OptionValue::Text(text.to_str()?.into()));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(OptionValue::Table(nested_fields(dict, |_| place.to_owned(), depth + 1)?));
    }
    if let Ok(values) = value.extract::<Vec<Bound<'_, PyAny>>>() {
        return values
            .iter()
            .map(|value| nested(place, value, depth + 1))
            .collect::<PyResult<_>>()
            .map(OptionValue::List);
    }
    if let Ok(whole) = value.extract::<i64>() {
        return Ok(OptionValue::Integer(whole));
    }
    if let Ok(number) = value.extract::<f64>() {
        let finite = number.is_finite().then_some(OptionValue::Number(number));
        return finite.ok_or_else(|| setting(place, number, "a finite number"));
    }
    Err(wrong_type(place, "a number, text, a list or dict of them or None", value))
}

pub(crate) fn dict<'py>(py: Python<'py>, options: &Options) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in options {
        dict.set_item(name, object(py, value)?)?;
    }
    Ok(dict)
}

pub(crate) fn object<'py>(py: Python<'py>, value: &OptionValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        OptionValue::None => py.None().into_bound(py),
        OptionValue::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        OptionValue::Integer(whole) => whole.into_pyobject(py)?.into_any(),
        OptionValue::Number(number) => number.into_pyobject(py)?.into_any(),
        OptionValue::Text(text) => PyString::new(py, text).into_any(),
        OptionValue::List(values) => {
            let values = values.iter().map(|value| object(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        OptionValue::Table(fields) => dict(py, fields)?.into_any(),
    })
}
