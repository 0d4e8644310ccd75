"""Plots: of networks, of rows of bars (solutions, studies, derivatives), and of curves (convergence, simulations).

matplotlib is imported when a plot is drawn.
"""

from .bars import coflows, failures, gains, solution, upgrades
from .curves import convergence, plot_fct, sweep
from .networks import topology

__all__ = ["coflows", "convergence", "failures", "gains", "plot_fct", "solution", "sweep", "topology", "upgrades"]
