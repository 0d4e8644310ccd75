//! The result of a simulation, by flow and by link.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::numbers::{ALIKE, BITS};
use crate::policy::UpdateTraffic;
use crate::timeline::Timeline;
use crate::workload::Workload;

/// How a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// All flows have ended.
    #[default]
    Finished,
    /// The simulated time was up.
    TimeUp,
    /// The observer stopped it, or a [`StopToken`](netnum_core::StopToken).
    Stopped,
    /// The limit of wall-clock time was reached.
    TimeLimit,
    /// Nothing can be sent any more, but some flows have not ended: their links have failed, or the policy gives them
    /// no rate.
    Starved,
}

impl RunStatus {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Finished, Self::TimeUp, Self::Stopped, Self::TimeLimit, Self::Starved];

    /// Its name: `finished`, `time_up`, `stopped`, `time_limit`, `starved`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TimeUp => "time_up",
            Self::Stopped => "stopped",
            Self::TimeLimit => "time_limit",
            Self::Starved => "starved",
        }
    }
}

/// The result of a simulation. Columns over flows are in the order of the workload.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[must_use = "the report is all that a run leaves"]
#[non_exhaustive]
pub struct Report {
    /// How it ended.
    pub status: RunStatus,
    /// The name of the policy.
    pub policy: String,
    /// The name of the routing.
    pub routing: String,
    /// The flows.
    pub workload: Workload,
    /// When each flow started, in seconds: its arrival, unless it waited for others. NaN for those that have not.
    pub starts: Vec<f64>,
    /// Seconds from each flow's start to its end, with what [packets](crate::Packets) add if the run has such; NaN for
    /// those that have not ended.
    pub completion_times: Vec<f64>,
    /// That time over the time that the flow would take alone on the route of its arrival, with all its bytes there and
    /// capacities as at the start: at least 1, to rounding, unless it moved to a wider route or capacities grew. NaN
    /// for those that have not ended.
    pub slowdowns: Vec<f64>,
    /// Bytes that each flow has sent: its size, if it has ended.
    pub bytes_sent: Vec<f64>,
    /// The mean rate of each flow from its start, or from the warmup if that is later, to its end or that of the run,
    /// in bit/s, without what packets add: of a flow that never ends, its long-run rate. NaN for those that have not
    /// started, or had ended before.
    pub mean_rates: Vec<f64>,
    /// The estimate of each flow's rate of production when it ended, in bit/s, see [`copy_rate`]; NaN for those that
    /// have not ended, and for those whose bytes were all there.
    ///
    /// [`copy_rate`]: crate::Flows::copy_rate
    pub copy_rates: Vec<f64>,
    /// Bytes that have gone over each link since the warmup.
    pub link_bytes: Vec<f64>,
    /// Those bytes over what the link could have carried until the end; NaN for failed links, and if no time passed.
    pub link_utilization: Vec<f64>,
    /// The highest load of each link over any interval of time, in bit/s.
    pub peak_loads: Vec<f64>,
    /// The load above capacity, in bit/s, summed over links and averaged over time: 0 to rounding for policies that
    /// overload none.
    pub over_allocation: f64,
    /// The rates of flows and the loads of links over time, if the run was asked to keep them.
    pub timeline: Option<Timeline>,
    /// The largest relative gap that the policy has proven for its rates; 0 where it proves none, or is exact.
    pub gap: f64,
    /// The messages between the policy's allocator and the servers; `None` for a policy without an allocator.
    pub update_traffic: Option<UpdateTraffic>,
    /// Simulated seconds that do not count: means and quantiles are of the flows that start from then on, and what is
    /// said of links is from then on. Columns over flows have all of them.
    pub warmup: f64,
    /// Simulated seconds, until the last flow had ended or the run was over.
    pub time: f64,
    /// Instants with at least one event.
    pub events: u64,
    /// Changes of a flow's rate.
    pub rate_changes: u64,
    /// Changes of a flow's route.
    pub route_changes: u64,
    /// Real seconds.
    pub seconds: f64,
}

impl Report {
    /// The report of a run without events, whose fields may be set: that of a report which is read from elsewhere.
    pub fn new(status: RunStatus, workload: Workload) -> Self {
        Self { status, starts: workload.arrivals().to_vec(), workload, ..Self::default() }
    }

    /// The number of flows that have ended, those of the warmup too.
    pub fn ended(&self) -> usize {
        self.completion_times.iter().filter(|time| !time.is_nan()).count()
    }

    /// Seconds from the start of the first flow of every coflow to the end of its last one; NaN for coflows with flows
    /// that have not ended.
    pub fn coflow_times(&self) -> Vec<f64> {
        let coflows = self.workload.coflows();
        let (mut first, mut times) = (vec![f64::INFINITY; coflows], vec![0.0; coflows]);
        let of = |flow: usize| self.workload.coflow(flow).map(|coflow| coflow as usize);
        for (flow, &start) in self.starts.iter().enumerate() {
            if let Some(coflow) = of(flow) {
                first[coflow] = f64::min(first[coflow], start);
            }
        }
        // Not by the time of its end, which has the rounding of the clock.
        for (flow, (start, time)) in self.starts.iter().zip(&self.completion_times).enumerate() {
            if let Some(coflow) = of(flow) {
                let span = (start - first[coflow]) + time;
                // A coflow with a flow that has not ended keeps its NaN.
                times[coflow] = if span > times[coflow] || span.is_nan() { span } else { times[coflow] };
            }
        }
        times
    }

    /// The mean completion time of the flows that count and have ended, in seconds; NaN if there are none.
    pub fn mean_completion_time(&self) -> f64 {
        mean(&self.counted(&self.completion_times))
    }

    /// The mean slowdown of the flows that count and have ended; NaN if there are none.
    pub fn mean_slowdown(&self) -> f64 {
        mean(&self.counted(&self.slowdowns))
    }

    /// The slowdown that this fraction of the flows that count and have ended do not exceed; NaN if there are none, and
    /// for a fraction outside 0…1. Between two flows it is interpolated. O(flows).
    pub fn slowdown_quantile(&self, fraction: f64) -> f64 {
        quantile(&self.counted(&self.slowdowns), fraction)
    }

    /// Whether links were loaded above their capacities, by more than rounding: completion times are then too short.
    pub fn overloads(&self) -> bool {
        let carried = self.link_bytes.iter().sum::<f64>() * BITS;
        self.over_allocation * (self.time - self.warmup) > ALIKE * carried
    }

    /// The mean slowdown of the earlier and of the later half of the flows that count and have ended, in order of
    /// their starts, if later ones are slower by more than chance; `None` otherwise, and for fewer than 200 of them.
    ///
    /// A run that begins with an empty network and is short, or is overloaded, has no steady state to take the mean of:
    /// it depends on how many flows there are. The test is that of Mann and Kendall for a trend, of the means m_b of
    /// B = 20 batches of as many flows, each of which begins later than the one before:
    ///
    /// ```text
    /// S = Σ_{a < b} sign(m_b − m_a)      z = (S − 1) / √(B (B − 1) (2B + 5) / 18)      slower: z > 3.09
    /// ```
    ///
    /// and the later mean is 10 % above the earlier. Of batches that are independent and alike one in a thousand has
    /// such a z, whatever the distribution of slowdowns. Source: H. B. Mann, *Nonparametric tests against trend*,
    /// Econometrica 1945.
    pub fn slowing_down(&self) -> Option<(f64, f64)> {
        const BATCHES: usize = 20;
        const FEWEST: usize = 10 * BATCHES;
        const Z: f64 = 3.09;
        const MORE: f64 = 1.1;
        let starts = self.counted(&self.starts);
        let ended = |(&start, slowdown): (&f64, f64)| (!slowdown.is_nan()).then_some((start, slowdown));
        let mut flows: Vec<(f64, f64)> = starts.iter().zip(self.counted(&self.slowdowns)).filter_map(ended).collect();
        flows.sort_by(|one, other| one.0.total_cmp(&other.0));
        if flows.len() < FEWEST {
            return None;
        }
        // What does not make a whole batch is left out at the beginning.
        let size = flows.len() / BATCHES;
        let batches = flows[flows.len() - BATCHES * size..].chunks_exact(size);
        if !batches.clone().is_sorted_by(|one, next| one[0].0 < next[0].0) {
            return None;
        }
        let mean = |flows: &[(f64, f64)]| flows.iter().map(|flow| flow.1).sum::<f64>() / flows.len() as f64;
        let means: Vec<f64> = batches.map(mean).collect();
        let rises = |(later, mean): (usize, &f64)| -> f64 {
            means[..later].iter().map(|before| f64::from(i8::from(mean > before) - i8::from(mean < before))).sum()
        };
        let s: f64 = means.iter().enumerate().map(rises).sum();
        let count = BATCHES as f64;
        let z = (s - 1.0) / (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
        let (earlier, later) = flows.split_at(flows.len() / 2);
        let (earlier, later) = (mean(earlier), mean(later));
        (z > Z && later > MORE * earlier).then_some((earlier, later))
    }

    /// The entries of a column over flows that count: of the flows that start after the [warmup](Self::warmup).
    fn counted(&self, column: &[f64]) -> Vec<f64> {
        let start = |flow: usize| match self.starts.get(flow) {
            Some(&start) if !start.is_nan() => start,
            // It would start after the end of the run.
            _ => self.workload.arrivals().get(flow).map_or(self.time, |&arrival| f64::max(arrival, self.time)),
        };
        let of_flow = |(flow, value): (usize, &f64)| (start(flow) >= self.warmup).then_some(*value);
        column.iter().enumerate().filter_map(of_flow).collect()
    }

    /// A table: completion times and slowdowns by size, in the classes that papers use, and the utilization of links,
    /// without the [warmup](Self::warmup).
    pub fn summary(&self) -> String {
        const CLASSES: [(&str, f64, f64); 4] = [
            ("all", 0.0, f64::INFINITY),
            ("up to 100 kB", 0.0, 1e5),
            ("up to 10 MB", 1e5, 1e7),
            ("above 10 MB", 1e7, f64::INFINITY),
        ];
        let (sizes, times) = (self.counted(self.workload.sizes()), self.counted(&self.completion_times));
        let slowdowns = self.counted(&self.slowdowns);
        let (unit, per_second) = unit_of(mean(&times));
        let mut rows = vec![["flows", "ended", "mean time", "slowdown", "median", "99 %"].map(String::from)];
        for (class, above, most) in CLASSES {
            let of_class = |(&size, value): (&f64, &f64)| (size > above && size <= most).then_some(*value);
            let of_class = |column: &[f64]| sizes.iter().zip(column).filter_map(of_class).collect::<Vec<f64>>();
            let (times, slowdowns) = (of_class(&times), of_class(&slowdowns));
            let ended = times.iter().filter(|time| !time.is_nan()).count();
            let [median, tail] = [0.5, 0.99].map(|fraction| quantile(&slowdowns, fraction));
            let (time, slowdown) = (format!("{:.4} {unit}", per_second * mean(&times)), mean(&slowdowns));
            let row = [class.into(), ended.to_string(), time, format!("{slowdown:.3}"), format!("{median:.3}")];
            rows.push(if ended == 0 {
                [class, "0", "", "", "", ""].map(String::from)
            } else {
                let [class, ended, time, slowdown, median] = row;
                [class, ended, time, slowdown, median, format!("{tail:.2}")]
            });
        }
        let mut text = format!("{self}\n\n{}", table(&rows));
        let used = || self.link_utilization.iter().copied().filter(|used| !used.is_nan());
        let (links, most) = (used().count(), used().fold(0.0, f64::max));
        if links > 0 {
            let mean = used().sum::<f64>() / links as f64;
            let _ =
                write!(text, "\nlinks used to {:.1} % in the mean, the busiest to {:.1} %", 100.0 * mean, 100.0 * most);
            let _ = writeln!(text, ", over {:.4} s and {} events", self.time, self.events);
        }
        if let Some((earlier, later)) = self.slowing_down() {
            let _ = writeln!(
                text,
                "\nLater flows are slower than earlier ones: slowdown {earlier:.3} in the mean of the first half of \
                 them, {later:.3} in that of the second.\nThe network still fills, or is overloaded: a longer run with \
                 a warmup has a steady state, if there is one."
            );
        }
        text
    }
}

/// The unit in which a time is a number from 1 on, if there is one, and how many of it make a second.
fn unit_of(seconds: f64) -> (&'static str, f64) {
    match seconds {
        seconds if seconds >= 1.0 => ("s", 1.0),
        seconds if seconds < 1e-3 => ("µs", 1e6),
        _ => ("ms", 1e3),
    }
}

/// Rows as text in columns, the first to the left and the others to the right, with a gap of at least three.
fn table(rows: &[[String; 6]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        for (column, entry) in row.iter().enumerate() {
            let width = width(column);
            let _ = if column == 0 { write!(text, "{entry:<width$}") } else { write!(text, "   {entry:>width$}") };
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

/// The mean of the values that are numbers; NaN if none is.
fn mean(values: &[f64]) -> f64 {
    let ended = || values.iter().filter(|value| !value.is_nan());
    ended().sum::<f64>() / ended().count() as f64
}

/// A quantile of the values that are numbers; NaN if none is, and for a fraction outside 0…1.
fn quantile(values: &[f64], fraction: f64) -> f64 {
    if !(0.0..=1.0).contains(&fraction) {
        return f64::NAN;
    }
    let mut values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let place = fraction * last as f64;
    let (_, &mut below, above) = values.select_nth_unstable_by(place as usize, f64::total_cmp);
    let above = above.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    below + place.fract() * (above - below)
}

/// A summary in one line: `Report(finished, 2000 flows, mean slowdown 1.93, 99 % below 9.61, max-min over ecmp,
/// 5.2 ms)`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flows, ended) = (self.completion_times.len(), self.ended());
        write!(f, "Report({}, ", self.status.name())?;
        match ended == flows {
            true => write!(f, "{flows} flow{}", if flows == 1 { "" } else { "s" })?,
            false => write!(f, "{ended} of {flows} flows")?,
        }
        if self.warmup > 0.0 {
            write!(f, ", {} after the warmup", self.counted(&self.completion_times).len())?;
        }
        let (mean, tail) = (self.mean_slowdown(), self.slowdown_quantile(0.99));
        if !mean.is_nan() {
            write!(f, ", mean slowdown {mean:.3}, 99 % below {tail:.2}")?;
        }
        if let Some((earlier, later)) = self.slowing_down() {
            write!(f, ", later flows slower ({earlier:.3} then {later:.3})")?;
        }
        if self.overloads() {
            write!(f, ", links overloaded by {:.3} Gbit/s in the mean", 1e-9 * self.over_allocation)?;
        }
        write!(f, ", {} over {}, ", self.policy, self.routing)?;
        match self.seconds < 0.1 {
            true => write!(f, "{:.1} ms)", 1e3 * self.seconds),
            false => write!(f, "{:.1} s)", self.seconds),
        }
    }
}
