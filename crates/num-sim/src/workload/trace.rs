//! Traces as text, one flow a line.
//!
//! ```text
//! arrival,source,destination,size        a header, which may be left out
//! 0.0,0,17,1460
//! 1.5e-6,3,0,20000
//! ```

use std::fmt::Write;

use super::Workload;
use crate::error::{Error, Result};

const HEADER: &str = "arrival,source,destination,size";

impl Workload {
    /// Reads a trace: arrival in seconds, source and destination ends by index, size in bytes, separated by commas.
    /// Blank lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`Error::Trace`] naming the line that is not four numbers; as [`new`](Self::new) for what the numbers say.
    pub fn from_csv(text: &str) -> Result<Self> {
        let (mut arrivals, mut sources, mut destinations, mut sizes) = (vec![], vec![], vec![], vec![]);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || (arrivals.is_empty() && line == HEADER) {
                continue;
            }
            let wrong = |what: String| Error::Trace { line: number, what };
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let &[arrival, source, destination, size] = fields.as_slice() else {
                return Err(wrong(format!("has {} fields, expected 4: {HEADER}", fields.len())));
            };
            let real = |name: &str, field: &str| {
                field.parse::<f64>().map_err(|_| wrong(format!("has {name} {field:?}, expected a number")))
            };
            let end = |name: &str, field: &str| {
                field.parse::<usize>().map_err(|_| wrong(format!("has {name} {field:?}, expected the index of an end")))
            };
            arrivals.push(real("arrival", arrival)?);
            sources.push(end("source", source)?);
            destinations.push(end("destination", destination)?);
            sizes.push(real("size", size)?);
        }
        Self::new(arrivals, sources, destinations, sizes)
    }

    /// The trace that [`from_csv`](Self::from_csv) reads back, to the last bit.
    pub fn to_csv(&self) -> String {
        let mut text = format!("{HEADER}\n");
        let ends = self.sources.iter().zip(&self.destinations);
        for ((arrival, size), (source, destination)) in self.arrivals.iter().zip(&self.sizes).zip(ends) {
            let _ = writeln!(text, "{arrival:?},{source},{destination},{size:?}");
        }
        text
    }
}
