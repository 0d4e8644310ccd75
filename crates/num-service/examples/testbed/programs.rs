//! The programs that send and receive.

use std::fs;
use std::io::{ErrorKind, Read, Write as _};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use netnum_service::endpoint::{Endpoint, EndpointConfig};
use serde_json::json;

use super::{BIN, COFLOWS, HANDSHAKES, RECEIVER, SENDERS, TRANSFER, TRANSFERS, now, sleep_until};

/// Between two looks at what has arrived.
const LOOK: Duration = Duration::from_millis(1);

/// A stream that arrives.
struct Arriving {
    stream: TcpStream,
    /// Flow and time at which it is closed, big endian; then the flow's bytes.
    head: Vec<u8>,
    bytes: u64,
    /// Of the last byte.
    last: f64,
}

impl Arriving {
    const HEAD: usize = 16;

    fn word(&self, number: usize) -> Option<[u8; 8]> {
        self.head.get(8 * number..8 * (number + 1)).map(|word| word.try_into().unwrap())
    }

    fn flow(&self) -> Option<u64> {
        self.word(0).map(u64::from_be_bytes)
    }

    /// Reads all that has come. False at its end.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        if self.word(1).is_some_and(|until| now() >= f64::from_be_bytes(until)) {
            return false;
        }
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    let head = count.min(Self::HEAD - self.head.len());
                    self.head.extend_from_slice(&buffer[..head]);
                    self.bytes += (count - head) as u64;
                    self.last = now();
                }
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }
}

/// Writes the bins of every flow, and when each flow had its last byte. One thread reads all, so that the counts of a
/// bin are of one moment.
pub(super) fn receive(until: f64, out: &Path) {
    let listener = TcpListener::bind(RECEIVER).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (mut arriving, mut ends) = (Vec::<Arriving>::new(), Vec::new());
    let (mut bins, mut next, mut buffer) = (Vec::new(), now(), vec![0; 1 << 16]);
    while now() < until {
        thread::sleep(LOOK);
        while let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).unwrap();
            arriving.push(Arriving { stream, head: Vec::new(), bytes: 0, last: 0.0 });
        }
        arriving.retain_mut(|one| {
            let goes_on = one.read(&mut buffer);
            ends.extend(one.flow().filter(|_| !goes_on).map(|flow| (flow, one.last)));
            goes_on
        });
        if now() >= next {
            next += BIN.as_secs_f64();
            let counts: Vec<_> = arriving.iter().filter_map(|one| Some((one.flow()?, one.bytes))).collect();
            bins.push(json!([now(), counts]));
        }
    }
    fs::write(out, json!({ "bins": bins, "ends": ends }).to_string()).unwrap();
}

fn endpoint(tls: Option<&Path>) -> Option<Endpoint> {
    let config: EndpointConfig = toml::from_str(&fs::read_to_string(tls?).unwrap()).unwrap();
    Some(Endpoint::connect(config).unwrap())
}

/// A stream of this flow, which the receiver closes at such a time, whatever waits then.
fn connect(flow: u64, until: f64, endpoint: Option<&Endpoint>) -> TcpStream {
    let to: SocketAddrV4 = RECEIVER.parse().unwrap();
    let mut stream = TcpStream::connect(to).unwrap();
    stream.write_all(&[flow.to_be_bytes(), until.to_be_bytes()].concat()).unwrap();
    if let Some(endpoint) = endpoint {
        endpoint.attach(&stream, None, 1.0).unwrap();
    }
    stream
}

pub(super) fn send(flow: u64, from: f64, until: f64, tls: Option<&Path>) {
    let endpoint = endpoint(tls);
    sleep_until(from);
    let mut stream = connect(flow, until, endpoint.as_ref());
    stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    while now() < until {
        let _ = stream.write(&[0; 16_384]);
    }
    // The receiver resets the connection, and the end of the flowlet is reported.
    thread::sleep(Duration::from_millis(200));
}

pub(super) fn send_coflows(first: u64, from: f64, every: f64, tls: Option<&Path>) {
    let endpoint = endpoint(tls);
    for coflow in 0..COFLOWS {
        let begin = from + every * coflow as f64;
        // One sender after another, as the receiver's queue of new connections is short.
        sleep_until(begin - HANDSHAKES * (1.0 - first as f64 / SENDERS as f64));
        let flows = (0..TRANSFERS).map(|transfer| (coflow * SENDERS * TRANSFERS + transfer) as u64);
        let flows = flows.map(|flow| flow + first * TRANSFERS as u64);
        let streams: Vec<_> = flows.map(|flow| connect(flow, f64::INFINITY, endpoint.as_ref())).collect();
        sleep_until(begin);
        thread::scope(|scope| {
            for mut stream in streams {
                scope.spawn(move || {
                    stream.write_all(&vec![0; TRANSFER]).unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                    // The receiver has all of it: until then the socket is watched, and its rate is up to date.
                    stream.read_to_end(&mut Vec::new()).unwrap();
                });
            }
        });
    }
    thread::sleep(Duration::from_secs(1));
}
