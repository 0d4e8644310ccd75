//! The page with the tables, and its picture.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::measure::Bins;
use super::{CAPACITY, CHANGE, COFLOWS, PACED, PART, SCHEMES, SENDERS, TRANSFER, TRANSFERS, WITH_COFLOWS};

/// Throughput of each flow over time, a panel per scheme, as SVG.
#[derive(Default)]
pub(super) struct Picture {
    panels: usize,
    text: String,
}

impl Picture {
    const SIZE: (f64, f64) = (720.0, 130.0);
    const WIDTH: f64 = 0.1;
    const COLORS: [&str; SENDERS] =
        ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000"];

    pub(super) fn add(&mut self, scheme: &str, bins: &Bins, begin: f64, lasts: f64) {
        let (width, height) = Self::SIZE;
        let top = 10.0 + self.panels as f64 * (height + 20.0);
        self.panels += 1;
        writeln!(
            self.text,
            "<rect x='50' y='{top}' width='{width}' height='{height}' fill='none' stroke='#999'/>\n\
             <text x='54' y='{}'>{scheme}</text>\n<text x='45' y='{}' text-anchor='end'>{}</text>\n\
             <text x='45' y='{}' text-anchor='end'>0</text>",
            top + height / 2.0,
            top + 10.0,
            CAPACITY / 1e6,
            top + height
        )
        .unwrap();
        for (flow, color) in (1..).zip(Self::COLORS) {
            let points = (0..(lasts / Self::WIDTH) as usize).map(|bin| {
                let from = Self::WIDTH * bin as f64;
                let rate = bins.rates(&[flow], begin + from, Self::WIDTH)[0];
                let (x, y) = (50.0 + width * from / lasts, top + height * (1.0 - (rate / CAPACITY).min(1.0)));
                format!("{x:.1},{y:.1}")
            });
            let points = points.collect::<Vec<_>>().join(" ");
            writeln!(self.text, "<polyline points='{points}' fill='none' stroke='{color}'/>").unwrap();
        }
    }

    pub(super) fn finish(self) -> String {
        let height = 20.0 + self.panels as f64 * (Self::SIZE.1 + 20.0);
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 780 {height}' font-family='sans-serif' \
             font-size='12'>\n<rect width='780' height='{height}' fill='white'/>\n{}\
             <text x='50' y='{}'>payload of each flow, Mbit/s, over {} s</text>\n</svg>\n",
            self.text,
            height - 6.0,
            CHANGE.as_secs() as usize * (2 * SENDERS - 1)
        )
    }
}

/// The date, as the system writes it.
fn today() -> String {
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output().expect("every system has a date");
    String::from_utf8_lossy(&date.stdout).trim().to_string()
}

pub(super) fn write_page(page: &Path, results: &Value) {
    let number = |path: &str, digits: usize| format!("{:.digits$}", results.pointer(path).unwrap().as_f64().unwrap());
    let mut text = String::from(
        "# The testbed\n\n\
         `make testbed` writes over this page: some seven minutes on Linux, as root, with `ip` and `tc`. It all runs\n\
         in network namespaces of one machine; you try [two hosts](how_to/run_an_allocator.md#try-it-on-two-hosts)\n\
         by hand.\n\n\
         Eight senders share a link of 200 Mbit/s (`tbf`, 20 ms of queue) to one receiver. `netnum` is CUBIC whose\n\
         sockets are paced at the allocator's rates (headroom 1 %, threshold 1 %, a tick of 1 ms). `agent` is CUBIC\n\
         of programs that know nothing of netnum: `netnum-agent` finds their connections on every sender, and limits\n\
         each by an `htb` class. TCP of every scheme begins with two segments (`initcwnd 2`), and sends no bursts of\n\
         64 kB between near hosts (`net.ipv4.tcp_tso_rtt_log = 0`).\n\n",
    );
    text += &format!(
        "This run was on {}, on a machine with {} cores and a load of {}. The testbed's programs, a release build,\n\
         ran before all others of that machine (`chrt -f 5`).\n\n",
        today(),
        results["cores"],
        number("/load", 1)
    );
    text += "## Eight to one\n\n\
         One flow more every 3 s until there are eight, then one fewer. Jain's index over 20 ms (mean), payload\n\
         received, and the mean time after a change until every flow stays within 10 % of its share (windows of\n\
         50 ms; where they never do, it counts as 3 s). Index and time are of the parts with two flows or more.\n\n\
         | scheme | Jain's index | goodput, Mbit/s | settles after, s |\n|---|---|---|---|\n";
    for scheme in SCHEMES {
        let of = |what: &str, digits| number(&format!("/eight_to_one/{scheme}/{what}"), digits);
        let goodput = results["eight_to_one"][scheme]["goodput"].as_f64().unwrap() / 1e6;
        text += &format!("| {scheme} | {} | {goodput:.1} | {} |\n", of("jain", 3), of("settle", 2));
    }
    text += "\n![Throughput of each flow over time, by scheme](testbed.svg)\n";
    let of = |path: &str| results.pointer(path).unwrap().as_f64().unwrap();
    text += &format!(
        "\n## Coflows\n\n\
         Eight senders make {TRANSFERS} transfers each of {} kB to one receiver at once, {COFLOWS} times, over\n\
         connections that they have made before. Seconds until the last byte has arrived. In the fluid model, where\n\
         nothing is lost and the link is full to the end, it takes {} s: no scheme is faster. netnum leaves 2 % of\n\
         the link free, with which it takes {:.2} s; [limits](limits.md#the-service) has what is known of the rest.\n\n\
         | scheme | p50 | p90 | p95 |\n|---|---|---|---|\n",
        TRANSFER / 1000,
        number("/coflows/netnum/fluid", 2),
        of("/coflows/netnum/fluid") / PACED
    );
    for scheme in WITH_COFLOWS {
        let [p50, p90, p95] = ["p50", "p90", "p95"].map(|what| number(&format!("/coflows/{scheme}/{what}"), 2));
        text += &format!("| {scheme} | {p50} | {p90} | {p95} |\n");
    }
    text += &format!(
        "\n## Failures\n\n\
         Eight flows, measured for {0} s before, {0} s while and {0} s after. `killed`: the allocator is killed, and\n\
         started again. `halved`: the link has half of its capacity, and the allocator is told so. `lossy`: a relay\n\
         between endpoints and allocator loses 20 % of all datagrams, lets 10 % of the rest be overtaken, and doubles\n\
         10 % of the others, all the time.\n\n\
         | run | part | Jain's index | goodput, Mbit/s | settles after, s |\n|---|---|---|---|---|\n",
        PART.as_secs()
    );
    for run in ["killed", "halved", "lossy"] {
        for (part, name) in ["before", "while", "after"].into_iter().enumerate() {
            let of = |what: &str, digits| number(&format!("/{run}/{part}/{what}"), digits);
            let goodput = results[run][part]["goodput"].as_f64().unwrap() / 1e6;
            writeln!(text, "| {run} | {name} | {} | {goodput:.1} | {} |", of("jain", 3), of("settle", 2)).unwrap();
        }
    }
    let ratio = |path: &str, one: &str, other: &str| of(&path.replace('*', one)) / of(&path.replace('*', other));
    text += &format!(
        "\n## What was wanted\n\n\
         Ratios are of values that are not rounded. Of the last three rows nothing was wanted.\n\n\
         | what | wanted | measured |\n|---|---|---|\n\
         | Jain's index | 0.95 | {:.3} |\n\
         | time to settle, beside CUBIC's | at most 0.33 | {:.3} |\n\
         | goodput, beside CUBIC's | 0.95 | {:.2} |\n\
         | CUBIC's p95 of a coflow, beside netnum's | 1.2 | {:.2} |\n\
         | CUBIC's p50 of a coflow, beside netnum's | – | {:.2} |\n\
         | CUBIC's p95 of a coflow, beside the fluid model's time: the most that there could be | – | {:.2} |\n\
         | the same, with the 2 % free that netnum leaves | – | {:.2} |\n",
        of("/eight_to_one/netnum/jain"),
        ratio("/eight_to_one/*/settle", "netnum", "cubic"),
        ratio("/eight_to_one/*/goodput", "netnum", "cubic"),
        ratio("/coflows/*/p95", "cubic", "netnum"),
        ratio("/coflows/*/p50", "cubic", "netnum"),
        of("/coflows/cubic/p95") / of("/coflows/cubic/fluid"),
        of("/coflows/cubic/p95") / of("/coflows/cubic/fluid") * PACED
    );
    fs::write(page, text).unwrap();
}
