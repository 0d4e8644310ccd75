//! The TCP connections of a host with IPv4, whoever's they are: sock_diag(7) of Linux.

use std::io;
use std::net::{IpAddr, SocketAddrV4};

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
        let netlink = Socket::new(protocols::NETLINK_SOCK_DIAG)?;
        netlink.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { netlink, requests: 0 })
    }

    /// All connections that may still send, but those to the host itself by a loopback address, as they are now.
    ///
    /// # Errors
    /// Those of the system, as of one that lists no sockets, or before Linux 4.19.
    pub(super) fn connections(&mut self) -> io::Result<FxHashMap<Connection, Look>> {
        let mut found = FxHashMap::default();
        // Sockets of IPv6 have connections of IPv4 too.
        for socket_id in [SocketId::new_v4(), SocketId::new_v6()] {
            self.dump(socket_id, &mut found)?;
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
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
                // Each begins at a multiple of 4 bytes.
                let length = (message.header.length as usize).next_multiple_of(4);
                rest = rest.get(length..).unwrap_or_default();
                match message.payload {
                    // Of a request before, which ended with an error.
                    _ if message.header.sequence_number != self.requests => {}
                    NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                        found.extend(connection(&response).transpose()?);
                    }
                    NetlinkPayload::Done(_) => return Ok(()),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    _ => {}
                }
            }
        }
    }
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
    if destination.ip().is_loopback() {
        return None;
    }
    let connection = Connection { source, destination, cookie: u64::from_ne_bytes(id.cookie) };
    let info = response.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => Some(info.as_slice()),
        _ => None,
    });
    Some(Look::of(info.unwrap_or_default()).map(|look| (connection, look)))
}
