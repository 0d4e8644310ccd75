//! System calls on TCP sockets of Linux: the only file with `unsafe`.
//!
//! Each call passes a number, which the kernel refuses where it is no descriptor of a socket, and a pointer to a local
//! variable whose type and size are those that tcp(7) and socket(7) name for the request. The kernel writes at most the
//! size that it is given, and every pattern of bits is a value of these types of plain integers.
#![allow(unsafe_code)]

use std::hash::{Hash, Hasher};
use std::io;
use std::mem::{ManuallyDrop, size_of};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use libc::{c_int, socklen_t};

/// A TCP socket of somebody else, who closes it at any time.
///
/// It is known by its descriptor, and by its cookie (SO_COOKIE), which the kernel gives to no other socket of its
/// network namespace: the descriptor of a closed one is soon that of another file. A duplicate would stay the socket's,
/// but closing a socket ends its connection only where no duplicate is left, in this process and in those forked from
/// it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    descriptor: RawFd,
    cookie: u64,
}

/// Descriptors of one socket are equal.
impl PartialEq for Watched {
    fn eq(&self, other: &Self) -> bool {
        self.cookie == other.cookie
    }
}

impl Eq for Watched {}

impl Hash for Watched {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.cookie.hash(state);
    }
}

impl Watched {
    /// # Errors
    /// Those of the system, as for what is not a socket.
    pub(super) fn new(socket: &impl AsRawFd) -> io::Result<Self> {
        let descriptor = socket.as_raw_fd();
        Ok(Self { descriptor, cookie: cookie(descriptor)? })
    }

    /// # Errors
    /// Those of the system, as for a socket that is not TCP, or was closed.
    pub(super) fn look(self) -> io::Result<Look> {
        let (info, length): ([u8; INFO], usize) = get(self.descriptor, libc::IPPROTO_TCP, libc::TCP_INFO)?;
        // It still is this socket's, so it was while its state was read.
        self.check()?;
        // The kernel writes the fields that it has.
        Look::of(&info[..length.min(INFO)])
    }

    /// Limits the rate at which TCP sends, in bytes per second; [`UNLIMITED`] lifts the limit.
    ///
    /// # Errors
    /// Those of the system, as for a socket that was closed.
    pub(super) fn set_max_pacing_rate(self, bytes_per_second: u64) -> io::Result<()> {
        self.check()?;
        set_max_pacing_rate(self.descriptor, bytes_per_second)?;
        // Its owner may have closed it meanwhile and opened another, which gets back what sockets begin with.
        self.check().inspect_err(|_| drop(set_max_pacing_rate(self.descriptor, UNLIMITED)))
    }

    /// The addresses of both ends, its own first; or the errors of the system, as of a socket that is not connected.
    pub(super) fn addresses(self) -> [io::Result<SocketAddr>; 2] {
        // SAFETY: the calls are made on a descriptor that is open, or else refused, and that is not closed here.
        let stream = ManuallyDrop::new(unsafe { TcpStream::from_raw_fd(self.descriptor) });
        let address = |address: io::Result<SocketAddr>| address.and_then(|address| self.check().map(|()| address));
        [address(stream.local_addr()), address(stream.peer_addr())]
    }

    fn check(self) -> io::Result<()> {
        if cookie(self.descriptor)? == self.cookie { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EBADF)) }
    }
}

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

impl Look {
    /// From the `struct tcp_info` of a socket.
    ///
    /// # Errors
    /// Where it is shorter, as before Linux 4.19.
    pub(super) fn of(info: &[u8]) -> io::Result<Self> {
        let Some(info) = info.first_chunk::<INFO>() else {
            let what = "the numbers of bytes that were sent need Linux 4.19";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        };
        let word = |begin| u32::from_ne_bytes(part(info, begin));
        let long = |begin| u64::from_ne_bytes(part(info, begin));
        let segment = word(SEGMENT);
        let lost = word(LOST).saturating_sub(word(SENT_AGAIN));
        let unsent = u64::from(word(NOT_SENT_BYTES));
        let written = long(BYTES_SENT).saturating_sub(long(BYTES_SENT_AGAIN)) + unsent;
        // One that was reset sends nothing any more, though the kernel still counts what it had.
        if info[STATE] == CLOSED {
            return Ok(Self { waiting: 0, is_drained: true, written, segment });
        }
        let is_drained = unsent == 0 && word(UNACKNOWLEDGED) == 0;
        Ok(Self { waiting: unsent + u64::from(lost) * u64::from(segment), is_drained, written, segment })
    }
}

/// The limit of a flow that is not limited, as Linux has it.
pub(super) const UNLIMITED: u64 = u64::MAX;

fn set_max_pacing_rate(descriptor: RawFd, bytes_per_second: u64) -> io::Result<()> {
    let length = size_of::<u64>() as socklen_t;
    // SAFETY: a pointer to 8 bytes, which Linux reads as an unsigned long since 4.20; see the head of the file.
    let code = unsafe {
        let rate = std::ptr::from_ref(&bytes_per_second).cast();
        libc::setsockopt(descriptor, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate, length)
    };
    check(code)
}

fn cookie(descriptor: RawFd) -> io::Result<u64> {
    get(descriptor, libc::SOL_SOCKET, libc::SO_COOKIE).map(|(cookie, _)| cookie)
}

/// Bytes of the beginning of `struct tcp_info` of linux/tcp.h, up to the numbers of bytes that were sent (Linux 4.19).
const INFO: usize = 216;

/// Where numbers of it begin: `tcpi_state`, a byte; of 4 bytes `tcpi_snd_mss`, `tcpi_unacked`, `tcpi_lost`,
/// `tcpi_retrans` (the last three count segments) and `tcpi_notsent_bytes`; of 8 `tcpi_bytes_sent` and
/// `tcpi_bytes_retrans`.
const STATE: usize = 0;
const SEGMENT: usize = 16;
const UNACKNOWLEDGED: usize = 24;
const LOST: usize = 32;
const SENT_AGAIN: usize = 36;
const NOT_SENT_BYTES: usize = 144;
const BYTES_SENT: usize = 200;
const BYTES_SENT_AGAIN: usize = 208;
/// TCP_CLOSE, a state.
const CLOSED: u8 = 7;

/// The bytes of a number.
fn part<const N: usize>(info: &[u8; INFO], begin: usize) -> [u8; N] {
    std::array::from_fn(|number| info[begin + number])
}

/// A type of which every pattern of bits is a value.
///
/// # Safety
/// It consists of integers, without gaps.
unsafe trait Plain: Sized {
    const ZERO: Self;
}

// SAFETY: an integer.
unsafe impl Plain for u64 {
    const ZERO: Self = 0;
}
// SAFETY: bytes.
unsafe impl Plain for [u8; INFO] {
    const ZERO: Self = [0; INFO];
}

/// An option of a socket, and how many bytes of it the kernel wrote.
fn get<T: Plain>(descriptor: RawFd, level: c_int, name: c_int) -> io::Result<(T, usize)> {
    let (mut value, mut length) = (T::ZERO, size_of::<T>() as socklen_t);
    // SAFETY: the kernel writes at most `length` bytes; see the head of the file.
    let code = unsafe {
        let value = std::ptr::from_mut(&mut value).cast();
        libc::getsockopt(descriptor, level, name, value, &raw mut length)
    };
    check(code).map(|()| (value, length as usize))
}

fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, UdpSocket};
    use std::time::{Duration, Instant};

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (sender, listener.accept().unwrap().0)
    }

    fn look(socket: &TcpStream) -> io::Result<Look> {
        Watched::new(socket).and_then(Watched::look)
    }

    fn max_pacing_rate(socket: &TcpStream) -> u64 {
        get(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE).unwrap().0
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
            Err(_) => look(&sender).unwrap().waiting > 0,
        });
        assert_eq!(look(&sender).unwrap().written, written as u64);
        let mut all = vec![0; written];
        receiver.read_exact(&mut all).unwrap();
        wait_for("what was read is never acknowledged", || look(&sender).unwrap().is_drained);
        let empty = look(&sender).unwrap();
        assert_eq!((empty.waiting, empty.written), (0, written as u64));
        assert!(empty.segment > 500);
    }

    #[test]
    fn a_socket_that_was_reset_is_drained() {
        let (mut sender, receiver) = pair();
        sender.set_nonblocking(true).unwrap();
        while sender.write(&[7; 65_536]).is_ok() {}
        assert!(!look(&sender).unwrap().is_drained);
        // With bytes that nobody has read.
        drop(receiver);
        wait_for("it is never drained", || look(&sender).unwrap().is_drained);
        assert_eq!(look(&sender).unwrap().waiting, 0);
    }

    #[test]
    fn a_limit_of_pacing_is_set_and_lifted() {
        let (sender, _receiver) = pair();
        for rate in [1, 125_000, 10_000_000_000, UNLIMITED] {
            Watched::new(&sender).unwrap().set_max_pacing_rate(rate).unwrap();
            assert_eq!(max_pacing_rate(&sender), rate);
        }
    }

    #[test]
    fn a_socket_that_has_the_descriptor_of_a_closed_one_is_left_alone() {
        let ((closed, mut receiver), (other, _other_receiver)) = (pair(), pair());
        let watched = Watched::new(&closed).unwrap();
        // Closed, and another's, in one call: other tests open sockets meanwhile.
        // SAFETY: both descriptors are open, and are still when their owners close them.
        assert!(unsafe { libc::dup2(other.as_raw_fd(), closed.as_raw_fd()) } >= 0);
        assert_eq!(receiver.read(&mut [0]).unwrap(), 0, "the connection has ended");
        assert!(watched.look().is_err() && watched.addresses().iter().all(Result::is_err));
        assert!(watched.set_max_pacing_rate(1).is_err());
        assert_eq!(max_pacing_rate(&other), UNLIMITED);
        assert_ne!(watched, Watched::new(&other).unwrap());
    }

    #[test]
    fn what_is_no_tcp_socket_is_refused() {
        assert!(Watched::new(&-1).is_err());
        assert!(Watched::new(&std::fs::File::open("/dev/null").unwrap()).is_err());
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(Watched::new(&udp).unwrap().look().is_err());
    }
}
