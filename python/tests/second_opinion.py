"""A second opinion on answers: gap, rates and max-min fairness computed anew, in NumPy and extended precision.

It shares no code with netnum, and reads a problem as the fields of its JSON text (`Fields`). What it proves:

- *The gap.* Weak duality holds for any prices p ≥ 0: D(p) − Σ U(ŷ) is what is missing at most. It is summed from terms
  that are not negative, with the best response of every flow worked out here.
- *A flow's rate.* With G the gap between some prices and some feasible rates (the witness), every optimal rate y* has
  V_f(p) − [U_f(y*) − cost_f(y*)] ≤ G, since the terms of all flows add up to G at most. The left side is convex in y*
  and 0 at the best response. So a rate is wrong by more than a factor 1 + a if moving it by that factor towards the
  best response leaves it beyond G, and right to that factor if both y (1 + a) and y/(1 + a) are. What lies between
  is open: the witness does not say. Any witness will do, wherever it came from; a better one decides more. A utility of
  the user's own has answers in floats: where it ends, a rate that is too small is right all the same if all that more
  of it would gain is less than the rounding of what it has.
- *Max-min fairness*, by what defines it: no flow's rate can be raised without lowering one of a fair share that is not
  larger. With one path per flow that is a look at every link, with several a small linear program per flow.
- *Floors that do not fit*, by a linear program for the largest part of them that does.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

Fields = dict[str, Any]
Real = np.longdouble

#: Rates below this part of what their paths could carry are relative to that.
TINY = Real(1e-9)
#: Rates that should be 0 are compared with this part.
NONE = Real(1e-3)
#: A price that is this part of a path's or less is none.
FREE = Real(1e-9)
#: Of a float, and of a sum of floats: a link that idles by that part is full.
ROUNDING, FULL = Real(2.0**-52), Real(1e-13)
#: The part by which sums of rates may miss a floor by rounding, as the certificate has it.
MISSED = 16 * ROUNDING
#: What flows may lack that get nothing beside the classes before them, of what each of their paths could carry.
STARVED = Real(1e-6)

# --- what rates are worth ---


class PowerLaw:
    """U' = k y^(−a): α-fair with k = w^α, and MinFct with a = ε and k = (1 − ε)/size."""

    def __init__(self, log_k, a):
        self.log_k, self.a = np.asarray(log_k, Real), np.asarray(a, Real)

    def marginal(self, y):
        return np.exp(self.log_k - self.a * np.log(y))

    def demand(self, q):
        return np.exp((self.log_k - np.log(q)) / self.a)

    def slope(self, q):
        return self.demand(q) / (self.a * q)

    def gain(self, x, y):
        return np.exp(self.log_k) * power_gain(x, y, self.a)


class Affine:
    """U' = w."""

    def __init__(self, weight):
        self.weight = np.asarray(weight, Real)

    def marginal(self, y):
        return self.weight + 0 * y

    def demand(self, q):
        return np.where(q < self.weight, Real(np.inf), Real(0))

    def slope(self, q):
        return 0 * q

    def gain(self, x, y):
        return self.weight * (y - x)


class UserLog:
    """U = w log(1 + y/s)."""

    def __init__(self, weight, size):
        self.weight, self.size = np.asarray(weight, Real), np.asarray(size, Real)

    def marginal(self, y):
        return self.weight / (self.size + y)

    def demand(self, q):
        return np.maximum(self.weight / q - self.size, 0)

    def slope(self, q):
        return np.where(self.weight / q > self.size, self.weight / q**2, 0)

    def gain(self, x, y):
        return self.weight * np.log1p((y - x) / (self.size + x))


class UserDeadline:
    """U = w (1 − exp(−4y/s)): nearly everything is had at the rate s, and more is worth next to nothing."""

    def __init__(self, weight, size):
        self.weight, self.size = np.asarray(weight, Real), np.asarray(size, Real)

    def marginal(self, y):
        return 4 * self.weight / self.size * np.exp(-4 * y / self.size)

    def demand(self, q):
        return np.maximum(np.log(4 * self.weight / (self.size * q)), 0) * self.size / 4

    def slope(self, q):
        return np.where(4 * self.weight / self.size > q, self.size / (4 * q), 0)

    def gain(self, x, y):
        # From the smaller rate on: at the larger one the exponential may be 0.
        low, more = np.minimum(x, y), np.abs(y - x)
        return -np.sign(y - x) * self.weight * np.exp(-4 * low / self.size) * np.expm1(-4 * more / self.size)


class Curve:
    """U' = F(y)^(−α) with F the inverse of a piecewise-linear curve B through (f, b); one flow."""

    def __init__(self, breakpoints, alpha, tail_slope):
        self.f, self.b = np.asarray(breakpoints, Real).T
        rises = np.append(np.diff(self.b) / np.diff(self.f), Real(tail_slope))
        self.rises, self.alpha = rises, Real(alpha)
        self.saturation = Real(np.inf) if tail_slope > 0 else self.b[-1]

    def bandwidth(self, f):
        f = np.asarray(f, Real)
        piece = np.clip(np.searchsorted(self.f, f, side="right") - 1, 0, len(self.f) - 1)
        above = np.where(self.rises[piece] > 0, self.rises[piece] * np.maximum(f - self.f[piece], 0), 0)
        return self.b[piece] + above

    def share(self, y):
        """F(y), the smallest one where B is flat."""
        y = np.asarray(y, Real)
        piece = np.clip(np.searchsorted(self.b, y, side="left") - 1, 0, len(self.b) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(y > self.b[piece], (y - self.b[piece]) / self.rises[piece], 0)
        return np.where(y > 0, self.f[piece] + above, 0)

    def share_above(self, y):
        """F(y), the largest one where B is flat."""
        y = np.asarray(y, Real)
        piece = np.clip(np.searchsorted(self.b, y, side="right") - 1, 0, len(self.b) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(y > self.b[piece], (y - self.b[piece]) / self.rises[piece], 0)
        return np.where(y < self.saturation, self.f[piece] + above, Real(np.inf))

    def marginal(self, y):
        return np.where(y > self.saturation, Real(0), self.share(y) ** -self.alpha)

    def demand(self, q):
        return np.where(q > 0, self.bandwidth(q ** (-1 / self.alpha)), self.saturation)

    def slope(self, q):
        f = q ** (-1 / self.alpha)
        piece = np.searchsorted(self.f, f, side="right") - 1
        return np.where(piece >= 0, self.rises[np.maximum(piece, 0)] * f / (self.alpha * q), 0)

    def gain(self, x, y):
        """∫ F^(−α) from x to y, a piece of the curve at a time."""
        low, high = np.minimum(x, y), np.minimum(np.maximum(x, y), self.saturation)
        total = np.zeros_like(low)
        for piece in np.flatnonzero(self.rises > 0):
            end = self.b[piece + 1] if piece + 1 < len(self.b) else Real(np.inf)
            start, stop = np.clip(low, self.b[piece], end), np.clip(high, self.b[piece], end)
            of = [self.f[piece] + (at - self.b[piece]) / self.rises[piece] for at in (start, stop)]
            total += np.where(stop > start, self.rises[piece] * power_gain(of[0], of[1], self.alpha), 0)
        return np.where(y < x, -total, total)


def power_gain(x, y, a):
    """∫ t^(−a) dt from x to y, without cancellation."""
    ratio = np.log1p((y - x) / x)
    e = 1 - a
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        curved = np.exp(e * np.log(x)) * np.expm1(e * ratio) / e
        from_nothing = np.where(e > 0, np.exp(e * np.log(y)) / e, Real(np.inf))
        gain = np.where(e == 0, ratio, curved)
    return np.where(y == x, 0, np.where(x == 0, from_nothing, gain))


class Worth:
    """The utilities of all flows, a family at a time."""

    def __init__(self, utility: Fields):
        kinds = np.array(utility["kind"])
        flows = len(kinds)

        def column(name, default):
            values = utility.get(name) or [None] * flows
            return np.array([default if value is None else value for value in values], dtype=Real)

        weight, alpha, size = column("weight", 1), column("alpha", 1), column("size", 1)
        eps = column("eps", 0.125)
        self.flows = flows
        self.is_max_min = bool(np.isin(kinds, ["max_min", "max_min_bandwidth_function"]).any())
        self.saturation = np.full(flows, Real(np.inf))
        self.weight, self.curves = weight, {}
        self.parts: list[tuple[Any, Any]] = []
        for kind in dict.fromkeys(kinds):
            of = np.flatnonzero(kinds == kind)
            if kind == "alpha_fair":
                self.parts.append((of, PowerLaw(np.where(alpha == 1, 1, alpha)[of] * np.log(weight[of]), alpha[of])))
            elif kind == "fct":
                self.parts.append((of, PowerLaw(np.log((1 - eps[of]) / size[of]), eps[of])))
            elif kind == "linear":
                self.parts.append((of, Affine(weight[of])))
            elif kind == "user_log":
                self.parts.append((of, UserLog(weight[of], size[of])))
            elif kind == "user_deadline":
                self.parts.append((of, UserDeadline(weight[of], size[of])))
            elif kind in ("bandwidth_function", "max_min_bandwidth_function"):
                for flow in of:
                    tail = (utility.get("tail_slope") or [0] * flows)[flow] or 0
                    curve = Curve(utility["breakpoints"][flow], alpha[flow], tail)
                    self.parts.append((np.array([flow]), curve))
                    self.curves[int(flow)] = curve
                    self.saturation[flow] = curve.saturation

    def marginal(self, y):
        return self._each("marginal", y)

    def demand(self, q):
        return self._each("demand", q)

    def slope(self, q):
        return self._each("slope", q)

    def gain(self, x, y):
        return self._each("gain", x, y)

    def _each(self, name, *arguments):
        answer = np.empty(self.flows, Real)
        with np.errstate(all="ignore"):
            for of, family in self.parts:
                answer[of] = getattr(family, name)(*(argument[of] for argument in arguments))
        return answer

    def enough(self, y):
        """Whether all that a flow may gain is rounding beside what it has, where its utility ends; and what it has."""
        left, has = np.full(self.flows, Real(np.inf)), np.zeros(self.flows, Real)
        for of, family in self.parts:
            if isinstance(family, UserDeadline):
                left[of] = family.gain(y[of], np.full(len(of), Real(np.inf)))
                has[of] = family.gain(0 * y[of], y[of])
        return left <= ROUNDING / 2 * has, has

    # For max-min: a level t gives every flow a rate.

    def shares(self, y, name="share"):
        shares = y / self.weight
        for flow, curve in self.curves.items():
            shares[flow] = getattr(curve, name)(y[flow])
        return shares

    def at_share(self, t, flows):
        """Rates of some flows, each at its own fair share."""
        rates = t * self.weight[flows]
        for place, flow in enumerate(flows):
            if int(flow) in self.curves:
                rates[place] = self.curves[int(flow)].bandwidth(t[place])
        return rates


# --- the problem, anew ---


class Own:
    """A problem with what is needed to judge answers. Paths of a flow stand in slots: `slots[k, f]`, −1 for none."""

    def __init__(self, fields: Fields):
        self.capacity = np.asarray(fields["capacity"], Real)
        self.paths = [np.asarray(path, int) for path in fields["paths"]]
        count = len(self.paths)
        self.group = np.asarray(fields.get("group") or range(count), int)
        self.worth = Worth(fields["utility"])
        self.flows = self.worth.flows
        self.cross_path = np.repeat(np.arange(count), [len(path) for path in self.paths])
        self.cross_link = np.concatenate([*self.paths, np.empty(0, int)]).astype(int)
        uses = fields.get("coefficient") or [[1.0] * len(path) for path in self.paths]
        self.cross_use = np.concatenate([*uses, np.empty(0)]).astype(Real)
        caps = fields.get("cap") or [None] * count
        self.cap = np.array([np.inf if cap is None else cap for cap in caps], Real)
        caps = fields.get("flow_cap") or [None] * self.flows
        self.flow_cap = np.array([np.inf if cap is None else cap for cap in caps], Real)
        smallest = np.full(count, Real(np.inf))
        np.minimum.at(smallest, self.cross_path, self.capacity[self.cross_link] / self.cross_use)
        self.ceiling = np.minimum(smallest, self.cap)
        most = max(np.bincount(self.group, minlength=self.flows))
        self.slots = np.full((most, self.flows), -1)
        filled = np.zeros(self.flows, int)
        for path, flow in enumerate(self.group):
            self.slots[filled[flow], flow] = path
            filled[flow] += 1
        #: The most that a flow can have or use.
        self.most = np.minimum(self.flow_rates(self.ceiling), np.minimum(self.worth.saturation, self.flow_cap))
        self.served = self.most > 0
        #: The least that a flow has to get, and what a path costs.
        self.floor = np.where(self.served, np.asarray(fields.get("flow_floor") or [0.0] * self.flows, Real), 0)
        self.cost = np.asarray(fields.get("path_cost") or [0.0] * count, Real)
        self.routing = np.zeros((len(self.capacity), count), Real)
        self.routing[self.cross_link, self.cross_path] = self.cross_use

    @property
    def is_single_path(self):
        return len(self.slots) == 1

    def flow_rates(self, rates):
        total = np.zeros(self.flows, Real)
        np.add.at(total, self.group, rates)
        return total

    def loads(self, rates):
        total = np.zeros(len(self.capacity), Real)
        np.add.at(total, self.cross_link, self.cross_use * rates[self.cross_path])
        return total

    def largest(self, prices: "Prices"):
        """The most that the rate of a flow is on a link that it pays for."""
        largest = np.zeros(self.flows, Real)
        paid = self.cross_use * prices.link[self.cross_link] > FREE * prices.path[self.cross_path]
        most = np.where(paid, self.capacity[self.cross_link] / self.cross_use, 0)
        np.maximum.at(largest, self.group[self.cross_path], most)
        return largest

    def missed(self, prices: "Prices", y, accuracy):
        """What flows leave to every flow, and take from it, on links that it pays for: those that miss their bounds by
        the accuracy at most, and those that have so much more than their floors."""
        missed = np.where(prices.best >= self.most, np.clip(self.most - y, 0, Real(accuracy) * self.most), 0)
        at_floor = (self.floor > 0) & (prices.best <= self.floor * (1 + Real(accuracy)))
        more = np.where(at_floor, np.clip(y - self.floor, 0, Real(accuracy) * y), 0)
        return self.beside(prices, missed), self.beside(prices, more)

    def beside(self, prices: "Prices", rates):
        """The most that rates of flows are for every flow on a link that it pays for."""
        loads = self.loads(rates[self.group])
        paid = self.cross_use * prices.link[self.cross_link] > FREE * prices.path[self.cross_path]
        found = np.zeros(self.flows, Real)
        np.maximum.at(found, self.group[self.cross_path], np.where(paid, loads[self.cross_link] / self.cross_use, 0))
        return found

    def path_prices(self, prices):
        total = self.cost.copy()
        np.add.at(total, self.cross_path, self.cross_use * prices[self.cross_link])
        return total

    def feasible(self, rates):
        """Rates divided by the fullest link of each path, at most their caps. With floors those that are given, which
        `overload` has looked at."""
        if self.floor.any():
            return np.asarray(rates, Real)
        rates = np.where(self.ceiling > 0, np.minimum(np.asarray(rates, Real), self.cap), 0)
        of_flow = self.flow_rates(rates)
        over = np.where(of_flow > self.flow_cap, self.flow_cap / np.where(of_flow > 0, of_flow, 1), 1)
        rates = rates * over[self.group]
        loads = self.loads(rates)
        fullness = np.ones(len(self.paths), Real)
        relative = np.where(loads > 0, loads / np.where(self.capacity > 0, self.capacity, 1), 0)
        np.maximum.at(fullness, self.cross_path, relative[self.cross_link])
        return rates / fullness

    def overload(self, rates):
        """By how much rates are over a capacity or a cap, or below a floor, at most, relative; ∞ for what no path may
        carry."""
        rates = np.asarray(rates, Real)
        if not np.all(np.isfinite(rates)) or np.any(rates < 0):
            return np.inf
        worst = 0.0
        for value, limit in [
            (self.loads(rates), self.capacity),
            (rates, self.cap),
            (self.flow_rates(rates), self.flow_cap),
            (self.floor, self.flow_rates(rates)),
        ]:
            with np.errstate(all="ignore"):
                over = np.where(value > limit, value / limit - 1, 0)
            worst = max(worst, float(over.max(initial=0)))
        return worst


class Prices:
    """Link prices with the best response of every flow to them."""

    def __init__(self, problem: Own, prices):
        self.problem, self.link = problem, np.asarray(prices, Real)
        self.path = problem.path_prices(self.link)
        slots = problem.slots
        padded = np.append(self.path, Real(np.inf))
        order = np.argsort(padded[slots], axis=0, kind="stable")
        self.slots = np.take_along_axis(slots, order, axis=0)
        self.price = padded[self.slots]
        self.ceiling = np.append(problem.ceiling, Real(0))[self.slots]
        filled = np.zeros_like(self.ceiling)
        total = np.zeros(problem.flows, Real)
        for slot, price in enumerate(self.price):
            some = np.isfinite(price)
            demand = problem.worth.demand(np.where(some, price, 1))
            wanted = np.where(some, np.maximum(np.minimum(demand, problem.most), problem.floor), 0)
            filled[slot] = np.clip(wanted - total, 0, self.ceiling[slot])
            total += filled[slot]
        self.filled, self.best = filled, total

    def best_rates(self):
        """Of every path."""
        rates = np.zeros(len(self.problem.paths) + 1, Real)
        rates[self.slots] = self.filled
        return rates[:-1]

    def marginal_prices(self):
        """What a little more costs a flow at its best response, and what a little less saves."""
        more, less = np.full(self.problem.flows, Real(np.inf)), np.zeros(self.problem.flows, Real)
        for price, ceiling, filled in zip(self.price, self.ceiling, self.filled, strict=True):
            more = np.where(filled < ceiling, np.minimum(more, price), more)
            less = np.where(filled > 0, np.maximum(less, np.where(np.isfinite(price), price, 0)), less)
        return more, np.where(self.best > 0, less, self.price[0])

    def loss(self, y):
        """V_f − [U_f(y) − cost_f(y)] of every flow, where y costs what the cheapest paths ask for it."""
        y = np.minimum(y, self.problem.most)
        left, cost = y.copy(), np.zeros(self.problem.flows, Real)
        for price, ceiling, filled in zip(self.price, self.ceiling, self.filled, strict=True):
            take = np.minimum(left, ceiling)
            left = left - take
            cost += np.where(filled != take, price, 0) * (filled - take)
        loss = np.maximum(self.problem.worth.gain(y, self.best) - cost, 0)
        return np.where(self.problem.served, loss, 0)

    def missing(self, rates):
        """What every flow lacks, and pays, with what its links idle by at their prices: D(p) − Σ U by flows."""
        problem = self.problem
        y = problem.flow_rates(rates)
        extra = np.append(rates, Real(0))[self.slots]
        cost = (np.where(self.filled != extra, self.price, 0) * (self.filled - extra)).sum(axis=0)
        lacks = np.where(problem.served, np.maximum(problem.worth.gain(y, self.best) - cost, 0), 0)
        loads, link, path = problem.loads(rates), problem.cross_link, problem.cross_path
        is_open = (problem.ceiling > 0) & problem.served[problem.group]
        users = np.bincount(link[is_open[path]], minlength=len(loads))
        with np.errstate(all="ignore"):
            own = problem.cross_use * rates[path]
            part = np.where(loads[link] > 0, own / loads[link], 1 / np.maximum(users[link], 1))
        part = np.where(is_open[path], part, 0)
        pays = problem.flow_rates(problem.cost * rates)
        np.add.at(pays, problem.group[path], part * self.link[link] * problem.capacity[link])
        idle = np.where(self.link > 0, np.maximum(problem.capacity - loads, 0) * self.link, 0)
        np.add.at(lacks, problem.group[path], part * idle[link])
        return lacks, pays

    def gap(self, rates):
        """What is missing at most: D(p) − Σ U of feasible rates."""
        lacks, _ = self.missing(rates)
        return lacks.sum()

    def relative_gap(self, rates, eased=MISSED):
        """The gap in units of what raising rates by 100 % gains; flows held by a cap or a saturation by themselves.

        Floors may be missed by the part `eased`: what that is worth at prices of any size is nothing.
        """
        problem = self.problem
        lacks, pays = self.missing(rates)
        y = problem.flow_rates(rates)
        with np.errstate(all="ignore"):
            revenue = np.where((y > 0) & problem.served, y * problem.worth.marginal(y), 0)
            rent = np.where(self.filled > 0, np.maximum(problem.worth.marginal(self.best) - self.price, 0), 0)
        rents = np.where(problem.served, np.where(self.filled > 0, self.filled * rent, 0).sum(axis=0), 0)
        has_enough, worth = problem.worth.enough(y)
        rents = np.where(has_enough, np.maximum(rents, worth), rents)
        # What more is worth to who has enough is rounding of what it has, and no scale for the loss of any.
        revenue = np.where(has_enough, 0, revenue)
        # Flows that pay more than U' at their floors: all of these count as one, by their part of the objective. One
        # that pays U' but for the rounding of a sum of prices is free: floats do not say on which side it is.
        now = np.append(rates, Real(0))[self.slots]
        uses = np.maximum(self.filled, now)
        dear = np.where(uses > 0, self.price, 0).max(axis=0) > problem.worth.marginal(self.best) * (1 + FULL)
        at_floor = (self.best <= problem.floor) & (problem.floor > 0) & dear
        lacks = np.where(at_floor & (lacks <= eased * pays), 0, lacks)
        # A price at the edge of U' decides whether the best response uses a path.
        would_pay, paid = ((used * np.where(used > 0, self.price, 0)).sum(axis=0) for used in (self.filled, now))
        held = ((rents > np.maximum(would_pay, paid)) | has_enough) & ~at_floor
        free = ~held & ~at_floor
        scale = min(revenue[free].sum(), pays[free].sum()) if pays[free].sum() > 0 else revenue[free].sum()
        values, of_all = revenue + problem.flow_rates(problem.cost * rates), scale
        if scale == 0:
            # No flow that is free earns anything: the least that one without a rate would gain alone, or what floors
            # earn and cost.
            most = np.minimum(self.ceiling.sum(axis=0), problem.most)
            gains = problem.worth.gain(np.zeros(problem.flows, Real), most)[free & (y == 0) & problem.served]
            least = gains[gains > 0].min(initial=np.inf)
            if np.isfinite(least):
                scale = of_all = least
            elif paid[at_floor].sum() > 0:
                scale = values[at_floor].sum() + self.free_of_charge(rates, at_floor)
                of_all = scale if scale > 0 else paid[at_floor].sum() + rents[held].sum()
        alone = held & (rents > scale)
        worst = (lacks[alone] / rents[alone]).max(initial=0)
        if values[at_floor].sum() > scale:
            alone |= at_floor
            worst = max(worst, lacks[at_floor].sum() / values[at_floor].sum())
        together = lacks[~alone].sum()
        if together == 0:
            return worst
        return max(worst, together / of_all if of_all > 0 else Real(np.inf))

    def free_of_charge(self, rates, flows):
        """What costs of these flows count for beyond themselves, where their best responses cost nothing."""
        problem = self.problem
        cost, now = np.append(problem.cost, Real(0))[self.slots], np.append(rates, Real(0))[self.slots]
        # A floor may be more than what its free path carries by the rounding of a float.
        filled = np.where(self.filled > MISSED * self.best, self.filled, 0)
        if not flows.any() or (filled * cost).sum(axis=0)[flows].sum() > 0:
            return Real(0)
        used = np.maximum(self.filled, now) > 0
        spread = np.where(used, cost, -np.inf).max(axis=0) - np.where(used, cost, np.inf).min(axis=0)
        paid = (now * cost).sum(axis=0)[flows].sum()
        return max((now.sum(axis=0) * np.maximum(spread, 0))[flows].sum() / 1000 - paid, Real(0))


class Witness(NamedTuple):
    """Prices, and the gap between them and some feasible rates."""

    prices: Prices
    gap: Any


def witness(problem: Own, answer) -> Witness:
    """The better one of two: an answer's prices with its rates, and what Newton's method makes of its prices."""
    given = Prices(problem, answer.prices)
    found = Witness(given, given.gap(problem.feasible(answer.rates)))
    is_smooth = problem.is_single_path and not any(isinstance(family, Affine) for _, family in problem.worth.parts)
    if is_smooth and not problem.floor.any():
        polished = polish(problem, given.link)
        if polished.gap < found.gap:
            return polished
    return found


def polish(problem: Own, prices, rounds=14) -> Witness:
    """Newton's method on the prices of full links, in extended precision; one path per flow."""
    best = None
    path_of = problem.slots[0]
    links = len(problem.capacity)
    for _ in range(rounds):
        at = Prices(problem, prices)
        wanted = at.best_rates()
        gap = at.gap(problem.feasible(wanted))
        if best is None or gap < best.gap:
            best = Witness(at, gap)
        excess = problem.loads(wanted) - problem.capacity
        share = np.zeros(links, Real)
        with np.errstate(all="ignore"):
            part = problem.cross_use * prices[problem.cross_link] / at.path[problem.cross_path]
        np.maximum.at(share, problem.cross_link, np.where(np.isfinite(part), part, 0))
        active = np.flatnonzero((excess > 0) | (share * problem.capacity > -excess))
        active = active[problem.capacity[active] > 0]
        if not len(active):
            break
        slope = np.zeros(len(problem.paths), Real)
        moves = (at.best < problem.most) & (at.best > problem.floor)
        slope[path_of] = np.where(moves, problem.worth.slope(at.path[path_of]), 0)
        slope = np.where(np.isfinite(slope), slope, 0)
        routing = problem.routing[active]
        step = solve_semidefinite((routing * slope) @ routing.T, excess[active])
        moved = np.zeros(links, Real)
        moved[active] = np.clip(prices[active] + step, prices[active] / 8, np.maximum(8 * prices[active], 0))
        prices = moved
    return best


def solve_semidefinite(matrix, right):
    """Solves a symmetric positive semidefinite system by Cholesky's method; rows that depend on others get 0."""
    size = len(right)
    diagonal = np.sqrt(np.maximum(np.diag(matrix), 0))
    scale = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1), 0)
    a, b = matrix * scale[:, None] * scale, right * scale
    kept = []
    for i in range(size):
        if a[i, i] <= 1e-15:
            a[i, :] = a[:, i] = 0
            continue
        kept.append(i)
        row = a[i, i + 1 :] / a[i, i]
        b[i + 1 :] -= row * b[i]
        a[i + 1 :, i + 1 :] -= np.outer(row, a[i, i + 1 :])
    answer = np.zeros(size, Real)
    for i in reversed(kept):
        answer[i] = (b[i] - a[i, i + 1 :] @ answer[i + 1 :]) / a[i, i]
    return answer * scale


# --- verdicts ---


class Rates(NamedTuple):
    """Flows by the bound of a witness on their rates."""

    #: Off by more than the accuracy for certain, in rate and in price.
    wrong: Any
    #: Off by more in rate, while a price that differs by no more than the accuracy would ask for the rate.
    soft: Any
    #: Neither that nor certain to be right.
    open: Any


def judge_rates(problem: Own, rates, proof: Witness, accuracy) -> Rates:
    y = problem.flow_rates(np.asarray(rates, Real))
    best, factor = proof.prices.best, 1 + Real(accuracy)
    # Next to nothing, beside what the paths could carry, is relative to that.
    margin = Real(accuracy) * np.where(best == 0, NONE, TINY) * problem.most + FULL * problem.largest(proof.prices)
    # A flow with a small rate has what much larger ones miss of their caps, and lacks what they have above floors.
    missed, taken = problem.missed(proof.prices, y, accuracy)
    low = np.maximum((y - margin - missed) / factor, 0)
    high = np.minimum(y * factor + margin + taken, problem.most)
    towards = np.clip(best, low, high)
    has_enough, _ = problem.worth.enough(y)
    off = problem.served & (towards != best) & ~(has_enough & (y < best))
    wrong = off & (proof.prices.loss(towards) > proof.gap * (1 + 1e-9))
    beyond_low = (low <= 0) | (proof.prices.loss(low) > proof.gap)
    beyond_high = (high >= problem.most) | (proof.prices.loss(high) > proof.gap)
    right = ~problem.served | ((low <= best) & (best <= high) & beyond_low & beyond_high)
    marginal, (more, less) = problem.worth.marginal(y), proof.prices.marginal_prices()
    soft = wrong & np.where(y < best, marginal <= less * factor, more <= marginal * factor)
    return Rates(np.flatnonzero(wrong & ~soft), np.flatnonzero(soft), np.flatnonzero(~wrong & ~right))


def not_max_min(problem: Own, rates, accuracy, rng):
    """Flows whose rate could be raised by more than the accuracy while no flow of a smaller or equal share loses."""
    y = problem.flow_rates(np.asarray(rates, Real))
    could = problem.served & (y < problem.most / (1 + accuracy))
    if problem.is_single_path:
        return np.flatnonzero(could & ~has_bottleneck(problem, y, accuracy))
    flows = np.flatnonzero(could)
    if len(flows) > 6:
        flows = np.sort(rng.choice(flows, 6, replace=False))
    return np.array([flow for flow in flows if can_be_raised(problem, y, flow, accuracy)], int)


def has_bottleneck(problem: Own, y, accuracy):
    """One path per flow: whether each crosses a full link on which it would be the first to have more."""
    flow = problem.group[problem.cross_path]
    link = problem.cross_link
    idle = problem.capacity - problem.loads(y[problem.group])
    # The largest share on a link, read a little low: where a curve is flat its share may be anything. Who is at a floor
    # may have a larger one.
    shares = np.where(y > problem.floor * (1 + Real(accuracy)), problem.worth.shares(y * (1 - Real(accuracy))), 0)
    largest = np.zeros(len(problem.capacity), Real)
    np.maximum.at(largest, link, shares[flow])
    entitled = np.minimum(problem.worth.at_share(largest[link], flow), problem.most[flow])
    is_full = idle[link] <= problem.cross_use * accuracy * y[flow] + 1e-12 * problem.capacity[link]
    is_bottleneck = is_full & (entitled <= y[flow] * (1 + Real(accuracy)))
    found = np.zeros(problem.flows, bool)
    np.logical_or.at(found, flow, is_bottleneck)
    return found


def can_be_raised(problem: Own, y, flow, accuracy):
    """Several paths: a linear program for the most that a flow can have."""
    unit = y[flow] if y[flow] > TINY * problem.most[flow] else problem.most[flow]
    # Read a little high, and others a little low: beside a flat piece a share may be anything.
    own_share = problem.worth.shares(y * (1 + Real(accuracy)), "share_above")[flow]
    shares = problem.worth.shares(y * (1 - Real(accuracy)))
    keeps = np.where(shares <= own_share, y, np.minimum(problem.floor, y))
    count = len(problem.paths)
    routing = problem.routing.astype(float)
    total = np.zeros((problem.flows, count))
    total[problem.group, np.arange(count)] = 1
    limited = np.isfinite(problem.flow_cap)
    others = np.flatnonzero(problem.served & (keeps > 0))
    others = others[others != flow]
    answer = linprog(
        -total[flow],
        A_ub=np.vstack([routing, -total[others], total[limited]]),
        b_ub=np.concatenate([problem.capacity, -keeps[others], problem.flow_cap[limited]]).astype(float) / float(unit),
        bounds=[(0, float(ceiling / unit)) for ceiling in problem.ceiling],
        method="highs",
    )
    return answer.status == 0 and -answer.fun > y[flow] / unit + accuracy


def stage(fields: Fields, priority: float, rates, starved=()) -> tuple[Fields, Any]:
    """The problem of the flows of one priority, and the point that rates of all are in it.

    Flows before it keep their rates, those after it have their floors, and neither is worth anything. Starved flows get
    nothing."""
    own, of = Own(fields), np.asarray(fields["priority"])
    rates = np.asarray(rates, Real)
    y = own.flow_rates(rates)
    others, later = of != priority, of > priority
    kept = np.where(later, own.floor, y)
    scale = np.where(later & (y > 0), own.floor / np.where(y > 0, y, 1), 1)
    caps = np.where(others, kept, own.flow_cap)
    caps[list(starved)] = 0
    utility = {name: list(values) for name, values in fields["utility"].items()}
    for flow in np.flatnonzero(others):
        for values in utility.values():
            values[flow] = None
        utility["kind"][flow] = "max_min" if own.worth.is_max_min else "linear"
        utility["weight"][flow] = 1.0 if own.worth.is_max_min else 0.0
    changed = {
        "flow_cap": [None if np.isinf(cap) else float(cap) for cap in caps],
        "flow_floor": np.where(others, kept, own.floor).astype(float).tolist(),
        "utility": utility,
    }
    return fields | changed, rates * scale[own.group]


def change(problem: Own, rates, unit, gains, least, raised=None):
    """By how much rates of paths change at best, while flow rates change by the least at least: Σ gains·d is largest;
    or with flows that are raised alike, each by t times what `raised` says beyond the least, t is.

    A linear program in a unit that may be far below the rates: HiGHS misses 1e-7 of a unit in every row. None where
    that is not solved."""
    open_paths = np.flatnonzero((problem.ceiling > 0) & (problem.most[problem.group] > 0))
    use = problem.routing[:, open_paths].max(axis=1)
    links = np.flatnonzero(use > 0)
    rates, y = np.asarray(rates, Real), problem.flow_rates(rates)
    own = (problem.group[open_paths][None, :] == np.arange(problem.flows)[:, None]) * 1.0
    idle = np.maximum(problem.capacity - problem.loads(rates), 0)
    left = np.maximum(problem.most - y, 0)
    limited = np.flatnonzero(np.isfinite(left))
    rows = np.vstack([problem.routing[np.ix_(links, open_paths)] / use[links, None], -own, own[limited]])
    costs = -gains[open_paths] / np.abs(gains).max()
    bounds = [
        (-float(rate / unit), float(np.maximum(ceiling - rate, 0) / unit))
        for rate, ceiling in zip(rates[open_paths], problem.ceiling[open_paths], strict=True)
    ]
    if raised is not None:
        column = np.concatenate([np.zeros(len(links)), STARVED * raised / unit, np.zeros(len(limited))])
        rows, costs = np.hstack([rows, column[:, None]]), np.append(np.zeros(len(open_paths)), -1.0)
        bounds.append((0, None))
    program = {
        "c": costs.astype(float),
        "A_ub": rows.astype(float),
        "b_ub": (np.concatenate([idle[links] / use[links], -least, left[limited]]) / unit).astype(float),
        "bounds": bounds,
    }
    # Rates that are kept fill links, which the presolve of HiGHS may take for infeasible.
    answers = (linprog(**program, method="highs", options={"presolve": presolve}) for presolve in (True, False))
    found = next((answer.x for answer in answers if answer.status == 0), None)
    if found is None:
        return None
    changes = np.zeros(len(problem.paths), Real)
    changes[open_paths] = found[: len(open_paths)] * unit
    return changes


def cheapest_split(problem: Own, rates, prices):
    """Of the splits that give flows the rates that they have here the one of least cost, or without costs the one that
    pays least: again and again in the unit of what pays too much. None where that is not solved."""
    pays = problem.cost if problem.cost.any() else problem.path_prices(np.asarray(prices, Real))
    cheapest = np.full(problem.flows, Real(np.inf))
    np.minimum.at(cheapest, problem.group, np.where(problem.ceiling > 0, pays, np.inf))
    split, y = np.asarray(rates, Real), problem.flow_rates(np.asarray(rates, Real))
    for _ in range(4):
        dearer = np.where(split > 0, pays - cheapest[problem.group], 0) * split
        if not dearer.any():
            break
        changes = change(problem, split, split[np.argmax(dearer)], -pays, np.zeros(problem.flows, Real))
        if changes is None:
            return None
        moved = np.maximum(split + changes, 0)
        # Rates that are sums of floats may fill a link to more than it has: nothing of that is left on a dearer path.
        is_cheapest = pays <= cheapest[problem.group]
        moved = np.where(is_cheapest | (moved > FULL * y[problem.group]), moved, 0)
        total = problem.flow_rates(moved)[problem.group]
        # Of a flow whose rate is rounding beside others nothing may be left.
        split = np.where(total > 0, moved * y[problem.group] / np.where(total > 0, total, 1), split)
    return split


def share_of_starved(problem: Own, flows, rates):
    """The largest of the parts of what they could have alone that max-min gives some flows, beside what others have to
    have. They are levels: all rise alike until one can have no more, which keeps what it has. None where a linear
    program is not solved."""
    needs = np.minimum(problem.floor - problem.flow_rates(np.asarray(rates, Real)), 0)
    rising, share, enough = list(flows), Real(0), NONE * STARVED
    while rising:
        raised = np.zeros(problem.flows, Real)
        raised[rising] = problem.most[rising]
        unit = STARVED * problem.most[rising].min()
        changes = change(problem, rates, unit, np.ones(len(problem.paths), Real), needs, raised)
        if changes is None:
            return None
        level = (problem.flow_rates(changes)[rising] / problem.most[rising]).min()
        share = max(share, level)
        needs[rising] = level * problem.most[rising]
        blocked = []
        for flow in rising:
            gains = (problem.group == flow) / problem.most[flow]
            # Rounding of the program may leave no room for the level that it has found.
            changes = change(problem, rates, unit, gains, needs - enough * raised)
            if changes is None:
                return None
            if (gains * changes).sum() <= level + 10 * enough:
                blocked.append(flow)
        if not blocked:
            return None
        rising = [flow for flow in rising if flow not in blocked]
    return share


def part_of_floors(problem: Own) -> float:
    """The largest part of all floors that fits at once, at most 2: a linear program in the units of every row."""
    links = np.flatnonzero(problem.capacity > 0)
    open_paths = np.flatnonzero(problem.ceiling > 0)
    flows = np.flatnonzero(problem.floor > 0)
    units = problem.floor[problem.group[open_paths]]
    units = np.where(units > 0, units, 1)
    routing = problem.routing[np.ix_(links, open_paths)] * units / problem.capacity[links, None]
    own = (problem.group[open_paths][None, :] == flows[:, None]) * 1.0
    floors = np.hstack([-own, np.ones((len(flows), 1))])
    answer = linprog(
        np.append(np.zeros(len(open_paths)), -1.0),
        A_ub=np.vstack([np.hstack([routing, np.zeros((len(links), 1))]), floors]).astype(float),
        b_ub=np.append(np.ones(len(links)), np.zeros(len(flows))),
        bounds=[(0, float(cap / unit)) for cap, unit in zip(problem.cap[open_paths], units, strict=True)] + [(0, 2)],
        method="highs",
    )
    return -answer.fun


def proves_infeasibility(problem: Own, proof) -> bool:
    """Whether an inequality of prices holds that no rates satisfy, with every flow in it."""
    prices, of_flows = np.asarray(proof.prices, Real), np.asarray(proof.flow_prices, Real)
    path_prices = np.zeros(len(problem.paths), Real)
    np.add.at(path_prices, problem.cross_path, problem.cross_use * prices[problem.cross_link])
    rent = np.maximum(of_flows[problem.group] - path_prices, 0)
    rent = np.where((problem.ceiling > 0) & (rent > ROUNDING * of_flows[problem.group]), rent, 0)
    if np.any(prices < 0) or np.any(of_flows < 0) or np.any((rent > 0) & np.isinf(problem.cap)):
        return False
    worth = (prices * np.where(prices > 0, problem.capacity, 0)).sum()
    own = of_flows * problem.floor - problem.flow_rates(rent * np.where(rent > 0, problem.cap, 0))
    named = np.zeros(problem.flows, bool)
    named[proof.flows] = True
    return bool(
        own.sum() > worth and np.all(own[named] >= (own.sum() - worth) * (1 - 1e-6)) and not of_flows[~named].any()
    )
