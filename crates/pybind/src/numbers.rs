//! Array-likes → `Vec`, checked; `Vec` → NumPy arrays without a copy.

use std::num::NonZeroUsize;

use netnum_core::Parameter;
use netnum_core::internal::expected_below;
use numpy::{
    BorrowError, Element, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyException, PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyRange, PySequence, PySlice, PyTuple};

use crate::error::{ProblemError, setting, wrong_type};
use crate::hints;

/// Loads what arrays are made with, once and for all. At the first array it would be too late: a Ctrl-C that arrives
/// there would come out of the middle of rust-numpy, as a panic.
pub(crate) fn load_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    py.check_signals()?;
    read_only(py, vec![0.0]);
    Ok(())
}

/// The entries that an array may have.
#[derive(Clone, Copy)]
struct Kinds {
    /// NumPy's letters for them.
    letters: &'static [u8],
    word: &'static str,
}

const NUMBERS: Kinds = Kinds { letters: b"fiu", word: "numbers" };
const INTEGERS: Kinds = Kinds { letters: b"iu", word: "integers" };

/// Entries that are converted between two checks for signals.
const PIECE: usize = 1 << 20;

/// A NumPy array of numbers, or a `TypeError`.
fn array<'py>(name: &str, value: &Bound<'py, PyAny>, kinds: Kinds) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = value.py();
    // The most likely type needs no conversion by NumPy.
    if value.is_exact_instance_of::<PyUntypedArray>() {
        let array = value.cast::<PyUntypedArray>()?;
        if kinds.letters.contains(&array.dtype().kind()) {
            return Ok(array.clone());
        }
    } else if value.hasattr("mask")? && value.hasattr("filled")? {
        let instead = "fill its masked entries (filled) or leave them out (compressed)";
        return Err(PyTypeError::new_err(format!(
            "{name} is a masked array, expected plain {}: {instead}",
            kinds.word
        )));
    }
    if is_series_by_name(value)? {
        let (by_place, by_name) = (format!("{name}.to_numpy()"), format!("{name}.to_dict()"));
        return Err(ProblemError::new_err(format!(
            "{name} is a Series whose index is not 0, 1, 2, ...: {by_place} has its {} by place, {by_name} by name",
            kinds.word
        )));
    }
    if value.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(format!(
            "{name} must be an array of {}, not a dict: a problem takes floors, caps, costs and priorities by name, \
             and changes others in with_capacities and with_weights",
            kinds.word
        )));
    }
    // Of a graph NumPy would read the nodes.
    if value.hasattr("nodes")? && value.hasattr("edges")? {
        let (kind, instead) = (value.get_type().name()?, "netnum.topology.from_networkx makes a Topology of it");
        return Err(PyTypeError::new_err(format!(
            "{name} must be an array of {}, not a {kind}: {instead}",
            kinds.word
        )));
    }
    let class = value.get_type();
    if class.module()?.to_str()?.starts_with("netnum")
        && let Some(arrays) = hints::arrays(py, class.name()?.to_str()?)?
    {
        let class = class.name()?;
        return Err(PyTypeError::new_err(format!(
            "{name} must be an array of {}, not a {class}: {arrays}",
            kinds.word
        )));
    }
    let array = py.import("numpy")?.call_method1("asarray", (value,)).map_err(|error| {
        // NumPy's word for nested lists of different lengths.
        if !error.is_instance_of::<PyValueError>(py) {
            return error;
        }
        let ours = ProblemError::new_err(format!("{name} is not an array of {}: {}", kinds.word, error.value(py)));
        ours.set_cause(py, Some(error));
        ours
    })?;
    let array = array.cast_into::<PyUntypedArray>()?;
    if kinds.letters.contains(&array.dtype().kind()) || array.len() == 0 {
        return Ok(array);
    }
    let dtype = array.dtype();
    let hint = match dtype.kind() {
        _ if value.hasattr("columns")? => ": of a frame give a column of numbers, frame[name]",
        b'b' => ": np.flatnonzero(mask) has the places where a mask is True",
        b'O' | b'U' | b'T' if name == "coflow" => ": pandas.factorize(names)[0] numbers names, and None is for lists",
        b'O' if has_none(&array)? => match name {
            "flow_floor" => ": 0 stands for no floor, not None",
            "capacities" | "flow_cap" | "flow_caps" | "rate_cap" => ": np.inf stands for no limit, not None",
            _ => "",
        },
        _ => "",
    };
    Err(PyTypeError::new_err(format!("{name} must be an array of {}, not of dtype {dtype}{hint}", kinds.word)))
}

/// Whether an array of objects has a None.
fn has_none(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    for entry in array.call_method0("ravel")?.try_iter()? {
        if entry?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether something is a Series of pandas with an index of its own, which NumPy would leave out.
pub(crate) fn is_series_by_name(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if value.is_exact_instance_of::<PyUntypedArray>() || !value.hasattr("iloc")? || !value.hasattr("to_frame")? {
        return Ok(false);
    }
    let range = value.py().import("pandas")?.getattr("RangeIndex")?.call1((value.len()?,))?;
    Ok(!value.getattr("index")?.call_method1("equals", (range,))?.is_truthy()?)
}

/// All entries of something with one dimension.
fn vector<T: Element + Copy>(name: &str, value: &Bound<'_, PyAny>, kinds: Kinds) -> PyResult<Vec<T>> {
    if let Some(entries) = list_in_pieces(name, value, kinds)? {
        return Ok(entries);
    }
    let array = array(name, value, kinds)?;
    if array.ndim() != 1 {
        let shape = array.getattr("shape")?;
        let alone = if array.ndim() == 0 { format!(": one alone is [{value}]") } else { String::new() };
        return Err(ProblemError::new_err(format!("{name} has shape {shape}, expected one dimension{alone}")));
    }
    flat(name, &array)
}

/// A long list or tuple piece by piece, since NumPy does not check for signals while it converts one. None for anything
/// else, and for a list that is not valid, of which NumPy then reports what is wrong.
fn list_in_pieces<T: Element + Copy>(name: &str, value: &Bound<'_, PyAny>, kinds: Kinds) -> PyResult<Option<Vec<T>>> {
    // This check comes first: for other types the check for a sequence runs Python code, which would lose a Ctrl-C.
    if !(value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()) {
        return Ok(None);
    }
    let list = value.cast::<PySequence>()?;
    if list.len()? <= PIECE / 4 {
        return Ok(None);
    }
    let (length, mut entries) = (list.len()?, Vec::new());
    for start in (0..length).step_by(PIECE / 4) {
        value.py().check_signals()?;
        match array(name, list.get_slice(start, length.min(start + PIECE / 4))?.as_any(), kinds) {
            Ok(piece) if piece.ndim() == 1 => entries.extend(flat::<T>(name, &piece)?),
            Err(error) if !error.is_instance_of::<PyException>(value.py()) => return Err(error),
            _ => return Ok(None),
        }
    }
    Ok(Some(entries))
}

/// All entries, row by row. Whatever NumPy has is copied: of any width, order of bytes and strides, aligned or not.
fn flat<T: Element + Copy>(name: &str, array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<T>> {
    let py = array.py();
    if array.ndim() == 1 && array.len() > PIECE {
        let mut entries = Vec::with_capacity(array.len());
        for start in (0..array.len()).step_by(PIECE) {
            py.check_signals()?;
            let end = array.len().min(start + PIECE);
            let piece = array.get_item(PySlice::new(py, start as isize, end as isize, 1))?;
            entries.extend(flat::<T>(name, &piece.cast_into()?)?);
        }
        return Ok(entries);
    }
    // NumPy would make negative numbers of these.
    if array.dtype().kind() == b'u' && array.dtype().itemsize() == 8 && T::get_dtype(py).kind() == b'i' {
        let most = if array.len() == 0 { 0 } else { array.call_method0("max")?.extract::<u64>()? };
        if i64::try_from(most).is_err() {
            return Err(ProblemError::new_err(format!("{name} has an entry of {most}, expected at most {}", i64::MAX)));
        }
    }
    // Rows of numbers that lie as a slice does can be read as one; anything else NumPy copies first.
    let plain = array.cast::<PyArray1<T>>().ok().filter(|_| array.is_contiguous());
    if let Some(plain) = plain.filter(|plain| (plain.data() as usize).is_multiple_of(align_of::<T>())) {
        return Ok(plain.try_readonly().map_err(in_use)?.to_vec()?);
    }
    let numbers = array.call_method1("astype", (T::get_dtype(py), "C", "unsafe", false, true))?;
    let numbers = numbers.call_method1("reshape", (-1,))?;
    Ok(numbers.cast::<PyArray1<T>>()?.try_readonly().map_err(in_use)?.to_vec()?)
}

fn in_use(error: BorrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Numbers, one-dimensional.
pub(crate) fn floats(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    vector(name, value, NUMBERS)
}

/// Numbers of any shape, row by row, and the shape.
pub(crate) fn floats_of_any_shape(name: &str, value: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let array = array(name, value, NUMBERS)?;
    Ok((flat(name, &array)?, array.shape().to_vec()))
}

/// Integers, one-dimensional.
pub(crate) fn integers(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    vector(name, value, INTEGERS)
}

/// A matrix of numbers, row by row, with so many columns, one per something.
pub(crate) fn rows(name: &str, value: &Bound<'_, PyAny>, columns: usize, per: &str) -> PyResult<Vec<f64>> {
    let (entries, shape) = floats_of_any_shape(name, value)?;
    if shape.len() == 2 && shape[1] == columns {
        return Ok(entries);
    }
    let shape = PyTuple::new(value.py(), shape)?;
    let message = format!("{name} has shape {shape}, expected (scenarios, {columns}), a column per {per}");
    Err(ProblemError::new_err(message))
}

/// Pairs of integers: an array of shape (rows, 2).
pub(crate) fn pairs(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<[i64; 2]>> {
    let array = array(name, value, INTEGERS)?;
    if array.len() > 0 && (array.ndim() != 2 || array.shape()[1] != 2) {
        let shape = array.getattr("shape")?;
        let is_columns = array.ndim() == 2 && array.shape()[0] == 2;
        let hint = if is_columns { ": np.column_stack makes them of two arrays" } else { "" };
        return Err(ProblemError::new_err(format!("{name} has shape {shape}, expected two columns{hint}")));
    }
    Ok(flat::<i64>(name, &array)?.as_chunks::<2>().0.to_vec())
}

/// The rows of a table. A loop over a frame of pandas would give the names of its columns.
pub(crate) fn rows_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match value.hasattr("iloc")? {
        true => value.call_method0("to_numpy"),
        false => Ok(value.clone()),
    }
}

/// A parameter of a utility: a number, or one number per flow.
pub(crate) fn parameter(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Parameter> {
    if value.is_instance_of::<PyFloat>() || is_integer(value) {
        return Ok(Parameter::Same(value.extract()?));
    }
    if let Some(values) = list_in_pieces(name, value, NUMBERS)? {
        return Ok(Parameter::PerFlow(values));
    }
    let array = array(name, value, NUMBERS)?;
    if array.ndim() == 0 {
        return Ok(Parameter::Same(flat(name, &array)?[0]));
    }
    Ok(Parameter::PerFlow(vector(name, array.as_any(), NUMBERS)?))
}

/// So many numbers, from one for all or from an array, whose length the core checks.
pub(crate) fn for_each(name: &str, value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<f64>> {
    Ok(spread(parameter(name, value)?, count))
}

/// One number so many times, or the array.
pub(crate) fn spread(parameter: Parameter, count: usize) -> Vec<f64> {
    match parameter {
        Parameter::Same(value) => vec![value; count],
        Parameter::PerFlow(values) => values,
    }
}

/// The parameter for Python: a float, or a read-only array.
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
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Err(wrong_type(name, "an integer", value)),
        _ if value.lt(least)? => Err(setting(name, value, &format!("at least {least}"))),
        _ => Err(setting(name, value, &format!("at most {}", usize::MAX))),
    }
}

/// How many threads; one unless given.
pub(crate) fn threads_of(threads: Option<&Bound<'_, PyAny>>) -> PyResult<NonZeroUsize> {
    let threads = threads.map_or(Ok(1), |threads| count("threads", threads, 1))?;
    Ok(NonZeroUsize::new(threads).expect("at least 1"))
}

/// The array that an object keeps once it has been asked for it.
pub(crate) fn kept<'py, T>(
    place: &PyOnceLock<Py<T>>,
    py: Python<'py>,
    make: impl FnOnce() -> PyResult<Bound<'py, T>>,
) -> PyResult<Py<T>> {
    Ok(place.get_or_try_init(py, || make().map(Bound::unbind))?.clone_ref(py))
}

/// The vector as a read-only NumPy array. The numbers are moved, not copied.
pub(crate) fn read_only<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    let array = PyArray1::from_vec(py, values);
    array.readwrite().make_nonwriteable();
    array
}

/// Indices as NumPy's index type.
pub(crate) fn indices<'py, T: TryInto<i64> + Copy>(py: Python<'py>, values: &[T]) -> Bound<'py, PyArray1<i64>> {
    read_only(py, values.iter().map(|&value| value.try_into().unwrap_or(i64::MAX)).collect())
}

/// Many indices as NumPy's index type, with checks for signals.
pub(crate) fn long_indices<'py, T: TryInto<i64> + Copy>(
    py: Python<'py>,
    values: &[T],
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let mut all = Vec::with_capacity(values.len());
    for piece in values.chunks(PIECE) {
        py.check_signals()?;
        all.extend(piece.iter().map(|&value| value.try_into().unwrap_or(i64::MAX)));
    }
    Ok(read_only(py, all))
}

/// The place that an index of Python means, which counts from the end where it is negative.
pub(crate) fn place(what: &str, index: isize, count: usize) -> PyResult<usize> {
    let from_start = if index < 0 { index.saturating_add_unsigned(count) } else { index };
    usize::try_from(from_start)
        .ok()
        .filter(|&place| place < count)
        .ok_or_else(|| PyIndexError::new_err(format!("{what} {index} does not exist, {}", expected_below(what, count))))
}

/// An iterator over the entries of something, by their places.
pub(crate) fn entries<'py>(of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let places = PyRange::new(of.py(), 0, of.len()? as isize)?;
    of.py().import("builtins")?.call_method1("map", (of.getattr("__getitem__")?, places))
}

/// So many of something, in words: `1 link`, `2 links`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Whether it is True or False, of Python or of NumPy.
pub(crate) fn is_truth(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.is_instance_of::<PyBool>()
        || value.hasattr("dtype")? && value.get_type().name()?.to_cow()?.starts_with("bool"))
}

/// Whether it is an integer of Python, and no truth.
pub(crate) fn is_integer(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>()
}
