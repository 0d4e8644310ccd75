//! The programs that send and receive.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use netnum_service::endpoint::{Endpoint, EndpointConfig};
use serde_json::json;

use super::{BIN, COFLOWS, RECEIVER, SENDERS, TRANSFER, TRANSFERS, now, sleep_until};

/// Bytes of a flow, and when its last one came.
type Received = (Arc<AtomicU64>, Arc<Mutex<f64>>);

/// Writes the bins of every flow, and when each flow had its last byte.
pub(super) fn receive(until: f64, out: &Path) {
    let listener = TcpListener::bind(RECEIVER).unwrap();
    let counts: Arc<Mutex<BTreeMap<u64, Received>>> = Arc::default();
    let shared = counts.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, shared) = (stream.unwrap(), shared.clone());
            thread::spawn(move || {
                let (mut flow, mut until) = ([0; 8], [0; 8]);
                if stream.read_exact(&mut flow).and_then(|()| stream.read_exact(&mut until)).is_err() {
                    return;
                }
                let until = f64::from_be_bytes(until);
                let (count, last) = Received::default();
                shared.lock().unwrap().insert(u64::from_be_bytes(flow), (count.clone(), last.clone()));
                let mut buffer = vec![0; 1 << 16];
                while now() < until
                    && let Ok(read @ 1..) = stream.read(&mut buffer)
                {
                    count.fetch_add(read as u64, Ordering::Relaxed);
                }
                *last.lock().unwrap() = now();
            });
        }
    });
    let mut bins = Vec::new();
    let mut next = now();
    while now() < until {
        next += BIN.as_secs_f64();
        sleep_until(next);
        let counted: Vec<(u64, u64)> =
            counts.lock().unwrap().iter().map(|(&flow, count)| (flow, count.0.load(Ordering::Relaxed))).collect();
        // Only flows that are there now are of interest; ended ones keep their count.
        bins.push(json!([now(), counted]));
    }
    let ends: Vec<(u64, f64)> =
        counts.lock().unwrap().iter().map(|(&flow, end)| (flow, *end.1.lock().unwrap())).collect();
    fs::write(out, json!({ "bins": bins, "ends": ends }).to_string()).unwrap();
}

fn endpoint(tls: Option<&Path>) -> Option<Endpoint> {
    let config: EndpointConfig = toml::from_str(&fs::read_to_string(tls?).unwrap()).unwrap();
    Some(Endpoint::connect(config).unwrap())
}

/// A stream of this flow, which the receiver closes at such a time, whatever waits then.
fn connect(flow: u64, until: f64, endpoint: Option<&Endpoint>) -> Arc<TcpStream> {
    let to: SocketAddrV4 = RECEIVER.parse().unwrap();
    let stream = Arc::new(TcpStream::connect(to).unwrap());
    (&*stream).write_all(&[flow.to_be_bytes(), until.to_be_bytes()].concat()).unwrap();
    if let Some(endpoint) = endpoint {
        endpoint.attach(&stream, to, 1.0).unwrap();
    }
    stream
}

pub(super) fn send(flow: u64, from: f64, until: f64, tls: Option<&Path>) {
    let endpoint = endpoint(tls);
    sleep_until(from);
    let stream = connect(flow, until, endpoint.as_ref());
    stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while now() < until {
        let _ = (&*stream).write(&[0; 16_384]);
    }
    // The receiver resets the connection, and the end of the flowlet is reported.
    thread::sleep(Duration::from_millis(200));
}

pub(super) fn send_coflows(first: u64, from: f64, every: f64, tls: Option<&Path>) {
    let endpoint = endpoint(tls);
    for coflow in 0..COFLOWS {
        sleep_until(from + every * coflow as f64);
        thread::scope(|scope| {
            for transfer in 0..TRANSFERS {
                let endpoint = endpoint.as_ref();
                let flow = (coflow * SENDERS * TRANSFERS + transfer) as u64 + first * TRANSFERS as u64;
                scope.spawn(move || {
                    let stream = connect(flow, f64::INFINITY, endpoint);
                    (&*stream).write_all(&vec![0; TRANSFER]).unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                    // The receiver has all of it: until then the socket is watched, and its rate is up to date.
                    (&*stream).read_to_end(&mut Vec::new()).unwrap();
                });
            }
        });
    }
    thread::sleep(Duration::from_secs(1));
}
