"""Runs beside other solvers: their environment, the machine, timing, and the rows of a comparison.

For `peers.py`, `wide_area.py` and `derivatives.py`. The environment is `.venv-peers`, with the packages in `PACKAGES`
and netnum built from this checkout.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from tables import ROOT, processor

ENVIRONMENT = ROOT / ".venv-peers"
MISSING = ENVIRONMENT / "missing.json"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

# What every row needs, and the peers that may be missing; pinned. A further peer is a line here, a function and a line
# in CONTENDERS. HiGHS is for wide_area.py, diffcp for derivatives.py.
NEEDED = ["numpy==2.4.6", "scipy==1.17.1"]
PEERS = ["cvxpy==1.9.3", "clarabel==0.11.1", "ecos==2.0.14", "casadi==3.8.2", "highspy==1.15.1", "diffcp==1.1.9"]
PACKAGES = NEEDED + PEERS

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON")
}

#: The seed of everything that is drawn.
SEED = 1

Answer = TypeVar("Answer")


def call(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], check=True)


def make_environment() -> None:
    """Makes `.venv-peers` where it is missing or out of date, and builds netnum into it."""
    stamp = ENVIRONMENT / "made-for"
    wanted = "\n".join([str(ROOT), sys.version, *PACKAGES])
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"making {ENVIRONMENT.name}: {', '.join(PACKAGES)}", file=sys.stderr)
        # Where the venv module lacks ensurepip (Debian without python3-venv), virtualenv brings its own pip.
        venv = [sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)]
        if subprocess.run(venv, capture_output=True).returncode != 0:
            tools = ROOT / ".tools"
            call(sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", tools, "virtualenv")
            virtualenv = [sys.executable, "-m", "virtualenv", "--quiet", "--clear", str(ENVIRONMENT)]
            subprocess.run(virtualenv, check=True, env=os.environ | {"PYTHONPATH": str(tools)})
        call(PYTHON, "-m", "pip", "install", "--quiet", *NEEDED)
        reasons = {}
        for package in PEERS:
            install = [str(PYTHON), "-m", "pip", "install", "--quiet", *NEEDED, package]
            result = subprocess.run(install, capture_output=True, text=True, check=False)
            if result.returncode != 0:
                reasons[package.split("==")[0]] = result.stderr.strip().splitlines()[-1]
        MISSING.write_text(json.dumps(reasons))
        stamp.write_text(wanted)
    print("building netnum", file=sys.stderr)
    call(PYTHON, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", ROOT)


def enter_environment() -> None:
    """Runs the same script in the environment, with one thread for every library, and exits."""
    for variable in ("PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX"):
        os.environ.pop(variable, None)
    os.environ.update(ONE_THREAD, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    make_environment()
    sys.exit(subprocess.run([str(PYTHON), *sys.argv]).returncode)


def circumstances() -> dict[str, Any]:
    """The machine and the packages that the numbers depend on."""
    import netnum

    versions, missing = {"netnum": netnum.__version__}, []
    reasons = json.loads(MISSING.read_text()) if MISSING.exists() else {}
    for package in (package.split("==")[0] for package in PACKAGES):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            missing.append(f"{package}: {reasons.get(package, 'not installed')}")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": load,
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
        "packages": versions,
        "missing": missing,
        "seed": SEED,
    }


def print_circumstances(about: dict[str, Any]) -> None:
    """Prints the head of a run."""
    print(f"{about['processor']}, {about['cores']} cores, load {about['load']}, Python {about['python']}")
    print(", ".join(f"{name} {number}" for name, number in about["packages"].items()))
    for missing in about["missing"]:
        print(f"not installed: {missing}")


def write_json(file: Path, about: dict[str, Any], rows: list[Any]) -> None:
    """Writes the rows so far: after every row, so that an interrupted run keeps them."""
    found = {"about": about, "rows": [asdict(row) for row in rows]}
    file.write_text(json.dumps(found, indent=1) + "\n")


def timed(run: Callable[[], Answer]) -> tuple[float, Answer]:
    """Seconds of a run, and its answer."""
    gc.collect()
    began = time.perf_counter()
    answer = run()
    return time.perf_counter() - began, answer


def repetitions(seconds: float) -> int:
    """The number of timed runs after a first one that took so long."""
    return 15 if seconds < 0.1 else 5 if seconds < 2 else 3


def matches(part: str, name: str) -> bool:
    """Whether all words of `part` are words of `name`: 1000 is none of 10000."""
    return set(part.split()) <= set(name.split())


def parts_of(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Parts of names, from the command line."""

    def read(text: str) -> list[str]:
        parts = text.split(",")
        for part in parts:
            if not any(matches(part, name) for name in names):
                known = ", ".join(dict.fromkeys(names))
                raise argparse.ArgumentTypeError(f"{part!r} is in no name, expected words of {known}")
        return parts

    return read
