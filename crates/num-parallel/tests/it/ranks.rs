//! Allocators over ranks: the rates of one allocator that has all flows, and no rank that waits for another.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::common::rules;
use netnum_core::internal::{Call, on_ranks, thread_ranks};
use netnum_core::price::{FastNed, Ned, Rule};
use netnum_core::*;
use netnum_parallel::{Allocator, AllocatorSettings, FlowId, Precision};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What happens to a network; flows are numbered.
enum Event {
    Start { flow: usize, path: Vec<u32>, law: PowerLaw },
    End { flow: usize },
    Change { flow: usize, path: Option<Vec<u32>>, law: Option<PowerLaw> },
    Capacity { link: u32, capacity: f64 },
    Tick,
    Respond,
}

fn network() -> Topology {
    Topology::leaf_spine(4, 4, 2, 10e9, 20e9).unwrap()
}

/// Weights over two decades, links that fail, shrink and return, and 16 servers, so that links are often idle.
fn events(seed: u64, count: usize, alphas: &[f64]) -> Vec<Event> {
    let (net, mut rng) = (network(), ChaCha8Rng::seed_from_u64(seed));
    let (mut flows, mut started) = (Vec::new(), 0);
    let path = |rng: &mut ChaCha8Rng| {
        let source = rng.random_range(0..16);
        let destination = (source + rng.random_range(1..16)) % 16;
        net.ecmp(&[source], &[destination], rng.random()).unwrap().links(0).to_vec()
    };
    let law = |rng: &mut ChaCha8Rng| PowerLaw {
        alpha: alphas[rng.random_range(0..alphas.len())],
        cap: if rng.random_bool(0.1) { 1e9 } else { f64::INFINITY },
        ..PowerLaw::log(1e9 * 10f64.powf(rng.random_range(-1.0..1.0)))
    };
    let mut events = Vec::new();
    while events.len() < count {
        events.push(match rng.random_range(0..40) {
            0..=14 => {
                flows.push(started);
                started += 1;
                Event::Start { flow: started - 1, path: path(&mut rng), law: law(&mut rng) }
            }
            15..=28 if !flows.is_empty() => Event::End { flow: flows.swap_remove(rng.random_range(0..flows.len())) },
            29..=30 if !flows.is_empty() => {
                let flow = flows[rng.random_range(0..flows.len())];
                let path = rng.random_bool(0.5).then(|| path(&mut rng));
                Event::Change { flow, path, law: rng.random_bool(0.5).then(|| law(&mut rng)) }
            }
            31 => {
                let link = rng.random_range(0..net.capacities().len());
                let capacity = net.capacities()[link] * [0.0, 1.0, 0.3, 1.0][rng.random_range(0..4)];
                Event::Capacity { link: link as u32, capacity }
            }
            32 => Event::Respond,
            _ => Event::Tick,
        });
    }
    events.push(Event::Tick);
    events
}

/// Links with coefficients.
type Path = Vec<(u32, f64)>;

/// After every tick and response: the rates of the flows by number, their paths, capacities and prices.
type Seen = (BTreeMap<usize, (Path, f64)>, Vec<f64>, Vec<f64>);

/// Every third flow uses a half or twice of its links.
fn paths_of(flow: usize, path: &[u32]) -> Paths {
    let of = |hop: usize| if flow.is_multiple_of(3) { [0.5, 2.0][(flow + hop) % 2] } else { 1.0 };
    Paths::with_coefficients(vec![0, path.len()], path.to_vec(), (0..path.len()).map(of).collect()).unwrap()
}

/// Plays the events of its own flows on an allocator.
fn play(allocator: &mut Allocator, events: &[Event], own: impl Fn(usize) -> bool) -> Vec<Seen> {
    let mut ids: BTreeMap<usize, FlowId> = BTreeMap::new();
    let mut seen = Vec::new();
    for event in events {
        match event {
            Event::Start { flow, path, law } if own(*flow) => {
                ids.insert(*flow, allocator.start_all(&paths_of(*flow, path), &[*law]).unwrap()[0]);
            }
            Event::End { flow } if own(*flow) => allocator.end(ids.remove(flow).unwrap()).unwrap(),
            Event::Change { flow, path, law } if own(*flow) => {
                let paths = path.as_deref().map(|path| paths_of(*flow, path));
                allocator
                    .change_all(&[ids[flow]], paths.as_ref().map(Into::into), law.as_ref().map(std::slice::from_ref))
                    .unwrap();
            }
            Event::Capacity { link, capacity } => allocator.set_capacity(*link, *capacity).unwrap(),
            Event::Tick | Event::Respond => {
                if matches!(event, Event::Tick) {
                    allocator.tick().unwrap()
                } else {
                    allocator.respond().unwrap()
                }
                let of = |(&flow, &id): (&usize, &FlowId)| {
                    let path = allocator.paths(id).unwrap().entries(0).collect();
                    (flow, (path, allocator.rate(id).unwrap()))
                };
                seen.push((ids.iter().map(of).collect(), allocator.capacities().to_vec(), allocator.prices()));
            }
            _ => {}
        }
    }
    seen
}

fn made(method: &str, normalizer: Option<Normalization>, precision: Precision) -> Allocator {
    let settings = AllocatorSettings::default().with_normalizer(normalizer).with_update_threshold(0.0);
    let capacities = network().capacities().to_vec();
    Allocator::by_name(capacities, method, &BTreeMap::new(), settings.with_precision(precision), NonZeroUsize::MIN)
        .unwrap()
}

/// What the ranks see together, flow number `k` being of rank `owner(k)`; prices are checked to be the same on all.
fn play_on(
    ranks: usize,
    events: &[Event],
    owner: impl Fn(usize) -> usize + Sync,
    made: impl Fn() -> Allocator + Sync,
) -> Vec<Seen> {
    let mut parts = on_ranks(ranks, |rank, all| {
        let mut allocator = made();
        allocator.over(all.clone()).unwrap();
        play(&mut allocator, events, |flow| owner(flow) == rank)
    });
    let mut whole = parts.pop().unwrap();
    for part in parts {
        for (whole, part) in whole.iter_mut().zip(part) {
            assert_eq!((&whole.1, &whole.2), (&part.1, &part.2));
            whole.0.extend(part.0);
        }
    }
    whole
}

/// No link is over its capacity by more than this part of it.
fn assert_feasible(what: &str, (rates, capacities, _): &Seen, tolerance: f64) {
    let mut loads = vec![0.0; capacities.len()];
    for (path, rate) in rates.values() {
        assert!(rate.is_finite() && *rate >= 0.0, "{what}: {rate}");
        path.iter().for_each(|&(link, a)| loads[link as usize] += a * rate);
    }
    for (link, (load, capacity)) in loads.iter().zip(capacities).enumerate() {
        assert!(*load <= capacity * (1.0 + tolerance), "{what}: link {link} has {load} of {capacity}");
    }
}

/// The largest difference of rates, relative to the rate, and of prices.
fn differ(found: &[Seen], expected: &[Seen]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let mut largest: f64 = 0.0;
    for ((rates, _, prices), (others, _, other_prices)) in found.iter().zip(expected) {
        assert!(rates.keys().eq(others.keys()));
        let rates = rates.values().zip(others.values()).map(|((_, one), (_, other))| (*one, *other));
        for (one, other) in rates.chain(prices.iter().copied().zip(other_prices.iter().copied())) {
            largest = largest.max((one - other).abs() / one.max(other).max(1e-100));
        }
    }
    largest
}

#[test]
fn rates_are_those_of_one_allocator_that_has_all_flows() {
    for (seed, method) in rules().enumerate() {
        let events = events(seed as u64, 1500, if method == "rcp" { &[1.0] } else { &[0.5, 1.0, 2.0] });
        for normalizer in [Some(Normalization::FNorm), Some(Normalization::UNorm), None] {
            let made = || made(method, normalizer, Precision::F64);
            let expected = play(&mut made(), &events, |_| true);
            for ranks in [1, 2, 3] {
                // With three ranks the last has no flows.
                let found = play_on(ranks, &events, |flow| flow % ranks.min(2), made);
                let what = format!("{method}, {normalizer:?}, {ranks} ranks");
                if normalizer.is_some() {
                    found.iter().for_each(|seen| assert_feasible(&what, seen, 1e-12));
                }
                let most = differ(&found, &expected);
                // One rank adds up in the order of one allocator.
                assert!(if ranks == 1 { most == 0.0 } else { most <= 1e-9 }, "{what}: {most:e}");
            }
        }
    }
}

#[test]
fn rates_in_single_precision_are_feasible_over_all_ranks() {
    let (events, made) = (events(20, 1500, &[1.0, 2.0]), || made("ned", Some(Normalization::FNorm), Precision::F32));
    let (found, expected) = (play_on(2, &events, |flow| flow % 2, made), play(&mut made(), &events, |_| true));
    found.iter().for_each(|seen| assert_feasible("f32", seen, 1e-5));
    let most = differ(&found, &expected);
    assert!(most <= 1e-3, "{most:e}");
}

#[test]
fn the_same_ranks_give_the_same_bits_again() {
    let events = events(21, 800, &[1.0, 2.0]);
    let play = || play_on(3, &events, |flow| flow % 3, || made("fast-ned", Some(Normalization::FNorm), Precision::F64));
    assert!(play() == play());
}

/// Every rank's part is saved in the middle, between a start and its tick, and goes on over other threads.
#[test]
fn parts_that_were_saved_go_on_over_ranks_to_the_last_bit() {
    let made = || made("ned", Some(Normalization::FNorm), Precision::F64);
    let start = |allocator: &mut Allocator, rank: usize| {
        let path = network().ecmp(&[rank], &[9], 1).unwrap();
        allocator.start(path.links(0), PowerLaw::log(1e9)).unwrap();
    };
    let ticks = |allocator: &mut Allocator| (0..3).for_each(|_| allocator.tick().unwrap());
    let expected = on_ranks(2, |rank, ranks| {
        let mut allocator = made();
        allocator.over(ranks.clone()).unwrap();
        start(&mut allocator, rank);
        ticks(&mut allocator);
        start(&mut allocator, 2 + rank);
        let saved = allocator.to_json().unwrap();
        ticks(&mut allocator);
        (saved, allocator.to_json().unwrap())
    });
    let found = on_ranks(2, |rank, ranks| {
        let mut allocator = Allocator::from_json(&expected[rank].0, NonZeroUsize::MIN).unwrap();
        allocator.over(ranks.clone()).unwrap();
        ticks(&mut allocator);
        allocator.to_json().unwrap()
    });
    assert!(found.iter().eq(expected.iter().map(|(_, after)| after)));
}

/// The errors of two ranks, given what each makes of its number.
fn refused(made: impl Fn(usize) -> Result<Allocator> + Sync) -> Vec<String> {
    on_ranks(2, |rank, ranks| {
        let over = || made(rank).and_then(|mut allocator| allocator.over(ranks.clone()));
        ranks.together(Call::Allocator, over).unwrap_err().to_string()
    })
}

#[test]
fn what_differs_between_ranks_is_named_on_all() {
    let one = NonZeroUsize::MIN;
    let both = |text: &str| vec![format!("the ranks differ: {text}"); 2];
    let ned = |gamma: f64| Rule::from(Ned::new(gamma));
    let of =
        |capacities: Vec<f64>, rule: Rule, settings: AllocatorSettings| Allocator::new(capacities, rule, settings, one);
    let plain = AllocatorSettings::default;
    let links = |rank: usize| of(vec![1.0; 1 + rank], ned(0.4), plain());
    assert_eq!(refused(links), both("there are 1 links on rank 0, and there are 2 links on rank 1"));
    let capacities = |rank: usize| of(vec![1.0, 2.0 + rank as f64], ned(0.4), plain());
    assert_eq!(refused(capacities), both("link 1 has capacity 2 on rank 0, and capacity 3 on rank 1"));
    let gammas = |rank: usize| of(vec![1.0], ned([0.4, 0.5][rank]), plain());
    assert_eq!(refused(gammas), both("option \"gamma\" is 0.4 on rank 0, and option \"gamma\" is 0.5 on rank 1"));
    let rules = |rank| of(vec![1.0], if rank == 0 { ned(0.4) } else { FastNed::new(1.0).into() }, plain());
    let text = "the method is \"ned\" on rank 0, and the method is \"fast-ned\" on rank 1";
    assert_eq!(refused(rules), both(text));
    let thresholds = |rank| of(vec![1.0], ned(0.4), plain().with_update_threshold([0.0, 0.01][rank]));
    assert_eq!(refused(thresholds), both("update_threshold is 0 on rank 0, and update_threshold is 0.01 on rank 1"));
    let headrooms = |rank| of(vec![1.0], ned(0.4), plain().with_headroom([0.0, 0.5][rank]));
    assert_eq!(refused(headrooms), both("headroom is 0 on rank 0, and headroom is 0.5 on rank 1"));
    let kinds = [Some(Normalization::FNorm), Some(Normalization::UNorm)];
    let normalizers = |rank: usize| of(vec![1.0], ned(0.4), plain().with_normalizer(kinds[rank]));
    let text = "the normalizer is \"f-norm\" on rank 0, and the normalizer is \"u-norm\" on rank 1";
    assert_eq!(refused(normalizers), both(text));
    let fill = |_| of(vec![1.0], ned(0.4), plain().with_normalizer(Some(Normalization::Fill)));
    let text = "normalizer is \"fill\", expected \"f-norm\", \"u-norm\" or None over several ranks: others take \
                all flows at once";
    assert_eq!(refused(fill), vec![text; 2]);
    let bad = |rank| of(vec![[1.0, -1.0][rank]], ned(0.4), plain());
    let text = "link 0 has capacity -1, expected a number >= 0 (inf for no limit)";
    assert_eq!(refused(bad), [format!("rank 1 has failed: {text}"), text.into()]);
}

#[test]
fn one_rank_may_fill() {
    let settings = AllocatorSettings::default().with_normalizer(Some(Normalization::Fill)).with_update_threshold(0.0);
    let rates = on_ranks(1, |_, ranks| {
        let mut allocator: Allocator = Allocator::new(vec![3.0, 1.0], Ned::new(0.4), settings, NonZeroUsize::MIN)?;
        allocator.over(ranks.clone())?;
        let id = allocator.start(&[0], PowerLaw::log(1.0))?;
        allocator.tick()?;
        allocator.rate(id)
    });
    assert_eq!(rates, [Ok(3.0)]);
}

/// What ranks get that each do their own work on an allocator that all have ticked once.
fn ticked(work: impl Fn(usize, &mut Allocator) -> Result<()> + Sync) -> Vec<[String; 2]> {
    on_ranks(2, |rank, ranks| {
        let mut allocator = made("ned", Some(Normalization::FNorm), Precision::F64);
        allocator.over(ranks.clone()).unwrap();
        allocator.tick().unwrap();
        let first = work(rank, &mut allocator).unwrap_err().to_string();
        [first, allocator.tick().unwrap_err().to_string()]
    })
}

#[test]
fn ranks_that_do_not_do_the_same_end_together() {
    let found = ticked(|rank, allocator| {
        if rank == 1 {
            allocator.set_capacity(3, 5e9)?;
        }
        allocator.tick()
    });
    let text = "the ranks differ: link 3 has capacity 10000000000 on rank 0, and capacity 5000000000 on rank 1";
    assert_eq!(found, vec![[text; 2]; 2]);
    let found = ticked(|rank, allocator| if rank == 0 { allocator.tick() } else { allocator.respond() });
    let text = "the ranks differ: tick is called on rank 0, and respond is called on rank 1";
    assert_eq!(found, vec![[text; 2]; 2]);
    let found = ticked(|rank, allocator| {
        let token = StopToken::new();
        if rank == 1 {
            token.stop();
        }
        token.scope(|| allocator.tick())
    });
    let (stopped, failed) =
        ("stopped before there was an answer", "rank 1 has failed: stopped before there was an answer");
    assert_eq!(found, [[failed, failed], [stopped, failed]]);
}

/// A rule that panics, on one rank.
struct Panics(bool);

impl netnum_core::price::PriceRule for Panics {
    fn advance(&self, link: &netnum_core::price::LinkState, _memory: &mut netnum_core::price::Memory) -> f64 {
        assert!(!self.0, "on purpose");
        link.price
    }
}

#[test]
fn a_panic_on_one_rank_is_an_error_of_the_others_next_tick() {
    let allocators = thread_ranks(2).into_iter().map(|ranks| {
        let rule = Rule::user(Panics(ranks.rank() == 1));
        (Allocator::new(vec![1.0], rule, AllocatorSettings::default(), NonZeroUsize::MIN).unwrap(), ranks)
    });
    let ended: Vec<_> = std::thread::scope(|scope| {
        let work = |(mut allocator, ranks): (Allocator, Ranks)| {
            move || {
                allocator.over(ranks).unwrap();
                // Kept beyond the panic, as a caller may keep it.
                let tick = std::panic::AssertUnwindSafe(|| allocator.tick().and_then(|()| allocator.tick()));
                std::panic::catch_unwind(tick).map_err(drop)
            }
        };
        let threads: Vec<_> = allocators.map(|one| scope.spawn(work(one))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ended, [Ok(Err(Error::RankFailed { rank: 1, what: "a panic".into() })), Err(())]);
}
