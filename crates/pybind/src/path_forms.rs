//! The forms in which paths are given: lists of links or of nodes, `Paths`, the columns of a sparse matrix.

use std::sync::Arc;

use netnum_core::internal::expected_below;
use netnum_core::{Error, Paths as Core};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::detach::{EnterRust, Pacer};
use crate::error::{ProblemError, raise, wrong_type};
use crate::numbers;
use crate::paths::Paths;
use crate::topology::Topology;
use crate::topology::pairs::{is_column, is_end};

/// Paths over so many links, from any of the forms that a problem takes; over those of a network, which also takes
/// lists of node names.
pub(crate) fn paths(value: &Bound<'_, PyAny>, links: usize, net: Option<&Topology>) -> PyResult<Arc<Core>> {
    if let Ok(paths) = value.cast::<Paths>() {
        return Ok(Arc::clone(&paths.get().core));
    }
    refuse_demands(value)?;
    if let Some(net) = net {
        refuse_pairs(value)?;
        refuse_tables(value, net)?;
    }
    if let Ok(text) = value.cast::<PyString>() {
        let how = "net.ecmp(pairs) and net.k_shortest_paths(pairs, k) make some; a problem's utility comes after them";
        return Err(PyTypeError::new_err(format!("paths is the text {:?}, expected paths: {how}", text.to_cow()?)));
    }
    if value.hasattr("tocsc")? {
        return columns(value, links).map(Arc::new);
    }
    if value.hasattr("mask")? && value.hasattr("filled")? {
        return Err(PyTypeError::new_err("paths are a masked array, expected plain integers"));
    }
    if let Some(what) = dense(value)? {
        let ends = net.map(|net| net.core.ends());
        let demands = ends.map(|ends| format!(", and demands as a matrix have the shape ({ends}, {ends})"));
        let expected = format!("expected lists of link numbers: {AS_MATRIX}{}", demands.unwrap_or_default());
        return Err(PyTypeError::new_err(format!("paths is {what}, {expected}")));
    }
    if net.is_some() && numbers::is_series_by_name(value)? {
        let message = "paths is a Series with an index: volumes by pair are a dict, series.to_dict()";
        return Err(PyTypeError::new_err(message));
    }
    let rows = value.try_iter().map_err(|_| {
        let expected = "a sequence of sequences of link indices, a netnum.Paths or a SciPy sparse matrix";
        wrong_type("paths", expected, value)
    })?;
    let mut paths = Core::from_lists::<[u32; 0]>([]);
    let (mut row, mut pacer) = (Vec::new(), Pacer::new(value.py()));
    // The first path that is no list of links 0 and 1, since no path crosses a link twice.
    let mut like_matrix = None;
    let names_some = |net: &&Topology| net.core.node_names().iter().any(|name| name.parse::<i64>().is_ok());
    let integers_name_nodes = net.filter(names_some).map(|net| (net, net.integer_names()));
    for (path, links_of_path) in rows.enumerate() {
        let links_of_path = links_of_path?;
        if net.is_some() && is_pair(&links_of_path)? {
            return Err(ProblemError::new_err(format!("path {path} is {}", of_pair(&links_of_path)?)));
        }
        if net.is_some() && is_pair_with_volume(&links_of_path)? {
            let what = format!("path {path} is {}, a pair and a volume", links_of_path.repr()?);
            let message = format!("{what}: demands are a dict of volumes by pair, {{(source, destination): volume}}");
            return Err(ProblemError::new_err(message));
        }
        if let Some((net, name_all)) = integers_name_nodes
            && is_list_of_integers(&links_of_path, |node| name_all || net.core.node(node).is_some())
        {
            let what = format!("path {path} is a list of integers, which may be links or nodes of {}", net.core.name());
            let message = format!("{what}: give [net.route(nodes), ...], or [np.array(links), ...]");
            return Err(ProblemError::new_err(message));
        }
        if let Ok(text) = links_of_path.cast::<PyString>() {
            return Err(text_as_path(path, &text.to_cow()?, value));
        }
        row.clear();
        push_row(path, &links_of_path, links, net, &mut row)?;
        if row.len() > 1 && row.iter().all(|&link| link < 2) && (row.len() > 2 || row[0] == row[1]) {
            like_matrix = like_matrix.or(Some(path));
        }
        paths.push(&row);
        pacer.did(1 + row.len())?;
    }
    if let Some(path) = like_matrix {
        let entries = paths.links(path).len();
        let is_table = paths.iter().all(|row| row.len() == entries && row.iter().all(|&link| link < 2));
        if is_table && (entries == links || paths.len() == links) {
            let what = format!("path {path} has {entries} entries of 0 and 1, which are link numbers");
            return Err(ProblemError::new_err(format!("{what}, and visits a link twice: {AS_MATRIX}")));
        }
    }
    Ok(Arc::new(paths))
}

/// The paths of what a call gives for pairs: of `Paths` and the flows that they belong to, which they have, the first.
pub(crate) fn of_call<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Ok(pair) = value.cast::<PyTuple>() else { return Ok(value.clone()) };
    if pair.len() != 2 {
        return Ok(value.clone());
    }
    let (first, flows) = (pair.get_item(0)?, pair.get_item(1)?);
    let Ok(paths) = first.cast::<Paths>() else {
        if is_list_of_lists(&first) && !is_list_of_lists(&flows) {
            let what = "paths is a tuple of a list of paths and another of numbers";
            let message = format!("{what}: give the list of paths, and the flows that they belong to as group=");
            return Err(PyTypeError::new_err(message));
        }
        return Ok(value.clone());
    };
    let group = numbers::integers("group", &flows)?;
    let own = numbers::integers("group", paths.getattr("group")?.as_any())?;
    if group != own {
        let message = "paths is a pair of Paths and flows that are not theirs: give the Paths, and the flows as group=";
        return Err(ProblemError::new_err(message));
    }
    Ok(first)
}

/// Whether the first entry of something has entries of its own, and is no text.
fn is_list_of_lists(value: &Bound<'_, PyAny>) -> bool {
    let first = value.try_iter().ok().and_then(|mut entries| entries.next()?.ok());
    first.is_some_and(|first| !first.is_instance_of::<PyString>() && first.len().is_ok())
}

/// How a pair of ends is given, which is no path.
const AS_PAIR: &str =
    "a pair of ends is a tuple, and net.k_shortest_paths([(source, destination), ...], k) has paths of pairs";

/// Whether something is a pair of ends: a tuple of two of them.
fn is_pair(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(pair) = value.cast::<PyTuple>() else { return Ok(false) };
    Ok(pair.len() == 2 && is_end(&pair.get_item(0)?)? && is_end(&pair.get_item(1)?)?)
}

/// Whether something is a pair of names and a number: a tuple of these three.
fn is_pair_with_volume(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(three) = value.cast::<PyTuple>() else { return Ok(false) };
    if three.len() != 3 {
        return Ok(false);
    }
    let (names, volume) = ([three.get_item(0)?, three.get_item(1)?], three.get_item(2)?);
    let is_number = volume.is_instance_of::<PyFloat>() || volume.is_instance_of::<PyInt>();
    Ok(is_number && names.iter().all(|name| name.is_instance_of::<PyString>()))
}

/// That something is a pair, and both forms.
fn of_pair(pair: &Bound<'_, PyAny>) -> PyResult<String> {
    let list = PyList::new(pair.py(), pair.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
    let paths = format!("net.k_shortest_paths([{pair}], k) has paths of pairs");
    Ok(format!("{pair}, a pair of ends: {paths}, and a path of these two is a list, {list}"))
}

/// Refuses demands, which have no paths.
fn refuse_demands(value: &Bound<'_, PyAny>) -> PyResult<()> {
    refuse_by_name(value)?;
    let is_table = value.hasattr("columns")? && value.getattr("columns")?.contains("source").unwrap_or(false);
    if is_table || value.hasattr("volumes")? || value.is_instance_of::<PyDict>() {
        let what = format!("paths is {}, which has no paths", value.get_type().name()?);
        let message = format!("{what}: net.k_shortest_paths(demands, k) has up to k for each of its pairs");
        return Err(ProblemError::new_err(message));
    }
    Ok(())
}

/// Refuses a dict of paths.
pub(crate) fn refuse_by_name(value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(by_name) = value.cast::<PyDict>()
        && let Some((_, first)) = by_name.iter().next()
        && (first.is_instance_of::<PyList>() || first.hasattr("dtype")? && first.len().is_ok())
    {
        let nested = first.get_item(0).is_ok_and(|entry| entry.is_instance_of::<PyList>());
        let instead = if nested {
            "[path for paths in dict.values() for path in paths] is a list of all, with the flow of each as group="
        } else {
            "list(dict.values()) has them in the order of the flows"
        };
        let message = format!("paths is a dict of paths, and flows have numbers and no names: {instead}");
        return Err(ProblemError::new_err(message));
    }
    Ok(())
}

/// Refuses a pair of ends, and two arrays that may be the ends of pairs.
fn refuse_pairs(value: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_pair(value)? {
        return Err(ProblemError::new_err(format!("paths is {}", of_pair(value)?)));
    }
    let Ok(two) = value.cast::<PyTuple>() else { return Ok(()) };
    if two.len() != 2 {
        return Ok(());
    }
    let (first, second) = (two.get_item(0)?, two.get_item(1)?);
    if is_column(&first)? && is_column(&second)? && first.len()? == second.len()? {
        let what = "paths is a tuple of two arrays, which may be two paths or the ends of pairs";
        let message = format!("{what}: give a list of the two, or net.k_shortest_paths(pairs, k)");
        return Err(ProblemError::new_err(message));
    }
    Ok(())
}

/// Refuses an array of integers that may be pairs, or demands between the ends of a network, and not paths.
fn refuse_tables(value: &Bound<'_, PyAny>, net: &Topology) -> PyResult<()> {
    if !(value.hasattr("dtype")? && value.hasattr("shape")?) || value.hasattr("tocsc")? {
        return Ok(());
    }
    let is_integer = value.getattr("dtype")?.getattr("kind")?.extract::<char>().is_ok_and(|kind| "iu".contains(kind));
    let shape: Vec<usize> = value.getattr("shape")?.extract()?;
    let [rows, columns] = shape[..] else { return Ok(()) };
    let what = format!("paths is an array of integers of shape ({rows}, {columns})");
    let message = match () {
        () if !is_integer => return Ok(()),
        () if columns == 2 => format!(
            "{what}, which may be pairs of ends or paths of two links: pairs are the tuple of its columns, \
             (array[:, 0], array[:, 1]), and paths a list of its rows, list(array)"
        ),
        () if [rows, columns] == [net.core.ends(); 2] => format!(
            "{what}, which may be demands between the ends or paths of {columns} links: demands are floats, \
             array.astype(float), and paths a list of its rows, list(array)"
        ),
        () => return Ok(()),
    };
    Err(ProblemError::new_err(message))
}

/// The error for a text in place of a path: often the nodes of one path, in a flat list.
fn text_as_path(path: usize, text: &str, all: &Bound<'_, PyAny>) -> PyErr {
    let nodes: Vec<String> = all.extract().unwrap_or_default();
    let example = if matches!(nodes.len(), 2..=8) { format!(": [{nodes:?}]") } else { String::new() };
    let expected = "expected a list of links or of node names";
    PyTypeError::new_err(format!("path {path} is the text {text:?}, {expected}{example}"))
}

/// The hint for a routing matrix that is not sparse.
const AS_MATRIX: &str =
    "give a routing matrix as scipy.sparse.csc_array(matrix), one row per link, one column per path";

/// The type of an argument that has no link numbers: an array of floats or bools, or a frame.
fn dense(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.hasattr("iloc")? && value.hasattr("columns")? {
        return Ok(Some(format!("a {}", value.get_type().name()?)));
    }
    if !(value.hasattr("dtype")? && value.hasattr("shape")?) {
        return Ok(None);
    }
    let (shape, dtype) = (value.getattr("shape")?, value.getattr("dtype")?);
    let is_number = dtype.getattr("kind")?.extract::<char>().is_ok_and(|kind| matches!(kind, 'b' | 'f'));
    Ok((is_number && shape.len()? == 2).then(|| format!("an array of shape {shape} and dtype {dtype}")))
}

/// Appends the links of one path.
fn push_row(
    path: usize,
    value: &Bound<'_, PyAny>,
    links: usize,
    net: Option<&Topology>,
    row: &mut Vec<u32>,
) -> PyResult<()> {
    if names_nodes(value)? {
        let net = net.ok_or_else(|| {
            let instead = "names of nodes take a Topology as the network";
            PyTypeError::new_err(format!("path {path} must be of integers, not str: {instead}"))
        })?;
        let what = format!("path {path}");
        // Two nodes that no link joins are often meant as a pair.
        let two: Vec<String> = value.extract().unwrap_or_default();
        let may_be_pair = two.len() == 2 && two.iter().all(|name| net.core.node(name).is_some());
        let links = net.route_of(&what, value).map_err(|error| match may_be_pair {
            true => ProblemError::new_err(format!("{}; {AS_PAIR}", error.value(value.py()))),
            false => error,
        })?;
        row.extend(links);
        return Ok(());
    }
    if value.is_instance_of::<PyDict>() {
        let instead =
            "coefficients are those of netnum.Paths(..., coefficients=...), or the entries of a sparse matrix";
        return Err(PyTypeError::new_err(format!("path {path} is a dict, expected a sequence of links: {instead}")));
    }
    let mut push = |link: i64| match u32::try_from(link) {
        Ok(index) if (index as usize) < links => {
            row.push(index);
            Ok(())
        }
        _ => Err(raise(Error::LinkOutOfRange { path, link, links })),
    };
    if value.hasattr("dtype")? {
        return numbers::integers(&format!("path {path}"), value)?.into_iter().try_for_each(push);
    }
    let wrong = |expected: &str, found: &Bound<'_, PyAny>| Err(wrong_type(&format!("path {path}"), expected, found));
    let Ok(entries) = value.try_iter() else { return wrong("a sequence of link indices", value) };
    for entry in entries {
        let entry = entry?;
        match entry.extract::<i64>() {
            Ok(link) => push(link)?,
            Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
                if let Some(net) = net {
                    net.refuse_tuple(&format!("a node of path {path}"), &entry)?;
                }
                return wrong("of integers", &entry);
            }
            Err(_) => {
                let expected = expected_below("link", links);
                return Err(ProblemError::new_err(format!("path {path} names link {entry}, {expected}")));
            }
        }
    }
    Ok(())
}

/// Whether something is a list or a tuple of integers each of which may be a node.
fn is_list_of_integers(value: &Bound<'_, PyAny>, may_be_node: impl Fn(&str) -> bool) -> bool {
    if !(value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()) {
        return false;
    }
    let Ok(entries) = value.extract::<Vec<i64>>() else { return false };
    !entries.is_empty() && entries.iter().all(|node| may_be_node(&node.to_string()))
}

/// The sources and the destinations of a pair of nodes, or of a list of pairs: tuples of two nodes.
pub(crate) fn pairs<'py>(value: &Bound<'py, PyAny>, net: &Topology) -> Option<[Bound<'py, PyList>; 2]> {
    let is_node = |node: &Bound<'py, PyAny>| {
        node.is_instance_of::<PyString>() || net.integer_names() && node.is_instance_of::<PyInt>()
    };
    let pair = |value: &Bound<'py, PyAny>| {
        let pair = value.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2)?;
        pair.iter().all(|node| is_node(&node)).then(|| (pair.get_item(0), pair.get_item(1)))
    };
    let given = match pair(value) {
        Some(one) => vec![one],
        None => value.cast::<PyList>().ok()?.iter().map(|entry| pair(&entry)).collect::<Option<Vec<_>>>()?,
    };
    let (sources, destinations): (Vec<_>, Vec<_>) = given.into_iter().unzip();
    let column = |nodes: Vec<PyResult<Bound<'py, PyAny>>>| {
        PyList::new(value.py(), nodes.into_iter().collect::<PyResult<Vec<_>>>().ok()?).ok()
    };
    let columns = [column(sources)?, column(destinations)?];
    (!columns[0].is_empty()).then_some(columns)
}

/// Whether something is a list of nodes: its first entry is a name.
pub(crate) fn names_nodes(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(list.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>()));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Ok(tuple.get_item(0).is_ok_and(|first| first.is_instance_of::<PyString>()));
    }
    // NumPy's letters for text and for objects.
    let kind = |value: &Bound<'_, PyAny>| value.getattr("dtype")?.getattr("kind")?.extract::<char>();
    Ok(value.hasattr("dtype")? && kind(value).is_ok_and(|kind| matches!(kind, 'U' | 'O')))
}

/// The columns of a routing matrix (links × paths), whose entries are coefficients.
fn columns(matrix: &Bound<'_, PyAny>, links: usize) -> PyResult<Core> {
    let shape = matrix.getattr("shape")?;
    let (rows, paths) = shape
        .extract::<(usize, usize)>()
        .map_err(|_| ProblemError::new_err(format!("the routing matrix has shape {shape}, expected (links, paths)")))?;
    if rows != links {
        if paths == links {
            let what = format!("the routing matrix has shape ({rows}, {paths}), expected {links} rows");
            let message = format!("{what}: one per link, one column per path, which its transpose has (matrix.T)");
            return Err(ProblemError::new_err(message));
        }
        let what = format!("the routing matrix has shape ({rows}, {paths}), expected ({links}, {paths})");
        return Err(ProblemError::new_err(format!("{what}: one row per link, one column per path")));
    }
    // Entries at the same place are summed and zeros dropped in a copy.
    let matrix = matrix.call_method1("tocsc", (true,))?;
    matrix.call_method0("sum_duplicates")?;
    matrix.call_method0("eliminate_zeros")?;
    let indptr = numbers::integers("indptr", &matrix.getattr("indptr")?)?;
    let rows = numbers::integers("indices", &matrix.getattr("indices")?)?;
    let entries = numbers::floats("the routing matrix", &matrix.getattr("data")?.call_method1("astype", ("f8",))?)?;
    let indptr = indptr.into_iter().map(|offset| offset as usize).collect();
    let links = rows.into_iter().map(|row| row as u32).collect();
    matrix.py().enter_rust(|| Core::with_coefficients(indptr, links, entries))
}
