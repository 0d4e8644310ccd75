//! Datagrams of the protocol, to bytes and back. All numbers are big endian.
//!
//! ```text
//!  0  version    u8      1
//!  1  kind       u8      + 128 where an answer is wanted
//!  2  count      u16     starts of a report, or rates
//!  4  ends       u16     of a report
//!  6  left       u16     states that did not fit, at most 65535
//!  8  session    u32     chosen by the endpoint
//! 12  token      u32     chosen by the allocator; 0 in a hello
//! 16  sequence   u64     from 1 in each session and direction    ⎫
//! 24  ack        u64     newest sequence number received, or 0   ⎬ reports and rates
//! 32  starts, ends, or rates                                     ⎭
//! 16  lifetime   u32     of a rate, in microseconds                welcome
//!
//! start  16 bytes   id u32, destination IPv4 u32, its port u16, source port u16, weight u16, cap u16
//! end     4 bytes   id u32
//! rate    6 bytes   id u32, rate u16
//! ```
//!
//! Rates and caps are bits per second as a [`Short`]; a weight is a [`Short`] in 1024ths.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::Short;

/// Version of the protocol. Datagrams of any other are refused.
pub const VERSION: u8 = 1;
/// Bytes of the largest datagram, which fits into a QUIC datagram of a path with an MTU of 1200 bytes.
pub const MAX_DATAGRAM: usize = 1120;
/// Bytes of a start, as the paper counts them.
pub const START: usize = 16;
/// Bytes of an end.
pub const END: usize = 4;
/// Bytes of a rate.
pub const RATE: usize = 6;
/// Bytes before the states of a report or of rates.
pub const HEADER: usize = 32;

const SHORT_HEADER: usize = 16;
const ANSWER: u8 = 0x80;

/// Why a datagram was refused. Nothing has changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damaged {
    /// Its length is not the one that its counts ask for.
    #[error("a datagram of {found} bytes, expected {expected}")]
    Length {
        /// Bytes that came.
        found: usize,
        /// Bytes that its header asks for.
        expected: usize,
    },
    /// It is of another version of the protocol.
    #[error("protocol version {0}, expected {VERSION}")]
    Version(u8),
    /// Its kind is unknown, or one that the other side alone receives.
    #[error("a datagram of kind {0}, which is not one for this side")]
    Kind(u8),
    /// It acknowledges what was never sent.
    #[error("datagram {ack} is acknowledged, the last one sent is {sent}")]
    Ack {
        /// The sequence number that it acknowledges.
        ack: u64,
        /// The last one that was sent.
        sent: u64,
    },
}

/// What an endpoint says of a flowlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flowlet {
    /// Address of the receiver.
    pub destination: Ipv4Addr,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Port of the sender.
    pub source_port: u16,
    /// Weight of its utility, in 1024ths.
    pub weight: Short,
    /// The most it can use, in bits per second.
    pub cap: Short,
}

impl Flowlet {
    /// Whether both run between the same ends, and so over the same path.
    pub(super) fn has_ends_of(&self, other: &Self) -> bool {
        let ends = |flowlet: &Self| (flowlet.destination, flowlet.destination_port, flowlet.source_port);
        ends(self) == ends(other)
    }
}

/// Which conversation a datagram belongs to: the endpoint's number and the allocator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Chosen by the endpoint, at random.
    pub session: u32,
    /// Chosen by the allocator, at random.
    pub token: u32,
}

/// Fields of a report and of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) id: Session,
    pub(super) answer: bool,
    pub(super) left: u16,
    pub(super) sequence: u64,
    pub(super) ack: u64,
}

/// A datagram that was read.
pub(super) enum Datagram<'a> {
    Hello { session: u32 },
    Welcome { id: Session, lifetime: Duration },
    Reset { id: Session },
    Report { head: Head, starts: &'a [[u8; START]], ends: &'a [[u8; END]] },
    Rates { head: Head, rates: &'a [[u8; RATE]] },
}

#[derive(Clone, Copy)]
enum Kind {
    Hello = 1,
    Welcome = 2,
    Reset = 3,
    Report = 4,
    Rates = 5,
}

impl<'a> Datagram<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let wrong_length = |expected| Damaged::Length { found: bytes.len(), expected };
        let (short, rest) = bytes.split_first_chunk::<SHORT_HEADER>().ok_or(wrong_length(SHORT_HEADER))?;
        let &[version, kind, c0, c1, e0, e1, l0, l1, ref numbers @ ..] = short;
        let (session, token) = two_u32(numbers);
        let id = Session { session, token };
        if version != VERSION {
            return Err(Damaged::Version(version));
        }
        let whole = |rest: &[u8], length: usize| match rest.len() == length {
            true => Ok(()),
            false => Err(wrong_length(SHORT_HEADER + length)),
        };
        match kind & !ANSWER {
            1 => whole(rest, 0).map(|()| Self::Hello { session }),
            2 => {
                let &lifetime = rest.first_chunk().ok_or(wrong_length(SHORT_HEADER + 4))?;
                whole(rest, 4)?;
                Ok(Self::Welcome { id, lifetime: Duration::from_micros(u32::from_be_bytes(lifetime).into()) })
            }
            3 => whole(rest, 0).map(|()| Self::Reset { id }),
            4 | 5 => {
                let (numbers, states) = rest.split_first_chunk::<16>().ok_or(wrong_length(HEADER))?;
                let (sequence, ack) = two_u64(numbers);
                let [count, ends] = [[c0, c1], [e0, e1]].map(|bytes| usize::from(u16::from_be_bytes(bytes)));
                let left = u16::from_be_bytes([l0, l1]);
                let head = Head { id, answer: kind & ANSWER != 0, left, sequence, ack };
                if kind & !ANSWER == 5 {
                    let expected = wrong_length(HEADER + RATE * count);
                    let (rates, []) = states.as_chunks() else { return Err(expected) };
                    return if rates.len() == count { Ok(Self::Rates { head, rates }) } else { Err(expected) };
                }
                let expected = wrong_length(HEADER + START * count + END * ends);
                let Some((starts, rest)) = states.split_at_checked(START * count) else { return Err(expected) };
                let ((starts, []), (all_ends, [])) = (starts.as_chunks(), rest.as_chunks()) else {
                    return Err(expected);
                };
                if all_ends.len() == ends { Ok(Self::Report { head, starts, ends: all_ends }) } else { Err(expected) }
            }
            other => Err(Damaged::Kind(other)),
        }
    }

    /// The number of its kind.
    pub(super) fn kind(&self) -> u8 {
        let kind = match self {
            Self::Hello { .. } => Kind::Hello,
            Self::Welcome { .. } => Kind::Welcome,
            Self::Reset { .. } => Kind::Reset,
            Self::Report { .. } => Kind::Report,
            Self::Rates { .. } => Kind::Rates,
        };
        kind as u8
    }
}

pub(super) fn write_hello(out: &mut Vec<u8>, session: u32) {
    write_short_header(out, Kind::Hello as u8, [0; 3], Session { session, token: 0 });
}

pub(super) fn write_welcome(out: &mut Vec<u8>, id: Session, lifetime: Duration) {
    write_short_header(out, Kind::Welcome as u8, [0; 3], id);
    out.extend(u32::try_from(lifetime.as_micros()).unwrap_or(u32::MAX).to_be_bytes());
}

pub(super) fn write_reset(out: &mut Vec<u8>, id: Session) {
    write_short_header(out, Kind::Reset as u8, [0; 3], id);
}

pub(super) fn write_report(out: &mut Vec<u8>, head: Head, starts: &[(u32, Flowlet)], ends: &[u32]) {
    write_header(out, Kind::Report, head, starts.len(), ends.len());
    for (id, flowlet) in starts {
        out.extend(id.to_be_bytes());
        out.extend(flowlet.destination.octets());
        let [weight, cap] = [flowlet.weight, flowlet.cap].map(Short::code);
        for number in [flowlet.destination_port, flowlet.source_port, weight, cap] {
            out.extend(number.to_be_bytes());
        }
    }
    out.extend(ends.iter().flat_map(|id| id.to_be_bytes()));
}

pub(super) fn write_rates(out: &mut Vec<u8>, head: Head, rates: &[(u32, Short)]) {
    write_header(out, Kind::Rates, head, rates.len(), 0);
    for (id, rate) in rates {
        out.extend(id.to_be_bytes());
        out.extend(rate.code().to_be_bytes());
    }
}

pub(super) fn read_start(&bytes: &[u8; START]) -> (u32, Flowlet) {
    let [i0, i1, i2, i3, a, b, c, d, p0, p1, s0, s1, w0, w1, c0, c1] = bytes;
    let flowlet = Flowlet {
        destination: Ipv4Addr::new(a, b, c, d),
        destination_port: u16::from_be_bytes([p0, p1]),
        source_port: u16::from_be_bytes([s0, s1]),
        weight: Short::of_code(u16::from_be_bytes([w0, w1])),
        cap: Short::of_code(u16::from_be_bytes([c0, c1])),
    };
    (u32::from_be_bytes([i0, i1, i2, i3]), flowlet)
}

pub(super) fn read_rate(&bytes: &[u8; RATE]) -> (u32, Short) {
    let [i0, i1, i2, i3, r0, r1] = bytes;
    (u32::from_be_bytes([i0, i1, i2, i3]), Short::of_code(u16::from_be_bytes([r0, r1])))
}

fn write_header(out: &mut Vec<u8>, kind: Kind, head: Head, count: usize, ends: usize) {
    let kind = kind as u8 | if head.answer { ANSWER } else { 0 };
    write_short_header(out, kind, [count as u16, ends as u16, head.left], head.id);
    out.extend(head.sequence.to_be_bytes());
    out.extend(head.ack.to_be_bytes());
}

fn write_short_header(out: &mut Vec<u8>, kind: u8, counts: [u16; 3], id: Session) {
    out.clear();
    out.extend([VERSION, kind]);
    out.extend(counts.iter().flat_map(|count| count.to_be_bytes()));
    out.extend(id.session.to_be_bytes());
    out.extend(id.token.to_be_bytes());
}

fn two_u32(&[a, b, c, d, e, f, g, h]: &[u8; 8]) -> (u32, u32) {
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
}

fn two_u64(bytes: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_be_bytes(*bytes);
    ((both >> 64) as u64, both as u64)
}
