//! Problems as JSON text, with the fields `capacity`, `paths`, `coefficient`, `group`, `utility`, `cap` and `flow_cap`.
//!
//! `utility` holds the `kind` of every flow and a column for each parameter that one of them has, `null` where a kind
//! has no use for it; `capacity` holds `null` for no limit, `cap`, of paths, and `flow_cap` for no cap, and `flow_cap`
//! is there only if a flow has one; so is `coefficient`, lists like those of `paths`, of which not all are 1,
//! and `flow_floor`, `path_cost` and `priority`, which are there where one is not 0 (or all are the same). `capacities`
//! and `rate_cap` are read as well. Other fields (a name, an expected answer) are ignored when reading, but for those
//! whose names are slips of these.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Problem;
use crate::error::{Cause, Error, Result, check_length};
use crate::interrupt::{self, Pacer};
use crate::interruptible_list;
use crate::paths::Paths;
use crate::utility::{BREAKPOINTS, Spec, Utilities, columns};

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(alias = "capacities")]
    capacity: Column<Option<f64>>,
    paths: Paths,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coefficient: Option<Column<Vec<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Column<u32>>,
    utility: Columns,
    #[serde(default, alias = "rate_cap", skip_serializing_if = "Option::is_none")]
    cap: Option<Column<Option<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flow_cap: Option<Column<Option<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flow_floor: Option<Column<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_cost: Option<Column<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<Column<f64>>,
}

/// The utilities: a column for each parameter of a family that a flow has.
struct Columns {
    kind: Column<String>,
    numbers: Vec<(&'static str, Column<Option<f64>>)>,
    breakpoints: Column<Option<Vec<[f64; 2]>>>,
}

/// An entry per flow or path; in a file of utilities none at all for `None` of every flow.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
struct Column<T>(#[serde(with = "interruptible_list")] Vec<T>);

impl Default for Columns {
    fn default() -> Self {
        let numbers = columns().into_iter().filter(|&name| name != BREAKPOINTS);
        Self {
            kind: Column(Vec::new()),
            numbers: numbers.map(|name| (name, Column(Vec::new()))).collect(),
            breakpoints: Column(Vec::new()),
        }
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind)?;
        for (name, column) in &self.numbers {
            if column.0.iter().any(Option::is_some) {
                map.serialize_entry(name, column)?;
            }
        }
        if self.breakpoints.0.iter().any(Option::is_some) {
            map.serialize_entry(BREAKPOINTS, &self.breakpoints)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Columns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("columns by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Columns, A::Error> {
                let (mut read, mut names) = (Columns::default(), HashSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if name == "kind" {
                        read.kind = map.next_value()?;
                    } else if name == BREAKPOINTS {
                        read.breakpoints = map.next_value()?;
                    } else if let Some((_, column)) = read.numbers.iter_mut().find(|column| column.0 == name) {
                        *column = map.next_value()?;
                    } else {
                        let columns: Vec<_> = ["kind", BREAKPOINTS].into_iter().chain(columns()).collect();
                        refuse_slip::<A::Error>("utility.", &name, &columns)?;
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    if let Some(twice) = names.replace(name) {
                        return Err(A::Error::custom(format!("duplicate field `{twice}`")));
                    }
                }
                if names.contains("kind") { Ok(read) } else { Err(A::Error::missing_field("kind")) }
            }
        }
        deserializer.deserialize_map(Read)
    }
}

/// The fields of a problem, those that only Python has included.
const FIELDS: [&str; 14] = [
    "capacity",
    "capacities",
    "paths",
    "coefficient",
    "group",
    "utility",
    "cap",
    "rate_cap",
    "flow_cap",
    "flow_floor",
    "path_cost",
    "priority",
    "network",
    "pairs",
];

/// Refuses the name of a field that is none, and near to one.
fn refuse_slip<E: serde::de::Error>(place: &str, name: &str, known: &[&str]) -> Result<(), E> {
    // Fields of others have names like "rates", "gap" and "capacity_unit".
    let most = match name.len() {
        ..4 => return Ok(()),
        4..7 => 1,
        _ => 2,
    };
    let slips = |other| strsim::osa_distance(name, other);
    let is_longer = |other| name.strip_prefix(other).is_some_and(|rest| rest.starts_with('_'));
    let is_near = |other| !is_longer(other) && (slips(other) <= most || strsim::jaro_winkler(name, other) > 0.91);
    let near = known.iter().copied().filter(|&other| is_near(other)).min_by_key(|&other| slips(other));
    let wrong = |near| E::custom(format!("unknown field `{place}{name}`, did you mean `{place}{near}`?"));
    near.map_or(Ok(()), |near| Err(wrong(near)))
}

/// What JSON could not be read or written for, unless it is that the work was stopped.
fn wrong(error: serde_json::Error) -> Error {
    interrupt::check().err().unwrap_or_else(|| Error::Json(Cause::new(error)))
}

impl Columns {
    fn into_specs(self) -> Result<Vec<Spec>> {
        let Self { kind, numbers, mut breakpoints } = self;
        let flows = kind.0.len();
        let lengths = numbers.iter().map(|(name, column)| (*name, column.0.len()));
        let mut lengths = lengths.chain([(BREAKPOINTS, breakpoints.0.len())]);
        if let Some((name, found)) = lengths.find(|(_, length)| ![0, flows].contains(length)) {
            return Err(Error::Length { what: format!("utility.{name}"), found, expected: flows, per: "flow" });
        }
        let mut pacer = Pacer::new();
        let spec = |(flow, kind): (usize, String)| {
            pacer.did(1)?;
            let value = |column: &Column<Option<f64>>| column.0.get(flow).copied().flatten();
            let with = |spec: Spec, (name, column): &(&'static str, _)| match value(column) {
                Some(value) => spec.with(name, value),
                None => spec,
            };
            let spec = numbers.iter().fold(Spec::of_kind(kind), with);
            Ok(match breakpoints.0.get_mut(flow).and_then(Option::take) {
                Some(points) => spec.with_breakpoints(points),
                None => spec,
            })
        };
        kind.0.into_iter().enumerate().map(spec).collect()
    }

    fn push(&mut self, spec: Spec) {
        for (name, column) in &mut self.numbers {
            column.0.push(spec.get(name));
        }
        self.breakpoints.0.push(spec.breakpoints().map(<[_]>::to_vec));
        self.kind.0.push(spec.kind);
    }
}

impl Problem {
    /// A problem from JSON text.
    ///
    /// # Errors
    /// [`Error::Json`] when the text is not JSON, lacks a field, or has one whose name is a slip of another, and
    /// everything that [`Problem::grouped`], [`Problem::with_rate_caps`] and [`Problem::with_flow_caps`] find;
    /// [`Error::Stopped`].
    pub fn from_json(text: &str) -> Result<Self> {
        // Before a field that is missing is one that has another name.
        if let Ok(fields) = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text) {
            let mut names = fields.keys().filter(|name| !FIELDS.contains(&name.as_str()));
            names.try_for_each(|name| refuse_slip("", name, &FIELDS)).map_err(wrong)?;
        }
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
        let all = |caps: Column<Option<f64>>| caps.0.into_iter().map(|cap| cap.unwrap_or(f64::INFINITY)).collect();
        let paths = match file.coefficient {
            Some(coefficients) => with_coefficients(&file.paths, &coefficients.0)?,
            None => file.paths,
        };
        let problem = match file.group {
            Some(group) => Problem::grouped(all(file.capacity), paths, group.0, utilities)?,
            None => Problem::new(all(file.capacity), paths, utilities)?,
        };
        let problem = match file.cap {
            None => problem,
            Some(caps) => problem.with_rate_caps(all(caps))?,
        };
        let problem = match file.flow_cap {
            None => problem,
            Some(caps) => problem.with_flow_caps(all(caps))?,
        };
        let problem = match file.flow_floor {
            None => problem,
            Some(floors) => problem.with_flow_floors(floors.0)?,
        };
        let problem = match file.path_cost {
            None => problem,
            Some(costs) => problem.with_path_costs(costs.0)?,
        };
        match file.priority {
            None => Ok(problem),
            Some(priorities) => problem.with_priorities(priorities.0),
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
        let written = |limit: f64| Some(limit).filter(|limit| limit.is_finite());
        let caps = (0..problem.paths.len()).map(|path| written(problem.rate_cap(path)));
        let flow_caps = (0..problem.flows()).map(|flow| written(problem.flow_cap(flow)));
        Ok(Self {
            capacity: Column(problem.capacities().iter().copied().map(written).collect()),
            paths: Paths::new(problem.paths.indptr().to_vec(), problem.paths.indices().to_vec())?,
            coefficient: problem.paths.coefficients().map(|all| {
                let own = problem.paths.indptr().windows(2).map(|pair| all[pair[0]..pair[1]].to_vec());
                Column(own.collect())
            }),
            group: Some(Column(problem.group().to_vec())),
            utility,
            cap: Some(Column(caps.collect())),
            flow_cap: problem.has_flow_caps().then(|| Column(flow_caps.collect())),
            flow_floor: problem.has_flow_floors().then(|| Column(problem.flow_floors.to_vec())),
            path_cost: problem.has_path_costs().then(|| Column(problem.path_costs.to_vec())),
            priority: problem.has_priorities().then(|| Column(problem.priorities.to_vec())),
        })
    }
}

/// Paths with coefficients from lists like theirs.
fn with_coefficients(paths: &Paths, coefficients: &[Vec<f64>]) -> Result<Paths> {
    check_length("coefficient", coefficients.len(), paths.len(), "path")?;
    for (path, (own, links)) in coefficients.iter().zip(paths.iter()).enumerate() {
        check_length(&format!("coefficient of path {path}"), own.len(), links.len(), "link")?;
    }
    Paths::with_coefficients(paths.indptr().to_vec(), paths.indices().to_vec(), coefficients.concat())
}
