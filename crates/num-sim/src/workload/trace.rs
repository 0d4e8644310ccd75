//! Traces as text, one flow a line.
//!
//! ```text
//! arrival,source,destination,size        a header, which may be left out
//! 0.0,0,17,1460
//! 1.5e-6,3,0,20000
//! ```
//!
//! A fifth column, `production`, is the rate in bit/s at which a flow's bytes are produced: all lines have it, or none.
//! So it is with `weight`, and with `buffer`, the send buffer in bytes, which is one for all flows: both need a header,
//! as do `after`, the numbers of flows that a flow waits for with spaces between them, from 0 in the order of lines,
//! with `delay`, the seconds after the last of them, and `coflow`, the number of a flow's coflow or nothing.
//! With a header columns may stand in any order among others; with a network ends may be called by their names.

use std::collections::BTreeMap;
use std::fmt::Write;

use netnum_core::Topology;
use netnum_core::internal::did_you_mean;
use netnum_core::internal::interrupt::Pacer;

use super::{Dependencies, Production, Workload};
use crate::error::{Error, Result};
use crate::numbers::FLOW;

/// How many columns there are.
const COUNT: usize = 10;
/// The columns in the order that they have without a header; those from the fifth on may be missing, and those from the
/// sixth on stand below a header only.
const COLUMNS: [&str; COUNT] =
    ["arrival", "source", "destination", "size", "production", "weight", "buffer", "after", "delay", "coflow"];
const HEADER: &str = "arrival,source,destination,size";
const WITH_PRODUCTION: &str = "arrival,source,destination,size,production";
const ALL: &str = "arrival,source,destination,size,production,weight,buffer,after,delay,coflow";

impl Workload {
    /// Reads a trace: arrival in seconds, source and destination ends by index, size in bytes and perhaps the rate of
    /// production in bit/s, separated by commas. All other columns need a header. Blank lines and those that begin
    /// with `#` are skipped. Below a header the columns have its order, and those of other names are skipped. Without a
    /// column `buffer` send buffers have no limit.
    ///
    /// # Errors
    /// [`Error::Trace`] naming the line with a field that is no number, with a buffer unlike that of the first flow, or
    /// with more or fewer fields than the header, or than four or five, as the first line has, without one; and a
    /// header without one of the columns, with it twice, with one for two of them, or with a buffer and no production;
    /// and for values that [`new`](Self::new) and [`Production::new`] refuse.
    pub fn from_csv(text: &str) -> Result<Self> {
        Self::from_csv_with(text, None, &BTreeMap::new())
    }

    /// Reads a trace of a network whose ends may be called by name, or by index where no end has that name and not all
    /// names are integers, and with other names for columns: `columns` has those that the header has, by those that
    /// they have here.
    ///
    /// # Errors
    /// Those of [`from_csv`](Self::from_csv), with the nearest name for an end that the network does not have;
    /// [`Error::Trace`] where `columns` names some and there is no header;
    /// [`netnum_core::Error::Setting`] for a column that there is none of here.
    ///
    /// ```
    /// # use netnum_core::Topology;
    /// # use netnum_sim::{Error, Workload};
    /// let net = Topology::from_edges("Seattle Denver 1e9\nDenver Houston 1e9")?;
    /// let columns = [("arrival".into(), "start".into()), ("size".into(), "bytes".into())].into();
    /// let text = "id,source,destination,bytes,start\nweb,Seattle,Houston,1460,0.5";
    /// let workload = Workload::from_csv_with(text, Some(&net), &columns)?;
    /// assert_eq!((workload.sources(), workload.destinations()), (&[0][..], &[2][..]));
    /// assert_eq!(workload.arrivals(), &[0.5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_csv_with(text: &str, net: Option<&Topology>, columns: &BTreeMap<String, String>) -> Result<Self> {
        if let Some(name) = columns.keys().find(|name| !COLUMNS.contains(&name.as_str())) {
            let expected = format!("names of {ALL}{}", did_you_mean(name, &COLUMNS));
            return Err(Error::setting("columns", format!("for {name:?}"), &expected));
        }
        let (mut arrivals, mut sources, mut destinations, mut sizes) = (vec![], vec![], vec![], vec![]);
        let (mut layout, mut rates, mut lines): (Option<Layout>, _, _) = (None, vec![], vec![]);
        let (mut weights, mut buffer): (_, Option<f64>) = (vec![], None);
        let (mut indptr, mut after, mut delays, mut coflows) = (vec![0], vec![], vec![], vec![]);
        let mut pacer = Pacer::new();
        // Spreadsheets begin a file with a byte-order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1..).zip(text.lines()) {
            pacer.did(FLOW)?;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: String| Error::Trace { line: number, what };
            let fields: Vec<&str> = line.split(',').map(|field| field.trim().trim_matches('"')).collect();
            let header = if layout.is_none() { Layout::of_header(&fields, columns) } else { None };
            if let Some(read) = header {
                layout = Some(read.map_err(wrong)?);
                continue;
            }
            if let (None, Some(name)) = (&layout, columns.values().next()) {
                return Err(wrong(format!("is no header, expected one with the column {name:?}, which columns names")));
            }
            let layout = layout.get_or_insert_with(|| Layout::in_order(fields.len()));
            if fields.len() != layout.count {
                return Err(wrong(format!("has {} fields, expected {}: {}", fields.len(), layout.count, layout.shown)));
            }
            let field = |column: usize| layout.places[column].map(|place| fields[place]);
            let real = |column: usize, field: &str| {
                let name = COLUMNS[column];
                field.parse::<f64>().map_err(|_| wrong(format!("has {name} {field:?}, expected a number")))
            };
            let end = |column: usize, field: &str| {
                end_of(net, field).map_err(|expected| wrong(format!("has {} {field:?}, {expected}", COLUMNS[column])))
            };
            let [arrival, source, destination, size] = [0, 1, 2, 3].map(|column| field(column).unwrap_or_default());
            arrivals.push(real(0, arrival)?);
            sources.push(end(1, source)?);
            destinations.push(end(2, destination)?);
            sizes.push(real(3, size)?);
            if let Some(rate) = field(4) {
                rates.push(real(4, rate)?);
            }
            if let Some(weight) = field(5) {
                weights.push(real(5, weight)?);
            }
            if let Some(field) = field(6) {
                let (given, first) = (real(6, field)?, buffer);
                if first.is_some_and(|first| first != given) {
                    let expected = format!("expected {}, one for all flows", first.unwrap_or_default());
                    return Err(wrong(format!("has buffer {field:?}, {expected}")));
                }
                buffer = Some(given);
            }
            if let Some(field) = field(7) {
                for number in field.split_whitespace() {
                    let expected = "expected numbers of flows with spaces between them";
                    let wrong = |_| wrong(format!("has after {number:?}, {expected}"));
                    after.push(number.parse::<u32>().map_err(wrong)?);
                }
                indptr.push(after.len());
            }
            if let Some(delay) = field(8) {
                delays.push(real(8, delay)?);
            }
            if let Some(field) = field(9) {
                let wrong = |_| wrong(format!("has coflow {field:?}, expected its number, or nothing"));
                coflows.push(if field.is_empty() { None } else { Some(field.parse::<u32>().map_err(wrong)?) });
            }
            lines.push(number);
        }
        let workload = Self::new(arrivals, sources, destinations, sizes).map_err(|error| at_line(error, &lines))?;
        let has = |column: usize| layout.as_ref().is_some_and(|layout| layout.places[column].is_some());
        let workload = match has(5) {
            true => workload.with_weights(weights).map_err(|error| at_line(error, &lines))?,
            false => workload,
        };
        let workload = match has(7) {
            true => {
                delays.resize(lines.len(), 0.0);
                let dependencies = Dependencies::new(indptr, after, delays);
                let waiting = dependencies.and_then(|dependencies| workload.with_dependencies(dependencies));
                waiting.map_err(|error| at_line(error, &lines))?
            }
            false => workload,
        };
        let workload = match has(9) {
            true => workload.with_coflows(coflows).map_err(|error| at_line(error, &lines))?,
            false => workload,
        };
        if !has(4) {
            return Ok(workload);
        }
        let production =
            Production::new(rates, buffer.unwrap_or(f64::INFINITY)).map_err(|error| at_line(error, &lines))?;
        workload.with_production(production)
    }

    /// The trace that [`from_csv`](Self::from_csv) reads back as these flows, to the last bit.
    ///
    /// # Errors
    /// [`netnum_core::Error::Stopped`] only.
    pub fn to_csv(&self) -> Result<String> {
        self.to_csv_with(None)
    }

    /// The trace with the names of a network's ends, which [`from_csv_with`](Self::from_csv_with) reads back with the
    /// network if no name has a comma, a quote or a space at its edge.
    ///
    /// # Errors
    /// [`Error::Flow`] for an end that the network does not have; [`netnum_core::Error::Stopped`].
    pub fn to_csv_with(&self, net: Option<&Topology>) -> Result<String> {
        let rates = self.production().map(Production::rates);
        let buffer = self.production().map(Production::buffer).filter(|buffer| buffer.is_finite());
        let mut text = String::from(if rates.is_some() { WITH_PRODUCTION } else { HEADER });
        text += if self.weights().is_some() { ",weight" } else { "" };
        text += if buffer.is_some() { ",buffer" } else { "" };
        text += if self.dependencies().is_some() { ",after,delay" } else { "" };
        text += if self.coflows() > 0 { ",coflow\n" } else { "\n" };
        let mut pacer = Pacer::new();
        for (flow, (arrival, size)) in self.arrivals().iter().zip(self.sizes()).enumerate() {
            let (source, destination) = self.pair(flow);
            let _ = match net {
                Some(net) => {
                    let name = |what, end: usize| {
                        let value = end as f64;
                        let unknown =
                            || Error::Flow { flow, what, value, expected: format!("one of {} ends", net.ends()) };
                        net.end_names().get(end).ok_or_else(unknown)
                    };
                    let (source, destination) = (name("source", source)?, name("destination", destination)?);
                    write!(text, "{arrival:?},{source},{destination},{size:?}")
                }
                None => write!(text, "{arrival:?},{source},{destination},{size:?}"),
            };
            if let Some(rates) = rates {
                let _ = write!(text, ",{:?}", rates[flow]);
            }
            if let Some(weights) = self.weights() {
                let _ = write!(text, ",{:?}", weights[flow]);
            }
            if let Some(buffer) = buffer {
                let _ = write!(text, ",{buffer:?}");
            }
            if let Some(dependencies) = self.dependencies() {
                let after: Vec<String> = dependencies.after(flow).iter().map(u32::to_string).collect();
                let _ = write!(text, ",{},{:?}", after.join(" "), dependencies.delay(flow));
            }
            if self.coflows() > 0 {
                let _ = write!(text, ",{}", self.coflow(flow).map_or_else(String::new, |coflow| coflow.to_string()));
            }
            text.push('\n');
            pacer.did(FLOW)?;
        }
        Ok(text)
    }
}

/// An error about a flow as one about its line: `line 3 of the trace (flow 1) has …`.
fn at_line(error: Error, lines: &[usize]) -> Error {
    match error {
        Error::Flow { flow, .. } | Error::Unsorted { flow, .. } => {
            let text = error.to_string();
            let rest = text.strip_prefix(&format!("flow {flow}")).unwrap_or(&text);
            Error::Trace { line: lines[flow], what: format!("(flow {flow}){rest}") }
        }
        error => error,
    }
}

/// Where the columns stand.
struct Layout {
    /// Of each of [`COLUMNS`], its place in a line.
    places: [Option<usize>; COUNT],
    /// Fields of a line, and how to name them all.
    count: usize,
    shown: String,
}

impl Layout {
    /// That of lines without a header.
    fn in_order(fields: usize) -> Self {
        let (count, shown) = if fields == 5 { (5, WITH_PRODUCTION) } else { (4, HEADER) };
        Self { places: std::array::from_fn(|place| (place < count).then_some(place)), count, shown: shown.into() }
    }

    /// The layout of the first line, if it is a header: none of its fields is a number.
    fn of_header(fields: &[&str], columns: &BTreeMap<String, String>) -> Option<Result<Self, String>> {
        if fields.iter().any(|field| field.parse::<f64>().is_ok()) {
            return None;
        }
        let shown = fields.join(",");
        let place = |column: usize| {
            let name = columns.get(COLUMNS[column]).map_or(COLUMNS[column], String::as_str);
            let mut places = fields.iter().enumerate().filter(|field| *field.1 == name).map(|field| field.0);
            match (places.next(), places.next()) {
                (_, Some(_)) => Err(format!("has the header {shown:?} with two columns {name:?}")),
                (None, _) if column < 4 || columns.contains_key(COLUMNS[column]) => {
                    let hint = match shown.chars().find(|mark| fields.len() == 1 && ";\t|".contains(*mark)) {
                        Some(mark) => format!(": columns are separated by ',', not by {mark:?}"),
                        None => did_you_mean(name, fields),
                    };
                    Err(format!("has the header {shown:?} without a column {name:?}{hint}"))
                }
                (place, _) => Ok(place),
            }
        };
        let places = || {
            let mut places = [None; COUNT];
            for (column, found) in places.iter_mut().enumerate() {
                *found = place(column)?;
            }
            for (one, other) in [(6, 4), (8, 7)] {
                if let (Some(_), None) = (places[one], places[other]) {
                    let (one, other) = (COLUMNS[one], COLUMNS[other]);
                    return Err(format!("has the header {shown:?} with a {one} and no {other}, expected both"));
                }
            }
            for (one, other) in (0..COUNT).flat_map(|other| (0..other).map(move |one| (one, other))) {
                if let Some(place) = places[one].filter(|_| places[one] == places[other]) {
                    let (name, one, other) = (fields[place], COLUMNS[one], COLUMNS[other]);
                    return Err(format!("has one column {name:?} for {one} and {other}, expected one for each"));
                }
            }
            Ok(places)
        };
        Some(places().map(|places| Self { places, count: fields.len(), shown: shown.clone() }))
    }
}

/// An end by its name, or else by its index.
fn end_of(net: Option<&Topology>, field: &str) -> Result<usize, String> {
    let index = field.parse::<usize>().ok();
    let Some(net) = net else {
        let hint = if field.parse::<f64>().is_ok() { "" } else { ": names take the network (net)" };
        return index.ok_or_else(|| format!("expected the index of an end{hint}"));
    };
    let known = net.end(field).or_else(|| index.filter(|&end| end < net.ends() && !net.has_integer_names()));
    known.ok_or_else(|| net.expected_end(field))
}
