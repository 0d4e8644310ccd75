//! The options that an entry is made from: read into the fields of a struct, and made from them.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{OptionInfo, OptionValue, Options};
use crate::error::{Error, Result};

/// Options by name, all of them numbers.
pub(crate) type Numbers = BTreeMap<String, f64>;

/// The options that an entry is made from.
#[derive(Debug)]
pub struct Given<'a> {
    /// Whose they are: `policy "flowtune"`.
    pub(super) of: String,
    pub(super) options: &'a Options,
}

impl Given<'_> {
    /// The options as the fields of a struct, whose defaults stand for the others.
    ///
    /// # Errors
    /// [`Error::Option`] for a value of another type.
    pub fn read<T: DeserializeOwned + Default + Serialize>(&self) -> Result<T> {
        self.read_over(T::default())
    }

    /// The options as the fields of a struct, with these defaults for the others.
    ///
    /// # Errors
    /// [`Error::Option`] for a value of another type.
    pub fn read_over<T: DeserializeOwned + Serialize>(&self, defaults: T) -> Result<T> {
        let (mut fields, mut read) = (fields(&defaults), defaults);
        // One at a time, for an error that names the option.
        for (option, value) in self.options {
            fields.insert(option.clone(), json(value));
            read = T::deserialize(Value::Object(fields.clone()))
                .map_err(|error| mistyped(&self.of, option, value, &error))?;
        }
        Ok(read)
    }

    /// An error about a setting as one about the option of that name, up to a dot.
    pub fn about_option(&self, error: Error) -> Error {
        let is_option = |name: &str| name.split('.').next().is_some_and(|option| self.options.contains_key(option));
        match error {
            Error::Setting { name, value, expected } if is_option(&name) => {
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
pub fn read_form<'de, T, D>(deserializer: D, forms: &str) -> std::result::Result<T, D::Error>
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
pub fn defaults<T: Default + Serialize>() -> Vec<OptionInfo> {
    options_of(&T::default())
}

/// The fields of a struct of options, with their values.
pub fn options_of<T: Serialize>(options: &T) -> Vec<OptionInfo> {
    let fields: Options = serde_json::from_value(Value::Object(fields(options))).unwrap_or_default();
    fields.into_iter().map(OptionInfo::of_field).collect()
}

fn fields<T: Serialize>(options: &T) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// A value as JSON.
pub fn json(value: &OptionValue) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
