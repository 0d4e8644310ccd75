//! One socket that is paced, to try an allocator: `send ALLOCATOR NAME OWN DESTINATION SECONDS`, as in
//! `send 10.0.0.100:4433 allocator.example web-1 10.0.0.2:5001 20`.
//!
//! `authority.pem`, `web-1.pem` and `web-1.key` are in the current folder, and somebody at the destination reads what
//! comes, such as `socat -u TCP-LISTEN:5001 OPEN:/dev/null`.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::io::{Read, Write};
    use std::net::{Shutdown, SocketAddrV4, TcpStream};
    use std::time::{Duration, Instant};

    use netnum_service::Certificates;
    use netnum_service::endpoint::{Endpoint, EndpointConfig};

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [allocator, name, own, destination, seconds] = arguments.as_slice() else {
        return Err("expected ALLOCATOR NAME OWN DESTINATION SECONDS".into());
    };
    let (certificate, key) = (format!("{own}.pem").into(), format!("{own}.key").into());
    let tls = Certificates { authority: "authority.pem".into(), certificate, key };
    let endpoint = Endpoint::connect(EndpointConfig::new(allocator.parse()?, name, tls))?;

    let destination: SocketAddrV4 = destination.parse()?;
    let mut socket = TcpStream::connect(destination)?;
    endpoint.attach(&socket, None, 1.0)?; // weight 1
    for second in 1..=seconds.parse()? {
        let (begin, mut written) = (Instant::now(), 0);
        while begin.elapsed() < Duration::from_secs(1) {
            written += socket.write(&[0; 16_384])?;
        }
        let rate = 8e-6 * written as f64 / begin.elapsed().as_secs_f64();
        println!("{second} s: {rate:.1} Mbit/s, {:?}", endpoint.status());
    }
    // Until the other side has all of it, and closes: until then the socket keeps to its rate.
    socket.shutdown(Shutdown::Write)?;
    socket.read_to_end(&mut Vec::new())?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("endpoints need Linux");
}
