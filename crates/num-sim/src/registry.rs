//! What a policy or a routing may be told besides its name.
//!
//! Options are the fields of a plain struct with defaults, written next to what they are for. By name they come as a
//! JSON object; a name that does not exist is answered with those that do, a value that cannot be with its option.

use netnum_core::Error as Core;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::network::Marking;
use crate::policy::Objective;

/// Options by name.
pub type Options = Map<String, Value>;

/// An entry of a list of things that are made by their names.
#[derive(Debug)]
pub struct Entry<Make> {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// Its options, with the values that they have unless others are given; null for those that depend on others.
    pub options: fn() -> Options,
    /// Makes it from its options.
    pub(crate) make: Make,
}

/// Options that something has been given, all of which it has.
#[derive(Debug)]
pub struct Given<'a> {
    /// Whose they are: `policy "flowtune"`.
    of: String,
    options: &'a Options,
}

/// How the thing of that name is made, and the options for it.
pub(crate) fn find<'a, Make: Copy>(
    list: &[Entry<Make>],
    kind: &'static str,
    name: &str,
    options: &'a Options,
) -> Result<(Make, Given<'a>)> {
    let Some(entry) = list.iter().find(|entry| entry.name == name) else {
        return Err(Error::unknown(kind, name, list.iter().map(|entry| entry.name)));
    };
    let (of, known) = (format!("{kind} {name:?}"), (entry.options)());
    match options.keys().find(|&option| !known.contains_key(option)) {
        Some(option) => Err(Error::unknown_option(of, option, known.keys().map(String::as_str))),
        None => Ok((entry.make, Given { of, options })),
    }
}

impl Given<'_> {
    /// The options as the fields of a struct, with its own defaults for the others.
    pub(crate) fn read<T: DeserializeOwned + Default + Serialize>(&self) -> Result<T> {
        self.read_over(T::default())
    }

    /// The same with other defaults.
    pub(crate) fn read_over<T: DeserializeOwned + Serialize>(&self, defaults: T) -> Result<T> {
        let (mut fields, mut read) = (fields(&defaults), defaults);
        // One at a time, for an error that names the option.
        for (option, value) in self.options {
            fields.insert(option.clone(), value.clone());
            read = T::deserialize(Value::Object(fields.clone()))
                .map_err(|error| mistyped(&self.of, option, value, &error))?;
        }
        Ok(read)
    }

    /// What has come of them, where the core names a setting of its own: that is one of these options, or after a dot what
    /// in it is to blame.
    pub(crate) fn named<T>(&self, made: Result<T>) -> Result<T> {
        let given = |name: &str| name.split('.').next().is_some_and(|option| self.options.contains_key(option));
        made.map_err(|error| match error {
            Error::Core(Core::Setting { name, value, expected }) if given(&name) => {
                Error::Option { of: self.of.clone(), option: name, value, expected }
            }
            error => error,
        })
    }
}

/// The error for an option with a value of the wrong kind.
pub(crate) fn mistyped(of: &str, option: &str, value: &Value, error: &serde_json::Error) -> Error {
    let expected = match option {
        "marking" => Marking::FORMS.into(),
        "utility" => Objective::FORMS.into(),
        _ => expected(error),
    };
    Error::option(of, option, value, &expected)
}

/// What would have been right, by what serde says of it, which speaks of Rust's types.
fn expected(error: &serde_json::Error) -> String {
    let says = error.to_string();
    match says.rsplit_once("expected ").map_or(says.as_str(), |(_, expected)| expected) {
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
    fields(&T::default())
}

/// The fields of a struct of options, with their values.
pub(crate) fn fields<T: Serialize>(options: &T) -> Options {
    match serde_json::to_value(options) {
        Ok(Value::Object(fields)) => fields,
        _ => Options::new(),
    }
}
