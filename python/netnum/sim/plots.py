"""Plots over several reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._core import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_fct(
    reports: Report | Sequence[Report], ax: Axes | None = None, *, label: str | None = None, confidence: float = 0.95
) -> Axes:
    r"""Draw slowdowns over flow sizes, averaged over simulations of several seeds, with bands of confidence.

    The mean and the 99 % quantile of flows of about the same size are taken in every report. The lines are their means
    over the reports, and the bands the intervals of Student's t for these means: what another set of seeds would give.

    Parameters
    ----------
    reports : Report or sequence of Report
        Of the same policy, with workloads of different seeds. Of one report there is no band.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure. Several policies on the same axes make a comparison.
    label : str, optional
        The label of these reports; by default the policy over the routing of the first.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NumError
        For no report, and for a confidence outside its range.
    ImportError
        Without matplotlib: ``pip install "netnum[plot]"``.

    Examples
    --------
    >>> net = netnum.topology.star(8, capacity=10e9)
    >>> sizes = netnum.sim.Sizes.exponential(1e5)
    >>> workloads = [netnum.sim.Workload.poisson(net, sizes, 0.6, flows=300, seed=seed) for seed in range(3)]
    >>> ax = None
    >>> for policy in ("max-min", "srpt"):
    ...     ax = netnum.sim.plot_fct([netnum.sim.simulate(net, each, policy) for each in workloads], ax)
    """
    from .. import plot

    return plot.slowdowns(reports, ax, label, confidence)
