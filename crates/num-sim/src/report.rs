//! What came of a simulation, flow by flow and link by link.

use std::fmt;

/// How a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All flows have ended.
    Finished,
    /// The time was up.
    TimeUp,
    /// The observer said so.
    Stopped,
    /// Nothing will happen any more, but some flows have not ended: nothing gives them a rate. Their links have failed.
    Starved,
}

impl Status {
    /// In one word: `finished`, `time_up`, `stopped`, `starved`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TimeUp => "time_up",
            Self::Stopped => "stopped",
            Self::Starved => "starved",
        }
    }
}

/// What came of a simulation. Columns over flows are in the order of the workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The policy that gave rates.
    pub policy: String,
    /// The routing that gave routes.
    pub routing: String,
    /// Seconds from each flow's arrival to its end; NaN for those that have not ended.
    pub completion_times: Vec<f64>,
    /// That time over the time that the flow would take if it had its route for itself: at least 1, to rounding. NaN for
    /// those that have not ended.
    pub slowdowns: Vec<f64>,
    /// Bytes that each flow has sent: its size, if it has ended.
    pub bytes_sent: Vec<f64>,
    /// Bytes that have gone over each link.
    pub link_bytes: Vec<f64>,
    /// Those bytes over what the link could have carried until the end; NaN for failed links, and if no time passed.
    pub link_utilization: Vec<f64>,
    /// The highest load of each link at any moment that lasted, in bit/s.
    pub peak_loads: Vec<f64>,
    /// What policies have asked links to carry over their capacities, in bit/s, summed over links and averaged over time:
    /// 0 to rounding for policies that overload none.
    pub over_allocation: f64,
    /// The largest relative gap that the policy has proven of its rates; 0 where it knows none, or is exact.
    pub gap: f64,
    /// Simulated seconds, until the last flow had ended or the run was over.
    pub time: f64,
    /// Instants at which something happened.
    pub events: u64,
    /// How often a flow got another rate.
    pub rate_changes: u64,
    /// Real seconds.
    pub seconds: f64,
}

impl Report {
    /// How many flows have ended.
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

    /// The slowdown that this fraction of the flows that have ended do not exceed; NaN if there are none. Between two
    /// flows it is interpolated. O(flows log flows).
    pub fn slowdown_quantile(&self, fraction: f64) -> f64 {
        let mut sorted: Vec<f64> = self.slowdowns.iter().copied().filter(|slowdown| !slowdown.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
        let place = fraction.clamp(0.0, 1.0) * last as f64;
        let (below, part) = (place as usize, place.fract());
        sorted[below] + part * (sorted[(below + 1).min(last)] - sorted[below])
    }
}

fn mean(values: &[f64]) -> f64 {
    let ended = || values.iter().filter(|value| !value.is_nan());
    ended().sum::<f64>() / ended().count() as f64
}

/// A line that says how it went: `Report(finished, 2000 flows, mean slowdown 1.93, 99 % below 9.61, max-min over ecmp,
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
        write!(f, ", {} over {}, ", self.policy, self.routing)?;
        match self.seconds < 0.1 {
            true => write!(f, "{:.1} ms)", 1e3 * self.seconds),
            false => write!(f, "{:.1} s)", self.seconds),
        }
    }
}
