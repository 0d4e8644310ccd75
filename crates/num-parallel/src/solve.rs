//! Solves whose price methods respond on many cores.
//!
//! The library's own price methods find loads and slopes by one loop over the flows; here the block engine's lanes do,
//! on as many threads as are given. All else, rules and certificates included, is the library's.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, RwLock};

use netnum_core::interrupt::Pacer;
use netnum_core::solve::{LinkRecord, PowerFlows, PowerLaw, PriceEngine, Responder};
use netnum_core::{Problem, Result, Solver};

use crate::crew::{Crew, Job};
use crate::engine::bucket::{Law, Response};
use crate::engine::exchange::{read, write};
use crate::engine::lane::Lane;
use crate::engine::partition::{Partition, Sample};
use crate::engine::share;

/// Below this many flows the tables cost more than they save.
const FEWEST_FLOWS: usize = 5000;
/// With few pairs, and beyond what the caches hold, the library's loop is faster: it finds all of a link in one line.
const MOST_SCATTERED: usize = 16_384;
const FEW_PAIRS: f64 = 1.5;

/// A solver as [`Solver::new`] makes it, whose price methods use up to `threads` threads, and faster loops than one
/// flow after the other also where that is one. The answer has the same bits for any number of threads.
///
/// # Errors
/// Those of [`Solver::new`], [`Error::Setting`](netnum_core::Error::Setting) when the system does not give that many
/// threads, and [`Error::Stopped`](netnum_core::Error::Stopped) while the flows are laid out.
pub fn solver(
    problem: &Problem,
    method: &str,
    options: &BTreeMap<String, f64>,
    threads: NonZeroUsize,
) -> Result<Solver> {
    Solver::with_engine(problem, method, options, Some(Arc::new(LaneEngine { threads })))
}

/// The same, at the prices of a similar problem's solution where they are given.
///
/// # Errors
/// Those of [`solver`] and of [`Solver::warm_start`].
pub fn solver_from(
    problem: &Problem,
    method: &str,
    options: &BTreeMap<String, f64>,
    threads: NonZeroUsize,
    prices: Option<&[f64]>,
) -> Result<Solver> {
    let mut solver = solver(problem, method, options, threads)?;
    if let Some(prices) = prices {
        solver.warm_start(prices)?;
    }
    Ok(solver)
}

/// Responds by lanes.
struct LaneEngine {
    threads: NonZeroUsize,
}

impl PriceEngine for LaneEngine {
    fn responder(&self, flows: &PowerFlows<'_>) -> Result<Option<Box<dyn Responder>>> {
        if flows.paths.len() < FEWEST_FLOWS {
            return Ok(None);
        }
        let sample = Sample::of(flows.links, flows.paths.len(), |flow| flows.paths.links(flow))?;
        let partition = Partition::new(flows.links, &sample)?;
        if flows.links > MOST_SCATTERED && partition.links_per_segment(&sample) < FEW_PAIRS {
            return Ok(None);
        }
        let crew = Crew::new(self.threads.min(partition.lanes()))?;
        let mut lanes: Vec<Lane<f64>> = (0..partition.lanes().get()).map(|_| Lane::new(&partition)).collect();
        let (mut segments, mut pacer) = (Vec::new(), Pacer::new());
        let mut add = |flow: usize, response: Response| {
            let path = flows.paths.links(flow);
            partition.segments_of(path, &mut segments);
            lanes[partition.lane_of(path)].add(flow as u32, &segments, &response);
            pacer.did(path.len())
        };
        for (range, law) in &flows.laws {
            for (place, flow) in range.clone().enumerate() {
                let floor = flows.floors[flow];
                add(
                    flow,
                    match law {
                        PowerLaw::Log(weights) => {
                            Response { law: Law::Log, scale: weights[place], exponent: 1.0, floor }
                        }
                        PowerLaw::Power { log_k, alpha } => {
                            let exponent = alpha[place].recip();
                            Response { law: Law::Power, scale: log_k[place] * exponent, exponent, floor }
                        }
                    },
                )?;
            }
        }
        let shared = Arc::new(Shared {
            partition,
            heard: RwLock::new(Heard { weigh: false, prices: vec![0.0; flows.links], priced: vec![0.0; flows.links] }),
            lanes: lanes.into_iter().map(RwLock::new).collect(),
        });
        let at_work = Arc::clone(&shared);
        let job: Job = Arc::new(move |member| {
            let heard = read(&at_work.heard);
            for lane in share(&at_work.lanes, member) {
                let lane = &mut *write(lane);
                lane.hear(0, &heard.prices, &heard.priced, heard.weigh);
                lane.respond(&at_work.partition, heard.weigh);
            }
        });
        Ok(Some(Box::new(Lanes { crew, job, shared })))
    }
}

/// What the crew shares.
struct Shared {
    partition: Partition,
    heard: RwLock<Heard>,
    lanes: Vec<RwLock<Lane<f64>>>,
}

/// What the lanes respond to.
struct Heard {
    weigh: bool,
    /// Of every link.
    prices: Vec<f64>,
    priced: Vec<f64>,
}

struct Lanes {
    crew: Crew,
    job: Job,
    shared: Arc<Shared>,
}

impl Responder for Lanes {
    fn respond(&mut self, weigh: bool, links: &mut [LinkRecord]) {
        {
            let heard = &mut *write(&self.shared.heard);
            heard.weigh = weigh;
            for ((price, priced), link) in heard.prices.iter_mut().zip(&mut heard.priced).zip(&*links) {
                (*price, *priced) = (link.price, link.priced);
            }
        }
        self.crew.run(Arc::clone(&self.job));
        for lane in &self.shared.lanes {
            for (link, sum) in links.iter_mut().zip(read(lane).sums()) {
                link.load += sum[0];
                link.slope += sum[1];
            }
        }
    }

    fn rates_into(&self, rates: &mut [f64]) {
        for lane in &self.shared.lanes {
            for bucket in read(lane).buckets() {
                for (place, &flow) in bucket.flows().iter().enumerate() {
                    rates[flow as usize] = bucket.rate(place);
                }
            }
        }
    }
}
