"""What studies of fairness compute of rates: one line of NumPy each, along the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import ProblemError, Solution, Solutions
from ._max_min_rates import MaxMinRates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def jain(rates: ArrayLike | Solution | Solutions, weight: ArrayLike = 1.0) -> Any:
    """Jain's index of fairness: (Σ x)² / (n Σ x²), from 1/n, where one flow has all, to 1, where all have the same.

    Parameters
    ----------
    rates : array of float, shape (..., flows), or Solution, Solutions or MaxMinRates
        Of a solution the `flow_rates`.
    weight : array of float, shape (flows,), or float
        Rates are divided by it first: 1 is then for rates in proportion to weights, or to demands.

    Returns
    -------
    float, or array of float for several rows of rates
        nan where all rates are 0.

    Raises
    ------
    ProblemError
        For a rate that is negative or not finite, a weight that is not above 0, and shapes that do not go together.
    TypeError
        For what is no array of numbers.

    Notes
    -----
    Source: Jain, Chiu, Hawe, *A quantitative measure of fairness and discrimination for resource allocation in shared
    computer systems*, DEC-TR-301, 1984.

    Examples
    --------
    >>> netnum.jain([1.0, 1.0, 1.0, 1.0]), netnum.jain([4.0, 0.0, 0.0, 0.0])
    (1.0, 0.25)
    >>> netnum.jain([1.0, 3.0], weight=[1.0, 3.0])
    1.0
    """
    x, weights = _rates("rates", rates), _positive("weight", weight)
    if weights.ndim:
        _check_flows(x, weights)
    x = x / weights
    scale = x.max(axis=-1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):  # 0/0 is nan
        x = x / scale
        return _number(x.sum(axis=-1) ** 2 / (x.shape[-1] * (x**2).sum(axis=-1)))


def relative_rates(rates: ArrayLike | Solution | Solutions, reference: ArrayLike | Solution | Solutions) -> Any:
    """Rates relative to others of the same flows: what every flow wins or loses by another allocation.

    Parameters
    ----------
    rates : array of float, shape (..., flows), or Solution, Solutions or MaxMinRates
        Of a solution the `flow_rates`.
    reference : the same
        The rates to compare with, such as those of max-min fairness.

    Returns
    -------
    array of float, shape (..., flows)
        x / reference of every flow: inf where the reference is 0, nan where both are.

    Raises
    ------
    ProblemError
        For a rate that is negative or not finite, and for another number of flows.
    TypeError
        For what is no array of numbers.

    Examples
    --------
    >>> problem = netnum.Problem([6.0, 6.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
    >>> netnum.relative_rates(netnum.solve(problem), netnum.max_min(problem)).round(3)
    array([0.667, 1.333, 1.333])
    """
    x, others = _rates("rates", rates), _rates("reference", reference)
    _check_flows(x, others)
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / others


def price_of_fairness(rates: ArrayLike | Solution | Solutions, best: ArrayLike | Solution | Solutions) -> Any:
    """The part of the throughput that a fair allocation gives up: 1 - Σ x / Σ best.

    Parameters
    ----------
    rates : array of float, shape (..., flows), or Solution, Solutions or MaxMinRates
        The rates of the fair allocation; of a solution the `flow_rates`.
    best : the same
        The rates of largest sum, as `Linear` finds them.

    Returns
    -------
    float, or array of float for several rows of rates
        0 where nothing is lost.

    Raises
    ------
    ProblemError
        For a rate that is negative or not finite, and for another number of flows.
    TypeError
        For what is no array of numbers.

    Notes
    -----
    Source: Bertsimas, Farias, Trichakis, *The price of fairness*, Operations Research 59(1), 2011.

    Examples
    --------
    >>> problem = netnum.Problem([6.0, 6.0], [[0, 1], [0], [1]], netnum.AlphaFair(1.0))
    >>> best = netnum.solve(problem.with_utility(netnum.Linear(1.0)))
    >>> round(netnum.price_of_fairness(netnum.max_min(problem), best), 3)
    0.25
    """
    x, others = _rates("rates", rates), _rates("best", best)
    _check_flows(x, others)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _number(1.0 - x.sum(axis=-1) / others.sum(axis=-1))


def _rates(name: str, given: Any) -> NDArray[np.float64]:
    """The rates of flows."""
    if isinstance(given, (Solution, Solutions)) or (isinstance(given, MaxMinRates) and given.flow_rates.size):
        given = given.flow_rates
    rates = _numbers(name, given)
    if rates.ndim == 0 or rates.shape[-1] == 0:
        raise ProblemError(f"{name} has shape {rates.shape}, expected (flows,), one or more")
    if not ((rates >= 0) & np.isfinite(rates)).all():
        flow = int(np.argwhere(~((rates >= 0) & np.isfinite(rates)))[0][-1])
        raise ProblemError(f"{name}: the rate of flow {flow} is not a finite number >= 0")
    return rates


def _positive(name: str, given: Any) -> NDArray[np.float64]:
    numbers = _numbers(name, given)
    if not ((numbers > 0) & np.isfinite(numbers)).all():
        raise ProblemError(f"{name} has an entry that is not a finite number > 0")
    return numbers


def _numbers(name: str, given: Any) -> NDArray[np.float64]:
    array = np.asarray(given)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be an array of numbers, not {type(given).__name__}")
    return array.astype(float)


def _check_flows(rates: NDArray[np.float64], others: NDArray[np.float64]) -> None:
    flows, of_others = rates.shape[-1], others.shape[-1]
    if flows != of_others:
        raise ProblemError(f"there are numbers of {flows} flows and of {of_others}, expected those of the same flows")


def _number(value: Any) -> Any:
    """A float, where there is one."""
    return float(value) if np.ndim(value) == 0 else value
