"""The endpoint of this process: its TCP sockets, paced at the rates of an allocator for hosts (`netnum-allocator`).

`connect` reaches the allocator, and `attach` has a socket watched until it is closed: flowlets are reported as its
buffer fills and empties, and paced at the rates that come back. Where the allocator is silent for longer than a rate
lives, pacing is lifted, and TCP goes on alone::

    import socket

    import netnum.endpoint

    netnum.endpoint.connect(
        ("10.0.0.100", 4433),
        "allocator.example",
        authority="authority.pem",
        certificate="web-1.pem",
        key="web-1.key",
    )
    sock = socket.create_connection(("10.0.0.2", 5001))
    netnum.endpoint.attach(sock)

On Linux, with IPv4, in a netnum that was built with its service; where it was not, the ImportError says how. A process
has one endpoint, and a certificate that no other process has. A socket is watched by its descriptor: of one that has
duplicates, attach the one that is closed last.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import NamedTuple, Protocol

if sys.platform != "linux":
    raise ImportError(f"netnum.endpoint is for Linux alone, and this is {sys.platform}")
try:
    from ._core import _Endpoint
except ImportError as error:
    raise ImportError(
        "this netnum was built without its service, which netnum.endpoint needs: in a clone of netnum, "
        "MATURIN_PEP517_ARGS='--features service' pip install . builds it, and SERVICE=1 make demo into .venv there"
    ) from error

__all__ = ["Status", "attach", "close", "connect", "status"]


def __dir__() -> list[str]:
    return sorted(__all__)


class _Socket(Protocol):
    def fileno(self) -> int: ...


class Status(NamedTuple):
    """What the endpoint is doing.

    Examples
    --------
    >>> netnum.endpoint.status().paced  # doctest: +SKIP
    1
    """

    is_led: bool
    """Whether the allocator's rates hold: not before the first, nor where it has been silent for a rate's lifetime."""
    sockets: int
    """Sockets that are watched."""
    flowlets: int
    """Flowlets that have started and not ended."""
    paced: int
    """Sockets that are paced."""
    started: int
    """Flowlets that have started since the beginning."""
    lapses: int
    """How often pacing was lifted because rates had expired."""


_endpoint: _Endpoint | None = None
_connecting = threading.Lock()


def connect(
    allocator: tuple[str, int],
    name: str,
    *,
    authority: str | os.PathLike[str],
    certificate: str | os.PathLike[str],
    key: str | os.PathLike[str],
    watch_us: int = 1000,
    idle_us: int = 5000,
    rate_aware: bool = True,
) -> None:
    """Make the endpoint of this process, which keeps trying to reach its allocator, from a thread of its own.

    Until it does, sockets are TCP's alone. `close` ends it, and so does the end of the process. A process that was
    forked has none, and may have one of its own.

    Parameters
    ----------
    allocator : tuple of str and int
        The IPv4 address and the port at which the allocator listens.
    name : str
        The name in the allocator's certificate.
    authority, certificate, key : path
        Files in PEM: the authority that has signed the allocator's certificate, and certificate and private key of this
        process, which is known by the name in it.
    watch_us : int
        Microseconds between two looks at the sockets, from 1000 to 100000.
    idle_us : int
        A flowlet has ended when nothing was unacknowledged for so many microseconds, at most 10000000, and for twice
        `watch_us`.
    rate_aware : bool
        Whether a flowlet's cap is what its source was measured to give, where that is less than its rate.

    Raises
    ------
    NumError
        For an address that is not IPv4, a name that no certificate has, a time out of its range, or a file that is not
        there or not what it should be.
    RuntimeError
        Where the process has an endpoint.

    Examples
    --------
    >>> files = {"authority": "authority.pem", "certificate": "web-1.pem", "key": "web-1.key"}
    >>> netnum.endpoint.connect(("10.0.0.100", 4433), "allocator.example", **files)  # doctest: +SKIP
    """
    global _endpoint
    with _connecting:
        if _endpoint is not None:
            raise RuntimeError("this process has an endpoint: netnum.endpoint.close() ends it")
        _endpoint = _Endpoint(
            allocator,
            name,
            authority=authority,
            certificate=certificate,
            key=key,
            watch_us=watch_us,
            idle_us=idle_us,
            rate_aware=rate_aware,
        )


def attach(sock: _Socket, destination: tuple[str, int] | None = None, weight: float = 1.0) -> None:
    """Watch a TCP socket that is connected, until it is closed: report its flowlets, and pace them.

    The socket is used and closed as any other; the endpoint holds no duplicate of it, and leaves alone what has its
    descriptor afterwards. A socket that is attached again has another weight and destination from then on.

    Parameters
    ----------
    sock : socket
        A `socket.socket`, or what has its ``fileno()``: a socket of ssl, or ``writer.get_extra_info("socket")`` of
        asyncio.
    destination : tuple of str and int, optional
        The IPv4 address and the port of the receiver, where the allocator's hosts know it by others than those of the
        socket's peer.
    weight : float
        Of its flowlets in proportional fairness, > 0.

    Raises
    ------
    NumError
        For a socket of IPv6, a `destination` that is not of IPv4, or a weight out of its range.
    OSError
        For what is not a TCP socket, or not connected, or closed. The message has the descriptor, and its addresses as
        far as they are known.
    RuntimeError
        Before `connect`.

    Examples
    --------
    >>> sock = socket.create_connection(("10.0.0.2", 5001))  # doctest: +SKIP
    >>> netnum.endpoint.attach(sock, weight=2.0)  # doctest: +SKIP
    """
    _connected().attach(sock.fileno(), destination, weight)


def status() -> Status:
    """What the endpoint is doing.

    Returns
    -------
    Status
        As of its last look at the sockets.

    Raises
    ------
    RuntimeError
        Before `connect`.

    Examples
    --------
    >>> netnum.endpoint.status()  # doctest: +SKIP
    Status(is_led=True, sockets=1, flowlets=1, paced=1, started=1, lapses=0)
    """
    return Status(*_connected().status())


def close() -> None:
    """End the endpoint of this process, if it has one: all pacing is lifted, and the allocator hears of it.

    Examples
    --------
    >>> netnum.endpoint.close()
    """
    global _endpoint
    endpoint, _endpoint = _endpoint, None
    if endpoint is not None:
        endpoint.close()


def _connected() -> _Endpoint:
    if _endpoint is None:
        raise RuntimeError("this process has no endpoint: netnum.endpoint.connect(...) makes it")
    return _endpoint


def _forget() -> None:
    """In a process that was forked: the endpoint is its parent's."""
    global _endpoint, _connecting
    # A thread that does not exist here may have held the lock.
    _endpoint, _connecting = None, threading.Lock()


atexit.register(close)
os.register_at_fork(after_in_child=_forget)
