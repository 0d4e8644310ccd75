//! Policies and routings by name, as a configuration file or Python states them.
//!
//! In Rust options are the fields of a plain struct with defaults. By name they are [`Options`], which have the form of
//! JSON. The error for a name that does not exist lists those that do; the error for a value names its option.

use std::collections::BTreeMap;
use std::fmt;

use netnum_core::Error as Core;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Options by name.
pub type Options = BTreeMap<String, OptionValue>;

/// The value of an option. It is read from JSON, and displayed as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// No value: null.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// Values by name.
    Table(Options),
}

impl OptionValue {
    /// Whether all its numbers are finite: JSON has no others.
    fn is_finite(&self) -> bool {
        match self {
            Self::Number(number) => number.is_finite(),
            Self::List(values) => values.iter().all(Self::is_finite),
            Self::Table(values) => values.values().all(Self::is_finite),
            Self::None | Self::Bool(_) | Self::Integer(_) | Self::Text(_) => true,
        }
    }
}

/// As JSON, but for a number that is ∞ or NaN, which is written by name.
impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) if !number.is_finite() => number.fmt(f),
            _ => json(self).fmt(f),
        }
    }
}

/// An entry of a list of policies or of routings, which are built by name.
pub struct Entry<Built> {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// Its options with their defaults; [`OptionValue::None`] for those whose default depends on others.
    pub options: fn() -> Options,
    /// Builds it from its options.
    pub(crate) build: fn(&Given<'_>) -> Result<Built>,
}

impl<Built> fmt::Debug for Entry<Built> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("summary", &self.summary).finish_non_exhaustive()
    }
}

/// What an entry is built from: options that it has, and a seed.
pub(crate) struct Given<'a> {
    /// Their policy or routing: `policy "flowtune"`.
    of: String,
    options: &'a Options,
    pub(crate) seed: u64,
}

/// Builds the entry with some name.
///
/// # Errors
/// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Option`]; others for values out of their range.
pub(crate) fn build<Built>(
    list: &[Entry<Built>],
    kind: &'static str,
    name: &str,
    options: &Options,
    seed: u64,
) -> Result<Built> {
    let Some(entry) = list.iter().find(|entry| entry.name == name) else {
        return Err(Error::unknown(kind, name, list.iter().map(|entry| entry.name)));
    };
    let (of, known) = (format!("{kind} {name:?}"), (entry.options)());
    if let Some(option) = options.keys().find(|&option| !known.contains_key(option)) {
        return Err(Error::unknown_option(of, option, known.keys().map(String::as_str)));
    }
    if let Some((option, value)) = options.iter().find(|(_, value)| !value.is_finite()) {
        return Err(Error::option(&of, option, value, "finite numbers"));
    }
    let given = Given { of, options, seed };
    (entry.build)(&given).map_err(|error| given.in_context(error))
}

impl Given<'_> {
    /// The options as the fields of a struct, whose defaults stand for the others.
    pub(crate) fn read<T: DeserializeOwned + Default + Serialize>(&self) -> Result<T> {
        self.read_over(T::default())
    }

    /// The same with other defaults.
    pub(crate) fn read_over<T: DeserializeOwned + Serialize>(&self, defaults: T) -> Result<T> {
        let (mut fields, mut read) = (fields(&defaults), defaults);
        // One at a time, for an error that names the option.
        for (option, value) in self.options {
            fields.insert(option.clone(), json(value));
            read = T::deserialize(Value::Object(fields.clone()))
                .map_err(|error| mistyped(&self.of, option, value, &error))?;
        }
        Ok(read)
    }

    /// Turns an error of netnum-core about a setting into one about the option of that name, up to a dot.
    fn in_context(&self, error: Error) -> Error {
        let is_option = |name: &str| name.split('.').next().is_some_and(|option| self.options.contains_key(option));
        match error {
            Error::Core(Core::Setting { name, value, expected }) if is_option(&name) => {
                Error::Option { of: self.of.clone(), option: name, value, expected }
            }
            error => error,
        }
    }
}

/// The error for an option with a value of the wrong kind.
fn mistyped(of: &str, option: &str, value: &OptionValue, error: &serde_json::Error) -> Error {
    Error::option(of, option, value, &expected(error))
}

/// Reads a value whose forms are `forms`; the error for a value of another form lists them.
///
/// # Errors
/// The deserializer's.
pub(crate) fn read_form<'de, T, D>(deserializer: D, forms: &str) -> std::result::Result<T, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    T::deserialize(deserializer).map_err(|_| serde::de::Error::custom(format!("expected {forms}")))
}

/// The expected value, from the text of a serde error, which is in terms of Rust's types.
fn expected(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once("expected ").map_or(text.as_str(), |(_, expected)| expected) {
        "f64" => "a number".into(),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "usize" => "a whole number >= 0".into(),
        "a boolean" => "true or false".into(),
        "a string" => "text".into(),
        "a sequence" => "a list".into(),
        "string or map" | "map with a single key" => "a name".into(),
        other => other.replace('`', "\""),
    }
}

/// The fields of a struct of options, with their defaults.
pub(crate) fn defaults<T: Default + Serialize>() -> Options {
    options_of(&T::default())
}

/// The fields of a struct of options, with their values.
pub(crate) fn options_of<T: Serialize>(options: &T) -> Options {
    serde_json::from_value(Value::Object(fields(options))).unwrap_or_default()
}

fn fields<T: Serialize>(options: &T) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// A value as JSON.
pub(crate) fn json(value: &OptionValue) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
