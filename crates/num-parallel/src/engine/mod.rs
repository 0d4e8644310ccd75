//! The block engine: price iterations by blocks of flows and of links, with flows that come and go.
//!
//! | file | what it does |
//! |---|---|
//! | `partition.rs` | links → segments, flows → lanes |
//! | `bucket.rs` | flows that are alike, and their response |
//! | `lane.rs` | a lane's tables: links → segments → flows → segments → links |
//! | `exchange.rs` | lanes → links → lanes, in a fixed order |
//! | `round.rs` | one round of a crew |
//! | `snapshot.rs` | an engine as plain data, and back |

pub(crate) mod bucket;
pub(crate) mod exchange;
pub(crate) mod lane;
pub(crate) mod partition;
mod real;
mod round;
mod snapshot;

use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, RwLock};

use netnum_core::solve::{CEILING, LARGEST_PRICE, LinkState, MOST_REFUSALS, Sums};
use netnum_core::{Error, Fill, Normalizer, Paths, PriceRule, Result};

use crate::crew::{Crew, Job};
use bucket::{Bucket, Law, Response};
use exchange::{LinkBlock, own, read, write};
use lane::{Lane, Spot};
use partition::{Partition, Sample, Segment};
pub use real::Real;
pub(crate) use round::share;
use round::{Blocks, Round, Task};
pub use snapshot::Snapshot;

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

    fn check(&self, flow: usize) -> Result<()> {
        let wrong = |name, value, expected| Err(Error::Parameter { flow, name, value, expected });
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return wrong("weight", self.weight, "a finite number > 0");
        }
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            return wrong("alpha", self.alpha, "a finite number > 0");
        }
        if self.cap > 0.0 { Ok(()) } else { wrong("cap", self.cap, "a number > 0 (inf for none)") }
    }

    /// U' at the ceiling x, and x/U' which slopes are like, must be numbers that a table can hold.
    fn check_range<R: Real>(&self, flow: usize, smallest_capacity: f64) -> Result<()> {
        let rate = self.ceiling(smallest_capacity);
        let price = self.price(rate);
        let held = R::LARGEST.recip()..=R::LARGEST;
        // Over a failed link a flow has neither, until it returns.
        let of_link = if smallest_capacity > 0.0 { [rate, price, rate / price] } else { [1.0; 3] };
        let fits = held.contains(&self.weight) && of_link.iter().all(|number| held.contains(number));
        let expected = "a weight near the capacities, in their unit: prices (weight/rate)^alpha go out of range";
        if fits { Ok(()) } else { Err(Error::Parameter { flow, name: "weight", value: self.weight, expected }) }
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

    /// x U'(x) at the most that a path can carry: what a flow alone there would pay.
    pub(crate) fn revenue(&self, smallest_capacity: f64) -> f64 {
        let rate = self.cap.min(smallest_capacity);
        rate * self.price(rate)
    }

    /// U' at the ceiling of the rate: below this price it stays there.
    fn floor(&self, smallest_capacity: f64) -> f64 {
        match smallest_capacity > 0.0 {
            true => self.price(self.ceiling(smallest_capacity)).clamp(LARGEST_PRICE.recip(), LARGEST_PRICE),
            // No rate at all, whatever the prices are.
            false => f64::INFINITY,
        }
    }

    /// (U')⁻¹, without the ceiling; ∞ for what costs nothing.
    fn demand(&self, price: f64) -> f64 {
        if self.alpha == 1.0 { self.weight / price } else { self.weight * price.powf(-self.alpha.recip()) }
    }

    /// U'.
    fn price(&self, rate: f64) -> f64 {
        let ratio = self.weight / rate;
        if self.alpha == 1.0 { ratio } else { ratio.powf(self.alpha) }
    }
}

/// The largest weight of a flow in a max-min by demand, in parts of what its path can carry.
const HEAVIEST: f64 = 1e6;

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

    /// The number of its slot, which no other flow has while it lives; numbers of flows that ended are used again.
    pub fn slot(self) -> usize {
        self.number() as usize
    }

    /// The id as one number, and back.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The id of such a number; whether there is a flow of that id only its engine knows.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl fmt::Display for FlowId {
    /// As one number, as [`to_bits`](Self::to_bits).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a flow is. It is looked up at random, so that it counts how many lie in a cache.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// Goes up when a flow begins and when it ends: it is odd while there is one.
    generation: u32,
    lane: u32,
    spot: Spot,
    worth: Worth,
}

impl Slot {
    /// Without a flow as yet.
    fn empty(generation: u32) -> Self {
        Self { generation, lane: 0, spot: Spot { bucket: 0, place: 0 }, worth: Worth::log(1.0) }
    }
}

/// A flow, as an engine has it.
pub(crate) struct Flow<'a> {
    pub(crate) id: FlowId,
    pub(crate) path: &'a [u32],
    pub(crate) worth: Worth,
    pub(crate) rate: f64,
    pub(crate) feasible: f64,
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
    /// What the layout was made from.
    sample: Sample,
    job: Job,
    crew: Crew,
    /// How many may be used; the layout may have work for fewer.
    threads: NonZeroUsize,
    slots: Vec<Slot>,
    /// Numbers of slots without a flow.
    free: Vec<u32>,
    /// Whether the rule has seen the links with these flows and capacities.
    started: bool,
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
        let sample = Sample::of(capacities.len(), typical.len(), |path| typical.links(path));
        Self::laid_out(capacities, sample, rule, threads)
    }

    fn laid_out(capacities: Vec<f64>, sample: Sample, rule: Rule, threads: NonZeroUsize) -> Result<Self> {
        let partition = Partition::new(capacities.len(), &sample);
        let lanes = (0..partition.lanes().get()).map(|_| RwLock::new(Lane::new(&partition))).collect();
        // A member without a lane would only be woken.
        let crew = Crew::new(threads.min(partition.lanes()))?;
        let blocks = Arc::new(Blocks::new(partition, &capacities, rule));
        let shared = Arc::clone(&blocks);
        Ok(Self {
            blocks,
            lanes,
            capacities,
            sample,
            job: Arc::new(move |member| shared.round(member)),
            crew,
            threads,
            slots: Vec::new(),
            free: Vec::new(),
            started: false,
            scratch: Vec::new(),
        })
    }

    /// Adds a flow, which takes part from the next step on. O(links of its path).
    ///
    /// # Errors
    /// [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`] and [`Error::Parameter`], which call it
    /// path 0 and flow 0; the latter also for a flow whose prices no table could hold.
    pub fn add(&mut self, path: &[u32], worth: Worth) -> Result<FlowId> {
        self.check(0, path, &worth)?;
        Ok(self.add_checked(path, worth))
    }

    /// Adds a flow that has been [checked](Self::check).
    pub(crate) fn add_checked(&mut self, path: &[u32], worth: Worth) -> FlowId {
        let partition = &self.blocks.partition;
        let smallest = self.smallest(path);
        partition.segments_of(path, &mut self.scratch);
        let lane = partition.lane_of(path);
        let number = self.free.pop().unwrap_or(self.slots.len() as u32);
        let spot = own(&mut self.lanes[lane]).add(number, &self.scratch, &worth.response(smallest));
        let slot = Slot { generation: 1, lane: lane as u32, spot, worth };
        self.change();
        let Some(old) = self.slots.get_mut(number as usize) else {
            self.slots.push(slot);
            return FlowId::new(number, slot.generation);
        };
        *old = Slot { generation: old.generation.wrapping_add(1), ..slot };
        FlowId::new(number, old.generation)
    }

    /// Whether a flow could be added. O(links of its path).
    ///
    /// # Errors
    /// Those of [`add`](Self::add), which call it path and flow `number`.
    pub fn check(&self, number: usize, path: &[u32], worth: &Worth) -> Result<()> {
        check_path(number, path, self.links())?;
        worth.check(number)?;
        worth.check_range::<R>(number, self.smallest(path))
    }

    fn smallest(&self, path: &[u32]) -> f64 {
        path.iter().map(|&link| self.capacities[link as usize]).fold(f64::INFINITY, f64::min)
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

    /// What a rule remembers is of another network now: it would judge its last step by what the change did. It starts
    /// again at the present prices.
    fn change(&mut self) {
        self.started &= !read(&self.blocks.rule).learns_at_start();
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
    /// flow's prices would go out of range, which is then named by its slot; nothing has changed then.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()> {
        check_path(0, &[link], self.blocks.partition.links())?;
        check_capacity(link as usize, capacity)?;
        let mut capacities = self.capacities.clone();
        capacities[link as usize] = capacity;
        // First all that may be refused, and then what changes.
        let mut floors = Vec::new();
        for (number, lane) in self.lanes.iter().enumerate() {
            for (bucket, flows) in read(lane).buckets().iter().enumerate() {
                for place in 0..flows.flows().len() {
                    if !self.links_of(flows, place).any(|other| other == link) {
                        continue;
                    }
                    let of_path = self.links_of(flows, place).map(|link| capacities[link as usize]);
                    let smallest = of_path.fold(f64::INFINITY, f64::min);
                    let worth = self.slots[flows.flows()[place] as usize].worth;
                    worth.check_range::<R>(flows.flows()[place] as usize, smallest)?;
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
        for (link, &price) in prices.iter().enumerate() {
            check_price(link, price)?;
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

    /// What flows ask for at the present prices, which stay. O(flows + links).
    pub fn respond(&mut self) {
        self.run(Task::Respond);
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

    /// Load of every link, as asked for in the last step or response.
    pub fn loads(&self) -> Vec<f64> {
        self.blocks
            .links
            .iter()
            .flat_map(|block| read(block).sums.iter().map(|sum| sum[0]).collect::<Vec<_>>())
            .collect()
    }

    /// What a flow asked for in the last step or response; 0 before its first.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn rate(&self, id: FlowId) -> Result<f64> {
        self.look_up(id, Bucket::rate)
    }

    /// Makes these rates feasible by F-NORM: a rate is divided by the largest load per capacity on its
    /// path, where that is above 1. O(flows + links), about half a step.
    pub fn normalize(&mut self) {
        self.run(Task::Normalize);
    }

    /// The same by any normalizer, on one thread. Flows over a failed link get nothing. O(crossings), and what the
    /// normalizer takes.
    pub fn normalize_by(&mut self, normalizer: &impl Normalizer) {
        self.normalize_what(normalizer, |flow, _| flow.rate);
    }

    /// Rates by a max-min of what flows would ask for at the present prices if paths could carry it, up to a million times
    /// what they can: a flow that is worth more than others gets more even before prices have followed. O(crossings), and
    /// a max-min, on one thread.
    pub fn fill_by_demand(&mut self) {
        let prices = self.prices();
        self.normalize_what(&Fill, |flow, smallest| {
            let price: f64 = flow.path.iter().map(|&link| prices[link as usize]).sum();
            flow.worth.demand(price).min(HEAVIEST * smallest)
        });
    }

    /// The same by any normalizer, of whatever a flow over a path of that smallest capacity asks for.
    fn normalize_what(&mut self, normalizer: &impl Normalizer, asks: impl Fn(&Flow<'_>, f64) -> f64) {
        let (mut paths, mut rates, mut caps) = (Paths::from_lists([[0; 0]; 0]), Vec::new(), Vec::new());
        self.each_flow(|flow| {
            let smallest = self.smallest(flow.path);
            paths.push(flow.path);
            rates.push(if smallest == 0.0 { 0.0 } else { asks(&flow, smallest) });
            caps.push(flow.worth.cap);
        });
        normalizer.normalize_capped(&self.capacities, &paths, &caps, &mut rates);
        let mut rates = rates.into_iter();
        for lane in &mut self.lanes {
            own(lane).each_in_order(|bucket| {
                for place in 0..bucket.flows().len() {
                    bucket.set_feasible(place, rates.next().expect("one rate per flow"));
                }
            });
        }
    }

    /// What the last normalizer left a flow; 0 for one that began after it.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn feasible_rate(&self, id: FlowId) -> Result<f64> {
        self.look_up(id, Bucket::feasible)
    }

    /// Whether there is such a flow.
    pub fn knows(&self, id: FlowId) -> bool {
        self.slot(id).is_ok()
    }

    /// The links of a flow, in the order that they were given in.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn path(&self, id: FlowId) -> Result<Vec<u32>> {
        let Slot { lane, spot, .. } = *self.slot(id)?;
        let lane = read(&self.lanes[lane as usize]);
        Ok(self.links_of(&lane.buckets()[spot.bucket as usize], spot.place as usize).collect())
    }

    /// Price of one link.
    ///
    /// # Errors
    /// [`Error::LinkOutOfRange`] with path 0.
    pub fn price(&self, link: u32) -> Result<f64> {
        check_path(0, &[link], self.blocks.partition.links())?;
        let block = read(self.block_of(link));
        Ok(block.prices[link as usize - block.links.start])
    }

    /// What one link was asked for in the last step or response.
    ///
    /// # Errors
    /// [`Error::LinkOutOfRange`] with path 0.
    pub fn load(&self, link: u32) -> Result<f64> {
        check_path(0, &[link], self.blocks.partition.links())?;
        let block = read(self.block_of(link));
        Ok(block.sums[link as usize - block.links.start][0])
    }

    /// How many slots there are, with flows and without.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// What a flow's rate is worth.
    pub(crate) fn worth(&self, id: FlowId) -> Result<Worth> {
        Ok(self.slot(id)?.worth)
    }

    /// Sets the price of one link; a rule with a memory starts again there. O(1).
    ///
    /// # Errors
    /// [`Error::LinkOutOfRange`] with path 0, [`Error::Price`].
    pub fn set_price(&mut self, link: u32, price: f64) -> Result<()> {
        check_path(0, &[link], self.blocks.partition.links())?;
        check_price(link as usize, price)?;
        write(self.block_of(link)).post_one(link as usize, price);
        self.change();
        Ok(())
    }

    /// Makes the layout anew, for the flows that are there now: worth its time when they have become many more, or run
    /// elsewhere. Rates, prices and ids stay; sums come in another order. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Setting`] when the system does not give the threads; nothing has changed then.
    pub fn lay_out(&mut self) -> Result<()>
    where
        Rule: Clone,
    {
        let mut paths = Paths::from_lists([[0; 0]; 0]);
        self.each_flow(|flow| paths.push(flow.path));
        let sample = Sample::of(self.capacities.len(), paths.len(), |path| paths.links(path));
        let rule = read(&self.blocks.rule).clone();
        let mut next = Self::laid_out(self.capacities.clone(), sample, rule, self.threads)?;
        next.slots.clone_from(&self.slots);
        next.take_links(self);
        self.each_flow(|flow| next.place(flow));
        (next.free, next.started) = (std::mem::take(&mut self.free), self.started);
        *self = next;
        Ok(())
    }

    /// Prices, memories and sums as another engine has them.
    fn take_links(&mut self, other: &Self) {
        for mine in &self.blocks.links {
            let mine = &mut *write(mine);
            for link in mine.links.clone() {
                mine.take(link, &read(other.block_of(link as u32)));
            }
        }
    }

    /// Puts a flow that has a slot where the layout says.
    fn place(&mut self, flow: Flow<'_>) {
        let partition = &self.blocks.partition;
        let smallest = self.smallest(flow.path);
        partition.segments_of(flow.path, &mut self.scratch);
        let lane = partition.lane_of(flow.path);
        let spot = own(&mut self.lanes[lane]).add(flow.id.number(), &self.scratch, &flow.worth.response(smallest));
        let bucket = &mut own(&mut self.lanes[lane]).buckets_mut()[spot.bucket as usize];
        bucket.set_rate(spot.place as usize, flow.rate);
        if flow.feasible > 0.0 {
            bucket.set_feasible(spot.place as usize, flow.feasible);
        }
        let slot = &mut self.slots[flow.id.number() as usize];
        (slot.lane, slot.spot) = (lane as u32, spot);
    }

    /// Links of the network.
    pub fn links(&self) -> usize {
        self.capacities.len()
    }

    /// Looks at the rate of every flow, as asked for and as the last normalizer left it. O(flows).
    pub fn each_rate(&self, mut look: impl FnMut(FlowId, f64, f64)) {
        for lane in &self.lanes {
            for bucket in read(lane).in_order() {
                for (place, &number) in bucket.flows().iter().enumerate() {
                    let id = FlowId::new(number, self.slots[number as usize].generation);
                    look(id, bucket.rate(place).wide(), bucket.feasible(place).wide());
                }
            }
        }
    }

    /// Looks at every flow, lane by lane.
    pub(crate) fn each_flow(&self, mut look: impl FnMut(Flow<'_>)) {
        let mut path = Vec::new();
        for lane in &self.lanes {
            for bucket in read(lane).in_order() {
                for (place, &number) in bucket.flows().iter().enumerate() {
                    path.clear();
                    path.extend(self.links_of(bucket, place));
                    let Slot { generation, worth, .. } = self.slots[number as usize];
                    let (rate, feasible) = (bucket.rate(place).wide(), bucket.feasible(place).wide());
                    look(Flow { id: FlowId::new(number, generation), path: &path, worth, rate, feasible });
                }
            }
        }
    }

    fn links_of(&self, bucket: &Bucket<R>, place: usize) -> impl Iterator<Item = u32> {
        bucket.segments(place).flat_map(|segment| {
            let (one, other) = self.blocks.partition.links_of(segment);
            std::iter::once(one).chain(other)
        })
    }

    fn look_up(&self, id: FlowId, number: impl Fn(&Bucket<R>, usize) -> R) -> Result<f64> {
        let Slot { lane, spot, .. } = *self.slot(id)?;
        let lane = read(&self.lanes[lane as usize]);
        Ok(number(&lane.buckets()[spot.bucket as usize], spot.place as usize).wide())
    }

    fn slot(&self, id: FlowId) -> Result<&Slot> {
        let slot = self.slots.get(id.number() as usize);
        // A generation is odd while there is a flow.
        let current = slot.filter(|slot| slot.generation == id.generation() && slot.generation % 2 == 1);
        current.ok_or_else(|| Error::UnknownFlow { id: id.to_string() })
    }

    fn block_of(&self, link: u32) -> &RwLock<LinkBlock<R, Rule::Memory>> {
        let (blocks, links) = (&self.blocks.links, self.blocks.partition.links());
        // Block k ends before link links (k + 1)/blocks; some are empty where links are few.
        &blocks[((link as usize + 1) * blocks.len() - 1) / links]
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

pub(crate) fn check_capacity(link: usize, capacity: f64) -> Result<()> {
    match capacity.is_finite() && capacity >= 0.0 {
        true => Ok(()),
        false => Err(Error::Capacity { link, value: capacity }),
    }
}

fn check_price(link: usize, price: f64) -> Result<()> {
    match price.is_finite() && price >= 0.0 {
        true => Ok(()),
        false => Err(Error::Price { link, value: price }),
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
