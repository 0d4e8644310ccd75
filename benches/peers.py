"""netnum beside other solvers, on the same instances, in the same run.

    python3 benches/peers.py                        1000, 10 000 and 100 000 flows
    python3 benches/peers.py --quick                1000 flows
    python3 benches/peers.py --flows 500 --methods clarabel,netnum --json peers.json

Instances: the leaf-spine of 9 racks x 16 servers x 4 spines (10 and 40 Gbit/s), every capacity times 0.8 to 1.2, random
pairs, one path each, proportional fairness with weights 0.5 to 1.5; everything drawn from one seed.

Everybody starts from the same arrays (capacities, paths as indptr and indices, weights; Gbit/s) and has one thread.
"seconds" is all that happens from there to rates and prices in NumPy, "solver" the part that the solver itself reports:
Clarabel's has none of CVXPY's building and compiling in it. After a run that is not timed come several that are, one at
a time; the table gives their median and minimum.

Whoever an answer is from, `netnum.certify` judges it: "overload" is by how much it exceeds a capacity, "gap" bounds the
utility that is still missing once F-NORM has made it feasible. So "asked" is what a solver was told, in its own terms,
and "gap" is what it delivered; only rows of like gaps are equally good. "x netnum" is the median over that of netnum's
row that was asked for the same tolerance; below a peer's row is netnum again, asked for the gap that the peer reached.

The first run makes an environment of its own, `.venv-peers`, with the packages in `PACKAGES` and netnum built from this
checkout; it needs what `make demo` needs, and Python 3.11 for the peers. Run nothing else meanwhile: Clarabel takes
twice as long beside a busy core.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv-peers"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

# The peers, pinned. A further one (CasADi with IPOPT, ECOS, SciPy) is a line here, a function and a line in CONTENDERS.
PACKAGES = ["numpy==2.4.6", "scipy==1.17.1", "cvxpy==1.9.3", "clarabel==0.11.1"]

ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR", "RAYON")
}

FLOWS = [1_000, 10_000, 100_000]
SEED = 1


@dataclass
class Instance:
    """What everybody starts from: plain arrays, in Gbit/s."""

    capacities: Any
    indptr: Any
    indices: Any
    weights: Any


@dataclass
class Answer:
    """What everybody ends with, and how long the solver says that it took."""

    rates: Any
    prices: Any
    solver_seconds: float
    status: str


@dataclass
class Row:
    """One line of the table. Where `note` says why, there are no numbers."""

    who: str
    flows: int
    tol: float
    runs: int = 0
    median: float | None = None
    minimum: float | None = None
    solver: float | None = None
    gap: float | None = None
    overload: float | None = None
    ratio: float | None = None
    note: str = ""


# --- the contenders ---


def clarabel(instance: Instance, tol: float) -> Answer:
    """CVXPY's usual way to say it, with Clarabel: an exponential cone for every logarithm."""
    import cvxpy
    import numpy as np
    import scipy.sparse

    flows, links = len(instance.weights), len(instance.capacities)
    crossings = (np.ones(len(instance.indices)), instance.indices, instance.indptr)
    routing = scipy.sparse.csc_matrix(crossings, shape=(links, flows))
    rates = cvxpy.Variable(flows)
    within = routing @ rates <= instance.capacities
    utility = cvxpy.sum(cvxpy.multiply(instance.weights, cvxpy.log(rates)))
    problem = cvxpy.Problem(cvxpy.Maximize(utility), [within])
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_threads=1)
    return Answer(rates.value, within.dual_value, problem.solver_stats.solve_time, problem.status)


def netnum_by(method: str) -> Callable[[Instance, float], Answer]:
    """One of netnum's methods."""

    def solve(instance: Instance, tol: float) -> Answer:
        import netnum

        solution = netnum.solve(stated(instance), method, tol=tol)
        return Answer(solution.rates, solution.prices, solution.seconds, solution.status)

    return solve


#: Every row of the table: its name, the tolerance that is asked for, and who answers. netnum's rows come first, since
#: the others of the same tolerance are compared with them.
CONTENDERS: list[tuple[str, float, Callable[[Instance, float], Answer]]] = [
    ("netnum interior-point", 1e-9, netnum_by("interior-point")),
    ("cvxpy + clarabel", 1e-9, clarabel),
    ("netnum auto", 1e-6, netnum_by("auto")),
    ("cvxpy + clarabel", 1e-6, clarabel),
]

#: The row below a peer's: what netnum takes to be as good.
SAME_GAP = "  netnum auto, that gap"


# --- the comparison ---


def draw(flows: int) -> Instance:
    """The instance with so many flows."""
    import numpy as np

    import netnum

    net = netnum.topology.leaf_spine(racks=9, servers_per_rack=16, spines=4, server_capacity=10, fabric_capacity=40)
    paths = net.ecmp(*net.random_pairs(flows, seed=SEED), seed=SEED)
    random = np.random.default_rng(SEED)
    capacities = net.capacities * random.uniform(0.8, 1.2, len(net.capacities))
    return Instance(capacities, paths.indptr, paths.indices, random.uniform(0.5, 1.5, flows))


def stated(instance: Instance) -> Any:
    """The instance as a problem of netnum."""
    import netnum

    paths = netnum.Paths(instance.indptr, instance.indices)
    return netnum.Problem(instance.capacities, paths, netnum.AlphaFair(1.0, instance.weights))


def timed(run: Callable[[], Answer]) -> tuple[float, Answer]:
    gc.collect()
    began = time.perf_counter()
    answer = run()
    return time.perf_counter() - began, answer


def repetitions(seconds: float) -> int:
    """How many runs are timed after a first one that took so long."""
    return 15 if seconds < 0.1 else 5 if seconds < 2 else 3


def measure(who: str, tol: float, solve: Callable[[Instance, float], Answer], instance: Instance) -> Row:
    """Times one contender on one instance, and has its last answer judged."""
    import numpy as np

    import netnum

    row = Row(who, len(instance.weights), tol)
    try:
        warm_up, _ = timed(lambda: solve(instance, tol))
        runs = [timed(lambda: solve(instance, tol)) for _ in range(repetitions(warm_up))]
        answer = runs[-1][1]
        if answer.rates is None:
            raise RuntimeError(f"no answer: {answer.status}")
        # An interior-point method may leave a zero a little below zero.
        rates, prices = np.maximum(answer.rates, 0.0), np.maximum(answer.prices, 0.0)
        certificate = netnum.certify(stated(instance), rates, prices)
    except Exception as error:  # who fails, or is missing, is a row and not the end of the table
        row.note = f"{type(error).__name__}: {error}".splitlines()[0]
        return row
    seconds = [run for run, _ in runs]
    row.runs, row.median, row.minimum = len(runs), statistics.median(seconds), min(seconds)
    row.solver = statistics.median(answer.solver_seconds for _, answer in runs)
    row.gap, row.overload = certificate.relative_gap, certificate.overload
    row.note = "" if answer.status == "optimal" else answer.status
    return row


def compare(flows: list[int], methods: list[str]) -> Iterator[Row]:
    """Every row, in order, as soon as it is known; after a peer's, netnum's to the gap that the peer has reached."""
    for count in flows:
        instance = draw(count)
        ours: dict[float, float] = {}
        for who, tol, solve in CONTENDERS:
            if not any(word in who for word in methods):
                continue
            row = measure(who, tol, solve, instance)
            if who.startswith("netnum") and row.median is not None and not row.note:
                ours[tol] = row.median
            if row.median is not None and tol in ours:
                row.ratio = row.median / ours[tol]
            yield row
            if not who.startswith("netnum") and row.gap is not None and 0 < row.gap < 1:
                yield measure(SAME_GAP, row.gap, netnum_by("auto"), instance)


HEADER = (
    f"{'who':<24}{'flows':>8}{'asked':>8}{'seconds':>11}{'min':>11}{'solver':>11}{'gap':>10}{'overload':>10}"
    f"{'x netnum':>10}  runs"
)


def line(row: Row) -> str:
    start = f"{row.who:<24}{row.flows:>8}{row.tol:>8.0e}"
    if row.median is None:
        return f"{start}  {row.note}"
    times = "".join(f"{seconds:>11.5f}" for seconds in (row.median, row.minimum, row.solver))
    quality = "".join(f"{'-':>10}" if value is None else f"{value:>10.1e}" for value in (row.gap, row.overload))
    ratio = f"{'-':>10}" if row.ratio is None else f"{row.ratio:>10.1f}"
    return f"{start}{times}{quality}{ratio}{row.runs:>6}  {row.note}".rstrip()


def circumstances() -> dict[str, Any]:
    """What the numbers depend on."""
    from importlib.metadata import version

    packages = ["netnum", *(package.split("==")[0] for package in PACKAGES)]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": load,
        "python": platform.python_version(),
        "packages": {package: version(package) for package in packages},
        "seed": SEED,
    }


def processor() -> str:
    """The processor's name, where the system tells it."""
    names = Path("/proc/cpuinfo")
    if names.exists():
        for text in names.read_text().splitlines():
            if text.startswith("model name"):
                return text.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


# --- the environment ---


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
        call(PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES)
        stamp.write_text(wanted)
    print("building netnum", file=sys.stderr)
    call(PYTHON, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", ROOT)


def enter_environment() -> None:
    """Goes on as the same script in the environment, with one thread for every library."""
    for variable in ("PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX"):
        os.environ.pop(variable, None)
    os.environ.update(ONE_THREAD, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    make_environment()
    sys.exit(subprocess.run([str(PYTHON), *sys.argv]).returncode)


def counts(text: str) -> list[int]:
    """Numbers of flows, from the command line."""
    numbers = [int(number) for number in text.split(",")]
    if min(numbers) < 1:
        raise ValueError
    return numbers


def words(text: str) -> list[str]:
    """Parts of contenders' names, from the command line."""
    parts = text.split(",")
    for part in parts:
        if not any(part in who for who, _, _ in CONTENDERS):
            known = ", ".join(dict.fromkeys(who for who, _, _ in CONTENDERS))
            raise argparse.ArgumentTypeError(f"{part!r} is in no name, expected parts of {known}")
    return parts


def main() -> None:
    """Compares, and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1000 flows only")
    parser.add_argument("--flows", type=counts, help="how many flows, as in 1000,10000")
    parser.add_argument(
        "--methods", type=words, default=[""], help="only rows whose name has one of these, as in netnum,clarabel"
    )
    parser.add_argument("--json", type=Path, help="also write the rows into this file")
    arguments = parser.parse_args()
    flows = arguments.flows or (FLOWS[:1] if arguments.quick else FLOWS)
    if Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        enter_environment()

    about = circumstances()
    print(f"{about['processor']}, {about['cores']} cores, load {about['load']}, Python {about['python']}")
    print(", ".join(f"{name} {number}" for name, number in about["packages"].items()) + "\n")
    print(HEADER)
    rows = []
    for row in compare(flows, arguments.methods):
        print(line(row), flush=True)
        rows.append(row)
    if arguments.json:
        arguments.json.write_text(json.dumps({"about": about, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
