"""The endpoint of a process, in builds with the service. Tests wait for conditions, never for times."""

import contextlib
import errno
import importlib
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import netnum

ROOT = Path(__file__).resolve().parents[2]
ALLOCATOR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "netnum-allocator"
SO_MAX_PACING_RATE = 47
UNLIMITED = 2**64 - 1
NOBODY = ("127.0.0.1", 9)

is_built = hasattr(netnum._core, "_Endpoint")
with_service = pytest.mark.skipif(not is_built, reason="this netnum was built without its service: SERVICE=1 make test")


@pytest.mark.skipif(os.environ.get("SERVICE", "0") == "0" or sys.platform != "linux", reason="the service is optional")
def test_the_service_is_built_where_it_is_asked_for():
    assert is_built


@pytest.mark.parametrize(
    ("platform", "message"),
    [
        ("darwin", "netnum.endpoint is for Linux alone, and this is darwin"),
        ("linux", "MATURIN_PEP517_ARGS='--features service' pip install . builds it"),
    ],
)
def test_where_it_is_not_built_importing_it_says_how(monkeypatch, platform, message):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delattr(netnum._core, "_Endpoint", raising=False)
    monkeypatch.delitem(sys.modules, "netnum.endpoint", raising=False)
    with pytest.raises(ImportError, match=re.escape(message)):
        importlib.import_module("netnum.endpoint")


def wait_for(what, is_so):
    end = time.monotonic() + 120.0
    while not is_so():
        assert time.monotonic() < end, f"{what} never came"
        time.sleep(0.002)


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Certificates, as the how-to makes them: authority.pem, and pem and key of `allocator` and `a`."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl for certificates")
    folder = tmp_path_factory.mktemp("certificates")
    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    authority = ("-CA", f"{folder}/authority.pem", "-CAkey", f"{folder}/authority.key", "-CAcreateserial")
    openssl(*new, "-x509", "-subj", "/CN=netnum", "-keyout", authority[3], "-out", authority[1])
    for name in ("allocator", "a"):
        key, request, extensions, certificate = (f"{folder}/{name}.{end}" for end in ("key", "csr", "ext", "pem"))
        Path(extensions).write_text(f"subjectAltName=DNS:{name}.test\n")
        openssl(*new, "-subj", f"/CN={name}.test", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, *authority, "-extfile", extensions, "-out", certificate)
    return folder


@pytest.fixture
def connect(folder):
    files = {"authority": folder / "authority.pem", "certificate": str(folder / "a.pem"), "key": folder / "a.key"}

    def connect(allocator=NOBODY, **settings):
        netnum.endpoint.connect(allocator, **({"name": "allocator.test"} | files | settings))

    yield connect
    netnum.endpoint.close()


@contextlib.contextmanager
def connection(to="127.0.0.1"):
    """Both ends of a connection from 127.0.0.1."""
    with socket.create_server((to, 0)) as listener:
        sender = socket.create_connection(listener.getsockname())
        receiver, _ = listener.accept()
    receiver.settimeout(120.0)
    with sender, receiver:
        yield sender, receiver


def max_pacing_rate(sock):
    (rate,) = struct.unpack("Q", sock.getsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 8))
    return rate


@with_service
def test_a_socket_that_is_closed_ends_its_connection_at_once_and_is_forgotten(connect):
    connect()
    with connection() as (sender, receiver):
        netnum.endpoint.attach(sender)
        wait_for("the socket", lambda: netnum.endpoint.status().sockets == 1)
        sender.sendall(b"the last")
        sender.close()
        # Where the endpoint held a duplicate of it, the end would never come.
        assert (receiver.recv(100), receiver.recv(100)) == (b"the last", b"")
    wait_for("its end", lambda: netnum.endpoint.status().sockets == 0)


@pytest.fixture
def allocator(folder):
    """The address of an allocator of two hosts of this machine, 127.0.0.1 and 127.0.0.2, 80 Mbit/s each."""
    if not ALLOCATOR.exists():
        pytest.skip(f"there is no {ALLOCATOR}, which SERVICE=1 make test builds first")
    (folder / "network").write_text("a s 80e6\nb s 80e6\n")
    (folder / "hosts").write_text("127.0.0.1 a.test a\n127.0.0.2 b.test b\n")
    tls = "authority = 'authority.pem'\ncertificate = 'allocator.pem'\nkey = 'allocator.key'\n"
    (folder / "allocator.toml").write_text(
        f"listen = '127.0.0.1:0'\nnetwork = 'network'\nhosts = 'hosts'\n[tls]\n{tls}[rates]\nlifetime_us = 10000000\n"
    )
    with subprocess.Popen([ALLOCATOR, folder / "allocator.toml"], stderr=subprocess.PIPE, text=True) as process:
        listens = next(line for line in process.stderr if "listens" in line)
        rest = threading.Thread(target=process.stderr.read)
        rest.start()
        host, port = re.search(r"address=([\d.]+):(\d+)", listens).groups()
        yield host, int(port)
        process.terminate()
        rest.join()


def fill(sender):
    """Until bytes wait in its buffer, as nobody reads them."""
    sender.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            sender.send(bytes(65_536))


@with_service
def test_a_socket_is_paced_and_lifted_when_the_endpoint_is_closed(connect, allocator):
    connect(allocator)
    with connection("127.0.0.2") as (sender, _):
        netnum.endpoint.attach(sender)
        fill(sender)
        wait_for("a rate", lambda: netnum.endpoint.status().paced == 1)
        assert netnum.endpoint.status().is_led
        assert 0 < max_pacing_rate(sender) <= 10_000_000
        netnum.endpoint.close()
        assert max_pacing_rate(sender) == UNLIMITED


@with_service
def test_what_has_the_descriptor_of_a_closed_socket_is_left_alone(connect, allocator):
    connect(allocator)
    with connection("127.0.0.2") as (sender, _), connection("127.0.0.2") as (other, _):
        netnum.endpoint.attach(sender)
        for each in (sender, other):
            fill(each)
        wait_for("a rate", lambda: netnum.endpoint.status().paced == 1)
        # Closed, and the descriptor of another socket, in one call.
        os.dup2(other.fileno(), sender.fileno())
        wait_for("its end", lambda: netnum.endpoint.status().sockets == 0)
        netnum.endpoint.close()
        assert max_pacing_rate(other) == UNLIMITED


@with_service
def test_the_example_runs(folder, allocator):
    with socket.create_server(("127.0.0.2", 0)) as listener:
        host, port = listener.getsockname()
        command = [f"{allocator[0]}:{allocator[1]}", "allocator.test", "a", f"{host}:{port}", "2"]
        example = ROOT / "crates/num-service/examples/send.py"
        with subprocess.Popen(
            [sys.executable, example, *command], cwd=folder, stdout=subprocess.PIPE, text=True
        ) as process:
            receiver, _ = listener.accept()
            with receiver:
                while receiver.recv(65_536):
                    pass
            printed = process.stdout.read()
    assert process.returncode == 0
    line = r"{} s: [\d.]+ Mbit/s, Status\(is_led=(?:True|False), sockets=1, .*\)\n"
    assert re.fullmatch(line.format(1) + line.format(2), printed), printed


@with_service
def test_a_process_that_was_forked_has_no_endpoint_and_ends(folder):
    script = f"""if True:
        import os, sys
        import netnum.endpoint as endpoint
        files = dict(authority="authority.pem", certificate="a.pem", key="a.key")
        endpoint.connect({NOBODY}, "allocator.test", **files)
        endpoint.status()
        child = os.fork()
        if child == 0:
            try:
                endpoint.status()
            except RuntimeError as error:
                print(error)
            endpoint.connect({NOBODY}, "allocator.test", **files)
            print(endpoint.status())
            sys.exit(7)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), endpoint.status())
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=folder, capture_output=True, text=True)
    status = "Status(is_led=False, sockets=0, flowlets=0, paced=0, started=0, lapses=0)"
    assert done.stdout.splitlines() == [
        "this process has no endpoint: netnum.endpoint.connect(...) makes it",
        status,
        f"7 {status}",
    ], done.stderr


@with_service
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"allocator": ("allocator.test", 4433)},
            r"allocator is \('allocator.test', 4433\), expected an IPv4 address ",
        ),
        ({"allocator": "10.0.0.100:4433"}, r"expected an IPv4 address and a port, such as \('10.0.0.9', 80\)"),
        ({"allocator": ("10.0.0.100", 70_000)}, r"allocator is \('10.0.0.100', 70000\)"),
        ({"watch_us": 100_001}, "watch_us is 100001, expected 1000 to 100000 microseconds"),
        ({"idle_us": 10_000_001}, "idle_us is 10000001, expected at most 10000000 microseconds"),
        ({"name": ""}, 'name is "", expected the name in the allocator\'s certificate'),
        ({"key": "nowhere.key"}, "nowhere.key: "),
    ],
)
def test_what_cannot_be_connected_is_named_and_leaves_no_endpoint(connect, settings, message):
    with pytest.raises(netnum.NumError, match=message):
        connect(**settings)
    with pytest.raises(RuntimeError, match="this process has no endpoint"):
        netnum.endpoint.status()


@with_service
def test_what_cannot_be_attached_is_named(connect):
    connect()
    with pytest.raises(RuntimeError, match=re.escape("netnum.endpoint.close() ends it")):
        connect()
    with connection() as (sender, _):
        for weight in (0.0, float("nan")):
            with pytest.raises(netnum.NumError, match=r"weight is (0|NaN), expected a number > 0"):
                netnum.endpoint.attach(sender, weight=weight)
        with pytest.raises(netnum.NumError, match=r"destination is \('web-2', 80\), expected an IPv4 address"):
            netnum.endpoint.attach(sender, ("web-2", 80))
    with pytest.raises(OSError, match="Bad file descriptor"):
        netnum.endpoint.attach(sender)
    with socket.socket() as unconnected, pytest.raises(OSError, match="not connected"):
        netnum.endpoint.attach(unconnected)
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        named = f"descriptor {datagrams.fileno()}, from 0.0.0.0:0: Operation not supported"
        with pytest.raises(OSError, match=named) as refused:
            netnum.endpoint.attach(datagrams)
    assert refused.value.errno == errno.EOPNOTSUPP
