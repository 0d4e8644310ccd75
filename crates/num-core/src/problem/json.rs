//! Problems as JSON text, with the fields `capacity`, `paths`, `group`, `utility` and `cap`.
//!
//! `utility` holds one column per field of [`Spec`], `null` where a kind has no use for it; `cap` holds `null` for no
//! cap. `capacities` and `rate_cap` are read as
//! well. Other fields (a name, an expected answer) are ignored when reading.

use serde::{Deserialize, Serialize};

use super::Problem;
use crate::error::{Error, Result};
use crate::paths::Paths;
use crate::utility::{Spec, Utilities};

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(alias = "capacities")]
    capacity: Vec<f64>,
    paths: Paths,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Vec<u32>>,
    utility: Columns,
    #[serde(default, alias = "rate_cap", skip_serializing_if = "Option::is_none")]
    cap: Option<Vec<Option<f64>>>,
}

#[derive(Default, Serialize, Deserialize)]
struct Columns {
    kind: Vec<String>,
    #[serde(default)]
    weight: Vec<Option<f64>>,
    #[serde(default)]
    alpha: Vec<Option<f64>>,
    #[serde(default)]
    size: Vec<Option<f64>>,
    #[serde(default)]
    eps: Vec<Option<f64>>,
    #[serde(default)]
    breakpoints: Vec<Option<Vec<[f64; 2]>>>,
    #[serde(default)]
    tail_slope: Vec<Option<f64>>,
}

impl Columns {
    fn into_specs(self) -> Result<Vec<Spec>> {
        let flows = self.kind.len();
        let lengths = [
            ("weight", self.weight.len()),
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
        let spec = |(flow, kind): (usize, String)| Spec {
            kind,
            weight: at(&self.weight, flow),
            alpha: at(&self.alpha, flow),
            size: at(&self.size, flow),
            eps: at(&self.eps, flow),
            breakpoints: self.breakpoints.get(flow).cloned().flatten(),
            tail_slope: at(&self.tail_slope, flow),
        };
        Ok(self.kind.into_iter().enumerate().map(spec).collect())
    }

    fn push(&mut self, spec: Spec) {
        self.kind.push(spec.kind);
        self.weight.push(spec.weight);
        self.alpha.push(spec.alpha);
        self.size.push(spec.size);
        self.eps.push(spec.eps);
        self.breakpoints.push(spec.breakpoints);
        self.tail_slope.push(spec.tail_slope);
    }
}

impl Problem {
    /// A problem from JSON text.
    ///
    /// # Errors
    /// [`Error::Json`] when the text is not JSON or lacks a field, and everything that [`Problem::grouped`] and
    /// [`Problem::with_rate_caps`] find.
    pub fn from_json(text: &str) -> Result<Self> {
        let file: File = serde_json::from_str(text).map_err(|error| Error::Json(error.to_string()))?;
        let group = file.group.unwrap_or_else(|| (0..file.paths.len() as u32).collect());
        let utilities = Utilities::Specs(file.utility.into_specs()?);
        let problem = Self::grouped(file.capacity, file.paths, group, utilities)?;
        match file.cap {
            None => Ok(problem),
            Some(caps) => problem.with_rate_caps(caps.into_iter().map(|cap| cap.unwrap_or(f64::INFINITY)).collect()),
        }
    }

    /// The problem as JSON text that [`from_json`](Self::from_json) reads back to the same problem.
    ///
    /// # Errors
    /// [`Error::Json`] naming the first flow whose utility exists only as code.
    pub fn to_json(&self) -> Result<String> {
        let mut specs = vec![None; self.flows()];
        for block in self.blocks() {
            for (place, &flow) in block.flows.iter().enumerate() {
                specs[flow as usize] = block.utility.spec(place);
            }
        }
        let mut utility = Columns::default();
        for (flow, spec) in specs.into_iter().enumerate() {
            let only_code = || Error::Json(format!("the utility of flow {flow} is code and cannot be written"));
            utility.push(spec.ok_or_else(only_code)?);
        }
        let caps = (0..self.paths.len()).map(|path| Some(self.rate_cap(path)).filter(|cap| cap.is_finite()));
        let file = File {
            capacity: self.capacities().to_vec(),
            paths: Paths::clone(&self.paths),
            group: Some(self.group().to_vec()),
            utility,
            cap: Some(caps.collect()),
        };
        serde_json::to_string(&file).map_err(|error| Error::Json(error.to_string()))
    }
}
