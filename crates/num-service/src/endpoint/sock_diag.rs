//! The TCP connections of a host with IPv4, whoever's they are: sock_diag(7) of Linux.

use std::io;
use std::net::{IpAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd as _;
use std::time::Duration;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::{Socket, SocketAddr, protocols};
use rustc_hash::FxHashMap;

use super::socket::Look;

/// Linux sends no longer messages.
const LONGEST: usize = 1 << 16;
/// The kernel has answered before a request returns: an answer that is waited for was lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// A connection, known by its addresses, and by the cookie that the kernel gives to no other socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Connection {
    pub(super) source: SocketAddrV4,
    pub(super) destination: SocketAddrV4,
    pub(super) cookie: u64,
}

pub(super) struct SockDiag {
    netlink: Socket,
    requests: u32,
}

impl SockDiag {
    /// For the network namespace of this thread.
    ///
    /// # Errors
    /// Those of the system.
    pub(super) fn new() -> io::Result<Self> {
        let open = || {
            let netlink = Socket::new(protocols::NETLINK_SOCK_DIAG)?;
            netlink.connect(&SocketAddr::new(0, 0))?;
            // The standard library sets the time on sockets of every kind, and it holds for all duplicates.
            UdpSocket::from(netlink.as_fd().try_clone_to_owned()?).set_read_timeout(Some(PATIENCE))?;
            Ok(netlink)
        };
        open().map(|netlink| Self { netlink, requests: 0 }).map_err(named)
    }

    /// All connections that may still send, as they are now, but those that a host has with itself: to a loopback
    /// address, or to the address that they come from.
    ///
    /// # Errors
    /// Those of the system, as of one that lists no sockets, or before Linux 4.19.
    pub(super) fn connections(&mut self) -> io::Result<FxHashMap<Connection, Look>> {
        let mut found = FxHashMap::default();
        // Sockets of IPv6 have connections of IPv4 too.
        for socket_id in [SocketId::new_v4(), SocketId::new_v6()] {
            self.dump(socket_id, &mut found).map_err(named)?;
        }
        Ok(found)
    }

    fn dump(&mut self, any: SocketId, found: &mut FxHashMap<Connection, Look>) -> io::Result<()> {
        self.requests = self.requests.wrapping_add(1);
        let mut header = NetlinkHeader::default();
        (header.flags, header.sequence_number) = (NLM_F_REQUEST | NLM_F_DUMP, self.requests);
        let request = InetRequest {
            family: if any.source_address.is_ipv4() { AF_INET } else { AF_INET6 },
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::INFO,
            states: StateFlags::ESTABLISHED
                | StateFlags::FIN_WAIT1
                | StateFlags::CLOSE_WAIT
                | StateFlags::LAST_ACK
                | StateFlags::CLOSING,
            socket_id: any,
        };
        let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.netlink.send(&bytes, 0)?;
        bytes.reserve(LONGEST);
        loop {
            bytes.clear();
            self.netlink.recv(&mut bytes, 0)?;
            if read(&bytes, self.requests, found)? {
                return Ok(());
            }
        }
    }
}

/// Adds the connections of a part of the answer to a request. True where it is the last.
fn read(mut part: &[u8], request: u32, found: &mut FxHashMap<Connection, Look>) -> io::Result<bool> {
    while !part.is_empty() {
        let message = NetlinkMessage::<SockDiagMessage>::deserialize(part).map_err(io::Error::other)?;
        // Each begins at a multiple of 4 bytes.
        let length = (message.header.length as usize).next_multiple_of(4);
        part = part.get(length..).unwrap_or_default();
        match message.payload {
            // Of a request before, which ended with an error.
            _ if message.header.sequence_number != request => {}
            NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                found.extend(connection(&response).transpose()?);
            }
            // The end of an answer has the error of the request, as of a kernel without tcp_diag.
            NetlinkPayload::Done(done) if done.code < 0 => return Err(io::Error::from_raw_os_error(-done.code)),
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            _ => {}
        }
    }
    Ok(false)
}

fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the kernel's list of TCP connections, sock_diag(7): {error}"))
}

/// A connection of IPv4 as it is; none for others.
fn connection(response: &InetResponse) -> Option<io::Result<(Connection, Look)>> {
    let id = &response.header.socket_id;
    let address = |ip: IpAddr, port| match ip.to_canonical() {
        IpAddr::V4(ip) => Some(SocketAddrV4::new(ip, port)),
        IpAddr::V6(_) => None,
    };
    let source = address(id.source_address, id.source_port)?;
    let destination = address(id.destination_address, id.destination_port)?;
    if destination.ip().is_loopback() || destination.ip() == source.ip() {
        return None;
    }
    let connection = Connection { source, destination, cookie: u64::from_ne_bytes(id.cookie) };
    let info = response.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => Some(info.as_slice()),
        _ => None,
    });
    Some(Look::of(info.unwrap_or_default()).map(|look| (connection, look)))
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::DoneMessage;

    use super::*;

    fn bytes_of(request: u32, payload: NetlinkPayload<SockDiagMessage>) -> Vec<u8> {
        let mut header = NetlinkHeader::default();
        header.sequence_number = request;
        let mut message = NetlinkMessage::new(header, payload);
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes
    }

    fn end(request: u32, code: i32) -> Vec<u8> {
        let mut done = DoneMessage::default();
        done.code = code;
        bytes_of(request, NetlinkPayload::Done(done))
    }

    #[test]
    fn an_answer_that_ends_with_an_error_is_no_list_without_connections() {
        let read = |part: &[u8]| read(part, 7, &mut FxHashMap::default());
        assert!(read(&end(7, 0)).unwrap());
        assert_eq!(read(&end(7, -libc::ENOENT)).unwrap_err().kind(), io::ErrorKind::NotFound);
        // Of another request, and before the end.
        assert!(!read(&end(6, -libc::ENOENT)).unwrap());
        assert!(read(&[end(6, 0), end(7, 0)].concat()).unwrap());
        assert!(read(&[1, 2, 3]).is_err());
    }

    #[test]
    fn an_answer_that_does_not_come_is_an_error() {
        // Nothing was asked.
        let sock_diag = SockDiag::new().unwrap();
        let mut bytes = Vec::with_capacity(LONGEST);
        assert_eq!(sock_diag.netlink.recv(&mut bytes, 0).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
