//! Endpoints and an allocator over a network that loses, delays, doubles and reorders datagrams, in virtual time.

use std::time::Duration;

use netnum_service::protocol::{EndpointProtocol, EndpointSession, Event, Flowlet, Random, Short};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

pub(crate) const LIFETIME: Duration = Duration::from_millis(16);
pub(crate) const STEP: Duration = Duration::from_micros(250);
pub(crate) const STEPS_PER_TICK: u32 = 4;

/// How bad the network is, and how often something happens, each as a probability per datagram or step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weather {
    pub(crate) loss: f64,
    pub(crate) doubles: f64,
    pub(crate) steps_of_delay: u32,
    pub(crate) changes: f64,
    pub(crate) restarts: f64,
}

pub(crate) const CALM: Weather = Weather { loss: 0.0, doubles: 0.0, steps_of_delay: 1, changes: 0.0, restarts: 0.0 };

#[derive(Debug, Clone, Copy)]
pub(crate) enum To {
    Allocator,
    Endpoint,
}

/// A datagram from or to an endpoint.
pub(crate) struct Packet {
    arrives: Duration,
    pub(crate) to: To,
    pub(crate) endpoint: usize,
    pub(crate) bytes: Vec<u8>,
}

/// Random bytes, or one of these datagrams with some bytes changed, cut or added to.
pub(crate) fn damaged(rng: &mut ChaCha8Rng, datagrams: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = match datagrams.len() {
        0 => Vec::new(),
        len => datagrams[rng.random_range(0..len)].clone(),
    };
    match rng.random_range(0..4) {
        0 => {
            // Of a known kind half of the time.
            bytes.truncate(if rng.random() { 2 } else { 0 });
            let length = rng.random_range(bytes.len()..200);
            let mut random = vec![0; length - bytes.len()];
            rng.fill_bytes(&mut random);
            bytes.extend(random);
        }
        1 => bytes.truncate(rng.random_range(0..=bytes.len())),
        2 => bytes.extend([7; 6]),
        _ => {}
    }
    for _ in 0..rng.random_range(0..3) {
        if !bytes.is_empty() {
            let place = rng.random_range(0..bytes.len());
            bytes[place] = rng.random();
        }
    }
    bytes
}

/// The network between endpoints and allocator.
pub(crate) struct Wire {
    rng: ChaCha8Rng,
    under_way: Vec<Packet>,
}

impl Wire {
    pub(crate) fn new(rng: ChaCha8Rng) -> Self {
        Self { rng, under_way: Vec::new() }
    }

    /// Sends a datagram that may be lost, delayed and doubled. Those with different delays come in another order.
    pub(crate) fn send(&mut self, weather: &Weather, now: Duration, to: To, endpoint: usize, bytes: Vec<u8>) {
        let copies = 1 + u32::from(self.rng.random::<f64>() < weather.doubles);
        for _ in 0..copies {
            if self.rng.random::<f64>() >= weather.loss {
                let arrives = now + STEP * self.rng.random_range(1..=weather.steps_of_delay);
                self.under_way.push(Packet { arrives, to, endpoint, bytes: bytes.clone() });
            }
        }
    }

    /// Those that have arrived by now.
    pub(crate) fn arrived(&mut self, now: Duration) -> Vec<Packet> {
        self.under_way.extract_if(.., |packet| packet.arrives <= now).collect()
    }
}

pub(crate) struct World {
    rng: ChaCha8Rng,
    now: Duration,
    steps: u32,
    endpoints: Vec<EndpointProtocol>,
    sessions: Vec<EndpointSession>,
    wire: Wire,
    /// When a session last had such a rate for a flowlet: by endpoint, id, rate.
    had: FxHashMap<(usize, u32, u16), Duration>,
    limit: usize,
}

pub(crate) fn random(rng: &mut ChaCha8Rng) -> Random {
    let mut own = ChaCha8Rng::seed_from_u64(rng.random());
    Box::new(move || own.random())
}

impl World {
    pub(crate) fn new(seed: u64, endpoints: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let limit = 4096;
        let sides = |rng: &mut ChaCha8Rng| {
            (EndpointProtocol::new(random(rng)), EndpointSession::new(LIFETIME, limit, random(rng)))
        };
        let (endpoints, sessions) = (0..endpoints).map(|_| sides(&mut rng)).unzip();
        let wire = Wire::new(ChaCha8Rng::seed_from_u64(rng.random()));
        let (now, steps, had) = (Duration::ZERO, 0, FxHashMap::default());
        Self { rng, now, steps, endpoints, sessions, wire, had, limit }
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.rng.random::<f64>() < probability
    }

    pub(crate) fn random_flowlet(&mut self) -> Flowlet {
        Flowlet {
            destination: [10, 0, 0, self.rng.random()].into(),
            destination_port: self.rng.random(),
            source_port: self.rng.random(),
            weight: Short::floor(1024.0),
            cap: Short::INFINITE,
        }
    }

    fn change_something(&mut self, weather: &Weather) {
        for endpoint in 0..self.endpoints.len() {
            if self.happens(weather.changes) {
                let flowlet = self.random_flowlet();
                self.endpoints[endpoint].start(flowlet);
            }
            if self.happens(weather.changes) {
                let live: Vec<_> = self.endpoints[endpoint].flowlets().collect();
                if !live.is_empty() {
                    let (id, flowlet) = live[self.rng.random_range(0..live.len())];
                    match self.rng.random_range(0..4) {
                        0 => self.endpoints[endpoint].change(id, Flowlet { cap: Short::floor(1e6), ..flowlet }),
                        1 => self.endpoints[endpoint].renew(),
                        _ => self.endpoints[endpoint].end(id),
                    }
                }
            }
            if self.happens(weather.restarts) {
                self.endpoints[endpoint] = EndpointProtocol::new(random(&mut self.rng));
            }
        }
        if self.happens(weather.restarts) {
            for session in &mut self.sessions {
                let before: Vec<_> =
                    session.flowlets().filter_map(|(id, flowlet, rate)| Some((id, flowlet, rate?))).collect();
                *session = EndpointSession::new(LIFETIME, self.limit, random(&mut self.rng));
                if self.rng.random() {
                    session.restore(before, self.now);
                }
            }
        }
    }

    fn deliver(&mut self, weather: &Weather) {
        for Packet { to, endpoint, bytes, .. } in self.wire.arrived(self.now) {
            match to {
                To::Allocator => {
                    let (mut events, mut answer) = (Vec::new(), Vec::new());
                    let taken = self.sessions[endpoint].receive(&bytes, self.now, &mut events, &mut answer);
                    taken.expect("it was sent by an endpoint");
                    if !answer.is_empty() {
                        self.wire.send(weather, self.now, To::Endpoint, endpoint, answer);
                    }
                }
                To::Endpoint => {
                    let mut news = Vec::new();
                    // A restarted endpoint may be acknowledged what it has not sent, but not in its own session.
                    self.endpoints[endpoint].receive(&bytes, self.now, &mut news).expect("it was sent by an allocator");
                }
            }
        }
    }

    /// Some flowlets get other rates; the last digit of a rate is the endpoint's.
    fn tick(&mut self, weather: &Weather) {
        for endpoint in 0..self.sessions.len() {
            let mut events = Vec::new();
            self.sessions[endpoint].expire(self.now, &mut events);
            for event in events {
                let Event::End(id) = event else { panic!("nothing starts by silence") };
                assert_eq!(self.endpoints[endpoint].rate(id, self.now), None, "its share is free, and it has a rate");
            }
            let mut known: Vec<_> = self.sessions[endpoint].flowlets().collect();
            known.sort_unstable_by_key(|&(id, ..)| id);
            for (id, _, rate) in known {
                // In bad weather an allocator may be slow to give the first rate.
                let is_due = rate.is_none() && (weather.changes == 0.0 || self.happens(0.1));
                if is_due || self.happens(weather.changes) {
                    let code = self.rng.random_range(0..6000u16) * 10 + endpoint as u16;
                    self.sessions[endpoint].tell(id, Short::of_code(code));
                }
            }
            let mut out = Vec::new();
            if self.sessions[endpoint].poll(self.now, &mut out) {
                self.wire.send(weather, self.now, To::Endpoint, endpoint, out);
            }
        }
    }

    fn look(&mut self) {
        for (endpoint, session) in self.sessions.iter().enumerate() {
            for (id, _, rate) in session.flowlets() {
                if let Some(rate) = rate {
                    self.had.insert((endpoint, id, rate.code()), self.now);
                }
            }
        }
        for (number, endpoint) in self.endpoints.iter().enumerate() {
            for (id, _) in endpoint.flowlets() {
                let Some(rate) = endpoint.rate(id, self.now) else { continue };
                let code = Short::floor(rate).code();
                assert_eq!(usize::from(code % 10), number, "a rate of another endpoint");
                let had = self.had.get(&(number, id, code)).expect("a rate that no allocator gave");
                let age = self.now - *had;
                assert!(age <= LIFETIME + STEP, "endpoint {number} uses a rate of flowlet {id} that is {age:?} old");
            }
        }
    }

    pub(crate) fn run(&mut self, weather: &Weather, steps: u32) {
        for _ in 0..steps {
            self.now += STEP;
            self.steps += 1;
            self.change_something(weather);
            self.deliver(weather);
            for endpoint in 0..self.endpoints.len() {
                let mut out = Vec::new();
                if self.endpoints[endpoint].poll(self.now, &mut out) {
                    self.wire.send(weather, self.now, To::Allocator, endpoint, out);
                }
            }
            if self.steps.is_multiple_of(STEPS_PER_TICK) {
                self.tick(weather);
            }
            self.look();
        }
    }

    /// Both sides know the same flowlets, with the same rates.
    pub(crate) fn assert_agreed(&self) {
        for (number, (endpoint, session)) in self.endpoints.iter().zip(&self.sessions).enumerate() {
            let mut told: Vec<_> =
                endpoint.flowlets().map(|(id, flowlet)| (id, flowlet, endpoint.rate(id, self.now))).collect();
            let rate = |rate: Option<Short>| rate.map(Short::value);
            let mut known: Vec<_> = session.flowlets().map(|(id, flowlet, short)| (id, flowlet, rate(short))).collect();
            told.sort_unstable_by_key(|&(id, ..)| id);
            known.sort_unstable_by_key(|&(id, ..)| id);
            assert_eq!(told, known, "endpoint {number} and its session");
            assert!(known.iter().all(|(.., rate)| rate.is_some()), "endpoint {number} has a flowlet without a rate");
            assert_eq!((endpoint.pending(), session.pending()), (0, 0), "something is still to be told");
        }
    }

    pub(crate) fn flowlets(&self) -> usize {
        self.endpoints.iter().map(|endpoint| endpoint.flowlets().count()).sum()
    }

    pub(crate) fn start(&mut self, endpoint: usize, count: usize) {
        for _ in 0..count {
            let flowlet = self.random_flowlet();
            self.endpoints[endpoint].start(flowlet);
        }
    }
}
