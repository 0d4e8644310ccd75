//! Traces as text, one flow a line.
//!
//! ```text
//! arrival,source,destination,size        a header, which may be left out
//! 0.0,0,17,1460
//! 1.5e-6,3,0,20000
//! ```
//!
//! A fifth column, `production`, is the rate in bit/s at which a flow's bytes are produced: all lines have it, or none.

use std::fmt::Write;

use netnum_core::interrupt::Pacer;

use super::{Production, Workload};
use crate::error::{Error, Result};

/// What a line costs to read or to write, in units of a [`Pacer`].
const LINE: usize = 16;

const HEADER: &str = "arrival,source,destination,size";
const WITH_PRODUCTION: &str = "arrival,source,destination,size,production";

impl Workload {
    /// Reads a trace: arrival in seconds, source and destination ends by index, size in bytes and perhaps the rate of
    /// production in bit/s, separated by commas. Blank lines and those that begin with `#` are skipped. Send buffers have
    /// no limit; [`with_production`](Self::with_production) may say otherwise afterwards.
    ///
    /// # Errors
    /// [`Error::Trace`] naming the line that is not four numbers, or five if the first is or the header says so, and a header
    /// of other columns or in another order; as [`new`](Self::new) and
    /// [`Production::new`] for what the numbers say.
    pub fn from_csv(text: &str) -> Result<Self> {
        let (mut arrivals, mut sources, mut destinations, mut sizes) = (vec![], vec![], vec![], vec![]);
        let (mut header, mut rates) = (None, vec![]);
        let mut pacer = Pacer::new();
        // Spreadsheets begin a file with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines()) {
            pacer.did(LINE)?;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| Error::Trace { line: number, what };
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            if header.is_none() && fields.iter().all(|field| field.parse::<f64>().is_err()) {
                let names = fields.join(",");
                let known = [HEADER, WITH_PRODUCTION].into_iter().find(|&known| known == names);
                let expected = || format!("has the header {names:?}, expected {HEADER} or {WITH_PRODUCTION}");
                header = Some(known.ok_or_else(|| wrong(expected()))?);
                continue;
            }
            let header = *header.get_or_insert(if fields.len() == 5 { WITH_PRODUCTION } else { HEADER });
            let expected = header.split(',').count();
            let (true, &[arrival, source, destination, size, ref rate @ ..]) =
                (fields.len() == expected, fields.as_slice())
            else {
                return Err(wrong(format!("has {} fields, expected {expected}: {header}", fields.len())));
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
            for rate in rate {
                rates.push(real("production", rate)?);
            }
        }
        let workload = Self::new(arrivals, sources, destinations, sizes)?;
        match rates.is_empty() {
            true => Ok(workload),
            false => workload.with_production(Production::new(rates, f64::INFINITY)?),
        }
    }

    /// The trace that [`from_csv`](Self::from_csv) reads back, to the last bit, but for the limit of send buffers.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] only.
    pub fn to_csv(&self) -> Result<String> {
        let rates = self.production().map(Production::rates);
        let mut text = format!("{}\n", if rates.is_some() { WITH_PRODUCTION } else { HEADER });
        let mut pacer = Pacer::new();
        for (flow, (arrival, size)) in self.arrivals().iter().zip(self.sizes()).enumerate() {
            let (source, destination) = self.pair(flow);
            let _ = write!(text, "{arrival:?},{source},{destination},{size:?}");
            if let Some(rates) = rates {
                let _ = write!(text, ",{:?}", rates[flow]);
            }
            text.push('\n');
            pacer.did(LINE)?;
        }
        Ok(text)
    }
}
