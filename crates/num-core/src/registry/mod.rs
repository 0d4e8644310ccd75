//! Things that have names: methods, normalizers, kinds of utilities, policies, routings. Each kind has a [`Registry`].
//!
//! An entry states its name, its options with their defaults, and how it is made. A name or an option that does not
//! exist is one kind of error everywhere, which lists those that do, the nearest first. Options that are numbers alone
//! have ranges, which the entry states. Others are the fields of a plain struct with defaults, which checks
//! its ranges itself; by name they are [`Options`], which have the form of JSON.

pub(crate) mod options;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use options::{Given, Numbers, json};

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

/// An option of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionInfo {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The value it has unless given; [`OptionValue::None`] where that depends on others.
    pub default: OptionValue,
    /// The values it may have, of an option of an entry whose options are numbers alone.
    pub range: Option<OptionRange>,
    /// Its meaning, in one line; empty where the documentation of the entry says it.
    pub summary: &'static str,
}

impl OptionInfo {
    /// An option that is a number.
    pub const fn number(name: &'static str, default: f64, range: OptionRange, summary: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), default: OptionValue::Number(default), range: Some(range), summary }
    }

    fn of_field((name, default): (String, OptionValue)) -> Self {
        Self { name: Cow::Owned(name), default, range: None, summary: "" }
    }
}

/// The values that an option may have, all finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionRange {
    /// Greater than 0.
    Positive,
    /// 0 or greater.
    NotNegative,
    /// From 0 to 1, 1 excluded.
    Share,
    /// 0 or 1.
    Switch,
}

impl OptionRange {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::NotNegative => value >= 0.0 && value.is_finite(),
            Self::Share => (0.0..1.0).contains(&value),
            Self::Switch => value == 0.0 || value == 1.0,
        }
    }

    /// Checks a value of an option or a setting.
    ///
    /// # Errors
    /// [`Error::Setting`] with this name for a value out of the range.
    pub fn check(self, name: &str, value: f64) -> Result<()> {
        if self.holds(value) { Ok(()) } else { Err(Error::setting(name, value, self)) }
    }
}

impl fmt::Display for OptionRange {
    /// `a finite number > 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Positive => "a finite number > 0",
            Self::NotNegative => "a finite number >= 0",
            Self::Share => "a number >= 0 and < 1",
            Self::Switch => "0 or 1",
        })
    }
}

/// An entry of a [`Registry`].
#[derive(Clone, Copy)]
pub struct Entry<Make> {
    /// Its name.
    pub name: &'static str,
    /// Its description, in one line.
    pub summary: &'static str,
    /// Its options.
    pub options: fn() -> Vec<OptionInfo>,
    /// Makes it.
    pub make: Make,
}

impl<Make> fmt::Debug for Entry<Make> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).field("summary", &self.summary).finish_non_exhaustive()
    }
}

/// Everything of one kind that is known by name: a list of its entries.
#[derive(Debug)]
pub struct Registry<Make: 'static> {
    /// The kind: `method`.
    pub kind: &'static str,
    entries: &'static [Entry<Make>],
}

impl<Make> Deref for Registry<Make> {
    type Target = [Entry<Make>];

    fn deref(&self) -> &[Entry<Make>] {
        self.entries
    }
}

impl<Make> IntoIterator for &Registry<Make> {
    type Item = &'static Entry<Make>;
    type IntoIter = std::slice::Iter<'static, Entry<Make>>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl<Make> Registry<Make> {
    /// These entries, of some kind, the one to use first first.
    pub const fn new(kind: &'static str, entries: &'static [Entry<Make>]) -> Self {
        Self { kind, entries }
    }

    /// The names, in the order of the entries.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<Make> {
        self.entries.iter().map(|entry| entry.name)
    }

    /// The entry of a name, if there is one.
    pub fn find(&self, name: &str) -> Option<&'static Entry<Make>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The entry of a name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest one.
    pub fn get(&self, name: &str) -> Result<&'static Entry<Make>> {
        self.find(name).ok_or_else(|| Error::unknown_name(self.kind, name, self.names()))
    }

    /// The value of every option of an entry, each a number: as given by name, or by default.
    ///
    /// # Errors
    /// [`Error::UnknownOption`] with the known ones, [`Error::Setting`] for a value out of the option's range.
    pub fn numbers(&self, entry: &Entry<Make>, given: &Numbers) -> Result<Numbers> {
        let known = (entry.options)();
        for (name, &value) in given {
            self.option(entry, &known, name)?.range.map_or(Ok(()), |range| range.check(name, value))?;
        }
        let number = |option: OptionInfo| {
            let default = if let OptionValue::Number(default) = option.default { default } else { f64::NAN };
            (option.name.into_owned(), default)
        };
        let mut numbers: Numbers = known.into_iter().map(number).collect();
        numbers.extend(given.iter().map(|(name, &value)| (name.clone(), value)));
        Ok(numbers)
    }

    /// The entry of a name, and the options that it is made from: known ones, of finite numbers.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::UnknownOption`], [`Error::Option`].
    #[doc(hidden)]
    pub fn given<'a>(&self, name: &str, options: &'a Options) -> Result<(&'static Entry<Make>, Given<'a>)> {
        let entry = self.get(name)?;
        let known = (entry.options)();
        options.keys().try_for_each(|option| self.option(entry, &known, option).map(drop))?;
        let given = Given { of: self.of(entry), options };
        match options.iter().find(|(_, value)| !value.is_finite()) {
            Some((option, value)) => Err(Error::option(&given.of, option, value, "finite numbers")),
            None => Ok((entry, given)),
        }
    }

    /// `policy "flowtune"`.
    fn of(&self, entry: &Entry<Make>) -> String {
        format!("{} {:?}", self.kind, entry.name)
    }

    fn option<'a>(&self, entry: &Entry<Make>, known: &'a [OptionInfo], name: &str) -> Result<&'a OptionInfo> {
        known
            .iter()
            .find(|option| option.name == name)
            .ok_or_else(|| Error::unknown_option(self.of(entry), name, known.iter().map(|option| &*option.name)))
    }
}
