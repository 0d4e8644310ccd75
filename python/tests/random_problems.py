"""Random problems of every family, solved by netnum and judged by a second opinion (`second_opinion.py`).

    python python/tests/random_problems.py --count 100000 --seed 1 --jobs 2 --keep kept
    python python/tests/random_problems.py --replay kept/*.json

A problem is drawn from (seed, number) alone, whatever the number of jobs. What counts as wrong:

- a false `optimal`: a gap, a rate or an overload that the second opinion proves to be beyond what was promised;
- an exception, a panic, a crash or a hang of a valid problem; more than a second past the time limit;
- under `auto`, more than 1 in 1000 of any kind with up to 8 decades that ends in another status than `optimal`.

Each of those is kept as a file, if a folder is named, and ends the script with code 1.
"""

import argparse
import json
import math
import multiprocessing
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np
import second_opinion
from second_opinion import Fields

import netnum

#: What `solve` promises by default: a gap of at most 1e-6, and rates that are right to a moderate accuracy.
GAP, RATES = 1e-6, 1e-3
#: Optimality conditions that hold to some accuracy give rates to a few times that.
SLACK = 10
#: Rounding: loads are summed in another order here.
OVERLOAD = 1e-9
#: Later classes keep the rates of those before them to this part.
KEPT = 1e-9
TIME_LIMIT, LATE, WATCHDOG = 5.0, 1.0, 60.0
#: Decades of capacities and weights up to which `auto` has to end as optimal.
MILD = 8


# --- drawing ---


class Draw:
    """Draws one problem."""

    def __init__(self, seed: int, number: int):
        self.rng = np.random.default_rng([seed, number])
        self.seed, self.number = seed, number

    def problem(self) -> "Case":
        rng = self.rng
        kind = str(rng.choice(list(KINDS), p=np.array(list(KINDS.values())) / sum(KINDS.values())))
        several = rng.random() < 0.35
        flows = self.flows()
        of_weights = self.decades([0.3, 0.35, 0.2, 0.15], 12)
        of_capacities = self.decades([0.4, 0.25, 0.2, 0.15], 6)
        is_unit = rng.random() < 0.12
        if is_unit:
            of_weights = of_capacities = 0.0
        links, path = self.network(flows)
        unit = 10.0 ** float(rng.choice([0, 0, 0, 10, -9]))
        capacity = unit * self.spread(links, of_capacities)
        if not is_unit and rng.random() < 0.3:
            capacity *= rng.uniform(0.5, 2, links)
        paths, group = [], []
        for flow in range(flows):
            for own in path(int(rng.integers(1, 5)) if several else 1):
                paths.append(own)
                group.append(flow)
        if several and rng.random() < 0.1:
            paths[-1], group[-1] = list(paths[0]), group[-1]
        fields: Fields = {"capacity": capacity.tolist(), "paths": paths, "group": group}
        share = self.equal_shares(fields, flows)
        fields["utility"] = self.utility(kind, share, of_weights, is_unit)
        if rng.random() < 0.3:
            of_path = share[np.array(group)]
            caps = of_path * 10 ** rng.uniform(-1.5, 0.7, len(paths))
            capped = rng.random(len(paths)) < rng.choice([0.2, 0.5, 1.0])
            fields["cap"] = [float(cap) if some else None for cap, some in zip(caps, capped, strict=True)]
        if rng.random() < 0.08:
            for link in rng.choice(links, min(links, int(rng.integers(1, 3))), replace=False):
                fields["capacity"][int(link)] = 0.0
        solve = self.settings(kind, len(paths) == flows)
        # Last, so that the problems before there were any are the same.
        if rng.random() < 0.25:
            caps = share * 10 ** rng.uniform(-1.5, 0.7, flows)
            capped = rng.random(flows) < rng.choice([0.2, 0.5, 1.0])
            fields["flow_cap"] = [float(cap) if some else None for cap, some in zip(caps, capped, strict=True)]
        self.constrain(fields, share, "max-min" in kind)
        name = f"{kind}, {'several paths' if len(paths) > flows else 'one path'}"
        takes = solve.get("method", "interior-point") == "interior-point"
        if takes and rng.random() < 0.12:
            fields["priority"] = rng.choice(int(rng.integers(2, 5)), flows).astype(float).tolist()
            name += ", classes with costs" if "path_cost" in fields else ", classes"
        case = Case(fields, solve, name, of_weights + of_capacities, self.seed, self.number)
        if "flow_floor" in fields and rng.random() < 0.4:
            self.fill(case)
        return case

    def fill(self, case: "Case"):
        """Floors that are nearly the largest ones that fit: they leave links a tenth to a millionth."""
        floors = np.array(case.fields["flow_floor"])
        if floors.any():
            demands = case.problem.with_priorities(None).with_flow_floors(None).with_flow_caps(floors)
            most = netnum.concurrent_flow(demands).fraction
            # Without a path that is open none fit, and caps limit them too.
            most = min(most, min((cap / floor for cap, floor in self.capped(case.fields, floors)), default=np.inf))
            if 0 < most < np.inf:
                case.fields["flow_floor"] = (floors * most * (1 - 10 ** -self.rng.uniform(1, 6))).tolist()

    def capped(self, fields: Fields, floors):
        """The cap and the floor of every flow that has both."""
        caps = fields.get("flow_cap") or [None] * len(floors)
        return [(cap, floor) for cap, floor in zip(caps, floors, strict=True) if cap is not None and floor > 0]

    def constrain(self, fields: Fields, share, is_max_min: bool):
        """Coefficients, floors and costs."""
        rng, paths, flows = self.rng, fields["paths"], len(share)
        if rng.random() < 0.3:
            halves = rng.random() < 0.4
            decades = rng.uniform(0, 2)

            def use(path):
                some = rng.choice([1.0, 0.5, 0.25, 1 / 3], len(path)) if halves else self.spread(len(path), decades)
                return some.tolist()

            fields["coefficient"] = [use(path) for path in paths]
        if is_max_min:
            return
        if rng.random() < 0.2:
            caps = np.array([np.inf if cap is None else cap for cap in fields.get("flow_cap") or [None] * flows])
            floors = np.minimum(share * 10 ** rng.uniform(-1.5, 0.3, flows), caps)
            floors *= rng.random(flows) < rng.choice([0.2, 0.5, 1.0])
            fields["flow_floor"] = floors.tolist()
        if rng.random() < 0.15:
            costs = 10 ** rng.uniform(-2, 2, len(paths)) * (rng.random(len(paths)) < 0.7)
            fields["path_cost"] = costs.tolist()

    def flows(self) -> int:
        size = self.rng.random()
        if size < 0.03:
            return 1
        if size < 0.04:
            return int(self.rng.integers(100, 500))
        return int(np.exp(self.rng.uniform(np.log(2), np.log(60))))

    def decades(self, odds, most) -> float:
        """None, or up to a third, two thirds or all of the most."""
        part = int(self.rng.choice(4, p=odds))
        return 0.0 if part == 0 else float(self.rng.uniform((part - 1) / 3, part / 3) * most)

    def spread(self, count: int, decades: float):
        return 10 ** (self.rng.uniform(-0.5, 0.5, count) * decades)

    def network(self, flows: int):
        """The number of links, and a function that draws the paths of a flow."""
        rng = self.rng
        shape = rng.choice(["link", "line", "ring", "random", "leaf-spine", "parking lot", "graph"])
        size = int(rng.integers(1, max(3, min(40, 2 * flows)) + 1))
        if shape == "link":
            return 1, lambda count: [[0]] * count
        if shape == "line":

            def interval(_):
                start, stop = sorted(rng.choice(size + 1, 2, replace=False))
                return list(range(int(start), int(stop)))

            return size, lambda count: [interval(of) for of in range(count)]
        if shape == "ring":
            size = max(size, 3)

            def arcs(count):
                start, stop = (int(node) for node in rng.choice(size, 2, replace=False))
                forth = [(start + step) % size for step in range((stop - start) % size)]
                back = [link for link in range(size) if link not in forth]
                return [forth, back][: min(count, 2)]

            return size, arcs
        if shape == "random":
            longest = min(size, 6)

            def links(_):
                return [int(link) for link in rng.choice(size, int(rng.integers(1, longest + 1)), replace=False)]

            return size, lambda count: [links(of) for of in range(count)]
        if shape == "parking lot":
            long = [list(range(size))]

            def lot(count):
                if rng.random() < 0.2:
                    return [list(path) for path in long]
                return [[int(rng.integers(size))] for _ in range(count)]

            return size, lot
        if shape == "leaf-spine":
            racks, servers, spines = (int(rng.integers(2, most)) for most in (5, 6, 5))
            count_servers = racks * servers
            ups = 2 * count_servers

            def through(count):
                source, target = (int(server) for server in rng.choice(count_servers, 2, replace=False))
                first, last = source // servers, target // servers
                if first == last:
                    return [[source, count_servers + target]]
                over = rng.choice(spines, min(count, spines), replace=False)
                up = [ups + first * spines + int(spine) for spine in over]
                down = [ups + racks * spines + last * spines + int(spine) for spine in over]
                return [[source, u, d, count_servers + target] for u, d in zip(up, down, strict=True)]

            return ups + 2 * racks * spines, through
        nodes = max(3, size // 2)
        edges = [(node, int(rng.integers(node))) for node in range(1, nodes)]
        edges += [tuple(int(node) for node in rng.choice(nodes, 2, replace=False)) for _ in range(nodes)]
        directed = edges + [(two, one) for one, two in edges]
        leaving = defaultdict(list)
        for link, (one, _) in enumerate(directed):
            leaving[one].append(link)

        def walk(start):
            path, seen = [], {start}
            while len(path) < 6:
                onward = [link for link in leaving[start] if directed[link][1] not in seen]
                if not onward or (path and rng.random() < 0.25):
                    break
                link = int(rng.choice(onward))
                start = directed[link][1]
                seen.add(start)
                path.append(link)
            return path

        return len(directed), lambda count: [walk(int(rng.integers(nodes))) for _ in range(count)]

    @staticmethod
    def equal_shares(fields: Fields, flows: int):
        """An equal share of the tightest link of each path, summed over the paths of a flow."""
        users = np.zeros(len(fields["capacity"]))
        for path in fields["paths"]:
            users[path] += 1
        capacity = np.array(fields["capacity"])
        shares = np.zeros(flows)
        for path, flow in zip(fields["paths"], fields["group"], strict=True):
            shares[flow] += min(capacity[link] / users[link] for link in path)
        return shares

    def utility(self, kind: str, share, decades: float, is_unit: bool) -> Fields:
        """One column per parameter. `share`: rates of the right size for each flow; `decades`: how weights spread."""
        rng, flows = self.rng, len(share)
        typical = float(np.exp(np.log(share).mean()))
        #: What a rate at the share is worth beside others: how U' spreads.
        worth = self.spread(flows, min(decades, 8))
        weight = np.ones(flows) if is_unit else self.spread(flows, decades)
        columns: Fields = {
            name: [None] * flows for name in ("kind", "weight", "alpha", "size", "eps", "breakpoints", "tail_slope")
        }

        def put(flow, **values):
            for name, value in values.items():
                columns[name][flow] = value if isinstance(value, str | list) else float(value)

        if kind in ("alpha-fair", "max-min"):
            alpha = self.alpha() if kind == "alpha-fair" else None
            for flow in range(flows):
                if alpha is None:
                    put(flow, kind="max_min", weight=weight[flow])
                else:
                    put(flow, kind="alpha_fair", weight=weight[flow], alpha=alpha)
            return columns
        sharing = rng.random() < 0.3
        families = {
            "mixed alpha": ["alpha_fair"],
            "linear": ["linear"],
            "MinFct": ["fct"],
            "bandwidth functions": ["bandwidth_function"],
            "max-min bandwidth functions": ["max_min_bandwidth_function"],
            "user's own": ["user_log", "user_deadline"],
            "mixed": ["alpha_fair", "linear", "fct", "bandwidth_function", "user_log", "user_deadline"],
        }[kind]
        if kind == "mixed":
            families = list(rng.choice(families, int(rng.integers(2, 4)), replace=False))
        curve_alpha = float(rng.choice([0.5, 1, 2, 5, 10]))
        curve = None
        for flow in range(flows):
            family = str(rng.choice(families))
            at = share[flow] if kind != "mixed" else typical
            if family == "alpha_fair":
                alpha = self.alpha()
                put(flow, kind=family, alpha=alpha, weight=at * weight[flow] ** min(1.0, 1 / alpha))
            elif family == "linear":
                put(flow, kind=family, weight=1.0 if is_unit else worth[flow])
            elif family == "fct":
                eps = float(rng.choice([0.125, 0.125, 0.25, 0.5]))
                put(flow, kind=family, eps=eps, size=(1 - eps) * at**-eps * weight[flow] ** eps)
            elif family in ("user_log", "user_deadline"):
                size = at * 10 ** rng.uniform(-1, 1)
                put(flow, kind=family, size=size, weight=size * worth[flow] ** 0.5)
            else:
                alpha = np.inf if family.startswith("max") else curve_alpha
                if curve is None or not sharing:
                    of = worth[flow] ** (-1 / min(alpha, 5)) if not is_unit else 1.0
                    curve = self.curve(at, of)
                points, tail = curve
                put(flow, kind=family, breakpoints=points, tail_slope=tail)
                if np.isfinite(alpha):
                    put(flow, alpha=alpha)
        return columns

    def alpha(self) -> float:
        rng = self.rng
        if rng.random() < 0.5:
            return float(rng.choice([0.125, 0.5, 1, 1, 2, 5, 8, 10]))
        return float(10 ** rng.uniform(-1, 1))

    def curve(self, bandwidth: float, fair_share: float):
        """Points of a bandwidth function that passes near a bandwidth at a fair share, and the slope after them."""
        rng = self.rng
        points = int(rng.integers(2, 6))
        shares = np.cumsum(rng.uniform(0.1, 1, points)) - (0.1 if rng.random() < 0.3 else 0)
        rises = rng.uniform(0.1, 1, points) * (rng.random(points) > 0.25)
        if rng.random() < 0.7:
            shares -= shares[0]
        rises[0] = 0
        if not rises.any():
            rises[-1] = 1
        heights = np.cumsum(rises)
        scale = 10 ** rng.uniform(-0.7, 0.7)
        shares, heights = shares * fair_share, heights * bandwidth * scale
        tail = 0.0 if rng.random() < 0.6 else float(heights[-1] / shares[-1])
        return [[float(share), float(height)] for share, height in zip(shares, heights, strict=True)], tail

    def settings(self, kind: str, is_single_path: bool) -> Fields:
        """Mostly the default; then single rates to a higher accuracy, and other methods that take the problem."""
        rng = self.rng
        what = rng.random()
        if what < 0.7 or "max-min" in kind:
            return {}
        if what < 0.85:
            return {"stop": "kkt"}
        methods = ["interior-point"]
        if kind not in ("linear", "mixed"):
            methods += ["fast-ned"]
            methods += ["ned", "fgm", "gradient", "newton-like"] if is_single_path else []
        stop = {"stop": "kkt"} if rng.random() < 0.3 else {}
        return {"method": str(rng.choice(methods)), "max_iterations": 2000, **stop}


#: How often each is drawn.
KINDS = {
    "alpha-fair": 3,
    "mixed alpha": 2,
    "max-min": 2,
    "max-min bandwidth functions": 1,
    "linear": 2,
    "MinFct": 1,
    "bandwidth functions": 2,
    "user's own": 1,
    "mixed": 2,
}


@dataclass
class Case:
    """A problem, how it is solved, and where it came from."""

    fields: Fields
    solve: Fields
    kind: str
    decades: float
    seed: int
    number: int

    def to_json(self, outcome: "Outcome") -> str:
        found = {"outcome": outcome.word, "detail": outcome.detail}
        return json.dumps({"problem": self.fields, "solve": self.solve, **found, **self.origin()})

    def origin(self) -> Fields:
        return {"kind": self.kind, "decades": self.decades, "seed": self.seed, "number": self.number}

    @staticmethod
    def from_json(text: str) -> "Case":
        kept = json.loads(text)
        origin = [kept.get(name, default) for name, default in [("decades", 0.0), ("seed", 0), ("number", 0)]]
        return Case(kept["problem"], kept.get("solve", {}), kept.get("kind", "kept"), *origin)

    @property
    def problem(self) -> netnum.Problem:
        if not any(kind.startswith("user") for kind in self.fields["utility"]["kind"]):
            return netnum.Problem.from_json(json.dumps(self.fields))
        caps = {
            name: [np.inf if cap is None else cap for cap in self.fields[field]]
            for name, field in [("rate_cap", "cap"), ("flow_cap", "flow_cap")]
            if self.fields.get(field)
        }
        caps |= {name: self.fields[name] for name in ("flow_floor", "path_cost", "priority") if name in self.fields}
        lists = self.fields["paths"]
        indptr = np.cumsum([0, *(len(path) for path in lists)])
        uses = np.concatenate(self.fields["coefficient"]) if "coefficient" in self.fields else None
        paths = netnum.Paths(indptr, np.concatenate(lists), coefficients=uses)
        utilities = [utility_of(self.fields["utility"], flow) for flow in range(len(self.fields["utility"]["kind"]))]
        return netnum.Problem(
            self.fields["capacity"],
            paths,
            utilities,
            group=self.fields["group"],
            **caps,
        )


def utility_of(columns: Fields, flow: int):
    """The utility of one flow, where some are a user's own and the problem cannot be text."""
    at = {name: values[flow] for name, values in columns.items()}
    match at["kind"]:
        case "alpha_fair":
            return netnum.AlphaFair(at["alpha"], at["weight"])
        case "linear":
            return netnum.Linear(at["weight"])
        case "fct":
            return netnum.MinFct(at["size"], at["eps"])
        case "user_log":
            return UserLog(at["weight"], at["size"])
        case "user_deadline":
            return UserDeadline(at["weight"], at["size"])
        case _:
            shares, bandwidths = zip(*at["breakpoints"], strict=True)
            return netnum.BandwidthFunction(shares, bandwidths, at["alpha"], at["tail_slope"])


class UserLog:
    """w log(1 + x/s), as a user writes it."""

    def __init__(self, weight, size):
        self.weight, self.size = weight, size

    def value(self, rates):
        return self.weight * np.log1p(rates / self.size)

    def marginal(self, rates):
        return self.weight / (self.size + rates)

    def demand(self, prices):
        return np.maximum(self.weight / prices - self.size, 0)

    def demand_slope(self, prices):
        return np.where(self.weight / prices > self.size, -self.weight / prices**2, 0)


class UserDeadline:
    """w (1 − exp(−4x/s)), as a user writes it: nearly everything is had at the rate s."""

    def __init__(self, weight, size):
        self.weight, self.size = weight, size

    def value(self, rates):
        return -self.weight * np.expm1(-4 * rates / self.size)

    def marginal(self, rates):
        return 4 * self.weight / self.size * np.exp(-4 * rates / self.size)

    def demand(self, prices):
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(4 * self.weight / (self.size * prices)), 0) * self.size / 4

    def demand_slope(self, prices):
        return np.where(4 * self.weight / self.size > prices, -self.size / (4 * prices), 0)


# --- judging ---


@dataclass
class Outcome:
    """How a problem ended: a status, or what is wrong with the answer."""

    status: str
    false: str = ""
    detail: str = ""
    seconds: float = 0.0
    #: Flows whose rates were looked at; those of them that a price within the accuracy explains, and undecided ones.
    judged: int = 0
    soft: int = 0
    open: int = 0

    @property
    def word(self) -> str:
        return self.false or self.status


def solve(case: Case) -> Outcome:
    """Solves a problem and judges the answer."""
    began = time.perf_counter()
    try:
        with np.errstate(all="ignore"):
            problem = case.problem
            solution = netnum.solve(problem, time_limit=TIME_LIMIT, **case.solve)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic is no Exception
        return Outcome("error", type(error).__name__, str(error)[:300], time.perf_counter() - began)
    seconds = time.perf_counter() - began
    outcome = judge(case, problem, solution)
    outcome.seconds = seconds
    if seconds > TIME_LIMIT + LATE and not outcome.false:
        outcome.false, outcome.detail = "late", f"{seconds:.1f} s with a limit of {TIME_LIMIT:g} s"
    return outcome


def judge(case: Case, problem: netnum.Problem, solution: netnum.Solution) -> Outcome:
    outcome = Outcome(solution.status)
    own = second_opinion.Own(case.fields)
    if solution.status == "infeasible":
        judge_infeasible(own, solution, outcome)
        return outcome
    overload = own.overload(solution.rates)
    if overload > OVERLOAD:
        outcome.false, outcome.detail = "not feasible", f"overload {overload:.1e}"
    elif not np.all(np.isfinite(solution.prices)):
        outcome.false, outcome.detail = "not finite", "a price is not a number"
    elif solution.classes:
        judge_classes(case, problem, solution, outcome)
    elif solution.is_optimal:
        outcome.judged = int(own.served.sum())
        by_kkt = case.solve.get("stop") == "kkt"
        accuracy = SLACK * (GAP if by_kkt else RATES)
        if own.worth.is_max_min:
            judge_max_min(case, own, solution, outcome)
        else:
            judge_utility(case, own, problem, solution, outcome, accuracy)
    return outcome


def judge_classes(case: Case, problem: netnum.Problem, solution: netnum.Solution, outcome: Outcome):
    """Each class by itself: those before it keep their rates, those after it have their floors."""
    expected = sorted(set(case.fields["priority"]))
    found = [one.priority for one in solution.classes]
    if found != expected[: len(found)] or (solution.is_optimal and found != expected):
        outcome.false, outcome.detail = "false: classes", f"they are {found}, not {expected}"
        return
    accuracy = SLACK * (GAP if case.solve.get("stop") == "kkt" else RATES)
    for one in solution.classes:
        fields, rates = second_opinion.stage(case.fields, one.priority, solution.rates)
        own = second_opinion.Own(fields)
        starved = np.intersect1d(one.flows, solution.failed_flows)
        starved = starved[own.served[starved]]
        if len(starved):
            share = second_opinion.share_of_starved(own, starved, rates)
            paths = np.bincount(own.group)[starved].max()
            if share is None:
                outcome.open += len(starved)
            elif not share <= second_opinion.STARVED * paths:
                detail = f"flow {starved[0]} and {len(starved) - 1} others could have {share:.1e} each"
                outcome.false, outcome.detail = "false: starved", detail
                return
            fields, rates = second_opinion.stage(case.fields, one.priority, solution.rates, starved)
            own = second_opinion.Own(fields)
        overload = own.overload(rates)
        if overload > OVERLOAD:
            outcome.false, outcome.detail = "not feasible", f"overload {overload:.1e} of priority {one.priority:g}"
        elif one.status == "optimal":
            outcome.judged += int(own.served[one.flows].sum())
            is_last = one.priority == expected[-1]
            answer = Answer(rates, one.prices, one.gap, second_opinion.MISSED if is_last else KEPT)
            if own.worth.is_max_min:
                judge_max_min(case, own, answer, outcome)
            else:
                judge_utility(case, own, None, answer, outcome, accuracy)
            if outcome.false == "false: gap" and not is_last and not own.is_single_path:
                judge_cheapest_split(replace(case, fields=fields), own, answer, outcome, accuracy)
        if outcome.false:
            outcome.detail += f", priority {one.priority:g}"
            return


def judge_infeasible(own, solution, outcome: Outcome):
    part, proof = second_opinion.part_of_floors(own), solution.infeasibility
    if not part < 1 + 1e-9:
        outcome.false, outcome.detail = "false: infeasible", f"the part {part:.6g} of the floors fits"
    elif not second_opinion.proves_infeasibility(own, proof):
        outcome.false, outcome.detail = "false: proof", "the inequality does not hold, or without a flow it still does"
    elif not abs(proof.fraction - part) <= 1e-6 * part:
        outcome.false, outcome.detail = "false: part", f"{proof.fraction:.6g} is not {part:.6g}"


@dataclass
class Answer:
    """What is judged of a class."""

    rates: Any
    prices: Any
    gap: float
    #: The part by which rates that are kept may be missed: by later classes, or by rounding alone.
    eased: Any


def judge_cheapest_split(case: Case, own, answer: Answer, outcome: Outcome, accuracy: float):
    """A class whose splits a later one may have made dearer, at the cheapest ones."""
    for split in splits_of_class(case, own, answer):
        before, outcome.false, outcome.detail = (outcome.false, outcome.detail), "", ""
        judge_utility(case, own, None, replace(answer, rates=split), outcome, accuracy)
        if outcome.false != "false: gap":
            return
        # A linear program is right to a part of all that is paid, which may be far more than what the class pays.
        lacks, pays = second_opinion.Prices(own, answer.prices).missing(split)
        if lacks.sum() <= 2 * GAP * pays.sum():
            outcome.false, outcome.detail = "", ""
            outcome.open += int(own.served.sum())
            return
        outcome.false, outcome.detail = before


def splits_of_class(case: Case, own, answer: Answer):
    """Splits of the rates of a class: by a linear program, which holds some seven decades, and that of a solve without
    the classes after it, where its flows have the same rates."""
    split = second_opinion.cheapest_split(own, answer.rates, answer.prices)
    if split is not None:
        yield split
    alone = np.asarray(netnum.solve(case.problem, time_limit=TIME_LIMIT).rates, second_opinion.Real)
    y, found = (own.flow_rates(np.asarray(rates, second_opinion.Real)) for rates in (answer.rates, alone))
    if own.overload(alone) <= OVERLOAD and np.all(np.abs(found - y) <= KEPT * y):
        yield alone


def judge_max_min(case: Case, own, solution, outcome: Outcome):
    # The linear programs of several paths hold no more decades.
    if not own.is_single_path and case.decades > 4:
        outcome.open += int(own.served.sum())
        return
    wrong = second_opinion.not_max_min(own, solution.rates, SLACK * RATES, np.random.default_rng(case.number))
    if len(wrong):
        outcome.false, outcome.detail = "false: not max-min", f"flow {wrong[0]} could have more"


def judge_utility(case: Case, own, problem, solution, outcome: Outcome, accuracy: float):
    prices = second_opinion.Prices(own, solution.prices)
    rates = own.feasible(solution.rates)
    gap = prices.relative_gap(rates, *([solution.eased] if isinstance(solution, Answer) else []))
    # With conditions alone the gap is the one that is reported; by default it is promised.
    promised = max(GAP, solution.gap) if case.solve.get("stop") == "kkt" else GAP
    # Not >, which would let pass what is not a number.
    if not gap <= 2 * promised:
        outcome.false, outcome.detail = "false: gap", f"relative gap {float(gap):.1e}, reported {solution.gap:.1e}"
        return
    # Prices of any origin will do as a witness: the answer's, these made better here, those of a longer solve.
    witness = second_opinion.Witness(prices, prices.gap(rates))
    verdict = second_opinion.judge_rates(own, solution.rates, witness, accuracy)
    longer = [] if problem is None else [lambda: solve_longer(problem, solution)]
    for better in (lambda: solution, *longer):
        if len(verdict.wrong) or not len(verdict.open):
            break
        other = second_opinion.witness(own, better())
        if other.gap < witness.gap:
            witness = other
            verdict = second_opinion.judge_rates(own, solution.rates, witness, accuracy)
    outcome.open += len(verdict.open)
    outcome.soft += len(verdict.soft)
    if len(verdict.wrong):
        y, best = own.flow_rates(solution.rates.astype(np.longdouble)), witness.prices.best
        off = {flow: abs(float(np.log(max(y[flow], 1e-300) / max(best[flow], 1e-300)))) for flow in verdict.wrong}
        worst = max(off, key=off.__getitem__)
        size = f"has {y[worst]:.6g}, not {best[worst]:.6g}"
        outcome.false, outcome.detail = "false: rates", f"{len(off)} flows, flow {worst} {size}"


def solve_longer(problem: netnum.Problem, solution: netnum.Solution) -> netnum.Solution:
    return netnum.solve(problem, tol=1e-11, stop="kkt", warm_start=solution, max_iterations=300, time_limit=0.5)


# --- running ---


@dataclass
class Tally:
    """What became of the problems of one kind."""

    count: int = 0
    words: Counter = field(default_factory=Counter)
    judged: int = 0
    soft: int = 0
    open: int = 0

    def add(self, case: Case, outcome: Outcome):
        self.count += 1
        self.words[outcome.word] += 1
        self.judged += outcome.judged
        self.soft += outcome.soft
        self.open += outcome.open

    @property
    def optimal(self) -> int:
        """Proven: optimal, or that there is no answer."""
        return self.words["optimal"] + self.words["infeasible"]

    @property
    def others(self) -> int:
        """In another status, by honest word."""
        return sum(self.words[status] for status in ("stalled", "max_iterations", "time_limit", "stopped"))

    @property
    def false(self) -> int:
        return self.count - self.optimal - self.others


@dataclass
class Study:
    """All problems of a run."""

    seed: int
    keep: Path | None = None
    tallies: dict[tuple[str, str, int], Tally] = field(default_factory=lambda: defaultdict(Tally))
    slowest: list[tuple[float, int]] = field(default_factory=list)

    def add(self, case: Case, outcome: Outcome):
        by = ", ".join(str(value) for name, value in case.solve.items() if name != "max_iterations") or "auto"
        is_auto = "method" not in case.solve
        self.tallies[by, case.kind if is_auto else "any", band(case.decades) if is_auto else 18].add(case, outcome)
        self.slowest = sorted([*self.slowest, (outcome.seconds, case.number)], reverse=True)[:5]
        # Another method may stall, with that status; `auto` must not.
        if outcome.false or (outcome.word not in ("optimal", "infeasible") and "method" not in case.solve):
            print(
                f"{case.number}: {by}, {case.kind}, {case.decades:.0f} decades: {outcome.word} {outcome.detail}",
                flush=True,
            )
            if self.keep:
                name = outcome.word.replace(": ", "-").replace(" ", "-")
                (self.keep / f"{name}-{case.seed}-{case.number}.json").write_text(case.to_json(outcome))

    @property
    def false(self) -> int:
        return sum(tally.false for tally in self.tallies.values())

    def too_often(self) -> list[str]:
        """Kinds of which too many end in another status; a single one proves no rate."""
        by_kind: dict[str, Tally] = defaultdict(Tally)
        for (by, kind, decades), tally in self.tallies.items():
            # docs/limits.md: rates that are kept over several paths leave splits no room to move in.
            if by == "auto" and decades <= MILD and "several paths, classes" not in kind:
                by_kind[kind].count += tally.count
                by_kind[kind].words += tally.words
        return [kind for kind, tally in by_kind.items() if tally.others > max(1, tally.count / 1000)]

    def report(self) -> str:
        names = ["solved by", "kind", "decades up to", "problems", "optimal", "other statuses", "false"]
        names += ["rates undecided", "explained by prices"]
        lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
        for (by, kind, decades), tally in sorted(self.tallies.items()):
            statuses = [f"{word} {n}" for word, n in tally.words.items() if word != "optimal" and not is_false(word)]
            false = [f"{word} {n}" for word, n in tally.words.items() if is_false(word)]
            shares = [f"{100 * part / tally.judged:.2g} %" if part else "" for part in (tally.open, tally.soft)]
            cells = [by, kind, decades, tally.count, tally.optimal, ", ".join(statuses), ", ".join(false), *shares]
            lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        total = Tally()
        for tally in self.tallies.values():
            total.count += tally.count
            total.words += tally.words
        slowest = ", ".join(f"{seconds:.2f} s ({number})" for seconds, number in self.slowest)
        lines.append("")
        lines.append(f"{total.count} problems, seed {self.seed}: {dict(total.words.most_common())}")
        lines.append(f"slowest: {slowest}")
        too_often = self.too_often()
        if too_often:
            lines.append(f"more than 1 in 1000 not optimal: {', '.join(too_often)}")
        return "\n".join(lines)

    @property
    def passed(self) -> bool:
        return self.false == 0 and not self.too_often()


def is_false(word: str) -> bool:
    return word not in ("optimal", "infeasible", "stalled", "max_iterations", "time_limit", "stopped")


def band(decades: float) -> int:
    return next(most for most in (4, MILD, 18) if decades <= most)


def work(seed: int, numbers: range, results) -> None:
    """Runs in another process: sends the number of a problem when it begins, and its outcome."""
    for number in numbers:
        results.send(number)
        results.send(solve(Draw(seed, number).problem()))
    results.send(None)


@dataclass
class Worker:
    """A process with every `jobs`-th problem. A problem that never ends, or ends the process, costs that process."""

    seed: int
    numbers: range
    process: Any = None
    results: Any = None
    at: int = 0
    since: float = 0.0

    def start(self):
        self.at = self.numbers.start
        # A process is given its time when it begins with a problem: to start may take a minute on a busy machine.
        self.since = math.inf
        spawn = multiprocessing.get_context("spawn")
        self.results, theirs = spawn.Pipe(duplex=False)
        self.process = spawn.Process(target=work, args=(self.seed, self.numbers, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def go_on(self):
        """After the problem at which it was ended."""
        self.process.kill()
        self.process.join()
        self.numbers = range(self.at + self.numbers.step, self.numbers.stop, self.numbers.step)
        self.start()


def run(seed: int, count: int, jobs: int, keep: Path | None = None, first: int = 0) -> Study:
    """Draws, solves and judges, in processes of their own."""
    study = Study(seed, keep)
    workers = [Worker(seed, range(first + job, first + count, jobs)) for job in range(jobs)]
    for worker in workers:
        worker.start()
    while workers:
        ready = wait([worker.results for worker in workers], timeout=1)
        for worker in list(workers):
            if worker.results in ready:
                try:
                    message = worker.results.recv()
                except EOFError:
                    worker.process.join()
                    died = Outcome("error", "crash", f"the process ended with {worker.process.exitcode}")
                    study.add(Draw(seed, worker.at).problem(), died)
                    worker.go_on()
                    continue
                worker.since = time.monotonic()
                if message is None:
                    worker.process.join()
                    workers.remove(worker)
                elif isinstance(message, int):
                    worker.at = message
                else:
                    study.add(Draw(seed, worker.at).problem(), message)
            elif time.monotonic() - worker.since > WATCHDOG:
                study.add(Draw(seed, worker.at).problem(), Outcome("error", "hang", f"{WATCHDOG:g} s", WATCHDOG))
                worker.go_on()
    return study


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first problem")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the problems that do not end as they should")
    parser.add_argument("--replay", type=Path, nargs="+", help="solves kept files again")
    options = parser.parse_args()
    if options.replay:
        ends = [solve(Case.from_json(path.read_text())) for path in options.replay]
        for path, outcome in zip(options.replay, ends, strict=True):
            print(f"{path.name}: {outcome.word} {outcome.detail} ({outcome.seconds:.2f} s)")
        return int(any(outcome.word != "optimal" for outcome in ends))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    study = run(options.seed, options.count, options.jobs, options.keep, options.first)
    print(study.report())
    return int(not study.passed)


if __name__ == "__main__":
    sys.exit(main())
