//! The result of a simulation, by flow and by link.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::numbers::{ALIKE, BITS};
use crate::policy::UpdateTraffic;
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
    /// Seconds from each flow's arrival to its end; NaN for those that have not ended.
    pub completion_times: Vec<f64>,
    /// That time over the time that the flow would take alone on the route of its arrival, with all its bytes there and
    /// capacities as at the start: at least 1, to rounding, unless it moved to a wider route or capacities grew. NaN
    /// for those that have not ended.
    pub slowdowns: Vec<f64>,
    /// Bytes that each flow has sent: its size, if it has ended.
    pub bytes_sent: Vec<f64>,
    /// The estimate of each flow's rate of production when it ended, in bit/s, see [`copy_rate`]; NaN for those that
    /// have not ended, and for those whose bytes were all there.
    ///
    /// [`copy_rate`]: crate::Flows::copy_rate
    pub copy_rates: Vec<f64>,
    /// Bytes that have gone over each link.
    pub link_bytes: Vec<f64>,
    /// Those bytes over what the link could have carried until the end; NaN for failed links, and if no time passed.
    pub link_utilization: Vec<f64>,
    /// The highest load of each link over any interval of time, in bit/s.
    pub peak_loads: Vec<f64>,
    /// The load above capacity, in bit/s, summed over links and averaged over time: 0 to rounding for policies that
    /// overload none.
    pub over_allocation: f64,
    /// The largest relative gap that the policy has proven for its rates; 0 where it proves none, or is exact.
    pub gap: f64,
    /// The messages between the policy's allocator and the servers; `None` for a policy without an allocator.
    pub update_traffic: Option<UpdateTraffic>,
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
        Self { status, workload, ..Self::default() }
    }

    /// The number of flows that have ended.
    pub fn ended(&self) -> usize {
        self.completion_times.iter().filter(|time| !time.is_nan()).count()
    }

    /// The mean completion time of the flows that have ended, in seconds; NaN if there are none.
    pub fn mean_completion_time(&self) -> f64 {
        mean(&self.completion_times)
    }

    /// The mean slowdown of the flows that have ended; NaN if there are none.
    pub fn mean_slowdown(&self) -> f64 {
        mean(&self.slowdowns)
    }

    /// The slowdown that this fraction of the flows that have ended do not exceed; NaN if there are none, and for a
    /// fraction outside 0…1. Between two flows it is interpolated. O(flows).
    pub fn slowdown_quantile(&self, fraction: f64) -> f64 {
        quantile(&self.slowdowns, fraction)
    }

    /// Whether links were loaded above their capacities, by more than rounding: completion times are then too short.
    pub fn overloads(&self) -> bool {
        let carried = self.link_bytes.iter().sum::<f64>() * BITS;
        self.over_allocation * self.time > ALIKE * carried
    }

    /// A table: completion times and slowdowns by size, in the classes that papers use, and the utilization of links.
    pub fn summary(&self) -> String {
        const CLASSES: [(&str, f64, f64); 4] = [
            ("all", 0.0, f64::INFINITY),
            ("up to 100 kB", 0.0, 1e5),
            ("up to 10 MB", 1e5, 1e7),
            ("above 10 MB", 1e7, f64::INFINITY),
        ];
        let mut text = format!("{self}\n\n");
        let _ = writeln!(
            text,
            "{:<14}{:>9}{:>15}{:>11}{:>9}{:>9}",
            "flows", "ended", "mean time", "slowdown", "median", "99 %"
        );
        for (class, above, most) in CLASSES {
            let sizes = self.workload.sizes().iter();
            let of_class = |(&size, value): (&f64, &f64)| (size > above && size <= most).then_some(*value);
            let times: Vec<f64> = sizes.clone().zip(&self.completion_times).filter_map(of_class).collect();
            let slowdowns: Vec<f64> = sizes.zip(&self.slowdowns).filter_map(of_class).collect();
            let ended = times.iter().filter(|time| !time.is_nan()).count();
            if ended == 0 {
                let _ = writeln!(text, "{class:<14}{ended:>9}");
                continue;
            }
            let (time, slowdown) = (1e3 * mean(&times), mean(&slowdowns));
            let [median, tail] = [0.5, 0.99].map(|fraction| quantile(&slowdowns, fraction));
            let _ = writeln!(text, "{class:<14}{ended:>9}{time:>12.4} ms{slowdown:>11.3}{median:>9.3}{tail:>9.2}");
        }
        let used = || self.link_utilization.iter().copied().filter(|used| !used.is_nan());
        let (links, most) = (used().count(), used().fold(0.0, f64::max));
        if links > 0 {
            let mean = used().sum::<f64>() / links as f64;
            let _ =
                write!(text, "\nlinks used to {:.1} % in the mean, the busiest to {:.1} %", 100.0 * mean, 100.0 * most);
            let _ = writeln!(text, ", over {:.4} s and {} events", self.time, self.events);
        }
        text
    }
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
        if ended > 0 {
            let (mean, tail) = (self.mean_slowdown(), self.slowdown_quantile(0.99));
            write!(f, ", mean slowdown {mean:.3}, 99 % below {tail:.2}")?;
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
