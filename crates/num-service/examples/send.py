"""One socket that is paced, to try an allocator from Python: ``python send.py ALLOCATOR NAME OWN DESTINATION SECONDS``,
as in ``python send.py 10.0.0.100:4433 allocator.example web-1 10.0.0.2:5001 20``.

`authority.pem`, `web-1.pem` and `web-1.key` are in the current folder, and somebody at the destination reads what
comes, such as ``socat -u TCP-LISTEN:5001 OPEN:/dev/null``.
"""

import socket
import sys
import time

import netnum.endpoint


def address(text):
    host, port = text.split(":")
    return host, int(port)


allocator, name, own, destination, seconds = sys.argv[1:]
netnum.endpoint.connect(address(allocator), name, authority="authority.pem", certificate=f"{own}.pem", key=f"{own}.key")
with socket.create_connection(address(destination)) as sock:
    netnum.endpoint.attach(sock)
    for second in range(1, int(seconds) + 1):
        begin, written = time.monotonic(), 0
        while time.monotonic() < begin + 1.0:
            written += sock.send(bytes(16_384))
        rate = 8e-6 * written / (time.monotonic() - begin)
        print(f"{second} s: {rate:.1f} Mbit/s, {netnum.endpoint.status()}")
    # Until the other side has all of it, and closes: until then the socket keeps to its rate.
    sock.shutdown(socket.SHUT_WR)
    while sock.recv(65_536):
        pass
