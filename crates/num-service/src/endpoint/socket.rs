//! System calls on TCP sockets of Linux: the only file with `unsafe`.
//!
//! Each call passes a pointer to a local variable whose type and size are those that tcp(7) and socket(7) name for the
//! request, and a descriptor that is borrowed for the call, so that it is open. The kernel writes at most the size that
//! it is given, and every pattern of bits is a value of these types of plain integers.
#![allow(unsafe_code)]

use std::io;
use std::mem::{offset_of, size_of};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{c_int, socklen_t};

/// A socket at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// Bytes that are to be sent: for the first time, or again, as they are known to be lost.
    pub(super) waiting: u64,
    /// Whether everything written was acknowledged.
    pub(super) is_drained: bool,
    /// Bytes written by the application since the connection began.
    pub(super) written: u64,
    /// Bytes of a full segment, without headers.
    pub(super) segment: u32,
}

/// # Errors
/// Those of the system, as for a socket that is not TCP.
pub(super) fn look(socket: BorrowedFd<'_>) -> io::Result<Look> {
    let info = info(socket)?;
    let segment = info.words[SEGMENT];
    let lost = info.words[LOST].saturating_sub(info.words[SENT_AGAIN]);
    let unsent = u64::from(info.not_sent_bytes);
    let written = info.bytes_sent.saturating_sub(info.bytes_sent_again) + unsent;
    // One that was reset sends nothing any more, though the kernel still counts what it had.
    if info.bytes[STATE] == CLOSED {
        return Ok(Look { waiting: 0, is_drained: true, written, segment });
    }
    let is_drained = unsent == 0 && info.words[UNACKNOWLEDGED] == 0;
    Ok(Look { waiting: unsent + u64::from(lost) * u64::from(segment), is_drained, written, segment })
}

/// Limits the rate at which TCP sends, in bytes per second; [`UNLIMITED`] lifts the limit.
///
/// # Errors
/// Those of the system.
pub(super) fn set_max_pacing_rate(socket: BorrowedFd<'_>, bytes_per_second: u64) -> io::Result<()> {
    let length = size_of::<u64>() as socklen_t;
    // SAFETY: a pointer to 8 bytes, which Linux reads as an unsigned long since 4.20; see the head of the file.
    let code = unsafe {
        let rate = std::ptr::from_ref(&bytes_per_second).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate, length)
    };
    check(code)
}

/// The limit of a socket that is not limited.
pub(super) const UNLIMITED: u64 = u64::MAX;

/// The limit of a socket, in bytes per second.
///
/// # Errors
/// Those of the system.
#[cfg(test)]
pub(super) fn max_pacing_rate(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let (mut rate, mut length) = (0_u64, size_of::<u64>() as socklen_t);
    // SAFETY: a pointer to 8 bytes and to their number; see the head of the file.
    let code = unsafe {
        let rate = std::ptr::from_mut(&mut rate).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate, &raw mut length)
    };
    check(code).map(|()| rate)
}

/// # Errors
/// Those of the system, as for a socket that is not bound.
pub(super) fn local_address(socket: BorrowedFd<'_>) -> io::Result<SocketAddr> {
    // The standard library asks any socket for its address, whatever its type is called.
    TcpListener::from(socket.try_clone_to_owned()?).local_addr()
}

/// The beginning of `struct tcp_info` of linux/tcp.h, up to the numbers of bytes that were sent (Linux 4.19).
#[repr(C)]
#[derive(Default)]
struct TcpInfo {
    bytes: [u8; 8],
    words: [u32; 24],
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acknowledged: u64,
    bytes_received: u64,
    segments: [u32; 2],
    not_sent_bytes: u32,
    more_words: [u32; 3],
    delivery_rate: u64,
    times: [u64; 3],
    delivered: [u32; 2],
    bytes_sent: u64,
    bytes_sent_again: u64,
}

const _: () = assert!(offset_of!(TcpInfo, not_sent_bytes) == 144 && offset_of!(TcpInfo, bytes_sent) == 200);

/// The place of `tcpi_state` among the bytes, and TCP_CLOSE.
const STATE: usize = 0;
const CLOSED: u8 = 7;
/// The places of `tcpi_snd_mss`, `tcpi_unacked`, `tcpi_lost` and `tcpi_retrans` among the words; the last three count
/// segments.
const SEGMENT: usize = 2;
const UNACKNOWLEDGED: usize = 4;
const LOST: usize = 6;
const SENT_AGAIN: usize = 7;

fn info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut info = TcpInfo::default();
    let mut length = size_of::<TcpInfo>() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes of `struct tcp_info`; see the head of the file.
    let code = unsafe {
        let info = std::ptr::from_mut(&mut info).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, info, &raw mut length)
    };
    check(code)?;
    // The kernel writes the fields that it has.
    if (length as usize) < size_of::<TcpInfo>() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "the numbers of bytes that were sent need Linux 4.19"));
    }
    Ok(info)
}

fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::time::{Duration, Instant};

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (sender, listener.accept().unwrap().0)
    }

    fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_full_buffer_has_unsent_bytes_and_an_emptied_one_has_none() {
        let (mut sender, mut receiver) = pair();
        sender.set_nonblocking(true).unwrap();
        let mut written = 0;
        // The receiver does not read: both buffers fill.
        wait_for("the buffer never filled", || match sender.write(&[7; 65_536]) {
            Ok(count) => {
                written += count;
                false
            }
            Err(_) => look(sender.as_fd()).unwrap().waiting > 0,
        });
        assert_eq!(look(sender.as_fd()).unwrap().written, written as u64);
        let mut all = vec![0; written];
        receiver.read_exact(&mut all).unwrap();
        wait_for("what was read is never acknowledged", || look(sender.as_fd()).unwrap().is_drained);
        let empty = look(sender.as_fd()).unwrap();
        assert_eq!((empty.waiting, empty.written), (0, written as u64));
        assert!(empty.segment > 500);
    }

    #[test]
    fn a_socket_that_was_reset_is_drained() {
        let (mut sender, receiver) = pair();
        sender.set_nonblocking(true).unwrap();
        while sender.write(&[7; 65_536]).is_ok() {}
        assert!(!look(sender.as_fd()).unwrap().is_drained);
        // With bytes that nobody has read.
        drop(receiver);
        wait_for("it is never drained", || look(sender.as_fd()).unwrap().is_drained);
        assert_eq!(look(sender.as_fd()).unwrap().waiting, 0);
    }

    #[test]
    fn a_limit_of_pacing_is_set_and_lifted() {
        let (sender, _receiver) = pair();
        for rate in [1, 125_000, 10_000_000_000, UNLIMITED] {
            set_max_pacing_rate(sender.as_fd(), rate).unwrap();
            assert_eq!(max_pacing_rate(sender.as_fd()).unwrap(), rate);
        }
    }
}
