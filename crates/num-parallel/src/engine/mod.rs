//! The block engine: price iterations by blocks of flows and of links, with flows that come and go.
//!
//! | file | what it does |
//! |---|---|
//! | `partition.rs` | links → segments, flows → lanes |
//! | `bucket.rs` | flows that are alike, and their response |
//! | `lane.rs` | a lane's tables: links → segments → flows → segments → links |
//! | `exchange.rs` | lanes → links → lanes, in a fixed order |
//! | `round.rs` | one round of a crew |
//! | `users.rs` | which flows use a link |
//! | `snapshot.rs` | an engine as plain data, and back |

pub(crate) mod bucket;
pub(crate) mod exchange;
pub(crate) mod lane;
pub(crate) mod partition;
mod real;
mod round;
mod snapshot;
mod users;

use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, RwLock};

use netnum_core::interrupt::Pacer;
use netnum_core::solve::{CEILING, LARGEST_PRICE, LinkState, MOST_REFUSALS, Sums};
use netnum_core::{Error, Fill, Normalizer, Paths, PriceRule, Result};
use rustc_hash::FxHashSet;

use crate::crew::{Crew, Job};
use bucket::{Bucket, Law, Response};
use exchange::{LinkBlock, own, read, write};
use lane::{Lane, Spot};
use partition::{Partition, Sample, Segment};
pub use real::Real;
pub(crate) use round::share;
use round::{Blocks, Round, Task};
pub use snapshot::Snapshot;
use users::Users;

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

    /// U' at the ceiling x, and x/U' which slopes are like, must be numbers that a table can hold, at the capacity that
    /// the path has when none of its links has failed; ∞ where no link has had one as yet.
    fn check_range<R: Real>(&self, flow: usize, nominal: f64) -> Result<()> {
        let rate = self.ceiling(nominal);
        let price = self.price(rate);
        let held = R::LARGEST.recip()..=R::LARGEST;
        let slope = rate / price;
        let of_link = if nominal < f64::INFINITY { [rate, price, slope, slope / self.alpha] } else { [1.0; 4] };
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

    /// The id as errors that speak of numbered flows have it.
    fn as_flow(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for FlowId {
    /// As one number, as [`to_bits`](Self::to_bits).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The last generation of a slot, after which it is never used again: an id stays below 2^63, so that a signed number
/// holds it, and no id comes round.
const LAST_GENERATION: u32 = (1 << 31) - 1;

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
    /// Of every link, the last capacity above 0; 0 before it has had one. Flows are checked against these, so that a
    /// link that has failed may return as it was.
    nominal: Vec<f64>,
    /// What the layout was made from.
    sample: Sample,
    job: Job,
    crew: Crew,
    /// How many may be used; the layout may have work for fewer.
    threads: NonZeroUsize,
    slots: Vec<Slot>,
    /// Numbers of slots without a flow.
    free: Vec<u32>,
    /// Numbers of slots that have had their last flow.
    retired: Vec<u32>,
    /// Which flows use a link, once that has been asked.
    users: Option<Users>,
    /// Whether workers have a core each.
    pinned: bool,
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
    /// for a parameter of the rule that is out of its range, and when the system does not give that many threads;
    /// [`Error::Stopped`].
    pub fn new(capacities: Vec<f64>, typical: &Paths, rule: Rule, threads: NonZeroUsize) -> Result<Self> {
        rule.check()?;
        for (link, &capacity) in capacities.iter().enumerate() {
            check_capacity(link, capacity)?;
        }
        let mut pacer = Pacer::new();
        for (path, links) in typical.iter().enumerate() {
            check_path(path, links, capacities.len())?;
            pacer.did(links.len())?;
        }
        let sample = Sample::of(capacities.len(), typical.len(), |path| typical.links(path))?;
        Self::laid_out(capacities, sample, rule, threads)
    }

    fn laid_out(capacities: Vec<f64>, sample: Sample, rule: Rule, threads: NonZeroUsize) -> Result<Self> {
        let partition = Partition::new(capacities.len(), &sample)?;
        let lanes = (0..partition.lanes().get()).map(|_| RwLock::new(Lane::new(&partition))).collect();
        // A member without a lane would only be woken.
        let crew = Crew::new(threads.min(partition.lanes()))?;
        let blocks = Arc::new(Blocks::new(partition, &capacities, rule));
        let shared = Arc::clone(&blocks);
        Ok(Self {
            blocks,
            lanes,
            nominal: capacities.clone(),
            capacities,
            sample,
            job: Arc::new(move |member| shared.round(member)),
            crew,
            threads,
            slots: Vec::new(),
            free: Vec::new(),
            retired: Vec::new(),
            users: None,
            pinned: false,
            started: false,
            scratch: Vec::new(),
        })
    }

    /// Keeps each worker thread on a core of its own from now on: see [`Crew::pin`].
    pub fn pin(&mut self) {
        self.pinned = true;
        self.crew.pin();
    }

    /// Adds a flow, which takes part from the next step on. O(links of its path).
    ///
    /// # Errors
    /// [`Error::EmptyPath`], [`Error::LinkOutOfRange`], [`Error::RepeatedLink`] and [`Error::Parameter`], which call it
    /// path 0 and flow 0; the latter also for a flow whose prices no table could hold, be it over a link that has failed
    /// when that returns. [`Error::Setting`] for more flows than can be numbered.
    pub fn add(&mut self, path: &[u32], worth: Worth) -> Result<FlowId> {
        self.check_room(1)?;
        self.check(0, path, &worth)?;
        Ok(self.add_checked(path, worth))
    }

    /// Whether so many more flows can be numbered.
    pub(crate) fn check_room(&self, flows: usize) -> Result<()> {
        let (slots, most) = (self.slots.len() - self.free.len() + flows, u32::MAX as usize);
        if slots <= most {
            return Ok(());
        }
        let (name, value) = ("the number of flows".into(), slots.to_string());
        Err(Error::Setting { name, value, expected: format!("at most {most}") })
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
        let generation = match self.slots.get_mut(number as usize) {
            Some(old) => {
                *old = Slot { generation: old.generation + 1, ..slot };
                old.generation
            }
            None => {
                self.slots.push(slot);
                slot.generation
            }
        };
        if let Some(users) = &mut self.users {
            users.enter(number, generation, path);
        }
        FlowId::new(number, generation)
    }

    /// Takes back what [`add_checked`](Self::add_checked) did last and nobody has been told of.
    pub(crate) fn take_back(&mut self, id: FlowId) {
        let (number, Slot { lane, spot, generation, .. }) = (id.number(), self.slots[id.slot()]);
        self.leave(id);
        self.take_out(lane, spot);
        if generation == 1 {
            self.slots.pop();
        } else {
            self.slots[number as usize].generation -= 1;
            self.free.push(number);
        }
    }

    /// Whether a flow could be added. O(links of its path).
    ///
    /// # Errors
    /// Those of [`add`](Self::add), which call it path and flow `number`.
    pub fn check(&self, number: usize, path: &[u32], worth: &Worth) -> Result<()> {
        check_path(number, path, self.links())?;
        self.check_worth(number, path, worth)
    }

    /// Whether a flow over a path that exists could be worth this.
    fn check_worth(&self, flow: usize, path: &[u32], worth: &Worth) -> Result<()> {
        worth.check(flow)?;
        worth.check_range::<R>(flow, self.nominal(path.iter().copied()))
    }

    fn smallest(&self, path: &[u32]) -> f64 {
        path.iter().map(|&link| self.capacities[link as usize]).fold(f64::INFINITY, f64::min)
    }

    /// The smallest capacity of a path when no link has failed, of those that have had one; ∞ where none has.
    fn nominal(&self, path: impl Iterator<Item = u32>) -> f64 {
        let of_links = path.map(|link| self.nominal[link as usize]);
        of_links.filter(|&capacity| capacity > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// Ends a flow. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn remove(&mut self, id: FlowId) -> Result<()> {
        let Slot { lane, spot, .. } = *self.slot(id)?;
        self.leave(id);
        self.take_out(lane, spot);
        let slot = &mut self.slots[id.slot()];
        slot.generation += 1;
        let numbers = if slot.generation < LAST_GENERATION { &mut self.free } else { &mut self.retired };
        numbers.push(id.number());
        self.change();
        Ok(())
    }

    /// Takes a flow out of its lane.
    fn take_out(&mut self, lane: u32, spot: Spot) {
        if let Some(moved) = own(&mut self.lanes[lane as usize]).remove(spot) {
            self.slots[moved as usize].spot = spot;
        }
    }

    /// A flow leaves the links of its path.
    fn leave(&mut self, id: FlowId) {
        if self.users.is_none() {
            return;
        }
        let links = self.links_of_slot(&self.slots[id.slot()]).len();
        self.users = self.users.take().and_then(|users| users.without(links));
    }

    /// Changes the path of a flow, its worth, or both; id and prices stay. On another path it has no rate before the next
    /// step, nor ever more than its cap. O(links of its paths).
    ///
    /// # Errors
    /// [`Error::UnknownFlow`]; those of [`add`](Self::add), which call the path 0, and the flow by its id. Nothing has
    /// changed then.
    pub fn change_flow(&mut self, id: FlowId, path: Option<&[u32]>, worth: Option<Worth>) -> Result<()> {
        self.check_change(0, id, path, worth.as_ref())?;
        self.change_checked(id, path, worth);
        Ok(())
    }

    /// Whether a flow could change so; `number` is what an error calls the path.
    pub(crate) fn check_change(
        &self,
        number: usize,
        id: FlowId,
        path: Option<&[u32]>,
        worth: Option<&Worth>,
    ) -> Result<()> {
        let Slot { lane, spot, worth: old, .. } = self.slot(id)?;
        let worth = worth.unwrap_or(old);
        if let Some(path) = path {
            check_path(number, path, self.links())?;
            return self.check_worth(id.as_flow(), path, worth);
        }
        worth.check(id.as_flow())?;
        let lane = read(&self.lanes[*lane as usize]);
        let path = self.links_of(&lane.buckets()[spot.bucket as usize], spot.place as usize);
        worth.check_range::<R>(id.as_flow(), self.nominal(path))
    }

    /// Changes a flow that has been [checked](Self::check_change).
    pub(crate) fn change_checked(&mut self, id: FlowId, path: Option<&[u32]>, worth: Option<Worth>) {
        let Slot { lane, spot, worth: old, generation } = self.slots[id.slot()];
        let worth = worth.unwrap_or(old);
        let (rate, feasible, before) = {
            let lane = read(&self.lanes[lane as usize]);
            let bucket = &lane.buckets()[spot.bucket as usize];
            let place = spot.place as usize;
            let before: Vec<u32> = self.links_of(bucket, place).collect();
            (bucket.rate(place).wide(), bucket.feasible(place).wide(), before)
        };
        if path.is_some() {
            self.leave(id);
        }
        self.take_out(lane, spot);
        self.slots[id.slot()].worth = worth;
        let stays = path.is_none_or(|path| path == before);
        let [rate, feasible] = [rate, feasible].map(|rate| if stays { rate.min(worth.cap) } else { 0.0 });
        self.place(Flow { id, path: path.unwrap_or(&before), worth, rate, feasible });
        if let (Some(users), Some(path)) = (&mut self.users, path) {
            users.enter(id.number(), generation, path);
        }
        self.change();
    }

    /// What a rule remembers is of another network now: it would judge its last step by what the change did. It starts
    /// again at the present prices.
    fn change(&mut self) {
        self.started &= !read(&self.blocks.rule).learns_at_start();
    }

    /// Whether the rule has seen this network, to be [put back](Self::set_started) where a change is taken back.
    pub(crate) fn is_started(&self) -> bool {
        self.started
    }

    pub(crate) fn set_started(&mut self, started: bool) {
        self.started = started;
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.slots.len() - self.free.len() - self.retired.len()
    }

    /// Changes the capacity of a link. At 0 it has failed: its flows ask for next to nothing and its price waits until
    /// it returns. O(its flows), and once, when a capacity first changes, O(crossings).
    ///
    /// # Errors
    /// Those of [`set_capacities`](Self::set_capacities); nothing has changed then.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) -> Result<()> {
        self.set_capacities(&[link], &[capacity])
    }

    /// Changes the capacities of many links, or none where one is wrong. O(their flows), and once O(crossings).
    ///
    /// # Errors
    /// [`Error::Length`] unless every link has a capacity; [`Error::UnknownLink`], [`Error::LinkTwice`],
    /// [`Error::Capacity`]; [`Error::Parameter`] as [`add`](Self::add) where a flow's prices would go out of range,
    /// which is then named by its id; [`Error::Stopped`]. Nothing has changed then.
    pub fn set_capacities(&mut self, links: &[u32], capacities: &[f64]) -> Result<()> {
        let change = self.plan_capacities(links, capacities)?;
        self.commit_capacities(change);
        Ok(())
    }

    /// What a change of capacities does, all of it allowed, none of it done.
    pub(crate) fn plan_capacities(&mut self, links: &[u32], capacities: &[f64]) -> Result<Capacities> {
        if links.len() != capacities.len() {
            let (found, expected) = (capacities.len(), links.len());
            return Err(Error::Length { what: "capacities".into(), found, expected, per: "link" });
        }
        let mut named = FxHashSet::default();
        for (&link, &capacity) in links.iter().zip(capacities) {
            self.check_link(link)?;
            check_capacity(link as usize, capacity)?;
            if !named.insert(link) {
                return Err(Error::LinkTwice { link: link as usize });
            }
        }
        let flows = self.users_of(links)?;
        let before: Vec<[f64; 2]> = links.iter().map(|&link| self.known_capacities(link)).collect();
        for (&link, &capacity) in links.iter().zip(capacities) {
            let nominal = if capacity > 0.0 { capacity } else { self.nominal[link as usize] };
            self.know_capacities(link, [capacity, nominal]);
        }
        let floors = self.floors(&flows);
        links.iter().zip(before).for_each(|(&link, before)| self.know_capacities(link, before));
        let (links, capacities) = (links.to_vec(), capacities.to_vec());
        Ok(Capacities { links, capacities, floors: floors?, flows })
    }

    /// Does what was planned, and has been allowed; nothing else has happened since.
    pub(crate) fn commit_capacities(&mut self, Capacities { links, capacities, flows, floors }: Capacities) {
        for (number, floor) in flows.into_iter().zip(floors) {
            let Slot { lane, spot, .. } = self.slots[number as usize];
            own(&mut self.lanes[lane as usize]).buckets_mut()[spot.bucket as usize]
                .set_floor(spot.place as usize, floor);
        }
        for (link, capacity) in links.into_iter().zip(capacities) {
            let nominal = if capacity > 0.0 { capacity } else { self.nominal[link as usize] };
            self.know_capacities(link, [capacity, nominal]);
            let block = &mut *write(self.block_of(link));
            block.capacities[link as usize - block.links.start] = capacity;
        }
        self.change();
    }

    /// Capacity of a link, and its nominal one.
    fn known_capacities(&self, link: u32) -> [f64; 2] {
        [self.capacities[link as usize], self.nominal[link as usize]]
    }

    fn know_capacities(&mut self, link: u32, [capacity, nominal]: [f64; 2]) {
        (self.capacities[link as usize], self.nominal[link as usize]) = (capacity, nominal);
    }

    /// The numbers of all flows over some links, in increasing order.
    fn users_of(&mut self, links: &[u32]) -> Result<Vec<u32>> {
        let mut pacer = Pacer::new();
        if links.is_empty() || self.flows() == 0 {
            return Ok(Vec::new());
        }
        let mut users = match self.users.take() {
            Some(users) => users,
            None => {
                let mut users = Users::new(self.links());
                self.each_flow(|flow| {
                    users.enter(flow.id.number(), flow.id.generation(), flow.path);
                    pacer.did(flow.path.len())
                })?;
                users
            }
        };
        let mut flows = Vec::new();
        let mut stopped = Ok(());
        for &link in links {
            let before = flows.len();
            users.append(link, &mut flows, |number, generation| {
                let slot = self.slots[number as usize];
                slot.generation == generation && self.links_of_slot(&slot).contains(&link)
            });
            stopped = stopped.and(pacer.did(1 + flows.len() - before));
        }
        self.users = Some(users);
        stopped?;
        flows.sort_unstable();
        flows.dedup();
        Ok(flows)
    }

    /// The floors of these flows at the capacities of now.
    fn floors(&self, flows: &[u32]) -> Result<Vec<f64>> {
        let (mut floors, mut pacer) = (Vec::with_capacity(flows.len()), Pacer::new());
        for &number in flows {
            let slot = self.slots[number as usize];
            let path = self.links_of_slot(&slot);
            let id = FlowId::new(number, slot.generation);
            slot.worth.check_range::<R>(id.as_flow(), self.nominal(path.iter().copied()))?;
            floors.push(slot.worth.floor(self.smallest(&path)));
            pacer.did(path.len())?;
        }
        Ok(floors)
    }

    fn links_of_slot(&self, &Slot { lane, spot, .. }: &Slot) -> Vec<u32> {
        let lane = read(&self.lanes[lane as usize]);
        self.links_of(&lane.buckets()[spot.bucket as usize], spot.place as usize).collect()
    }

    /// # Errors
    /// [`Error::UnknownLink`].
    pub(crate) fn check_link(&self, link: u32) -> Result<()> {
        let links = self.links();
        if (link as usize) < links { Ok(()) } else { Err(Error::UnknownLink { link: link.into(), links }) }
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
        let Ok(()) = self.each_flow::<Infallible>(|flow| {
            let smallest = self.smallest(flow.path);
            paths.push(flow.path);
            rates.push(if smallest == 0.0 { 0.0 } else { asks(&flow, smallest) });
            caps.push(flow.worth.cap);
            Ok(())
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
        Ok(self.links_of_slot(self.slot(id)?))
    }

    /// Price of one link.
    ///
    /// # Errors
    /// [`Error::UnknownLink`].
    pub fn price(&self, link: u32) -> Result<f64> {
        self.check_link(link)?;
        let block = read(self.block_of(link));
        Ok(block.prices[link as usize - block.links.start])
    }

    /// What one link was asked for in the last step or response.
    ///
    /// # Errors
    /// [`Error::UnknownLink`].
    pub fn load(&self, link: u32) -> Result<f64> {
        self.check_link(link)?;
        let block = read(self.block_of(link));
        Ok(block.sums[link as usize - block.links.start][0])
    }

    /// Path and worth of the flow of a slot.
    pub(crate) fn flow_of(&self, number: u32) -> (Vec<u32>, Worth) {
        let slot = &self.slots[number as usize];
        (self.links_of_slot(slot), slot.worth)
    }

    /// How many slots there are, with flows and without.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// What a flow's rate is worth.
    ///
    /// # Errors
    /// [`Error::UnknownFlow`].
    pub fn worth(&self, id: FlowId) -> Result<Worth> {
        Ok(self.slot(id)?.worth)
    }

    /// Sets the price of one link; a rule with a memory starts again there. O(1).
    ///
    /// # Errors
    /// [`Error::UnknownLink`], [`Error::Price`].
    pub fn set_price(&mut self, link: u32, price: f64) -> Result<()> {
        self.check_link(link)?;
        check_price(link as usize, price)?;
        write(self.block_of(link)).post_one(link as usize, price);
        self.change();
        Ok(())
    }

    /// Makes the layout anew, for the flows that are there now: worth its time when they have become many more, or run
    /// elsewhere. Rates, prices and ids stay; sums come in another order. O(links + crossings).
    ///
    /// # Errors
    /// [`Error::Setting`] when the system does not give the threads, [`Error::Stopped`]; nothing has changed then.
    pub fn lay_out(&mut self) -> Result<()>
    where
        Rule: Clone,
    {
        let (mut paths, mut pacer) = (Paths::from_lists([[0; 0]; 0]), Pacer::new());
        self.each_flow(|flow| {
            paths.push(flow.path);
            pacer.did(flow.path.len())
        })?;
        let sample = Sample::of(self.capacities.len(), paths.len(), |path| paths.links(path))?;
        let rule = read(&self.blocks.rule).clone();
        let mut next = Self::laid_out(self.capacities.clone(), sample, rule, self.threads)?;
        next.slots.clone_from(&self.slots);
        next.take_links(self);
        self.each_flow(|flow| {
            let links = flow.path.len();
            next.place(flow);
            pacer.did(2 * links)
        })?;
        (next.free, next.retired) = (std::mem::take(&mut self.free), std::mem::take(&mut self.retired));
        (next.nominal, next.users) = (std::mem::take(&mut self.nominal), self.users.take());
        next.started = self.started;
        if self.pinned {
            next.pin();
        }
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

    /// Looks at every flow, lane by lane, until one is refused.
    pub(crate) fn each_flow<E>(&self, mut look: impl FnMut(Flow<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut path = Vec::new();
        for lane in &self.lanes {
            for bucket in read(lane).in_order() {
                for (place, &number) in bucket.flows().iter().enumerate() {
                    path.clear();
                    path.extend(self.links_of(bucket, place));
                    let Slot { generation, worth, .. } = self.slots[number as usize];
                    let (rate, feasible) = (bucket.rate(place).wide(), bucket.feasible(place).wide());
                    look(Flow { id: FlowId::new(number, generation), path: &path, worth, rate, feasible })?;
                }
            }
        }
        Ok(())
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

/// New capacities of some links, and what they do to the flows there.
pub(crate) struct Capacities {
    links: Vec<u32>,
    capacities: Vec<f64>,
    /// Numbers of the flows, and their floors.
    flows: Vec<u32>,
    floors: Vec<f64>,
}

impl Capacities {
    /// Numbers of the flows over these links.
    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
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
