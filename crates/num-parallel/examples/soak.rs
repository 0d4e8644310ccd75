//! An allocator's long life: flows start, end, and change their weights and paths, links fail and return, by the
//! million.
//!
//! ```sh
//! cargo run --release -p netnum-parallel --example soak                                    # a minute
//! cargo run --release -p netnum-parallel --example soak -- 100000000 1000000 20000 10000   # the whole of it
//! ```
//!
//! The numbers are events, links, flows at a time, and events per tick. Paths are random, so that hardly any two flows
//! are alike. After every tenth tick the loads of all links are added up anew, and none may be over its capacity. Each
//! line is a twentieth of the events: the median tick, the time of an event, and the memory of the process. All three
//! must stay level.

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use netnum_core::PowerLaw;
use netnum_parallel::{Allocator, AllocatorSettings, FlowId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const TICKS_PER_LOOK: usize = 10;
const LINES: usize = 20;
const CAPACITY: f64 = 10e9;
const LONGEST: u32 = 6;

/// The flows and links as the caller knows them.
struct Soak {
    allocator: Allocator,
    rng: ChaCha8Rng,
    flows: Vec<(FlowId, Vec<u32>)>,
    wanted: usize,
    failed: Vec<u32>,
}

impl Soak {
    fn path(&mut self) -> Vec<u32> {
        let links = self.allocator.capacities().len() as u32;
        let mut path: Vec<u32> = Vec::new();
        for _ in 0..self.rng.random_range(1..=LONGEST) {
            let link = self.rng.random_range(0..links);
            if !path.contains(&link) {
                path.push(link);
            }
        }
        path
    }

    fn utility(&mut self) -> PowerLaw {
        let weight = 1e9 * 10f64.powf(self.rng.random_range(-3.0..3.0));
        let alpha = [1.0, 1.0, 1.0, 0.5, 2.0, 5.0][self.rng.random_range(0..6)];
        PowerLaw::new(weight, alpha)
    }

    fn event(&mut self) -> netnum_core::Result<()> {
        let flow = self.rng.random_range(0..self.flows.len().max(1));
        match self.rng.random_range(0..1000) {
            0..10 if !self.flows.is_empty() => {
                let worth = self.utility();
                self.allocator.change(self.flows[flow].0, None, Some(worth))
            }
            10..15 if !self.flows.is_empty() => {
                let path = self.path();
                self.allocator.change(self.flows[flow].0, Some(&path), None)?;
                self.flows[flow].1 = path;
                Ok(())
            }
            15..20 => self.capacities(),
            // As many as are wanted, more or less.
            _ if self.rng.random_range(0..2 * self.wanted) >= self.flows.len() => {
                let (path, worth) = (self.path(), self.utility());
                self.flows.push((self.allocator.start(&path, worth)?, path));
                Ok(())
            }
            _ => self.allocator.end(self.flows.swap_remove(flow).0),
        }
    }

    /// Some links fail, those that had failed return, some have half of what they had.
    fn capacities(&mut self) -> netnum_core::Result<()> {
        let mut links = self.path();
        links.retain(|link| !self.failed.contains(link));
        let mut capacities: Vec<f64> =
            links.iter().map(|_| [0.0, 0.5 * CAPACITY][self.rng.random_range(0..2)]).collect();
        let failed = std::mem::replace(&mut self.failed, links.clone());
        links.extend(&failed);
        capacities.resize(links.len(), CAPACITY);
        self.allocator.set_capacities(&links, &capacities)
    }

    /// The largest load per capacity.
    fn fullest(&self, loads: &mut [f64]) -> f64 {
        loads.fill(0.0);
        for (id, path) in &self.flows {
            let rate = self.allocator.rate(*id).expect("it is there");
            assert!(rate.is_finite() && rate >= 0.0, "flow {id} has rate {rate}");
            path.iter().for_each(|&link| loads[link as usize] += rate);
        }
        let of_link = |(load, capacity): (&f64, &f64)| if *load > 0.0 { load / capacity } else { 0.0 };
        loads.iter().zip(self.allocator.capacities()).map(of_link).fold(0.0, f64::max)
    }
}

/// Megabytes that the process holds; 0 where the system does not say.
fn memory() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<f64>().ok());
    pages.unwrap_or(0.0) * 4096.0 / 1e6
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<usize> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let number = |place: usize, default| given.get(place).copied().unwrap_or(default);
    let (events, links, flows) = (number(0, 2_000_000), number(1, 200_000), number(2, 10_000));
    let per_tick = number(3, 1000).max(1);
    let settings = AllocatorSettings::default();
    let allocator = Allocator::by_name(vec![CAPACITY; links], "ned", &BTreeMap::new(), settings, NonZeroUsize::MIN)?;
    let rng = ChaCha8Rng::seed_from_u64(1);
    let mut soak = Soak { allocator, rng, flows: Vec::new(), wanted: flows, failed: Vec::new() };
    let (mut loads, mut done, mut fullest) = (vec![0.0; links], 0, 0.0f64);
    println!("{:>12} {:>8} {:>9} {:>9} {:>9}  fullest link", "events", "flows", "tick ms", "event us", "MB");
    for line in 1..=LINES {
        let (mut ticks, mut busy, before) = (Vec::new(), Duration::ZERO, done);
        while done < events * line / LINES {
            let began = Instant::now();
            (0..per_tick).try_for_each(|_| soak.event())?;
            busy += began.elapsed();
            done += per_tick;
            let began = Instant::now();
            soak.allocator.tick()?;
            ticks.push(began.elapsed());
            if ticks.len() % TICKS_PER_LOOK == 0 {
                let _ = soak.allocator.updates();
                fullest = fullest.max(soak.fullest(&mut loads));
                assert!(fullest <= 1.0 + 1e-12, "a link is filled {fullest} times over");
            }
        }
        ticks.sort_unstable();
        let (tick, event) = (ticks.get(ticks.len() / 2), busy.as_secs_f64() / (done - before).max(1) as f64);
        let tick = tick.map_or(0.0, Duration::as_secs_f64);
        println!(
            "{done:>12} {:>8} {:>9.3} {:>9.3} {:>9.1}  {fullest:.4}",
            soak.flows.len(),
            1e3 * tick,
            1e6 * event,
            memory()
        );
    }
    Ok(())
}
