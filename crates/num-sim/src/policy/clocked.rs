//! The online allocator on a clock: an iteration of a price rule on the active flows, at every tick or at every arrival
//! and end. In between a flow keeps the rate that it was last sent, or all rates follow the prices.
//!
//! ```text
//! at a tick   x, p ← one step of the rule;  r ← normalizer(x);  rates that moved by more than θ are sent
//! at once     the same, then x = D(p), r ← normalizer(x);  the latter also at every arrival and end
//! ```
//!
//! As in Flowtune, a flow has no rate until the tick after its arrival. At once, sources read the prices themselves, as
//! with explicit rate control, which is how NUMFabric is compared with gradient descent and RCP*. A pooled flow has all
//! its paths in the allocator, and is sent a rate for each. Sources: Perry, Balakrishnan, Shah, *Flowtune*, NSDI 2017,
//! §2; Nagaraj et al., *NUMFabric*, SIGCOMM 2016, §6.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;

use netnum_core::OptionValue;
use netnum_core::internal::options::options_of;
use netnum_core::internal::registry::{Entry, OptionInfo};
use netnum_core::price::Rule;
use netnum_core::{METHODS, Normalization, Paths, PowerLaw, Topology};
use netnum_parallel::{Allocator, AllocatorSettings, FlowId, FlowPaths};
use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::control_traffic::{Meter, UpdateTraffic};
use super::{Event, Objective, Policy, PolicyEntry, Rates};
use crate::error::{Error, Result};
use crate::network::{Flow, Flows};
use crate::setters::setters;
use crate::workload::Workload;

pub(super) const FLOWTUNE: PolicyEntry = Entry {
    name: "flowtune",
    summary: "an allocator that does one step at every tick of a clock",
    options: || ClockedOptions::default().known(),
    make: |given| Ok(Box::new(Clocked::new(given.read()?)?)),
};

pub(super) const GRADIENT: PolicyEntry = Entry {
    name: "gradient",
    summary: "dual gradient descent at intervals, rates that follow the prices at once",
    options: || ClockedOptions::gradient().known(),
    make: |given| Ok(Box::new(Clocked::new(given.read_over(ClockedOptions::gradient())?)?)),
};

pub(super) const RCP: PolicyEntry = Entry {
    name: "rcp",
    summary: "RCP* likewise",
    options: || ClockedOptions::rcp().known(),
    make: |given| Ok(Box::new(Clocked::new(given.read_over(ClockedOptions::rcp())?)?)),
};

/// Options of an allocator on a clock. By default Flowtune's: NED and F-NORM every 10 µs, proportional fairness, a
/// threshold of 1 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ClockedOptions {
    /// Seconds between two steps, > 0; `None` for a step at every arrival and end.
    pub interval: Option<f64>,
    /// Name of a method with a price rule.
    pub method: String,
    /// The normalizer that makes rates feasible; `None` for none.
    pub normalizer: Option<Normalization>,
    /// A rate is sent when it has moved by more than this fraction of itself; 0 ≤ and < 1.
    pub update_threshold: f64,
    /// The fraction of every capacity that is kept free; 0 ≤ and < 1.
    pub headroom: f64,
    /// Whether the rates of all flows follow the prices at once, also at arrivals and ends.
    pub at_once: bool,
    /// Whether the demand of a flow is at most what its path could carry when it arrived, whatever capacities do later.
    /// Otherwise it may be twice that, which shows links by how much their prices are too low.
    pub line_rate: bool,
    /// The utility of rates.
    #[serde(deserialize_with = "Objective::read")]
    pub utility: Objective,
    /// Options of the method, next to the others.
    #[serde(flatten)]
    pub method_options: BTreeMap<String, f64>,
}

setters!(ClockedOptions {
    with_interval: interval: Option<f64>,
    with_method: method: String,
    with_normalizer: normalizer: Option<Normalization>,
    with_update_threshold: update_threshold: f64,
    with_headroom: headroom: f64,
    with_at_once: at_once: bool,
    with_line_rate: line_rate: bool,
    with_utility: utility: Objective,
    with_method_options: method_options: BTreeMap<String, f64>,
});

impl Default for ClockedOptions {
    fn default() -> Self {
        let AllocatorSettings { normalizer, update_threshold, headroom, .. } = AllocatorSettings::default();
        Self {
            interval: Some(10e-6),
            method: "ned".into(),
            normalizer,
            update_threshold,
            headroom,
            at_once: false,
            line_rate: false,
            utility: Objective::default(),
            method_options: BTreeMap::new(),
        }
    }
}

impl ClockedOptions {
    /// Dual gradient descent as NUMFabric's peers do it: every 16 µs, at once, prices an interval late.
    pub fn gradient() -> Self {
        Self::at_once("gradient", &[("gamma", 0.5), ("delay", 1.0)])
    }

    /// RCP* likewise.
    pub fn rcp() -> Self {
        Self::at_once("rcp", &[("a", 0.6), ("delay", 1.0)])
    }

    fn at_once(method: &str, options: &[(&str, f64)]) -> Self {
        Self {
            interval: Some(16e-6),
            method: method.into(),
            update_threshold: 0.0,
            at_once: true,
            line_rate: true,
            method_options: options.iter().map(|&(name, value)| (name.into(), value)).collect(),
            ..Self::default()
        }
    }

    /// All options by name: these, and those of all methods that an allocator takes.
    pub(super) fn known(&self) -> Vec<OptionInfo> {
        let takes = |method: &str| Self { method: method.into(), ..Self::default() }.allocator(vec![1.0]).is_ok();
        let methods = METHODS.iter().filter(|method| takes(method.name));
        let of_methods = methods.flat_map(|method| (method.options)()).map(|option| OptionInfo {
            default: OptionValue::None,
            range: None,
            ..option
        });
        // What is named after its method has no other.
        let own = options_of(self).into_iter().filter(|option| option.name != "method" || !self.at_once);
        let by_name = of_methods.chain(own).map(|option| (option.name.clone(), option));
        by_name.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    fn allocator(&self, capacities: Vec<f64>) -> Result<Allocator> {
        let settings = AllocatorSettings::default()
            .with_normalizer(self.normalizer)
            .with_update_threshold(self.update_threshold)
            .with_headroom(self.headroom);
        let rule = Rule::by_name(&self.method, &self.method_options, self.utility.alpha())?;
        Ok(Allocator::new(capacities, rule, settings, NonZeroUsize::MIN)?)
    }

    /// Its name with what differs from the defaults: `flowtune(fast-ned, fill)`; `fast-ned(fill)` at once.
    fn name(&self) -> String {
        let flowtune = Self::default();
        let method = (self.method != flowtune.method && !self.at_once).then_some(self.method.as_str());
        let normalizer =
            (self.normalizer != flowtune.normalizer).then(|| self.normalizer.map_or("raw", Normalization::name));
        let name = if self.at_once { self.method.as_str() } else { "flowtune" };
        match method.into_iter().chain(normalizer).collect::<Vec<_>>().as_slice() {
            [] => name.into(),
            apart => format!("{name}({})", apart.join(", ")),
        }
    }
}

type LawOfFlow = Box<dyn Fn(u32, &Flows, f64) -> PowerLaw + Send>;

/// An [`Allocator`](netnum_parallel::Allocator) on a clock.
///
/// It ignores caps: a flow whose application is slow keeps the rate that it is given, and what it leaves is not used.
pub struct Clocked {
    name: String,
    options: ClockedOptions,
    /// The utility of the flow in a slot, given the mean capacity of a link.
    law: LawOfFlow,
    takes_weights: bool,
    mean_capacity: f64,
    allocator: Option<Allocator>,
    /// By slot of the simulator, and by slot of the allocator.
    ids: Vec<Option<FlowId>>,
    slots: Vec<u32>,
    /// By slot of the simulator, the rates that were last sent for the paths of a pooled flow; none for others.
    sent: Vec<Vec<f64>>,
    /// Slots of flows that have taken another route since the last tick: their rate is sent whatever it is.
    moved: Vec<u32>,
    /// None for a tick at every arrival and end.
    clock: Option<Clock>,
    /// Whether a flow has arrived or ended, or a link has changed, since the last tick.
    changed: bool,
    meter: Meter,
}

impl Clocked {
    /// An allocator on a clock.
    ///
    /// # Errors
    /// A setting's, naming the option out of its range; the core's for a method or an option of it that does not exist.
    pub fn new(options: ClockedOptions) -> Result<Self> {
        let clock = options.interval.map(Clock::new).transpose()?;
        // For any network: an error if there is no such method.
        options.allocator(vec![1.0])?;
        options.utility.check()?;
        let utility = options.utility;
        Ok(Self {
            name: options.name(),
            options,
            law: Box::new(move |slot, flows, mean_capacity| utility.power_law(slot, flows, mean_capacity)),
            takes_weights: utility.takes_weights(),
            mean_capacity: 0.0,
            allocator: None,
            ids: Vec::new(),
            slots: Vec::new(),
            sent: Vec::new(),
            moved: Vec::new(),
            clock,
            changed: false,
            meter: Meter::default(),
        })
    }

    /// With other utilities: `law` is given a flow and the mean capacity of a link, in bit/s.
    pub fn with_power_laws(self, law: impl Fn(&Flow, f64) -> PowerLaw + Send + 'static) -> Self {
        let law = move |slot: u32, flows: &Flows, mean_capacity: f64| law(flows.flow(slot), mean_capacity);
        Self { law: Box::new(law), takes_weights: false, ..self }
    }

    fn begin_flow(&mut self, slot: u32, flows: &Flows) -> Result<()> {
        let (route, mut law) = (flows.route(slot), (self.law)(slot, flows, self.mean_capacity));
        let Some(allocator) = &mut self.allocator else { return Ok(()) };
        if self.options.line_rate {
            let alone = route.alone(allocator.capacities())?;
            // A path that carries nothing gives nothing, and 0 is no cap.
            law.cap = if alone > 0.0 { law.cap.min(alone) } else { law.cap };
        }
        // The allocator has a separate numbering of flows.
        let id = match route.pooled() {
            Some(paths) => FlowPaths::grouped(paths, &vec![0; paths.len()])
                .and_then(|paths| Ok(allocator.start_all(paths, &[law])?[0])),
            None if route.is_whole() => allocator.start(route.links(), law),
            None => route.path().and_then(|path| Ok(allocator.start_all(&path, &[law])?[0])),
        };
        let id = id.map_err(|error| {
            let what = format!("cannot take flow {}: {error}", flows.flow(slot).number);
            Error::Policy { policy: self.name.clone(), what }
        })?;
        self.ids.resize(self.ids.len().max(slot as usize + 1), None);
        self.slots.resize(self.slots.len().max(id.slot() + 1), 0);
        (self.ids[slot as usize], self.slots[id.slot()]) = (Some(id), slot);
        self.sent.resize(self.ids.len(), Vec::new());
        self.sent[slot as usize] = vec![0.0; route.pooled().map_or(0, Paths::len)];
        self.meter.flow_started(flows.flow(slot).number);
        Ok(())
    }

    fn end_flow(&mut self, slot: u32, flows: &Flows) -> Result<()> {
        self.meter.flow_ended(flows.flow(slot).number);
        let id = self.ids.get_mut(slot as usize).and_then(Option::take);
        if let Some((id, allocator)) = id.zip(self.allocator.as_mut()) {
            allocator.end(id)?;
        }
        Ok(())
    }
}

impl Policy for Clocked {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin_run(&mut self, net: &Topology, workload: &Workload) -> Result<()> {
        self.options.utility.check_flows(&self.name, workload, 0)?;
        let capacities = net.capacities();
        self.mean_capacity = capacities.iter().sum::<f64>() / capacities.len() as f64;
        (self.ids, self.slots, self.sent, self.moved) = Default::default();
        if let Some(clock) = &mut self.clock {
            clock.reset();
        }
        self.changed = false;
        self.meter = Meter::new(net, workload);
        self.allocator = Some(self.options.allocator(capacities.to_vec())?);
        Ok(())
    }

    fn add_flows(&mut self, workload: &Workload, first: usize) -> Result<()> {
        self.options.utility.check_flows(&self.name, workload, first)?;
        self.meter.add_flows(&workload.sources()[first..]);
        Ok(())
    }

    fn changed(&mut self, event: Event, flows: &Flows) -> Result<()> {
        match event {
            Event::Arrived(slot) => self.begin_flow(slot, flows)?,
            Event::Ended(slot) => self.end_flow(slot, flows)?,
            Event::Rerouted(slot) => {
                // Not `Allocator::change`: with it, completion times differ by up to 5e-4.
                self.end_flow(slot, flows)?;
                self.begin_flow(slot, flows)?;
                self.moved.push(slot);
            }
            // Flows send at the rates that they were given, whatever their caps.
            Event::CapChanged(_) | Event::Sent(..) => return Ok(()),
            Event::CapacityChanged { link, capacity } => {
                if let Some(allocator) = &mut self.allocator {
                    allocator.set_capacity(link, capacity)?;
                }
            }
        }
        self.changed = true;
        Ok(())
    }

    fn allocate(&mut self, now: f64, flows: &Flows, rates: &mut Rates) -> Result<f64> {
        let due = match &mut self.clock {
            Some(clock) => clock.is_due(now, &self.name)?,
            // Not at stage changes of sources: a step at each may lead to another one, at once and without end.
            None => std::mem::take(&mut self.changed),
        };
        if let Some(allocator) = self.allocator.as_mut().filter(|_| due || self.options.at_once) {
            if due {
                allocator.tick()?;
            }
            if self.options.at_once {
                allocator.respond()?;
            }
            for slot in self.moved.drain(..) {
                // To the allocator it is a new flow, whose rate of 0 it does not send.
                if let Some(id) = self.ids[slot as usize]
                    && allocator.rate(id)? == 0.0
                {
                    rates.set(slot, 0.0);
                    self.meter.rate_sent(flows.flow(slot).number);
                }
            }
            let mut split = Vec::new();
            for (id, path, rate) in allocator.path_updates() {
                let slot = self.slots[id.slot()];
                match self.sent[slot as usize].get_mut(path) {
                    None => rates.set(slot, rate),
                    Some(sent) => {
                        *sent = rate;
                        split.push(slot);
                    }
                }
                self.meter.rate_sent(flows.flow(slot).number);
            }
            split.dedup();
            split.into_iter().for_each(|slot| rates.split(slot, self.sent[slot as usize].clone()));
            self.meter.next_step();
        }
        Ok(self.clock.as_ref().map_or(f64::INFINITY, |clock| clock.next(flows)))
    }

    fn takes_weights(&self) -> bool {
        self.takes_weights
    }

    fn splits(&self) -> bool {
        // RCP's prices settle where two flows over two paths have .6 to .8 of what these carry.
        self.options.method != "rcp"
    }

    fn update_traffic(&self) -> Option<UpdateTraffic> {
        // At once, flows read prices: no rates are sent.
        (!self.options.at_once).then(|| self.meter.total())
    }
}

impl fmt::Debug for Clocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clocked").field("options", &self.options).finish_non_exhaustive()
    }
}
