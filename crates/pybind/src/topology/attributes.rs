//! Attributes of links as Python gives and gets them: a dict of arrays and lists.

use netnum_core::internal::{check_length, did_you_mean};
use netnum_core::{LinkAttribute, Topology as Core};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::Topology;
use crate::by_name::{Each, Names, is_a};
use crate::error::{ProblemError, raise, wrong_type};
use crate::numbers;

/// A network with these attributes of its links.
pub(super) fn with_attributes(mut core: Core, given: &Bound<'_, PyAny>) -> PyResult<Core> {
    if !is_a(given, "Mapping")? {
        return Err(wrong_type("link_attributes", "a dict of arrays by name", given));
    }
    for item in given.call_method0("items")?.try_iter()? {
        let item = item?;
        let (name, values): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let name: String = name.extract().map_err(|_| wrong_type("the name of a link attribute", "a str", &name))?;
        core = core.with_attribute(&*name, values_of(&name, &values)?).map_err(raise)?;
    }
    Ok(core)
}

/// Numbers, or texts where the first value is one.
fn values_of(name: &str, values: &Bound<'_, PyAny>) -> PyResult<LinkAttribute> {
    let what = format!("link attribute {name:?}");
    if values.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!("{what} must have a value per link, not be one str")));
    }
    let first = values.try_iter().ok().and_then(|mut values| values.next()).transpose()?;
    if first.is_some_and(|first| first.is_instance_of::<PyString>()) {
        let texts = values.try_iter()?.map(|text| {
            let text = text?;
            text.extract().map_err(|_| wrong_type(&format!("a value of {what}"), "a str as the first is", &text))
        });
        return Ok(LinkAttribute::Texts(texts.collect::<PyResult<_>>()?));
    }
    Ok(LinkAttribute::Numbers(numbers::floats(&what, values)?))
}

/// The numbers of the links that are shared, of so many: all or none of them, or those of a mask.
pub(super) fn shared_links(shared: &Bound<'_, PyAny>, links: usize) -> PyResult<Vec<u32>> {
    if numbers::is_truth(shared)? {
        return Ok(if shared.is_truthy()? { (0..links as u32).collect() } else { Vec::new() });
    }
    let expected = "True, False, or an array of bool with one per link";
    let mut all = Vec::with_capacity(links);
    for value in shared.try_iter().map_err(|_| wrong_type("shared", expected, shared))? {
        let value = value?;
        if !numbers::is_truth(&value)? {
            return Err(wrong_type("shared", expected, &value));
        }
        all.push(value.is_truthy()?);
    }
    check_length("shared", all.len(), links, "link").map_err(raise)?;
    Ok((0..).zip(all).filter_map(|(link, is_shared)| is_shared.then_some(link)).collect())
}

/// What to give where links have no attribute of that name, and none that is near.
fn instead_of(core: &Core, what: &str, name: &str) -> Option<String> {
    let known: Vec<&str> = core.attributes().keys().map(String::as_str).collect();
    if known.contains(&name) {
        return None;
    }
    if ["capacity", "capacities"].contains(&name) {
        return Some(format!("capacities are {what}=net.capacities"));
    }
    let edge = format!("(source, target, {{\"capacity\": 10.0, {name:?}: 1.0}})");
    let instead = format!("{what} also takes an array of one number per link, and edges have attributes as {edge}");
    did_you_mean(name, &known).is_empty().then_some(instead)
}

impl Topology {
    /// The attributes of the links by name.
    pub(super) fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, values) in self.core.attributes() {
            match values {
                LinkAttribute::Numbers(values) => all.set_item(name, numbers::read_only(py, values.clone()))?,
                LinkAttribute::Texts(texts) => all.set_item(name, texts)?,
            }
        }
        Ok(all)
    }

    /// A number of every link: an array, one for all, the name of an attribute, or a dict of some links beside the
    /// number of the `others`.
    pub(crate) fn of_links(
        net: &Bound<'_, Self>,
        what: &str,
        value: &Bound<'_, PyAny>,
        others: f64,
    ) -> PyResult<Vec<f64>> {
        let core = &net.get().core;
        if let Ok(name) = value.cast::<PyString>() {
            let name = name.to_str()?;
            return core.weight(name).map(<[f64]>::to_vec).map_err(|error| match instead_of(core, what, name) {
                Some(instead) => ProblemError::new_err(format!("{what}: {error}; {instead}")),
                None => raise(error),
            });
        }
        let names = Names { net: Some(net.clone()), paths: None };
        let value = names.filled(what, value, Each::Link, || vec![others; core.links().len()])?;
        numbers::for_each(what, &value, core.links().len())
    }

    /// What paths are shortest by: 1 for the links that a dict does not name.
    pub(super) fn weight_of(net: &Bound<'_, Self>, weight: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        Self::of_links(net, "weight", weight, 1.0)
    }
}
