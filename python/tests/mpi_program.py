"""What every rank of `test_distributed.py` runs: the function of this file that the first argument names."""

import json
import os
import pickle
import signal
import sys
import threading
import time
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from mpi4py import MPI

import netnum

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()
CASES = Path(__file__).parents[2] / "crates/num-core/tests/cases"


def random_problem(seed, flows=300):
    net = netnum.topology.leaf_spine(racks=4, servers_per_rack=8, spines=2)
    rng = np.random.default_rng(seed)
    paths = net.ecmp(*net.random_pairs(flows, seed=seed), seed=seed)
    alpha = 1.0 if seed % 2 else rng.choice([0.5, 1.0, 2.0], flows)
    utility = {"alpha": alpha, "weight": rng.uniform(0.5, 2.0, flows)}
    caps = np.where(rng.random(flows) < 0.2, rng.uniform(1e7, 1e9, flows), np.inf)
    return net, [paths[path] for path in range(flows)], utility, caps


def part(net, paths, utility, caps, own):
    alpha = np.broadcast_to(utility["alpha"], len(caps))[own]
    utility = netnum.AlphaFair(alpha, weight=utility["weight"][own])
    return netnum.Problem(net, [paths[path] for path in own], utility, rate_cap=caps[own])


def drawn(seed):
    """A random problem of flows with one path each: power laws of one or several alpha, weights, half with caps."""
    rng = np.random.default_rng(seed)
    links, flows = int(rng.integers(3, 40)), int(rng.integers(3, 150))
    longest = min(links, 5)
    paths = [rng.choice(links, rng.integers(1, longest + 1), replace=False) for _ in range(flows)]
    alpha = [1.0, float(rng.choice([0.5, 2.0, 3.0])), rng.choice([0.5, 1.0, 2.0, 4.0], flows)][seed % 3]
    weight = 1.0 if seed % 5 == 0 else rng.uniform(0.5, 2.0, flows)
    caps = np.where(rng.random(flows) < 0.3, rng.uniform(0.01, 2.0, flows), np.inf) if seed % 2 else None
    return netnum.Problem(rng.uniform(1.0, 10.0, links), paths, netnum.AlphaFair(alpha, weight=weight), rate_cap=caps)


def part_of(problem, own):
    """Some of the flows of a problem, which have one path each."""
    fields = json.loads(problem.to_json())
    paths = fields["paths"]
    for of, names in ((fields, ("paths", "group", "cap", "flow_cap")), (fields["utility"], tuple(fields["utility"]))):
        for name in names:
            if isinstance(of.get(name), list):
                of[name] = [of[name][flow] for flow in own]
    assert len(paths) == problem.flows
    fields["group"] = list(range(len(own)))
    return netnum.Problem.from_json(json.dumps(fields))


def is_single_path(problem):
    return len(problem.paths) == problem.flows and (problem.group == np.arange(problem.flows)).all()


#: Rates that were compared, and those of them by 1e-12 of what their path carries.
COMPARED = Counter()
METHODS = ("fast-ned", "ned", "gradient", "fgm")
#: To the optimum, where the method gets there; and so few iterations that differences of rounding do not grow to 1e-6.
SETTINGS = {
    "to the end": {"stop": "kkt", "tol": 1e-8, "max_iterations": 2000},
    "20 iterations": {"tol": 1e-300, "max_iterations": 20},
}


def solve_alone(problem, method, length):
    """What the ranks are to find: status, rates and prices, or the kind of error."""
    try:
        solution = netnum.solve(problem, method, **SETTINGS[length])
    except netnum.NumError as error:
        return type(error).__name__, None, None
    return solution.status, solution.rates, solution.prices


def assert_near(found, expected, floor, where):
    errors = np.abs(found - expected) / np.maximum(np.maximum(found, expected), np.maximum(floor, 1e-300))
    assert errors.max(initial=0.0) <= 1e-6, (*where, errors.max())


def compare(name, problem, method, length, expected):
    """What became of a problem on the ranks; its answer is the same as in one process, or this raises."""
    own = np.arange(RANK, problem.flows, RANKS)
    status, rates, prices = expected
    try:
        found = netnum.distributed.solve(part_of(problem, own), method, comm=COMM, **SETTINGS[length])
    except netnum.NumError as error:
        # The error of the whole where this rank has the flow, or that of the rank that has it.
        assert rates is None and ("rank" in str(error) or type(error).__name__ == status), (name, method, error)
        return "refused"
    certificates = COMM.allgather((found.status, found.certificate.relative_gap, found.certificate.kkt_residual))
    assert len(set(certificates)) == 1, (name, method, certificates)
    assert rates is not None, (name, method, status, found)
    whole = np.empty(problem.flows)
    for rank, some in enumerate(COMM.allgather(found.rates)):
        whole[rank::RANKS] = some
    certificate = netnum.certify(problem, whole, found.prices)
    assert certificate.overload <= 1e-9, (name, method, certificate)
    if found.is_optimal and length == "to the end":
        # Not its KKT residual, in which a link counts as idle or as full by 1e-13 of its load.
        assert found.certificate.kkt_residual <= 1e-8, (name, method, found)
        assert certificate.relative_gap <= 1e-7, (name, method, certificate)
    if length == "to the end":
        assert found.status == status, (name, method, found.status, status)
        if not found.is_optimal:
            # Where a method does not converge, two thousand iterations later its rates are anything.
            return f"{status}, in one process too"
    if length == "20 iterations" and RANKS > 1:
        # What a limit leaves idle is filled in one process alone. Prices are those of the iteration all the same, but
        # where little is proven the best may be those before the first one: of what is filled, or of what is not.
        gaps = [netnum.certify(problem, *some).relative_gap for some in ((rates, prices), (whole, found.prices))]
        first = netnum.Solver(problem, method).prices
        is_first = any(np.allclose(some, first, rtol=1e-9, atol=0.0) for some in (prices, found.prices))
        if is_first and min(gaps) > 0.5:
            return f"the first prices, {found.status}"
        assert_near(found.prices, prices, 1e-12 * prices.max(initial=0.0), (name, method, "prices"))
        return f"the same prices, {found.status}"
    carries = np.array([problem.capacities[links].min() for links in problem.paths])
    COMPARED.update(flows=len(rates), by_path=int((np.maximum(whole, rates) < 1e-12 * carries).sum()))
    assert_near(whole, rates, 1e-12 * carries, (name, method, length))
    return f"the same, {found.status}"


def agrees():
    """Reference cases (all, or every so many) and so many random problems, by every method that moves prices."""
    count, every = int(sys.argv[2]), int(sys.argv[3])
    files = sorted(CASES.glob("*.json"))[::every]
    cases = [(file.stem, netnum.Problem.from_json(file.read_text(encoding="utf-8"))) for file in files]
    problems = [case for case in cases if is_single_path(case[1])] + [(seed, drawn(seed)) for seed in range(count)]
    tasks = [(*problem, *how) for problem in problems for how in product(METHODS, SETTINGS)]
    # Every rank solves some of them without the others; then all solve all together.
    alone = {place: solve_alone(*tasks[place][1:]) for place in range(RANK, len(tasks), RANKS)}
    alone = {place: found for some in COMM.allgather(alone) for place, found in some.items()}
    found = Counter((*task[2:], compare(*task, alone[place])) for place, task in enumerate(tasks))
    if RANK == 0:
        print(f"{COMPARED['by_path']} of {COMPARED['flows']} rates are compared by 1e-12 of what the path carries")
        print(f"{len(problems)} problems, {len(cases) - len(problems) + count} cases of several paths left out")
        for (method, length, what), times in sorted(found.items()):
            print(f"{method}, {length}: {times} {what}")


def again():
    given = random_problem(7)
    solve = lambda: netnum.distributed.solve(part(*given, np.arange(RANK, 300, RANKS)))  # noqa: E731
    np.testing.assert_array_equal(solve().rates, solve().rates)


def raised(work):
    try:
        work()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def say(*words):
    """A line in one piece: the launcher mixes the pieces of all ranks."""
    os.write(1, (" ".join(map(str, (RANK, *words))) + "\n").encode())


def one_link(capacity=1.0, links=1, utility=None):
    return netnum.Problem([capacity] * links, [[0]], utility or netnum.AlphaFair(1.0))


def fabric_problem(factor):
    """One flow over a fabric, one of whose links is so many times as large."""
    net = netnum.topology.leaf_spine(racks=2, servers_per_rack=2, spines=1, server_capacity=1e10)
    capacities = np.array(net.capacities)
    capacities[3] *= factor
    return netnum.Problem(net.with_capacities(capacities), net.ecmp([0], [1]), netnum.AlphaFair(1.0))


def parts():
    """Every rank says what its solution is; one from a pickle says the same."""
    problem = netnum.Problem([1.0, 2.0], [[0]] * (1 + RANK), netnum.AlphaFair(1.0))
    solution = netnum.distributed.solve(problem)
    again = pickle.loads(pickle.dumps(solution))
    assert solution.part == again.part == (RANK, RANKS) and repr(again) == repr(solution)
    alone = netnum.distributed.solve(problem, comm=MPI.COMM_SELF)
    assert alone.part is None and " rank" not in repr(alone)
    say(repr(solution), solution._repr_html_())


def three():
    """What three ranks raise that were given different things, or make different calls."""
    solve = netnum.distributed.solve
    allocator = netnum.Allocator([1.0], comm=COMM)
    first, second = netnum.Allocator([1.0, 2.0], comm=COMM), netnum.Allocator([1.0, 2.0], comm=COMM)

    def leave():
        with first:
            if RANK == 1:
                first.tick()

    tries = {
        "tol": lambda: solve(one_link(), tol=1e-4 if RANK == 2 else 1e-6),
        "capacity": lambda: solve(one_link(1.0 + RANK)),
        "calls": lambda: allocator.tick() if RANK == 1 else solve(one_link()),
        "leaves": leave,
        "swapped": lambda: (second if RANK == 1 else first).tick(),
    }
    say(raised(tries[sys.argv[2]]))
    # The next call is one of all ranks again.
    assert solve(one_link()).is_optimal


def refusals():
    """One line for each bad input: what this rank raises. Between two of them all ranks solve a problem."""
    solve = netnum.distributed.solve
    good, other = one_link(), RANK == 1

    def callback(progress):
        if other:
            raise RuntimeError("on purpose")

    alone = MPI.COMM_WORLD.Split(RANK)
    between = alone.Create_intercomm(0, COMM, 1 - RANK) if RANKS == 2 else None
    two_paths = netnum.Problem([1.0, 1.0], [[0], [1]], netnum.AlphaFair(np.inf), group=[0, 0])
    tries = {
        "comm": lambda: solve(good, comm=3),
        "null": lambda: solve(good, comm=MPI.COMM_NULL),
        "intercomm": lambda: solve(good, comm=between or MPI.COMM_NULL),
        "problem": lambda: solve([[0]] if other else good),
        "capacity": lambda: solve(one_link(1.0 + RANK)),
        "links": lambda: solve(one_link(links=1 + other)),
        "method": lambda: solve(good, "ned" if other else "gradient"),
        "option": lambda: solve(good, "ned", gamma=0.5 if other else 0.4),
        "options": lambda: solve(good, "ned", **({"gamma": 0.5} if other else {})),
        "option-name": lambda: solve(good, "ned", **({"gama": 0.4} if other else {"gamma": 0.4})),
        "no-option": lambda: solve(good, "ned", delta=1.0),
        "tol": lambda: solve(good, tol=1e-5 if other else 1e-4),
        "stop": lambda: solve(good, stop="gap" if other else "kkt"),
        "limit": lambda: solve(good, **({"time_limit": 9.0} if other else {})),
        "iterations": lambda: solve(good, max_iterations=10 + other),
        "start": lambda: solve(good, warm_start=[1.0 + other]),
        "start-here": lambda: solve(good, warm_start=[1.0] if other else None),
        "start-length": lambda: solve(good, warm_start=[1.0, 2.0]),
        "start-nan": lambda: solve(good, warm_start=[np.nan if other else 1.0]),
        "type": lambda: solve(good, tol="much" if other else 1e-6),
        "threads": lambda: solve(good, threads=0 if other else 1),
        "unknown": lambda: solve(good, "magic"),
        "interior-point": lambda: solve(good, "interior-point"),
        "max-min": lambda: solve(one_link(utility=netnum.AlphaFair(np.inf))),
        "max-min-here": lambda: solve(one_link(utility=netnum.AlphaFair(np.inf if other else 1.0))),
        "linear": lambda: solve(one_link(utility=netnum.Linear(1.0))),
        "link-name": lambda: solve(fabric_problem(1.0 + RANK)),
        "comm-as-method": lambda: solve(good, COMM),
        "comm-of-solve": lambda: netnum.solve(good, comm=COMM),
        "comm-of-solver": lambda: netnum.Solver(good, comm=COMM),
        "comm-of-solve-many": lambda: netnum.solve_many([good], comm=COMM),
        "several": lambda: solve(two_paths),
        "callback": lambda: solve(good, callback=callback),
    }
    for name, work in tries.items():
        say(name, raised(work))
        COMM.Barrier()
        assert solve(good).is_optimal, name
    empty = netnum.Problem([1.0], [], netnum.AlphaFair(1.0))
    found = solve(empty if other else good, comm=COMM)
    assert found.is_optimal and len(found.rates) == 1 - other
    spread = np.repeat(good.capacities, 2)[::2]
    assert solve(good, warm_start=spread).is_optimal


def interrupted():
    def callback(progress):
        if RANK == 1 and progress.iteration == 5:
            os.kill(os.getpid(), signal.SIGINT)

    given = random_problem(3)
    endless = {"method": "gradient", "tol": 1e-300, "max_iterations": 10**9}
    solve = lambda: netnum.distributed.solve(  # noqa: E731
        part(*given, np.arange(RANK, 300, RANKS)), callback=callback, **endless
    )
    say(raised(solve))


class Votes(MPI.Intracomm):
    """Counts the votes, and raises on rank 1 at the end of one of them."""

    count = 0
    interrupted = None

    def Iallreduce(self, *arguments):
        Votes.count += 1
        request = super().Iallreduce(*arguments)
        return Interrupted(request) if Votes.count == Votes.interrupted and RANK == 1 else request


class Interrupted:
    def __init__(self, request):
        self.request = request

    def Wait(self):
        self.request.Wait()
        raise KeyboardInterrupt


def late():
    """Rank 1 is interrupted in the last reduction: the others have their answer, and the next call works."""
    comm = Votes(COMM.Dup())
    solve = lambda: netnum.distributed.solve(one_link(), comm=comm)  # noqa: E731
    solve()
    Votes.interrupted = 2 * Votes.count
    say(raised(solve))
    assert Votes.count == Votes.interrupted and solve().is_optimal


def constructed():
    """A signal comes to rank 1 while it waits for the others, where a communicator is duplicated or has been before."""
    comm = COMM.Dup()
    if sys.argv[2] == "allocator again":
        netnum.Allocator([1.0], comm=comm)

    def work():
        if sys.argv[2] == "solve":
            return netnum.distributed.solve(one_link(), comm=comm)
        with netnum.Allocator([1.0], comm=comm) as allocator:
            return allocator.tick(3)

    COMM.Barrier()
    if RANK == 1:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        time.sleep(1.5)
    say(raised(work))
    assert netnum.distributed.solve(one_link(), comm=comm).is_optimal


class LateSums(MPI.Intracomm):
    """Its sums come late, after the first ones."""

    wait = False

    def Allreduce(self, *arguments):
        if LateSums.wait:
            time.sleep(1)
        super().Allreduce(*arguments)


def ticked():
    """A signal comes to rank 1 in the last reduction of a tick."""
    comm = COMM.Dup()
    # No Python code runs on rank 1 between two reductions.
    allocator = netnum.Allocator([1.0], comm=comm if RANK == 1 else LateSums(comm))
    allocator.tick()
    COMM.Barrier()
    LateSums.wait = True
    if RANK == 1:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    def work():
        allocator.tick()
        allocator.tick()

    say(raised(work))


class Logarithm:
    """A utility that raises on rank 1 in one of its functions."""

    def __init__(self, raises):
        self.raises = raises

    def answer(self, name, answer):
        if RANK == 1 and name == self.raises:
            raise FileNotFoundError("no such file")
        return answer

    def value(self, rate):
        return self.answer("value", np.log(rate))

    def marginal(self, rate):
        return self.answer("marginal", 1 / rate)

    def demand(self, price):
        return self.answer("demand", 1 / price)

    def demand_slope(self, price):
        return self.answer("demand_slope", -1 / price**2)


def user():
    """What the ranks raise where a utility does on rank 1, in each of its functions."""
    for name in ("value", "marginal", "demand", "demand_slope"):
        problem = netnum.Problem([1.0, 2.0], [[0], [0, 1]], Logarithm(name))
        say(name, raised(lambda problem=problem: netnum.distributed.solve(problem)))


def killed():
    def callback(progress):
        if RANK == 1 and progress.iteration == 5:
            print("pids", *pids, time.time(), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    pids = COMM.allgather(os.getpid())
    given = random_problem(3)
    own = np.arange(RANK, 300, RANKS)
    endless = {"method": "gradient", "tol": 1e-300, "max_iterations": 10**9}
    netnum.distributed.solve(part(*given, own), callback=callback, **endless)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
