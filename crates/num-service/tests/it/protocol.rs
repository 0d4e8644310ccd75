//! Both state machines of the protocol over a lossy network, and with damaged datagrams.

use std::time::Duration;

use netnum_service::protocol::{
    Damaged, EndpointProtocol, EndpointSession, Event, Flowlet, MAX_DATAGRAM, Random, Short,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lossy::{CALM, LIFETIME, Weather, World, damaged};

/// A schedule of chaos, then enough calm for everything to be told: hellos are 50 ms apart at most.
fn agrees_after_chaos(seed: u64) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let weather = Weather {
        loss: rng.random_range(0.0..0.6),
        doubles: rng.random_range(0.0..0.4),
        steps_of_delay: [1, 3, 20, 120][rng.random_range(0..4)],
        changes: rng.random_range(0.0..0.1),
        restarts: [0.0, 0.003, 0.02][rng.random_range(0..3)],
    };
    let mut world = World::new(seed, rng.random_range(1..=3));
    world.run(&weather, rng.random_range(20..400));
    world.run(&CALM, 120 + 200 + 3 * 64);
    world.assert_agreed();
    world.flowlets()
}

/// So many, or those of the environment: 100 000 take a quarter of an hour.
pub(crate) fn schedules() -> u64 {
    std::env::var("NETNUM_SCHEDULES").map_or(1000, |number| number.parse().expect("NETNUM_SCHEDULES is a number"))
}

#[test]
fn both_sides_agree_after_any_loss_delay_and_restarts_and_no_rate_outlives_its_lifetime() {
    let flowlets: usize = (0..schedules()).map(agrees_after_chaos).sum();
    assert!(flowlets > 0, "no schedule had a flowlet at its end");
}

#[test]
fn more_flowlets_than_fit_into_a_datagram_are_told_in_turn() {
    let mut world = World::new(3, 2);
    world.start(0, 1000);
    world.run(&CALM, 400);
    world.assert_agreed();
    assert_eq!(world.flowlets(), 1000);
}

#[test]
fn an_allocator_that_is_gone_is_forgotten_after_a_lifetime() {
    let mut world = World::new(5, 1);
    world.start(0, 3);
    world.run(&CALM, 100);
    world.assert_agreed();
    // `look` asserts in every step that no rate is used that is older.
    world.run(&Weather { loss: 1.0, ..CALM }, 100);
    world.run(&CALM, 400);
    world.assert_agreed();
}

fn seeded(seed: u64) -> Random {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Box::new(move || rng.random())
}

fn flowlet() -> Flowlet {
    Flowlet {
        destination: [10, 0, 0, 2].into(),
        destination_port: 80,
        source_port: 40_000,
        weight: Short::floor(1024.0),
        cap: Short::INFINITE,
    }
}

struct Pair {
    endpoint: EndpointProtocol,
    session: EndpointSession,
    now: Duration,
}

impl Pair {
    /// An endpoint with a session.
    fn new() -> Self {
        Self::with_limit(100)
    }

    fn with_limit(limit: usize) -> Self {
        let endpoint = EndpointProtocol::new(seeded(1));
        let mut pair =
            Self { endpoint, session: EndpointSession::new(LIFETIME, limit, seeded(2)), now: Duration::ZERO };
        let hello = pair.endpoint_says().expect("a hello");
        let (_, welcome) = pair.session_hears(&hello).unwrap();
        pair.endpoint_hears(&welcome).unwrap();
        let report = pair.endpoint_says().expect("a first report");
        pair.session_hears(&report).unwrap();
        let answer = pair.session_says().expect("its answer");
        pair.endpoint_hears(&answer).unwrap();
        pair
    }

    /// What both sides have to say at a moment, in a millisecond.
    fn exchange(&mut self) {
        self.now += Duration::from_millis(1);
        if let Some(report) = self.endpoint_says() {
            let (_, answer) = self.session_hears(&report).unwrap();
            if !answer.is_empty() {
                self.endpoint_hears(&answer).unwrap();
            }
        }
        if let Some(rates) = self.session_says() {
            self.endpoint_hears(&rates).unwrap();
        }
    }

    fn endpoint_says(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.endpoint.poll(self.now, &mut out).then_some(out)
    }

    fn session_says(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.session.poll(self.now, &mut out).then_some(out)
    }

    fn session_hears(&mut self, bytes: &[u8]) -> Result<(Vec<Event>, Vec<u8>), Damaged> {
        let (mut events, mut answer) = (Vec::new(), Vec::new());
        self.session.receive(bytes, self.now, &mut events, &mut answer)?;
        Ok((events, answer))
    }

    fn endpoint_hears(&mut self, bytes: &[u8]) -> Result<Vec<u32>, Damaged> {
        let mut news = Vec::new();
        self.endpoint.receive(bytes, self.now, &mut news)?;
        Ok(news)
    }
}

#[test]
fn a_start_takes_16_bytes_an_end_4_and_a_rate_6() {
    let mut pair = Pair::new();
    let id = pair.endpoint.start(flowlet());
    let report = pair.endpoint_says().unwrap();
    assert_eq!(report.len(), 32 + 16);
    assert_eq!(pair.session_hears(&report).unwrap().0, [Event::Start(id, flowlet())]);
    pair.session.tell(id, Short::floor(5e6));
    let rates = pair.session_says().unwrap();
    assert_eq!(rates.len(), 32 + 6);
    assert_eq!(pair.endpoint_hears(&rates).unwrap(), [id]);
    assert_eq!(pair.endpoint.rate(id, pair.now), Some(Short::floor(5e6).value()));
    pair.endpoint.end(id);
    let report = pair.endpoint_says().unwrap();
    assert_eq!(report.len(), 32 + 4);
    assert_eq!(pair.session_hears(&report).unwrap().0, [Event::End(id)]);
}

#[test]
fn a_lost_rate_is_never_repeated_the_newest_is_told_instead() {
    let mut pair = Pair::new();
    let id = pair.endpoint.start(flowlet());
    let report = pair.endpoint_says().unwrap();
    pair.session_hears(&report).unwrap();
    pair.session.tell(id, Short::floor(1e6));
    let lost = pair.session_says().unwrap();
    pair.session.tell(id, Short::floor(2e6));
    let newest = pair.session_says().unwrap();
    pair.endpoint_hears(&newest).unwrap();
    // What comes late, or twice, changes nothing.
    pair.endpoint_hears(&lost).unwrap();
    pair.endpoint_hears(&newest).unwrap();
    assert_eq!(pair.endpoint.rate(id, pair.now), Some(Short::floor(2e6).value()));
    let acknowledged = pair.endpoint_says().unwrap();
    pair.session_hears(&acknowledged).unwrap();
    assert_eq!(pair.session.pending(), 0);
    assert_eq!((pair.session_says(), pair.endpoint_says()), (None, None), "both are silent when all is told");
}

#[test]
fn a_delayed_datagram_renews_nothing() {
    let mut pair = Pair::new();
    let id = pair.endpoint.start(flowlet());
    let report = pair.endpoint_says().unwrap();
    pair.session_hears(&report).unwrap();
    pair.session.tell(id, Short::floor(1e6));
    let rates = pair.session_says().unwrap();
    pair.now += LIFETIME - Duration::from_micros(1);
    pair.endpoint_hears(&rates).unwrap();
    assert!(pair.endpoint.rate(id, pair.now).is_some());
    pair.now += Duration::from_micros(1);
    assert_eq!(pair.endpoint.rate(id, pair.now), None, "a lifetime after the report that it answers");
}

#[test]
fn rates_that_leave_others_out_renew_nothing() {
    let mut pair = Pair::with_limit(300);
    let ids: Vec<u32> = (0..300).map(|_| pair.endpoint.start(flowlet())).collect();
    for _ in 0..20 {
        pair.exchange();
    }
    ids.iter().for_each(|&id| pair.session.tell(id, Short::floor(1e6)));
    for _ in 0..4 {
        pair.exchange();
    }
    let lease = pair.endpoint.lease();
    assert_eq!(pair.session.pending(), 0);
    // A report that wants its rates renewed; 181 of the 300 new ones fit into the answer.
    pair.now = lease - Duration::from_micros(1);
    let report = pair.endpoint_says().expect("it asks");
    pair.session_hears(&report).unwrap();
    ids.iter().for_each(|&id| pair.session.tell(id, Short::floor(2e6)));
    let some = pair.session_says().unwrap();
    assert_eq!(pair.endpoint_hears(&some).unwrap().len(), 181);
    assert_eq!(pair.endpoint.lease(), lease);
    let report = pair.endpoint_says().unwrap();
    pair.session_hears(&report).unwrap();
    let others = pair.session_says().unwrap();
    assert_eq!(pair.endpoint_hears(&others).unwrap().len(), 119);
    assert_eq!(pair.endpoint.lease(), pair.now + LIFETIME);
}

/// An endpoint with 400 flowlets, all of which have the rate 1 Mbit/s: two datagrams do not have room for them.
fn four_hundred() -> (Pair, Vec<u32>) {
    let mut pair = Pair::with_limit(400);
    let ids: Vec<u32> = (0..400).map(|_| pair.endpoint.start(flowlet())).collect();
    for _ in 0..10 {
        pair.exchange();
    }
    ids.iter().for_each(|&id| pair.session.tell(id, Short::floor(1e6)));
    for _ in 0..10 {
        pair.exchange();
    }
    assert_eq!((pair.endpoint.pending(), pair.session.pending()), (0, 0));
    assert_no_lapse(&pair, &ids);
    (pair, ids)
}

fn assert_no_lapse(pair: &Pair, ids: &[u32]) {
    let lapsed = ids.iter().filter(|&&id| pair.endpoint.rate(id, pair.now).is_none()).count();
    assert_eq!(lapsed, 0, "rates have lapsed at {:?}", pair.now);
}

#[test]
fn no_rate_lapses_while_many_are_told_again_in_a_new_session() {
    let (mut pair, ids) = four_hundred();
    pair.endpoint.renew();
    // Three lifetimes.
    for _ in 0..48 {
        pair.exchange();
        assert_no_lapse(&pair, &ids);
    }
    assert_eq!((pair.endpoint.pending(), pair.session.pending()), (0, 0));
}

/// Of 400 flowlets so many move in every millisecond of four lifetimes.
fn no_rate_lapses_while_some_move(moving: usize) {
    let (mut pair, ids) = four_hundred();
    for round in 0..64 {
        ids[..moving].iter().for_each(|&id| pair.session.tell(id, Short::floor(1e6 + 1e4 * f64::from(round))));
        pair.exchange();
        assert_no_lapse(&pair, &ids);
        assert!(pair.endpoint.is_led(pair.now));
    }
    for _ in 0..4 {
        pair.exchange();
    }
    assert_eq!(pair.endpoint.rate(ids[0], pair.now), Some(Short::floor(1e6 + 63e4).value()));
}

#[test]
fn no_rate_lapses_while_more_move_than_a_datagram_has_room_for() {
    no_rate_lapses_while_some_move(400);
}

#[test]
fn rates_that_do_not_move_hold_beside_more_that_do_than_fit() {
    no_rate_lapses_while_some_move(200);
}

#[test]
fn a_flowlet_with_other_ends_is_another_one_and_has_no_rate() {
    let mut pair = Pair::new();
    let id = pair.endpoint.start(flowlet());
    pair.exchange();
    pair.session.tell(id, Short::floor(1e6));
    pair.exchange();
    let slower = Flowlet { cap: Short::floor(1e5), ..flowlet() };
    pair.endpoint.change(id, slower);
    assert!(pair.endpoint.rate(id, pair.now).is_some(), "it is the same one with another cap");
    let report = pair.endpoint_says().unwrap();
    assert_eq!(pair.session_hears(&report).unwrap().0, [Event::Change(id, slower)]);
    let other = Flowlet { source_port: 1, ..slower };
    pair.endpoint.change(id, other);
    assert_eq!(pair.endpoint.rate(id, pair.now), None);
    let report = pair.endpoint_says().unwrap();
    assert_eq!(pair.session_hears(&report).unwrap().0, [Event::End(id), Event::Start(id, other)]);
}

#[test]
fn the_next_moment_at_which_a_rate_expires_is_known() {
    let mut pair = Pair::new();
    assert_eq!(pair.endpoint.expires_at(pair.now), None);
    let id = pair.endpoint.start(flowlet());
    pair.exchange();
    pair.session.tell(id, Short::floor(1e6));
    pair.exchange();
    let expires = pair.endpoint.expires_at(pair.now).expect("it has a rate");
    assert!(pair.endpoint.rate(id, expires - Duration::from_nanos(1)).is_some());
    assert_eq!((pair.endpoint.rate(id, expires), pair.endpoint.expires_at(expires)), (None, None));
}

#[test]
fn refused_datagrams_say_why() {
    let mut pair = Pair::new();
    let messages = |pair: &mut Pair, bytes: &[u8]| {
        (pair.session_hears(bytes).unwrap_err().to_string(), pair.endpoint_hears(bytes).unwrap_err().to_string())
    };
    let short = "a datagram of 3 bytes, expected 16".to_string();
    assert_eq!(messages(&mut pair, &[1, 4, 0]), (short.clone(), short));
    let version = "protocol version 9, expected 1".to_string();
    assert_eq!(messages(&mut pair, &[9; 16]), (version.clone(), version));
    pair.endpoint.start(flowlet());
    let mut report = pair.endpoint_says().unwrap();
    let of_other_side = pair.endpoint_hears(&report).unwrap_err().to_string();
    assert_eq!(of_other_side, "a datagram of kind 4, which is not one for this side");
    let cut = pair.session_hears(&report[..47]).unwrap_err().to_string();
    assert_eq!(cut, "a datagram of 47 bytes, expected 48");
    report[24..32].copy_from_slice(&77u64.to_be_bytes());
    let early = pair.session_hears(&report).unwrap_err().to_string();
    assert_eq!(early, "datagram 77 is acknowledged, the last one sent is 1");
}

#[test]
fn an_endpoint_has_no_more_flowlets_than_its_limit() {
    let mut pair = Pair::new();
    for _ in 0..300 {
        pair.endpoint.start(flowlet());
    }
    for _ in 0..100 {
        pair.exchange();
    }
    assert_eq!((pair.endpoint.pending(), pair.session.flowlets().count()), (0, 100));
}

fn fuzz(seed: u64, count: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut pair = Pair::new();
    let (mut kept, mut started): (Vec<Vec<u8>>, usize) = Default::default();
    for round in 0..count {
        if round % 64 == 0 {
            (pair, started) = (Pair::new(), 0);
        }
        pair.now += Duration::from_micros(rng.random_range(0..3000));
        if rng.random_range(0..4) == 0 {
            pair.endpoint.start(flowlet());
            started += 1;
        }
        for datagram in [pair.endpoint_says(), pair.session_says()].into_iter().flatten() {
            assert!(datagram.len() <= MAX_DATAGRAM);
            kept.push(datagram);
        }
        kept.drain(..kept.len().saturating_sub(32));
        let bytes = damaged(&mut rng, &kept);
        let _ = pair.session_hears(&bytes);
        let _ = pair.endpoint_hears(&bytes);
        let known: Vec<u32> = pair.session.flowlets().map(|(id, ..)| id).collect();
        assert!(known.len() <= 100, "more flowlets than the limit");
        assert!(pair.session.pending() <= 100);
        known.iter().for_each(|&id| pair.session.tell(id, Short::of_code(rng.random())));
        assert_eq!(pair.endpoint.flowlets().count(), started, "a datagram started or ended a flowlet at an endpoint");
    }
}

#[test]
fn damaged_datagrams_neither_panic_nor_make_anything_grow() {
    fuzz(1, 50_000.max(10 * schedules() as usize));
}
