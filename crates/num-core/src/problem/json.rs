//! Problems as JSON text, with the fields `capacity`, `paths`, `group`, `utility`, `cap` and `flow_cap`.
//!
//! `utility` holds one column per field of [`Spec`], `null` where a kind has no use for it; `cap`, of paths, and
//! `flow_cap` hold `null` for no cap, and `flow_cap` is there only if a flow has one. `capacities` and `rate_cap` are
//! read as well. Other fields (a name, an expected answer) are ignored when reading.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Problem;
use crate::error::{Cause, Error, Result};
use crate::interrupt::{self, Pacer};
use crate::interruptible_list;
use crate::paths::Paths;
use crate::utility::{Spec, Utilities};

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(alias = "capacities", with = "interruptible_list")]
    capacity: Vec<f64>,
    paths: Paths,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "optional_column")]
    group: Option<Vec<u32>>,
    utility: Columns,
    #[serde(default, alias = "rate_cap", skip_serializing_if = "Option::is_none", with = "optional_column")]
    cap: Option<Vec<Option<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "optional_column")]
    flow_cap: Option<Vec<Option<f64>>>,
}

#[derive(Default, Serialize, Deserialize)]
struct Columns {
    #[serde(with = "interruptible_list")]
    kind: Vec<String>,
    #[serde(default, with = "interruptible_list")]
    weight: Vec<Option<f64>>,
    #[serde(default, skip_serializing_if = "has_none", with = "interruptible_list")]
    scale: Vec<Option<f64>>,
    #[serde(default, with = "interruptible_list")]
    alpha: Vec<Option<f64>>,
    #[serde(default, with = "interruptible_list")]
    size: Vec<Option<f64>>,
    #[serde(default, with = "interruptible_list")]
    eps: Vec<Option<f64>>,
    #[serde(default, with = "interruptible_list")]
    breakpoints: Vec<Option<Vec<[f64; 2]>>>,
    #[serde(default, with = "interruptible_list")]
    tail_slope: Vec<Option<f64>>,
}

/// Whether a column that few files need is empty.
fn has_none(column: &[Option<f64>]) -> bool {
    column.iter().all(Option::is_none)
}

/// A column, or null.
mod optional_column {
    use super::{Deserialize, Deserializer, Serialize, Serializer, interruptible_list};

    #[derive(Deserialize)]
    #[serde(transparent, bound = "T: Deserialize<'de>")]
    struct Column<T>(#[serde(deserialize_with = "interruptible_list::deserialize")] Vec<T>);

    pub(super) fn serialize<S, T>(column: &Option<Vec<T>>, serializer: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
        T: Serialize,
    {
        match column {
            Some(entries) => interruptible_list::serialize(entries, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
    where
        D: Deserializer<'de>,
        T: Deserialize<'de>,
    {
        Ok(Option::<Column<T>>::deserialize(deserializer)?.map(|column| column.0))
    }
}

/// What JSON could not be read or written for, unless it is that the work was stopped.
fn wrong(error: serde_json::Error) -> Error {
    interrupt::check().err().unwrap_or_else(|| Error::Json(Cause::new(error)))
}

impl Columns {
    fn into_specs(self) -> Result<Vec<Spec>> {
        let flows = self.kind.len();
        let lengths = [
            ("weight", self.weight.len()),
            ("scale", self.scale.len()),
            ("alpha", self.alpha.len()),
            ("size", self.size.len()),
            ("eps", self.eps.len()),
            ("breakpoints", self.breakpoints.len()),
            ("tail_slope", self.tail_slope.len()),
        ];
        if let Some(&(name, found)) = lengths.iter().find(|(_, length)| ![0, flows].contains(length)) {
            return Err(Error::Length { what: format!("utility.{name}"), found, expected: flows, per: "flow" });
        }
        let at = |column: &[Option<f64>], flow: usize| column.get(flow).copied().flatten();
        let mut pacer = Pacer::new();
        let spec = |(flow, kind): (usize, String)| {
            pacer.did(1)?;
            Ok(Spec {
                kind,
                weight: at(&self.weight, flow),
                scale: at(&self.scale, flow),
                alpha: at(&self.alpha, flow),
                size: at(&self.size, flow),
                eps: at(&self.eps, flow),
                breakpoints: self.breakpoints.get(flow).cloned().flatten(),
                tail_slope: at(&self.tail_slope, flow),
            })
        };
        self.kind.into_iter().enumerate().map(spec).collect()
    }

    fn push(&mut self, spec: Spec) {
        // Every field by name, so that the compiler finds a column that is missing.
        let Spec { kind, weight, scale, alpha, size, eps, breakpoints, tail_slope } = spec;
        self.kind.push(kind);
        self.weight.push(weight);
        self.scale.push(scale);
        self.alpha.push(alpha);
        self.size.push(size);
        self.eps.push(eps);
        self.breakpoints.push(breakpoints);
        self.tail_slope.push(tail_slope);
    }
}

impl Problem {
    /// A problem from JSON text.
    ///
    /// # Errors
    /// [`Error::Json`] when the text is not JSON or lacks a field, and everything that [`Problem::grouped`],
    /// [`Problem::with_rate_caps`] and [`Problem::with_flow_caps`] find; [`Error::Stopped`].
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str::<File>(text).map_err(wrong)?.into_problem()
    }

    /// The problem as JSON text that [`from_json`](Self::from_json) reads back to the same problem.
    ///
    /// # Errors
    /// [`Error::UtilityIsCode`] naming the first flow whose utility exists only as code; [`Error::Stopped`].
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(&File::of(self)?).map_err(wrong)
    }
}

/// Written with the fields of [`to_json`](Problem::to_json).
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        File::of(self).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Checked as by [`from_json`](Problem::from_json).
impl<'de> Deserialize<'de> for Problem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        File::deserialize(deserializer)?.into_problem().map_err(D::Error::custom)
    }
}

impl File {
    fn into_problem(self) -> Result<Problem> {
        let file = self;
        let utilities = Utilities::Specs(file.utility.into_specs()?);
        let problem = match file.group {
            Some(group) => Problem::grouped(file.capacity, file.paths, group, utilities)?,
            None => Problem::new(file.capacity, file.paths, utilities)?,
        };
        let all = |caps: Vec<Option<f64>>| caps.into_iter().map(|cap| cap.unwrap_or(f64::INFINITY)).collect();
        let problem = match file.cap {
            None => problem,
            Some(caps) => problem.with_rate_caps(all(caps))?,
        };
        match file.flow_cap {
            None => Ok(problem),
            Some(caps) => problem.with_flow_caps(all(caps)),
        }
    }

    fn of(problem: &Problem) -> Result<Self> {
        let mut specs = vec![None; problem.flows()];
        let mut pacer = Pacer::new();
        for block in problem.blocks() {
            for (place, &flow) in block.flows.iter().enumerate() {
                pacer.did(1)?;
                specs[flow as usize] = block.utility.spec(place);
            }
        }
        let mut utility = Columns::default();
        for (flow, spec) in specs.into_iter().enumerate() {
            utility.push(spec.ok_or(Error::UtilityIsCode { flow })?);
            pacer.did(1)?;
        }
        let caps = (0..problem.paths.len()).map(|path| Some(problem.rate_cap(path)).filter(|cap| cap.is_finite()));
        let flow_caps = (0..problem.flows()).map(|flow| Some(problem.flow_cap(flow)).filter(|cap| cap.is_finite()));
        Ok(Self {
            capacity: problem.capacities().to_vec(),
            paths: Paths::clone(&problem.paths),
            group: Some(problem.group().to_vec()),
            utility,
            cap: Some(caps.collect()),
            flow_cap: problem.has_flow_caps().then(|| flow_caps.collect()),
        })
    }
}
