//! The relay between endpoints and the allocator.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{ALLOCATOR, LOSS, RELAY};

pub(super) fn relay() {
    let inside = Arc::new(UdpSocket::bind(RELAY).unwrap());
    let mut outsides: BTreeMap<SocketAddr, (Arc<UdpSocket>, Faults)> = BTreeMap::new();
    let mut buffer = [0; 2048];
    loop {
        let (count, from) = inside.recv_from(&mut buffer).unwrap();
        let seed = outsides.len() as u64;
        let (outside, faults) = outsides.entry(from).or_insert_with(|| {
            let outside = Arc::new(UdpSocket::bind("10.77.0.100:0").unwrap());
            outside.connect(ALLOCATOR).unwrap();
            let (back, inside) = (outside.clone(), inside.clone());
            thread::spawn(move || {
                let (mut faults, mut buffer) = (Faults::new(2 * seed + 1), [0; 2048]);
                loop {
                    let count = back.recv(&mut buffer).unwrap();
                    faults.pass(&buffer[..count], |bytes| drop(inside.send_to(bytes, from)));
                }
            });
            (outside, Faults::new(2 * seed))
        });
        faults.pass(&buffer[..count], |bytes| drop(outside.send(bytes)));
    }
}

/// What the relay does to datagrams of one direction.
struct Faults {
    rng: ChaCha8Rng,
    late: Option<Vec<u8>>,
}

impl Faults {
    fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), late: None }
    }

    fn pass(&mut self, bytes: &[u8], mut send: impl FnMut(&[u8])) {
        if self.rng.random::<f64>() < LOSS {
            return;
        }
        if self.late.is_none() && self.rng.random::<f64>() < LOSS / 2.0 {
            self.late = Some(bytes.to_vec());
            return;
        }
        send(bytes);
        if self.rng.random::<f64>() < LOSS / 2.0 {
            send(bytes);
        }
        self.late.take().into_iter().for_each(|late| send(&late));
    }
}
