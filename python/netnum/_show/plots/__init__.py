"""Plots: of networks, of rows of bars (solutions, studies, derivatives), of curves (convergence, simulations),
and simulations over time.

matplotlib is imported when a plot is drawn.
"""

from .bars import coflows, failures, gains, solution, upgrades
from .curves import convergence, plot_fct, sweep
from .networks import animation, topology
from .timelines import links_over_time, rates_over_time

__all__ = [
    "animation",
    "coflows",
    "convergence",
    "failures",
    "gains",
    "links_over_time",
    "plot_fct",
    "rates_over_time",
    "solution",
    "sweep",
    "topology",
    "upgrades",
]
