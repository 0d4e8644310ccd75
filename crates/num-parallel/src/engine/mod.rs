//! The block engine: price iterations by blocks of flows and of links, with flows that come and go.
//!
//! | file | what it does |
//! |---|---|
//! | `partition.rs` | links → segments, flows → lanes |
//! | `bucket.rs` | flows that are alike, and their response |
//! | `lane.rs` | a lane's tables: links → segments → flows → segments → links |
//! | `exchange.rs` | lanes → links → lanes, in a fixed order |
//! | `round.rs` | one round of a crew |

pub(crate) mod bucket;
pub(crate) mod exchange;
pub(crate) mod lane;
pub(crate) mod partition;
mod real;
mod round;

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, RwLock};

use netnum_core::solve::{CEILING, LARGEST_PRICE, LinkState, MOST_REFUSALS, Sums};
use netnum_core::{Error, Paths, PriceRule, Result};

use crate::crew::{Crew, Job};
use bucket::{Bucket, Law, Response};
use exchange::{LinkBlock, own, read, write};
use lane::{Lane, Spot};
use partition::{Partition, Segment};
pub use real::Real;
pub(crate) use round::share;
use round::{Blocks, Round, Task};

/// What a flow's rate is worth: U'(x) = (w/x)^α, up to a cap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    /// w > 0, in units of rate.
    pub weight: f64,
    /// α > 0, finite; 1 is proportional fairness.
    pub alpha: f64,
    /// The largest rate that is of use, > 0; ∞ for no bound.
    pub cap: f64,
}

impl Worth {
    /// w log x.
    pub fn log(weight: f64) -> Self {
        Self { weight, alpha: 1.0, cap: f64::INFINITY }
    }

    fn check(&self) -> Result<()> {
        let wrong = |name, value, expected| Err(Error::Parameter { flow: 0, name, value, expected });
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return wrong("weight", self.weight, "a finite number > 0");
        }
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            return wrong("alpha", self.alpha, "a finite number > 0");
        }
        if self.cap > 0.0 { Ok(()) } else { wrong("cap", self.cap, "a number > 0 (inf for none)") }
    }

    /// U' at the ceiling x, and x/U' which slopes are like, must be numbers that a table can hold.
    fn check_range<R: Real>(&self, smallest_capacity: f64) -> Result<()> {
        if smallest_capacity == 0.0 {
            return Ok(());
        }
        let rate = self.ceiling(smallest_capacity);
        let price = self.price(rate);
        let held = R::LARGEST.recip()..=R::LARGEST;
        let fits = [rate, self.weight, price, rate / price].iter().all(|number| held.contains(number));
        let expected = "a weight near the capacities, in their unit: prices (weight/rate)^alpha go out of range";
        if fits { Ok(()) } else { Err(Error::Parameter { flow: 0, name: "weight", value: self.weight, expected }) }
    }

    /// Above what the path can carry, because a ceiling there would hide by how much the path is too cheap.
    fn ceiling(&self, smallest_capacity: f64) -> f64 {
        self.cap.min(CEILING * smallest_capacity)
    }

    fn response(&self, smallest_capacity: f64) -> Response {
        let law = if self.alpha == 1.0 { Law::Log } else { Law::Power };
        let scale = if law == Law::Log { self.weight } else { self.weight.ln() };
        Response { law, scale, exponent: self.alpha.recip(), floor: self.floor(smallest_capacity) }
    }

    /// U' at the ceiling of the rate: below this price it stays there.
    fn floor(&self, smallest_capacity: f64) -> f64 {
        self.price(self.ceiling(smallest_capacity)).clamp(LARGEST_PRICE.recip(), LARGEST_PRICE)
    }

    /// U'.
    fn price(&self, rate: f64) -> f64 {
        let ratio = self.weight / rate;
        if self.alpha == 1.0 { ratio } else { ratio.powf(self.alpha) }
    }
}

/// A flow of an engine. It never names another, not even one that has taken its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId(
    // One number, the generation above the slot: two would be written apart and read together, which waits.
    u64,
);

impl FlowId {
    fn new(number: u32, generation: u32) -> Self {
        Self(u64::from(generation) << 32 | u64::from(number))
    }

    fn number(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Where a flow is. It is looked up at random, so that it counts how many lie in a cache.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// Goes up when a flow begins and when it ends: it is odd while there is one.
    generation: u32,
    lane: u32,
    spot: Spot,
    /// The largest rate that is of use to it.
    cap: f64,
}

/// A price rule at work on flows that come and go: one iteration a step, prices staying where they are in between.
///
/// A step has every flow ask for what it is worth at the present prices, adds that up link by link, and moves the
/// prices. Flows have one path each; those of a length and law stand together in columns, so that adding and removing
/// one is a few writes, and a step reads memory in order. The answer has the same bits for any number of threads: the
/// order of all additions follows from the links, the typical paths and the calls.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use netnum_core::solve::Ned;
/// use netnum_core::Paths;
/// use netnum_parallel::{Engine, Worth};
///
/// // Two links of 10; a flow over both, and one over each.
/// let typical = Paths::from_lists([vec![0, 1], vec![0], vec![1]]);
/// let mut engine = Engine::<f64, _>::new(vec![10.0, 10.0], &typical, Ned::new(0.4), NonZeroUsize::MIN)?;
/// let long = engine.add(&[0, 1], Worth::log(1.0))?;
/// let short = engine.add(&[0], Worth::log(1.0))?;
/// engine.add(&[1], Worth::log(1.0))?;
/// for _ in 0..100 {
///     engine.step();
/// }
/// assert!((engine.rate(long)? - 10.0 / 3.0).abs() < 1e-6);
///
/// // The others share what it leaves.
/// engine.remove(long)?;
/// for _ in 0..100 {
///     engine.step();
/// }
/// assert!((engine.rate(short)? - 10.0).abs() < 1e-6);
/// assert!(engine.rate(long).is_err());
/// # Ok::<(), netnum_core::Error>(())
/// ```
///
/// f32 halves the memory of flows and tables; rates, prices, and slopes of about x/(α q) must then lie within 1e±30, in
/// f64 within 1e±200. Flows for which they would not are refused.
pub struct Engine<R: Real, Rule: PriceRule> {
    blocks: Arc<Blocks<R, Rule>>,
    /// Here between rounds, so that flows come and go without a lock, each of which would wait for all memory written.
    lanes: Vec<RwLock<Lane<R>>>,
    /// Of every link, as the blocks have them.
    capacities: Vec<f64>,
    job: Job,
    crew: Crew,
    slots: Vec<Slot>,
    /// Numbers of slots without a flow.
    free: Vec<u32>,
    /// Whether the rule has seen the links with these flows and capacities.
    started: bool,
    /// Whether there are feasible rates that belong to the rates.
    normalized: bool,
    scratch: Vec<Segment>,
}

impl<R: Real, Rule: PriceRule + 'static> Engine<R, Rule> {
    /// An engine for links of these capacities (0 is a failed link), with all prices at 1 and without flows. `typical`
    /// are paths as flows will take them, about as many as there will be at a time: they decide the layout, which is
    /// fast for paths like these and right for any. O(links + typical paths).
    ///
    /// # Errors
    /// [`Error::Capacity`], [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`]; [`Error::Setting`]
    /// when the system does not give that many threads.
    pub fn new(capacities: Vec<f64>, typical: &Paths, rule: Rule, threads: NonZeroUsize) -> Result<Self> {
        for (link, &capacity) in capacities.iter().enumerate() {
            check_capacity(link, capacity)?;
        }
        for (path, links) in typical.iter().enumerate() {
            check_path(path, links, capacities.len())?;
        }
        let partition = Partition::new(capacities.len(), typical.len(), |path| typical.links(path));
        let lanes = (0..partition.lanes().get()).map(|_| RwLock::new(Lane::new(&partition))).collect();
        // A member without a lane would only be woken.
        let crew = Crew::new(threads.min(partition.lanes()))?;
        let blocks = Arc::new(Blocks::new(partition, &capacities, rule));
        let shared = Arc::clone(&blocks);
        Ok(Self {
            blocks,
            lanes,
            capacities,
            job: Arc::new(move |member| shared.round(member)),
            crew,
            slots: Vec::new(),
            free: Vec::new(),
            started: false,
            normalized: false,
            scratch: Vec::new(),
        })
    }

    /// Adds a flow, which takes part from the next step on. O(links of its path).
    ///
    /// # Errors
    /// [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`] and [`Error::Parameter`], which call it
    /// path 0 and flow 0; the latter also for a flow whose prices no table could hold.
    pub fn add(&mut self, path: &[u32], worth: Worth) -> Result<FlowId> {
        let partition = &self.blocks.partition;
        check_path(0, path, partition.links())?;
        worth.check()?;
        let smallest = path.iter().map(|&link| self.capacities[link as usize]).fold(f64::INFINITY, f64::min);
        worth.check_range::<R>(smallest)?;
        partition.segments_of(path, &mut self.scratch);
        let lane = partition.lane_of(path);
        let number = self.free.pop().unwrap_or(self.slots.len() as u32);
        let spot = own(&mut self.lanes[lane]).add(number, &self.scratch, &worth.response(smallest));
        let slot = Slot { generation: 1, lane: lane as u32, spot, cap: worth.cap };
        self.change();
        let Some(old) = self.slots.get_mut(number as usize) else {
            self.slots.push(slot);
            return Ok(FlowId::new(number, slot.generation));
        };
        *old = Slot { generation: old.generation.wrapping_add(1), ..slot };
        Ok(FlowId::new(number, old.generation))
    }

    /// Ends a flow. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn remove(&mut self, id: FlowId) -> Result<()> {
        let Slot { lane, spot, .. } = *self.slot(id)?;
        if let Some(moved) = own(&mut self.lanes[lane as usize]).remove(spot) {
            self.slots[moved as usize].spot = spot;
        }
        let slot = &mut self.slots[id.number() as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.number());
        self.change();
        Ok(())
    }

    /// Rates are those of other flows now, and what a rule remembers is of another network: it would judge its last
    /// step by what the change did. It starts again at the present prices.
    fn change(&mut self) {
        self.normalized = false;
        self.started &= size_of::<Rule::Memory>() == 0;
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Changes the capacity of a link. At 0 it has failed: its flows ask for next to nothing and its price waits until
    /// it returns. O(flows).
    ///
    /// # Errors
    /// [`Error::LinkOutOfRange`] with path 0, [`Error::Capacity`], and [`Error::Parameter`] as [`add`](Self::add) where a
    /// flow's prices would go out of range; nothing has changed then.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()> {
        check_path(0, &[link], self.blocks.partition.links())?;
        check_capacity(link as usize, capacity)?;
        let mut capacities = self.capacities.clone();
        capacities[link as usize] = capacity;
        let partition = &self.blocks.partition;
        let links = |segment| {
            let (one, other) = partition.links_of(segment);
            std::iter::once(one).chain(other)
        };
        // First all that may be refused, and then what changes.
        let mut floors = Vec::new();
        for (number, lane) in self.lanes.iter().enumerate() {
            for (bucket, flows) in read(lane).buckets().iter().enumerate() {
                for place in 0..flows.flows().len() {
                    if !flows.segments(place).flat_map(links).any(|other| other == link) {
                        continue;
                    }
                    let of_path = flows.segments(place).flat_map(links).map(|link| capacities[link as usize]);
                    let smallest = of_path.fold(f64::INFINITY, f64::min);
                    let (weight, exponent) = flows.parameters(place);
                    let cap = self.slots[flows.flows()[place] as usize].cap;
                    let worth = Worth { weight, alpha: exponent.recip(), cap };
                    worth.check_range::<R>(smallest)?;
                    floors.push((number, bucket, place, worth.floor(smallest)));
                }
            }
        }
        for (lane, bucket, place, floor) in floors {
            own(&mut self.lanes[lane]).buckets_mut()[bucket].set_floor(place, floor);
        }
        {
            let block = &mut *write(self.block_of(link));
            block.capacities[link as usize - block.links.start] = capacity;
        }
        self.capacities = capacities;
        self.change();
        Ok(())
    }

    /// Sets the price of every link, and has the rule start again there.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one per link, [`Error::Price`].
    pub fn set_prices(&mut self, prices: &[f64]) -> Result<()> {
        let links = self.blocks.partition.links();
        if prices.len() != links {
            return Err(Error::Length { what: "prices".into(), found: prices.len(), expected: links, per: "link" });
        }
        if let Some(link) = prices.iter().position(|price| !(price.is_finite() && *price >= 0.0)) {
            return Err(Error::Price { link, value: prices[link] });
        }
        for block in &self.blocks.links {
            let block = &mut *write(block);
            block.begin(&prices[block.links.clone()]);
        }
        self.started = false;
        Ok(())
    }

    /// One iteration. O(flows + links), and once more for every time that the rule refuses its last step.
    pub fn step(&mut self) {
        self.normalized = false;
        let judges = read(&self.blocks.rule).judges();
        if !self.started {
            self.start();
        } else if judges {
            self.run(Task::Respond);
            for _ in 0..MOST_REFUSALS {
                if self.accepts() {
                    break;
                }
                self.move_prices(true, |rule, link, memory| rule.retreat(link, memory));
                self.run(Task::Respond);
            }
        } else {
            self.accepts();
            return self.run(Task::Step);
        }
        self.move_prices(false, |rule, link, memory| rule.advance(link, memory));
    }

    /// Shows the rule the links, as they are now or as they would be if they were free.
    fn start(&mut self) {
        let (at_free_links, memory) = {
            let rule = read(&self.blocks.rule);
            (rule.starts_at_free_links(), rule.memory())
        };
        let prices = self.prices();
        for block in &self.blocks.links {
            write(block).memories.fill(memory.clone());
        }
        if at_free_links {
            self.blocks.links.iter().for_each(|block| write(block).set_free());
            self.run(Task::Respond);
            self.show_links();
            for block in &self.blocks.links {
                let block = &mut *write(block);
                block.post_at(&prices[block.links.clone()]);
            }
        }
        self.run(Task::Respond);
        if !at_free_links {
            self.show_links();
        }
        self.started = true;
    }

    fn show_links(&mut self) {
        let mut blocks: Vec<_> = self.blocks.links.iter().map(write).collect();
        write(&self.blocks.rule).start(&mut blocks.iter_mut().flat_map(|block| block.states()));
    }

    /// Whether the rule accepts its last step.
    fn accepts(&mut self) -> bool {
        let mut rule = write(&self.blocks.rule);
        let mut sum = Sums::default();
        if rule.judges() {
            for block in &self.blocks.links {
                let part = read(block).judge(&*rule);
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
        rule.accept(sum)
    }

    fn move_prices(&mut self, holds: bool, next: impl Fn(&Rule, &LinkState, &mut Rule::Memory) -> f64) {
        let rule = read(&self.blocks.rule);
        for block in &self.blocks.links {
            write(block).post(holds, |link, memory| next(&rule, link, memory));
        }
    }

    fn run(&mut self, task: Task) {
        *write(&self.blocks.round) = Round { task, lanes: std::mem::take(&mut self.lanes) };
        // A rule may panic; the flows come back all the same.
        let done = catch_unwind(AssertUnwindSafe(|| self.crew.run(Arc::clone(&self.job))));
        self.lanes = std::mem::take(&mut write(&self.blocks.round).lanes);
        done.unwrap_or_else(|panic| resume_unwind(panic));
    }

    /// Price of every link.
    pub fn prices(&self) -> Vec<f64> {
        self.each_link(|block| &block.prices)
    }

    /// Load of every link, as asked for in the last step.
    pub fn loads(&self) -> Vec<f64> {
        self.blocks
            .links
            .iter()
            .flat_map(|block| read(block).sums.iter().map(|sum| sum[0]).collect::<Vec<_>>())
            .collect()
    }

    /// What a flow asked for in the last step; 0 before its first.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn rate(&self, id: FlowId) -> Result<f64> {
        self.look_up(id, Bucket::rate)
    }

    /// Makes the rates of the last step feasible by F-NORM: a rate is divided by the largest load per capacity on its
    /// path, where that is above 1. O(flows + links), about half a step.
    pub fn normalize(&mut self) {
        self.run(Task::Normalize);
        self.normalized = true;
    }

    /// What [`normalize`](Self::normalize) leaves a flow.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`]; [`Error::Setting`] where a step or a change of the flows has come after it.
    pub fn feasible_rate(&self, id: FlowId) -> Result<f64> {
        if !self.normalized {
            let (name, value) = ("normalized".into(), "false".into());
            return Err(Error::Setting { name, value, expected: "true: call normalize() after a step".into() });
        }
        self.look_up(id, Bucket::feasible)
    }

    fn look_up(&self, id: FlowId, number: impl Fn(&Bucket<R>, usize) -> R) -> Result<f64> {
        let Slot { lane, spot, .. } = *self.slot(id)?;
        let lane = read(&self.lanes[lane as usize]);
        Ok(number(&lane.buckets()[spot.bucket as usize], spot.place as usize).wide())
    }

    fn slot(&self, id: FlowId) -> Result<&Slot> {
        let slot = self.slots.get(id.number() as usize);
        let current = slot.filter(|slot| slot.generation == id.generation());
        current.ok_or_else(|| Error::UnknownFlow { id: format!("{}.{}", id.number(), id.generation()) })
    }

    fn block_of(&self, link: u32) -> &RwLock<LinkBlock<R, Rule::Memory>> {
        let blocks = &self.blocks.links;
        // Blocks are as long as each other to within one.
        let guess = (link as usize * blocks.len() / self.blocks.partition.links()).min(blocks.len() - 1);
        let holds = |&number: &usize| read(&blocks[number]).links.contains(&(link as usize));
        let number = [guess, guess + 1].into_iter().filter(|&number| number < blocks.len()).find(holds);
        &blocks[number.expect("a link is in a block")]
    }

    fn each_link(&self, column: impl Fn(&LinkBlock<R, Rule::Memory>) -> &Vec<f64>) -> Vec<f64> {
        self.blocks.links.iter().flat_map(|block| column(&read(block)).clone()).collect()
    }
}

impl<R: Real, Rule: PriceRule + 'static> fmt::Debug for Engine<R, Rule> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flows, links, lanes) = (self.flows(), self.blocks.partition.links(), self.lanes.len());
        write!(f, "Engine({flows} flows, {links} links, {lanes} lanes, {} threads)", self.crew.threads())
    }
}

fn check_capacity(link: usize, capacity: f64) -> Result<()> {
    match capacity.is_finite() && capacity >= 0.0 {
        true => Ok(()),
        false => Err(Error::Capacity { link, value: capacity }),
    }
}

fn check_path(path: usize, links: &[u32], count: usize) -> Result<()> {
    if links.is_empty() {
        return Err(Error::EmptyPath { path });
    }
    for (place, &link) in links.iter().enumerate() {
        if link as usize >= count {
            return Err(Error::LinkOutOfRange { path, link: link.into(), links: count });
        }
        if links[..place].contains(&link) {
            return Err(Error::RepeatedLink { path, link: link as usize });
        }
    }
    Ok(())
}
