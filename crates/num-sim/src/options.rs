//! What a policy or a routing may be told besides its name.
//!
//! Options are the fields of a plain struct with defaults, written next to what they are for. By name they come as a
//! JSON object; a name that does not exist is answered with those that do, a value that cannot be with its option.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

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
        self.read_over(&T::default())
    }

    /// The same with other defaults.
    pub(crate) fn read_over<T: DeserializeOwned + Serialize>(&self, defaults: &T) -> Result<T> {
        let take = |option: &str, fields: Options| {
            let (of, option) = (self.of.clone(), option.to_owned());
            serde_json::from_value::<T>(Value::Object(fields)).map_err(|error| Error::Option {
                of,
                option,
                what: error.to_string(),
            })
        };
        // One at a time, for an error that names the option.
        for (option, value) in self.options {
            take(option, Options::from_iter([(option.clone(), value.clone())]))?;
        }
        let mut all = fields(defaults);
        all.extend(self.options.clone());
        take("", all)
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
