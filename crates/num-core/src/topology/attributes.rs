//! What links have besides their capacities: delays, costs, lengths, labels.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Topology;
use crate::error::{Error, Result, check_length, did_you_mean};

/// The values of one attribute, one per link.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Values", into = "Values")]
pub enum LinkAttribute {
    /// Numbers, NaN for a link without one.
    Numbers(Vec<f64>),
    /// Texts, empty for a link without one.
    Texts(Vec<String>),
}

/// As they are written: null for a link without a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Values {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<String>),
}

impl From<Values> for LinkAttribute {
    fn from(values: Values) -> Self {
        match values {
            Values::Numbers(numbers) => Self::Numbers(numbers.into_iter().map(|n| n.unwrap_or(f64::NAN)).collect()),
            Values::Texts(texts) => Self::Texts(texts),
        }
    }
}

impl From<LinkAttribute> for Values {
    fn from(attribute: LinkAttribute) -> Self {
        match attribute {
            LinkAttribute::Numbers(numbers) => {
                Self::Numbers(numbers.into_iter().map(|n| Some(n).filter(|n| n.is_finite())).collect())
            }
            LinkAttribute::Texts(texts) => Self::Texts(texts),
        }
    }
}

/// Links without a number are alike.
impl PartialEq for LinkAttribute {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Numbers(one), Self::Numbers(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
            }
            (Self::Texts(one), Self::Texts(other)) => one == other,
            _ => false,
        }
    }
}

impl LinkAttribute {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Whether no link has one.
    fn is_empty(&self) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.iter().all(|number| number.is_nan()),
            Self::Texts(texts) => texts.iter().all(String::is_empty),
        }
    }
}

impl Topology {
    /// This network with one more attribute of its links, or with other values of one; without it where no link has a
    /// value.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a value per link.
    ///
    /// ```
    /// # use netnum_core::{KShortest, LinkAttribute, Topology, Error};
    /// let net = Topology::from_edges("Seattle Denver 10\nDenver Houston 10\nSeattle Houston 10")?;
    /// let delays = LinkAttribute::Numbers(vec![10.0, 10.0, 8.0, 8.0, 30.0, 30.0]);
    /// let net = net.with_attribute("delay", delays)?;
    /// let nearest = KShortest::new(1).with_weight(net.weight("delay")?);
    /// let (paths, _) = net.k_shortest_paths(&[0], &[2], &nearest)?;
    /// assert_eq!(paths.links(0), [0, 2]); // by Denver
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_attribute(mut self, name: impl Into<String>, values: LinkAttribute) -> Result<Self> {
        let name = name.into();
        check_length(&format!("attribute {name:?}"), values.len(), self.links.len(), "link")?;
        match values.is_empty() {
            true => self.attributes.remove(&name),
            false => self.attributes.insert(name, values),
        };
        Ok(self)
    }

    /// The attributes of the links, by name.
    pub fn attributes(&self) -> &BTreeMap<String, LinkAttribute> {
        &self.attributes
    }

    /// An attribute that every link has as a number: the weight of [`KShortest`](crate::KShortest).
    ///
    /// # Errors
    /// [`Error::Topology`] for an attribute that there is not, with the nearest name, for one that is text, and naming
    /// the first link that has none.
    pub fn weight(&self, name: &str) -> Result<&[f64]> {
        let wrong = |what: String| Err(Error::Topology(what));
        match self.attributes.get(name) {
            None => {
                let known: Vec<&str> = self.attributes.keys().map(String::as_str).collect();
                let near = did_you_mean(name, &known);
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                wrong(format!("there is no link attribute {name:?}{near}; known: {known}"))
            }
            Some(LinkAttribute::Texts(_)) => wrong(format!("link attribute {name:?} is text, expected numbers")),
            Some(LinkAttribute::Numbers(numbers)) => match numbers.iter().position(|number| number.is_nan()) {
                Some(link) => wrong(format!("{} has no {name:?}, expected a number >= 0", self.shown(link as u32))),
                None => Ok(numbers),
            },
        }
    }
}
