"""Demands that are drawn: by gravity, and lognormal."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from .._core import NumError, Topology
from ._table import Demands, ends_of, expect_network, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def gravity(
    net: Topology, total: float, masses: ArrayLike | None = None, *, spread: float = 0.0, seed: int = 0
) -> Demands:
    """Demands between all ends in proportion to the product of their masses.

    Parameters
    ----------
    net : Topology
    total : float
        Their sum, in the unit of the capacities.
    masses : array of float, shape (ends,), optional
        >= 0. By default what the links of an end carry: those that leave it for a source, those that enter it for a
        destination.
    spread : float
        Each is multiplied by exp(spread · z) with z standard normal, before all are scaled to their total.
    seed : int
        Of the z.

    Returns
    -------
    Demands
        Of every pair of two ends whose product is above 0, source by source.

    Raises
    ------
    NumError
        For a total or spread that is negative or not finite, or masses of another length, negative or not finite.

    Notes
    -----
    Source: Roughan, *Simplifying the synthesis of Internet traffic matrices*, Computer Communication Review 35(5),
    2005.

    Examples
    --------
    >>> net = netnum.topology.backbone("abilene")
    >>> demands = netnum.demands.gravity(net, total=50_000, spread=1.0, seed=1)
    >>> demands
    Demands(110, 50000 in all)
    """
    expect_network(net, "gravity(net, total)")
    if masses is None:
        for link in np.flatnonzero(np.isinf(net.capacities))[:1]:
            name = net.link_names[link]
            raise NumError(f"link {link} ({name}) has no limit, by which ends are weighed: give masses=, one per end")
        leaving, entering = (np.zeros(len(net.node_names)) for _ in range(2))
        carry = net.capacities / net.capacities.max(initial=1e-300)
        np.add.at(leaving, net.links[:, 0], carry)
        np.add.at(entering, net.links[:, 1], carry)
        # Either way over shared links.
        np.add.at(leaving, net.links[net.shared, 1], carry[net.shared])
        np.add.at(entering, net.links[net.shared, 0], carry[net.shared])
        leaving, entering = leaving[: net.ends], entering[: net.ends]
    else:
        given = floats("masses", masses)
        if given.shape != (net.ends,):
            raise NumError(f"masses has shape {given.shape}, expected ({net.ends},), one per end")
        wrong = np.flatnonzero(~((given >= 0) & np.isfinite(given)))
        if len(wrong):
            what = f"the mass of {net.node_names[wrong[0]]} is {given[wrong[0]]}"
            raise NumError(f"{what}, expected a finite number >= 0")
        leaving = entering = given / given.max(initial=1e-300)
    return _spread(net, total, np.outer(leaving, entering), spread, seed, "spread")


def lognormal(net: Topology, total: float, sigma: float = 1.0, *, seed: int = 0) -> Demands:
    """Demands between all ends that are independent and lognormal: few large ones, many small ones.

    Parameters
    ----------
    net : Topology
    total : float
        Their sum, in the unit of the capacities.
    sigma : float
        The standard deviation of their logarithms.
    seed : int

    Returns
    -------
    Demands
        Of every pair of two ends, source by source.

    Raises
    ------
    NumError
        For a total or sigma that is negative or not finite.

    Examples
    --------
    >>> netnum.demands.lognormal(netnum.topology.backbone("nsfnet"), total=10.0, seed=3)
    Demands(182, 10 in all)
    """
    expect_network(net, "lognormal(net, total)")
    return _spread(net, total, np.ones((net.ends, net.ends)), sigma, seed, "sigma")


def _spread(net: Topology, total: float, shape: NDArray[np.float64], sigma: float, seed: int, name: str) -> Demands:
    for what, value in (("total", total), (name, sigma)):
        if floats(what, value).ndim or not 0 <= value < float("inf"):
            raise NumError(f"{what} is {value}, expected a finite number >= 0")
    try:
        drawn = np.random.default_rng(operator.index(seed)).standard_normal(shape.shape)
    except ValueError:
        raise NumError(f"seed is {seed}, expected an integer >= 0") from None
    # The largest factor is 1, whatever sigma is.
    sizes = shape * np.exp(sigma * (drawn - drawn.max(initial=0.0)))
    np.fill_diagonal(sizes, 0.0)
    if total > 0 and not sizes.sum() > 0:
        raise NumError("all products of masses are 0, expected two ends with a mass above 0")
    rows, columns = np.nonzero(sizes)
    volumes = sizes[rows, columns]
    volumes = volumes / volumes.sum() * total if total > 0 else np.zeros(len(volumes))
    return Demands(ends_of(net)[rows], ends_of(net)[columns], volumes)
