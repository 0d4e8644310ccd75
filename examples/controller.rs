//! A controller that reallocates every 10 ms, and survives a link that fails.
//!
//! Events come from a channel: flows start and end, links change. Every interval takes those that have arrived,
//! iterates some tens of times, and sends the rates that have moved by more than the threshold, and paths that changed.
//!
//! Run it with `cargo run -p netnum-examples --example controller`.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use netnum_core::price::Ned;
use netnum_core::{PowerLaw, Result, Topology};
use netnum_parallel::{Allocator, AllocatorSettings, FlowId};

const INTERVAL: Duration = Duration::from_millis(10);
const TICKS: usize = 20;

/// What the network reports. Flows have names of their own, here numbers.
enum Event {
    Start { flow: u64, source: usize, destination: usize },
    End { flow: u64 },
    LinkChanged { link: u32, capacity: f64 },
}

/// What senders must hear of, by name.
#[derive(Debug, Default)]
struct Updates {
    rates: Vec<(u64, f64)>,
    paths: Vec<(u64, Vec<u32>)>,
}

struct Controller {
    net: Topology,
    allocator: Allocator,
    /// By name: the id in the allocator, and the ends.
    flows: HashMap<u64, (FlowId, usize, usize)>,
    names: HashMap<FlowId, u64>,
    /// Of the interval so far. The allocator's updates are rates only.
    moved: Vec<(u64, Vec<u32>)>,
}

impl Controller {
    fn new(net: Topology) -> Result<Self> {
        let settings = AllocatorSettings::default().with_update_threshold(0.05);
        let allocator = Allocator::new(net.capacities().to_vec(), Ned::new(0.4), settings, NonZeroUsize::MIN)?;
        Ok(Self { net, allocator, flows: HashMap::new(), names: HashMap::new(), moved: Vec::new() })
    }

    fn is_whole(&self, path: &[u32]) -> bool {
        path.iter().all(|&link| self.allocator.capacities()[link as usize] > 0.0)
    }

    /// A shortest path without a failed link; if there is none, one that waits for a link with rate 0.
    fn route(&self, flow: u64, source: usize, destination: usize) -> Result<Vec<u32>> {
        let paths = self.net.paths(source, destination)?;
        let whole: Vec<&[u32]> = paths.iter().filter(|path| self.is_whole(path)).collect();
        Ok(match whole.len() {
            0 => paths.links(0).to_vec(),
            several => whole[flow as usize % several].to_vec(),
        })
    }

    fn handle(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Start { flow, source, destination } => {
                let id = self.allocator.start(&self.route(flow, source, destination)?, PowerLaw::log(1.0))?;
                self.flows.insert(flow, (id, source, destination));
                self.names.insert(id, flow);
            }
            Event::End { flow } => {
                if let Some((id, ..)) = self.flows.remove(&flow) {
                    self.names.remove(&id);
                    self.allocator.end(id)?;
                }
            }
            Event::LinkChanged { link, capacity } => {
                self.allocator.set_capacity(link, capacity)?;
                // Those that lose their path now, and those that have waited for one.
                for (&flow, &(id, source, destination)) in &self.flows {
                    if !self.is_whole(self.allocator.paths(id)?.links(0)) {
                        let path = self.route(flow, source, destination)?;
                        self.allocator.change(id, Some(&path), None)?;
                        self.moved.push((flow, path));
                    }
                }
            }
        }
        Ok(())
    }

    /// One interval: events until its end, however many there are, then the iterations.
    fn interval(&mut self, events: &Receiver<Event>, end: Instant) -> Result<Updates> {
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match events.recv_timeout(left) {
                Ok(event) => self.handle(event)?,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => thread::sleep(left),
            }
        }
        for _ in 0..TICKS {
            self.allocator.tick()?;
        }
        let rates = self.allocator.updates().into_iter().map(|(id, rate)| (self.names[&id], rate)).collect();
        Ok(Updates { rates, paths: std::mem::take(&mut self.moved) })
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let net = Topology::leaf_spine(4, 8, 2, 10.0, 10.0)?; // Gbit/s
    let uplink = net.paths(0, 9)?.links(0)[1]; // from the rack of server 0 to a spine
    let (to_controller, events) = mpsc::channel();
    // In place of the network's reports:
    let network = thread::spawn(move || {
        for (flow, source) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
            to_controller.send(Event::Start { flow, source, destination: 9 + source })?;
        }
        thread::sleep(3 * INTERVAL);
        to_controller.send(Event::LinkChanged { link: uplink, capacity: 0.0 })?;
        thread::sleep(3 * INTERVAL);
        to_controller.send(Event::LinkChanged { link: uplink, capacity: 10.0 })?;
        to_controller.send(Event::End { flow: 0 })
    });

    let mut controller = Controller::new(net)?;
    let began = Instant::now();
    for number in 1..=20 {
        let Updates { rates, paths } = controller.interval(&events, began + number * INTERVAL)?;
        println!("{number:>3}  {:>3} flows  send rates {rates:.2?}, paths {paths:?}", controller.flows.len());
    }
    network.join().map_err(|_| "the network's thread panicked")??;

    // The three flows that are left share one uplink, to which they moved; 5 % stay free for rates not yet sent.
    assert_eq!(controller.flows.len(), 3);
    for (id, ..) in controller.flows.values() {
        assert!((controller.allocator.rate(*id)? - 9.5 / 3.0).abs() < 0.1);
    }
    Ok(())
}
