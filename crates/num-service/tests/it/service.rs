//! A daemon and endpoints over sockets of this machine. Tests wait for conditions, never for times.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use netnum_service::Certificates;
use netnum_service::daemon::{Config, Daemon};
use netnum_service::endpoint::{Endpoint, EndpointConfig, EndpointStatus};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::certificates::Authority;
use crate::client::{client_config, get, metric};
use crate::log;
use crate::lossy::damaged;
use crate::protocol::schedules;

pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what} never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A folder with a configuration: two hosts of this machine behind a switch, 80 Mbit/s each.
struct Setup {
    folder: PathBuf,
    authority: Authority,
}

impl Setup {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        log::keep();
        let authority = Authority::new(&folder, "authority");
        fs::write(folder.join("hosts"), "127.0.0.1 a.test a\n127.0.0.2 b.test b\n").unwrap();
        let this = Self { folder, authority };
        this.write_network("80e6");
        this
    }

    fn write_network(&self, capacity: &str) {
        fs::write(self.folder.join("network"), format!("a s {capacity}\nb s 80e6")).unwrap();
    }

    fn config(&self, listen: SocketAddr) -> Config {
        let Certificates { authority, certificate, key } = self.authority.sign("allocator.test");
        let text = format!(
            "listen = '{listen}'\nstatus = '127.0.0.1:0'\nnetwork = 'network'\nhosts = 'hosts'\nsnapshot = 'state'\n\
             [tls]\nauthority = {authority:?}\ncertificate = {certificate:?}\nkey = {key:?}\n\
             [rates]\nlifetime_us = 500000\n"
        );
        let file = self.folder.join("allocator.toml");
        fs::write(&file, text).unwrap();
        Config::read(&file).unwrap()
    }

    fn start(&self) -> Daemon {
        Daemon::start(&self.config("127.0.0.1:0".parse().unwrap())).unwrap()
    }

    fn endpoint(&self, allocator: SocketAddr) -> Endpoint {
        Endpoint::connect(EndpointConfig::new(allocator, "allocator.test", self.authority.sign("a.test"))).unwrap()
    }
}

/// A sender that never stops writing, and a receiver that reads all.
struct Stream {
    sender: TcpStream,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

const TO_B: &str = "127.0.0.2:80";

impl Stream {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut receiver = listener.accept().unwrap().0;
        let stop = Arc::new(AtomicBool::new(false));
        let (to_stop, writer) = (stop.clone(), sender.try_clone().unwrap());
        let write = move || {
            let mut writer = writer;
            while !to_stop.load(Ordering::Relaxed) && writer.write_all(&[1; 16_384]).is_ok() {}
        };
        let read = move || {
            let mut all = vec![0; 1 << 16];
            while receiver.read(&mut all).is_ok_and(|count| count > 0) {}
        };
        Self { sender, stop, threads: vec![std::thread::spawn(write), std::thread::spawn(read)] }
    }

    fn attach(&self, endpoint: &Endpoint) {
        endpoint.attach(&self.sender, Some(TO_B.parse().unwrap()), 1.0).unwrap();
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.stop();
        let _ = self.sender.shutdown(std::net::Shutdown::Both);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

fn is(endpoint: &Endpoint, what: fn(&EndpointStatus) -> bool) -> bool {
    what(&endpoint.status())
}

/// A daemon, an endpoint of it, and a stream that has a rate.
fn paced(name: &str) -> (Setup, Daemon, Endpoint, Stream) {
    let setup = Setup::new(name);
    let daemon = setup.start();
    let endpoint = setup.endpoint(daemon.address());
    let stream = Stream::new();
    stream.attach(&endpoint);
    wait_for("a rate", || is(&endpoint, |status| status.paced == 1));
    (setup, daemon, endpoint, stream)
}

#[test]
fn a_socket_that_fills_is_paced_and_one_that_empties_is_not() {
    let setup = Setup::new("paced");
    let daemon = setup.start();
    let endpoint = setup.endpoint(daemon.address());
    let stream = Stream::new();
    stream.attach(&endpoint);
    wait_for("a rate", || is(&endpoint, |status| status.paced == 1 && status.is_led));
    let connected = format!("connected to the allocator address={}", daemon.address());
    assert!(!log::lines(&["INFO", &connected]).is_empty());
    wait_for("the connection", || metric(&daemon, "netnum_endpoints_connected") == 1.0);
    let page = get(daemon.status_address().unwrap(), "/");
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("a -> s"), "{page}");
    assert!(get(daemon.status_address().unwrap(), "/other").starts_with("HTTP/1.1 404"));
    stream.stop();
    wait_for("the flowlet's end", || is(&endpoint, |status| status.flowlets == 0 && status.paced == 0));
    wait_for("its end at the allocator", || metric(&daemon, "netnum_flowlets") == 0.0);
    drop(stream);
    wait_for("the socket's end", || is(&endpoint, |status| status.sockets == 0));
}

#[test]
fn a_socket_that_is_attached_again_is_one_with_another_weight_and_destination() {
    let (_setup, daemon, endpoint, stream) = paced("again");
    // Its peer is 127.0.0.1, as it is: no limit holds between two addresses of one node.
    endpoint.attach(&stream.sender, None, 2.0).unwrap();
    wait_for("another flowlet, without a rate", || {
        is(&endpoint, |status| (status.sockets, status.flowlets, status.paced) == (1, 1, 0) && status.started >= 2)
    });
    wait_for("the end of the first", || metric(&daemon, "netnum_flowlets_ended_total") >= 1.0);
}

#[test]
fn a_socket_that_is_closed_ends_its_connection_and_is_forgotten() {
    let setup = Setup::new("closed");
    let endpoint = setup.endpoint("127.0.0.1:9".parse().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut receiver = listener.accept().unwrap().0;
    endpoint.attach(&sender, None, 1.0).unwrap();
    wait_for("the socket", || is(&endpoint, |status| status.sockets == 1));
    drop(sender);
    // Where the endpoint held it too, this would never come.
    receiver.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    assert_eq!(receiver.read(&mut [0]).unwrap(), 0);
    wait_for("its end", || is(&endpoint, |status| status.sockets == 0));
}

#[test]
fn when_the_allocator_is_gone_pacing_is_lifted_and_comes_back_with_it() {
    let (setup, daemon, endpoint, _stream) = paced("gone");
    let address = daemon.address();
    daemon.stop();
    assert!(setup.folder.join("state").exists(), "it has written its snapshot");
    wait_for("the lapse", || is(&endpoint, |status| status.paced == 0 && status.lapses >= 1 && !status.is_led));
    wait_for("the flowlet, which goes on", || is(&endpoint, |status| status.flowlets == 1));
    let daemon = Daemon::start(&setup.config(address)).unwrap();
    wait_for("a rate again", || is(&endpoint, |status| status.paced == 1 && status.is_led));
    wait_for("its flowlet", || metric(&daemon, "netnum_flowlets") == 1.0);
}

#[test]
fn a_network_that_is_read_again_changes_rates() {
    let (setup, daemon, _endpoint, _stream) = paced("reload");
    let config = setup.config(daemon.address());
    let updates = metric(&daemon, "netnum_updates_total");
    setup.write_network("20e6");
    daemon.reload(&config).unwrap();
    wait_for("another rate", || metric(&daemon, "netnum_updates_total") > updates);
    fs::write(setup.folder.join("network"), "a s fast").unwrap();
    let error = daemon.reload(&config).unwrap_err().to_string();
    assert!(error.ends_with("network: line 1: capacity \"fast\" is not a number"), "{error}");
}

/// Nobody is connected after so many refusals.
fn assert_refused(daemon: &Daemon, stranger: &Endpoint) {
    let before = metric(daemon, "netnum_handshakes_refused_total");
    wait_for("a refusal", || metric(daemon, "netnum_handshakes_refused_total") >= before + 2.0);
    assert_eq!(metric(daemon, "netnum_endpoints_connected"), 0.0);
    assert_eq!(metric(daemon, "netnum_datagrams_received_total"), 0.0);
    assert!(!stranger.status().is_led);
}

#[test]
fn strangers_are_refused() {
    let setup = Setup::new("strangers");
    let daemon = setup.start();
    let connect = |tls| Endpoint::connect(EndpointConfig::new(daemon.address(), "allocator.test", tls)).unwrap();
    let known = setup.authority.sign("a.test");
    // Of another authority, though it trusts the allocator's.
    let other = Authority::new(&setup.folder.join("other"), "other").sign("a.test");
    assert_refused(&daemon, &connect(Certificates { authority: known.authority.clone(), ..other }));
    // Expired.
    assert_refused(&daemon, &connect(setup.authority.sign_until("a.test", 2021)));
    // Of no host.
    let unknown = connect(setup.authority.sign("c.test"));
    assert_refused(&daemon, &unknown);
    for why in ["invalid peer certificate: BadSignature", "certificate expired", r#"names [\"c.test\"], and none"#] {
        wait_for(why, || !log::lines(&["WARN", "refused from=127.0.0.1:", why]).is_empty());
    }
    assert_not_reached(&daemon, "no host has the name of this certificate");
}

/// An endpoint has logged that it has not reached a daemon.
fn assert_not_reached(daemon: &Daemon, why: &str) {
    let said = format!("has not reached the allocator {}: ", daemon.address());
    wait_for(why, || !log::lines(&["WARN", &said, why]).is_empty());
}

#[test]
fn a_client_without_a_certificate_is_refused() {
    let setup = Setup::new("nameless");
    let daemon = setup.start();
    let config = client_config(&setup.authority.sign("a.test"), false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        // The handshake ends for a client before the server has looked for its certificate.
        if let Ok(connection) = client.connect_with(config, daemon.address(), "allocator.test").unwrap().await {
            let closed = connection.closed().await.to_string();
            assert!(closed.contains("certificate"), "{closed}");
        }
    });
    wait_for("the refusal", || metric(&daemon, "netnum_handshakes_refused_total") == 1.0);
    assert_eq!(metric(&daemon, "netnum_datagrams_received_total"), 0.0);
}

#[test]
fn an_endpoint_that_is_elsewhere_and_a_destination_of_no_host_are_warned_of() {
    let setup = Setup::new("elsewhere");
    // In a certificate, capitals are the same.
    fs::write(setup.folder.join("hosts"), "127.0.0.2 Stray.test b\n").unwrap();
    let daemon = setup.start();
    let tls = setup.authority.sign("sTray.test");
    let endpoint = Endpoint::connect(EndpointConfig::new(daemon.address(), "allocator.test", tls)).unwrap();
    let stream = Stream::new();
    endpoint.attach(&stream.sender, Some("127.0.0.77:80".parse().unwrap()), 1.0).unwrap();
    for what in [
        "hosts has this address not at the node of this name name=\"stray.test\" from=127.0.0.1",
        "a flowlet, which is TCP's alone name=\"stray.test\" destination=127.0.0.77",
    ] {
        wait_for(what, || !log::lines(&["WARN", what]).is_empty());
    }
}

/// Passes an endpoint's datagrams on, among so many others that are damaged, and then until it is led.
fn relay_damaged(relay: &UdpSocket, daemon: &Daemon, endpoint: &Endpoint, count: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let out = UdpSocket::bind("127.0.0.1:0").unwrap();
    out.connect(daemon.address()).unwrap();
    relay.set_nonblocking(true).unwrap();
    out.set_nonblocking(true).unwrap();
    let (mut from, mut kept, mut sent, mut buffer) = (None, Vec::new(), 0, [0; 2048]);
    wait_for("a session after all that was damaged", || {
        while let Ok((length, address)) = relay.recv_from(&mut buffer) {
            from = Some(address);
            let _ = out.send(&buffer[..length]);
            kept.push(buffer[..length].to_vec());
        }
        kept.drain(..kept.len().saturating_sub(32));
        while let Ok(length) = out.recv(&mut buffer) {
            from.map(|address| relay.send_to(&buffer[..length], address));
        }
        for _ in 0..200.min(count - sent) {
            // What finds no room is lost.
            let _ = out.send(&damaged(&mut rng, &kept));
            sent += 1;
        }
        sent == count && endpoint.status().is_led
    });
}

#[test]
fn damaged_handshakes_neither_end_the_daemon_nor_reach_the_allocator() {
    let setup = Setup::new("damaged");
    let daemon = setup.start();
    let relay = UdpSocket::bind("127.0.0.1:0").unwrap();
    let endpoint = setup.endpoint(relay.local_addr().unwrap());
    relay_damaged(&relay, &daemon, &endpoint, 10 * schedules() as usize);
    assert!(metric(&daemon, "netnum_datagrams_received_total") > 0.0);
    assert_eq!(metric(&daemon, "netnum_datagrams_refused_total"), 0.0);
}

#[test]
fn a_newer_connection_of_a_name_takes_the_place_of_the_older() {
    let setup = Setup::new("twins");
    let daemon = setup.start();
    let older = setup.endpoint(daemon.address());
    wait_for("the older one", || is(&older, |status| status.is_led));
    let newer = setup.endpoint(daemon.address());
    wait_for("the newer one", || is(&newer, |status| status.is_led) && !is(&older, |status| status.is_led));
    wait_for("its count", || metric(&daemon, "netnum_connections_replaced_total") >= 1.0);
}

#[test]
fn an_endpoint_refuses_an_allocator_of_another_name_or_authority() {
    let setup = Setup::new("impostors");
    let daemon = setup.start();
    let own = setup.authority.sign("a.test");
    let renamed = Endpoint::connect(EndpointConfig::new(daemon.address(), "another.test", own.clone())).unwrap();
    let other = Authority::new(&setup.folder.join("other"), "other").sign("a.test");
    let trusting = Certificates { authority: other.authority, ..own };
    let misled = Endpoint::connect(EndpointConfig::new(daemon.address(), "allocator.test", trusting)).unwrap();
    wait_for("refusals", || metric(&daemon, "netnum_handshakes_refused_total") >= 4.0);
    assert!(!renamed.status().is_led && !misled.status().is_led);
    assert_not_reached(&daemon, "certificate not valid for name \"another.test\"");
}

#[test]
fn a_handshake_that_a_client_abandons_is_not_refused() {
    let setup = Setup::new("abandoned");
    let daemon = setup.start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let [relay, out] = [UdpSocket::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0")].map(|made| {
            let socket = made.unwrap();
            socket.set_nonblocking(true).unwrap();
            tokio::net::UdpSocket::from_std(socket).unwrap()
        });
        let (mut buffer, to_relay) = ([0; 2048], relay.local_addr().unwrap());
        let mut pass_on = async || {
            let length = relay.recv(&mut buffer).await.unwrap();
            out.send_to(&buffer[..length], daemon.address()).await.unwrap();
        };
        let client = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
        let config = client_config(&setup.authority.sign("a.test"), true);
        let connecting = client.connect_with(config, to_relay, "allocator.test").unwrap();
        // The answer does not come, and the daemon is told that nobody waits for it.
        pass_on().await;
        drop(connecting);
        pass_on().await;
        let config = client_config(&setup.authority.sign("a.test"), false);
        if let Ok(connection) = client.connect_with(config, daemon.address(), "allocator.test").unwrap().await {
            connection.closed().await;
        }
    });
    wait_for("the refusal", || metric(&daemon, "netnum_handshakes_refused_total") >= 1.0);
    assert_eq!(metric(&daemon, "netnum_handshakes_refused_total"), 1.0);
}

#[test]
fn what_cannot_be_attached_is_named() {
    let setup = Setup::new("attached");
    let endpoint = setup.endpoint("127.0.0.1:9".parse().unwrap());
    let stream = Stream::new();
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = endpoint.attach(&stream.sender, None, weight).unwrap_err().to_string();
        assert_eq!(error, format!("weight is {weight}, expected a number > 0"));
    }
    for (watch, idle, expected) in [
        (100_001, 1, "watch_us is 100001, expected 1000 to 100000 microseconds"),
        (1000, 10_000_001, "idle_us is 10000001, expected at most 10000000 microseconds"),
    ] {
        let tls = setup.authority.sign("a.test");
        let mut config = EndpointConfig::new("127.0.0.1:9".parse().unwrap(), "allocator.test", tls);
        (config.watch, config.idle) = (Some(Duration::from_micros(watch)), Duration::from_micros(idle));
        assert_eq!(Endpoint::connect(config).unwrap_err().to_string(), expected);
    }
    for name in ["", "allocator test"] {
        let config = EndpointConfig::new("127.0.0.1:9".parse().unwrap(), name, setup.authority.sign("a.test"));
        let expected = "expected the name in the allocator's certificate, such as allocator.example";
        assert_eq!(Endpoint::connect(config).unwrap_err().to_string(), format!("name is {name:?}, {expected}"));
    }
    let file = setup.folder.join("endpoint.toml");
    let tls = "[tls]\nauthority = 'a'\ncertificate = 'b'\nkey = 'c'\n";
    fs::write(&file, format!("allocator = '127.0.0.1:9'\nname = 'a.test'\nwatch_us = 0\n{tls}")).unwrap();
    let expected = format!("{}: watch_us is 0, expected 1000 to 100000 microseconds", file.display());
    assert_eq!(EndpointConfig::read(&file).unwrap_err().to_string(), expected);
    let error = |socket: &dyn AsRawFd| endpoint.attach(&socket.as_raw_fd(), None, 1.0).unwrap_err().to_string();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (number, own) = (udp.as_raw_fd(), udp.local_addr().unwrap());
    let expected = format!("descriptor {number}, from {own}: Operation not supported (os error 95)");
    assert_eq!(error(&udp), expected);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (number, own) = (listener.as_raw_fd(), listener.local_addr().unwrap());
    let expected = format!("descriptor {number}, from {own}: Transport endpoint is not connected (os error 107)");
    assert_eq!(error(&listener), expected);
    let file = fs::File::open("/dev/null").unwrap();
    let expected = format!("descriptor {}: Socket operation on non-socket (os error 88)", file.as_raw_fd());
    assert_eq!(error(&file), expected);
    if let Ok(listener) = TcpListener::bind("[::1]:0") {
        let six = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (number, own, peer) = (six.as_raw_fd(), six.local_addr().unwrap(), six.peer_addr().unwrap());
        let expected = format!("descriptor {number}, from {own} to {peer}: flowlets are of IPv4 alone");
        assert_eq!(error(&six), expected);
    }
}

#[test]
fn a_wrong_configuration_names_its_file_and_line() {
    let setup = Setup::new("config");
    let config = setup.config("127.0.0.1:0".parse().unwrap());
    let file = setup.folder.join("allocator.toml");
    let error = |text: String| {
        fs::write(&file, text).unwrap();
        Config::read(&file).unwrap_err().to_string()
    };
    let good = fs::read_to_string(&file).unwrap();
    let misspelled = error(good.replace("lifetime_us", "lifetime"));
    assert!(misspelled.contains("allocator.toml") && misspelled.contains("unknown field `lifetime`"), "{misspelled}");
    let nowhere = error(good.replace("listen = '127.0.0.1:0'", "listen = 'here:4433'"));
    let expected = "found \"here:4433\", expected an IP address and a port, such as \"10.0.0.100:4433\"";
    assert!(nowhere.ends_with(expected), "{nowhere}");
    let short = error(good.replace("500000", "500"));
    assert!(short.ends_with("lifetime_us is 500, expected at least 32 ticks and at most an hour"), "{short}");
    fs::remove_file(&config.tls.key).unwrap();
    let missing = config.check().unwrap_err().to_string();
    assert!(missing.starts_with(&config.tls.key.display().to_string()), "{missing}");
    assert!(Config::read(Path::new("/nowhere")).unwrap_err().to_string().starts_with("/nowhere: "));
}

/// `netnum-allocator --check`: whether it is content, what it prints, and what it complains of.
fn check(file: &Path) -> (bool, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_netnum-allocator"));
    let Output { status, stdout, stderr } = program.arg("--check").arg(file).output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8(text).unwrap());
    (status.success(), stdout, stderr)
}

#[test]
fn a_check_prints_the_range_of_capacities_and_warns_of_a_small_one() {
    let setup = Setup::new("capacities");
    let config = setup.config("127.0.0.1:0".parse().unwrap());
    let checked = |capacity: &str| {
        setup.write_network(capacity);
        config.check().unwrap()
    };
    for (capacity, range) in [
        ("80e6", "capacities from 80 Mbit/s to 80 Mbit/s"),
        ("25.5e9", "capacities from 80 Mbit/s to 25.5 Gbit/s"),
        ("inf", "capacities from 80 Mbit/s to no limit"),
        ("1e6", "capacities from 1 Mbit/s to 80 Mbit/s"),
        ("0", "67 % of pairs have no path: 2 of 4 links have failed; capacities from 80 Mbit/s to 80 Mbit/s"),
    ] {
        let expected = format!("graph, 3 nodes, 4 links; {range}; 2 endpoints\ncertificate of allocator.test, for ");
        let text = checked(capacity);
        assert!(text.starts_with(&expected), "{text}");
    }
    for (capacity, least) in [("10", "10 bit/s"), ("100e3", "100 kbit/s")] {
        let expected = format!(
            "graph, 3 nodes, 4 links; capacities from {least} to 80 Mbit/s; 2 endpoints\n\
             warning: a -> s has {least}: capacities are bits per second, 10 Gbit/s is 10e9\n"
        );
        let text = checked(capacity);
        assert!(text.starts_with(&expected), "{text}");
    }
    fs::write(setup.folder.join("network"), "a s 0\nb s 0").unwrap();
    let text = config.check().unwrap();
    assert!(text.contains("; no link works; 2 endpoints\n"), "{text}");
}

#[test]
fn hosts_without_a_path_and_edges_that_are_given_twice_are_warned_of() {
    let setup = Setup::new("warnings");
    let config = setup.config("127.0.0.1:0".parse().unwrap());
    for (network, expected) in [
        ("a s 80e6\nb t 80e6", "1 of 1 other hosts have no path to or from a.test: b.test"),
        (
            "a s 1e9\nb s 1e9\na s 1e9",
            "a -> s #2 joins nodes that another link joins: flowlets take the one or the other",
        ),
    ] {
        fs::write(setup.folder.join("network"), network).unwrap();
        let text = config.check().unwrap();
        assert_eq!(text.lines().nth(2), Some(&*format!("warning: {expected}")), "{text}");
    }
}

#[test]
fn a_certificate_that_endpoints_refuse_is_warned_of() {
    let setup = Setup::new("own-certificate");
    let mut config = setup.config("127.0.0.1:0".parse().unwrap());
    let valid = config.tls.clone();
    let mut check = |tls: Certificates| {
        config.tls = tls;
        let said = config.check().map_err(|error| error.to_string());
        said.map(|text| text.split_once('\n').unwrap().1.to_string())
    };
    // 2100-01-01, less a day that has begun.
    let until = SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800);
    let days = || until.duration_since(SystemTime::now()).unwrap().as_secs() / (24 * 3600);
    let (before, said, after) = (days(), check(valid.clone()).unwrap(), days());
    assert!([before, after].map(|days| format!("certificate of allocator.test, for {days} days")).contains(&said));
    let refused = "warning: endpoints with the same authority refuse it: ";
    let said = check(setup.authority.sign_until("allocator.test", 2021)).unwrap();
    let expected =
        format!("certificate of allocator.test, for 0 days\n{refused}invalid peer certificate: certificate exp");
    assert!(said.starts_with(&expected), "{said}");
    let other = Authority::new(&setup.folder.join("other"), "other").sign("allocator.test");
    let said = check(Certificates { authority: valid.authority.clone(), ..other.clone() }).unwrap();
    assert!(said.contains(&format!("{refused}invalid peer certificate: BadSignature")), "{said}");
    let expected = "certificate of nobody\nwarning: endpoints with the same authority refuse it: it has no \
                    subjectAltName with a name of a host: openssl x509 takes one from -extfile";
    assert_eq!(check(setup.authority.sign_for(Vec::new(), "nobody", 2100)).unwrap(), expected);
    // The key of another.
    let (certificate, key) = (valid.certificate.display(), other.key.display());
    let expected = format!("{certificate}: with the key {key}: keys may not be consistent: KeyMismatch");
    assert_eq!(check(Certificates { key: other.key.clone(), ..valid.clone() }).unwrap_err(), expected);
}

#[test]
fn a_reload_says_which_files_need_a_restart_and_a_stop_that_it_has_written_the_snapshot() {
    let setup = Setup::new("signals");
    setup.config("127.0.0.1:0".parse().unwrap());
    let [file, hosts] = ["allocator.toml", "hosts"].map(|name| setup.folder.join(name));
    let mut program = Command::new(env!("CARGO_BIN_EXE_netnum-allocator"));
    let mut program = program.arg(&file).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stderr.take().unwrap()).lines().map(Result::unwrap);
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &program.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    // What it says until then, without the line itself; all of it where that never comes.
    let mut until = |end: &str| lines.by_ref().take_while(|line| !line.contains(end)).collect::<Vec<_>>();
    until("listens");
    signal("-HUP");
    let said = until("the network was read again");
    assert_eq!(said, [""; 0]);
    for (changed, was, is) in [(&file, "500000", "600000"), (&hosts, "127.0.0.2", "127.0.0.3")] {
        fs::write(changed, fs::read_to_string(changed).unwrap().replace(was, is)).unwrap();
    }
    signal("-HUP");
    let said = until("the network was read again");
    let expected = [file, hosts].map(|file| format!("has changed, which a restart takes file={}", file.display()));
    assert!(said.len() == 2 && said.iter().zip(&expected).all(|(said, expected)| said.ends_with(expected)), "{said:?}");
    signal("-TERM");
    let said = until("nothing");
    let expected = format!("the snapshot was written file={} flowlets=0", setup.folder.join("state").display());
    assert!(said.iter().any(|line| line.ends_with(&expected)), "{said:?}");
    assert!(program.wait().unwrap().success());
}

#[test]
fn an_address_that_is_taken_is_named() {
    let setup = Setup::new("taken");
    let daemon = setup.start();
    let mut config = setup.config(daemon.address());
    let error = |config: &Config| Daemon::start(config).unwrap_err().to_string();
    let taken = "Address already in use (os error 98)";
    assert_eq!(error(&config), format!("listen is {}: {taken}", daemon.address()));
    config.status = daemon.status_address();
    assert_eq!(error(&config), format!("status is {}: {taken}", daemon.status_address().unwrap()));
}

#[test]
fn a_snapshot_needs_a_folder() {
    let setup = Setup::new("folder");
    let mut config = setup.config("127.0.0.1:0".parse().unwrap());
    let folder = setup.folder.join("nowhere");
    config.snapshot = Some(folder.join("state"));
    let expected = format!("{0}/state: there is no folder {0}", folder.display());
    assert_eq!(config.check().unwrap_err().to_string(), expected);
    assert_eq!(Daemon::start(&config).unwrap_err().to_string(), expected);
    // One without a folder is in the current one.
    config.snapshot = Some("a name that no file has".into());
    config.check().unwrap();
}

#[test]
fn a_check_speaks_to_people() {
    let setup = Setup::new("check");
    setup.config("127.0.0.1:0".parse().unwrap());
    let file = setup.folder.join("allocator.toml");
    let good = "graph, 3 nodes, 4 links; capacities from 80 Mbit/s to 80 Mbit/s; 2 endpoints\n\
                certificate of allocator.test, for ";
    let (is_good, said, log) = check(&file);
    assert!(is_good && said.starts_with(good) && log.is_empty(), "{said}{log}");
    // A log in a file has no colours.
    fs::write(setup.folder.join("state"), "no snapshot").unwrap();
    let (is_good, said, log) = check(&file);
    assert!(is_good && said.starts_with(good), "{said}");
    assert!(log.contains("starts without it") && !log.contains('\x1b'), "{log}");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("lifetime_us", "lifetime")).unwrap();
    let (is_good, said, error) = check(&file);
    assert!(!is_good && said.is_empty(), "{said}");
    assert!(error.starts_with(&format!("error: {}: TOML parse error at line 11", file.display())), "{error}");
    assert!(error.contains("\nunknown field `lifetime`") && !error.contains("BadConfig"), "{error}");
}
