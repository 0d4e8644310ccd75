//! Metrics, as text of Prometheus, and a page to be read.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};

use super::ticker::Message;
use crate::allocator::{Counts, FlowletAllocator};

/// An allocator at a moment.
pub(super) struct Status {
    running: Duration,
    counts: Counts,
    overruns: u64,
    replaced: u64,
    flowlets: usize,
    connected: usize,
    endpoints: usize,
    network: String,
    /// Name and utilization of every link.
    links: Vec<(String, f64)>,
}

impl Status {
    pub(super) fn of(allocator: &FlowletAllocator, overruns: u64, replaced: u64, running: Duration) -> Self {
        Self {
            running,
            counts: allocator.counts(),
            overruns,
            replaced,
            flowlets: allocator.flowlets(),
            connected: allocator.connected(),
            endpoints: allocator.hosts().all().len(),
            network: allocator.network().to_string(),
            links: allocator.network().link_names().into_iter().zip(allocator.utilization()).collect(),
        }
    }

    fn metrics(&self, refused: u64) -> String {
        let mut text = String::new();
        let counts = &self.counts;
        let all = [
            ("flowlets", "gauge", "Flowlets that have a rate.", self.flowlets as u64),
            ("endpoints_connected", "gauge", "Endpoints that have a session.", self.connected as u64),
            ("connections_replaced_total", "counter", "Connections whose name another has taken.", self.replaced),
            ("handshakes_refused_total", "counter", "Connections that no host may make.", refused),
            ("ticks_total", "counter", "Ticks.", counts.ticks),
            ("overruns_total", "counter", "Ticks that took longer than their period.", self.overruns),
            ("flowlets_started_total", "counter", "Flowlets that have started.", counts.started),
            ("flowlets_ended_total", "counter", "Flowlets that have ended.", counts.ended),
            ("flowlets_unrouted_total", "counter", "Flowlets that got no rate.", counts.unrouted),
            ("datagrams_received_total", "counter", "Datagrams from endpoints.", counts.received),
            ("datagrams_refused_total", "counter", "Datagrams that were damaged.", counts.refused),
            ("datagrams_sent_total", "counter", "Datagrams to endpoints.", counts.sent),
            ("updates_total", "counter", "Rates that moved by more than the threshold.", counts.updates),
        ];
        for (name, kind, help, value) in all {
            let _ = writeln!(text, "# HELP netnum_{name} {help}\n# TYPE netnum_{name} {kind}\nnetnum_{name} {value}");
        }
        text += "# HELP netnum_link_utilization The part of a link that rates fill.\n";
        text += "# TYPE netnum_link_utilization gauge\n";
        for (name, part) in &self.links {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = writeln!(text, "netnum_link_utilization{{link=\"{name}\"}} {part}");
        }
        text
    }

    fn page(&self) -> String {
        let Counts { ticks, started, ended, unrouted, .. } = self.counts;
        let seconds = self.running.as_secs();
        let mut text = format!(
            "netnum-allocator, for {seconds} s\nnetwork    {}\nendpoints  {} of {} connected\n\
             flowlets   {} now, {started} started, {ended} ended, {unrouted} without a path\n\
             ticks      {ticks}, {} overran\n\nfullest links\n",
            self.network, self.connected, self.endpoints, self.flowlets, self.overruns
        );
        let mut links: Vec<_> = self.links.iter().collect();
        links.sort_by(|one, other| other.1.total_cmp(&one.1));
        for (name, part) in links.into_iter().take(20) {
            let _ = writeln!(text, "{:6.1} %  {name}", 100.0 * part);
        }
        text
    }
}

/// The longest request that is read, and for how long.
const LONGEST_REQUEST: usize = 4096;
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Connections that are answered at the same time. Others wait.
const AT_ONCE: usize = 64;
/// After a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers `GET /` and `GET /metrics`, one request per connection. A client that is slow is waited for so long.
pub(super) async fn serve(
    listener: TcpListener,
    messages: SyncSender<Message>,
    refused: Arc<AtomicU64>,
    patience: Duration,
) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    // Nobody closes the semaphore.
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (messages, refused) = (messages.clone(), refused.clone());
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(patience, answer(stream, &messages, &refused)).await;
                    drop(place);
                });
            }
            // Of one connection, or as there are too many files open: the next may be better.
            Err(error) => {
                tracing::debug!(%error, "no connection to the status page");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn answer(mut stream: TcpStream, messages: &SyncSender<Message>, refused: &AtomicU64) -> std::io::Result<()> {
    let (mut request, mut part) = (Vec::new(), [0; 512]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < LONGEST_REQUEST {
        match stream.read(&mut part).await? {
            0 => return Ok(()),
            read => request.extend(&part[..read]),
        }
    }
    let (asked, answered) = oneshot::channel();
    let known = [&b"GET / "[..], b"GET /metrics "].into_iter().position(|line| request.starts_with(line));
    let (code, body) = match known {
        None => ("404 Not Found", "there are / and /metrics\n".to_string()),
        Some(page) => {
            let is_asked = messages.try_send(Message::Status(asked)).is_ok();
            match answered.await {
                Ok(status) if is_asked => {
                    ("200 OK", if page == 0 { status.page() } else { status.metrics(refused.load(Ordering::Relaxed)) })
                }
                _ => ("503 Service Unavailable", "the allocator is busy\n".to_string()),
            }
        }
    };
    let head = format!(
        "HTTP/1.1 {code}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_that_says_nothing_keeps_no_other_waiting() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (messages, _received) = std::sync::mpsc::sync_channel(1);
        tokio::spawn(serve(listener, messages, Arc::default(), Duration::from_secs(3600)));
        let _silent = TcpStream::connect(address).await.unwrap();
        let mut other = TcpStream::connect(address).await.unwrap();
        other.write_all(b"GET /other HTTP/1.1\r\n\r\n").await.unwrap();
        let mut said = String::new();
        other.read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with("HTTP/1.1 404"), "{said}");
    }
}
