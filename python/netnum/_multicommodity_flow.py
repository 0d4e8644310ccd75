"""The result of `concurrent_flow` and `min_utilization`: rates that carry demands, and the cut that proves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ._core import Problem
from ._show import frames, html, proofs

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class MulticommodityFlow:
    r"""Rates that carry the same fraction of every demand, and the links that prove that it cannot be better.

    `concurrent_flow` and `min_utilization` return it. With the demands d, capacities c, caps r of paths (`rate_cap`),
    `prices` p, `flow_prices` v and the path prices q, sums of p times the coefficients of a path over its links, the
    proof is

    ==================  =====================  ==========================================
    concurrent flow     sum(d v) = 1           bound = sum(c p) + sum(r max(v - q, 0))
    least utilization   sum(c p) = 1           bound = sum(d v) - sum(r max(v - q, 0))
    ==================  =====================  ==========================================

    over the paths that are open. Those without a cap have q >= v, so that without caps of paths v is the least q of the
    flow and the last sums are 0. No rates carry a larger fraction than the first bound, or all demands at a smaller
    utilization than the second.

    Examples
    --------
    >>> net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4")
    >>> problem = netnum.Problem(net, net.k_shortest_paths({("A", "C"): 20.0, ("B", "A"): 3.0}, 2))
    >>> flow = netnum.concurrent_flow(problem)
    >>> flow.status, round(flow.fraction, 9), flow.cut
    ('optimal', 0.5, ('B -> C', 'A -> C'))
    >>> flow.to_pandas("links").loc[flow.cut_links, ["link", "utilization", "price"]].round(3)
              link  utilization  price
    number
    2       B -> C          1.0   0.05
    4       A -> C          1.0   0.05
    """

    status: Literal["optimal", "stalled", "time_limit"]
    """``"optimal"`` where the proof leaves a gap of 1e-6 at most; it is rounding nearly always. Else ``"stalled"``, or
    ``"time_limit"`` where that ended it."""
    fraction: float
    """The part of every demand that is carried; 1 of `min_utilization`. inf where no flow has a demand and a path."""
    utilization: float
    """The largest load over capacity of a link."""
    bound: float
    """The proven bound on the fraction, or of `min_utilization` on the utilization."""
    gap: float
    """The distance from it, relative to the smaller of the two: bound / fraction - 1, or utilization / bound - 1."""
    rates: NDArray[np.float64]
    """Rate of every path: shape (paths,)."""
    flow_rates: NDArray[np.float64]
    """Rate of every flow over all its paths: shape (flows,)."""
    loads: NDArray[np.float64]
    """Load of every link: shape (links,)."""
    prices: NDArray[np.float64]
    """Price of every link, that of the links in the `cut` above 0: shape (links,). The rise of the fraction per unit of
    its capacity, or of `min_utilization` that of the utilization per unit of other load on it."""
    flow_prices: NDArray[np.float64]
    """What every flow pays per unit of rate; 0 where the cut does not hold it: shape (flows,)."""
    cut_links: NDArray[np.int64]
    """The links that together are as full as they can be of the flows in `cut_flows`, by number; none where a time
    limit has ended it before."""
    cut_flows: NDArray[np.int64]
    """The flows that pay a price."""
    failed_flows: NDArray[np.int64]
    """Flows that nothing can pass, because their demand is 0 or every path is or crosses a link of capacity 0. They are
    left out."""
    seconds: float
    """Seconds that it took."""
    problem: Problem
    """The problem with the demands."""
    _summary: str
    """Its `repr`, made by the core."""

    @property
    def is_optimal(self) -> bool:
        """Whether the status is ``"optimal"``."""
        return self.status == "optimal"

    @property
    def cut(self) -> tuple[str, ...]:
        """The names of the links in the cut, as in `Topology.link_names`; none where only caps of paths limit flows."""
        return proofs.names_of_links(self.problem, self.cut_links)

    @property
    def link_utilization(self) -> NDArray[np.float64]:
        """Load over capacity of every link, nan of links that have failed or have no limit: shape (links,)."""
        return frames.ratio(self.loads, self.problem.capacities)

    def to_pandas(self, of: Literal["flows", "paths", "links"] = "flows") -> pandas.DataFrame:
        """The rates as a table of flows, paths or links, with the names of the network.

        Parameters
        ----------
        of : {"flows", "paths", "links"}
            The items with a row each; the columns are those of `netnum.to_pandas`. What holds a flow back are the links
            of the cut.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        NumError
            For another `of`.
        ImportError
            Without pandas: ``pip install "netnum[frames]"``.
        """
        return frames.multicommodity_flow(self, of)

    def __repr__(self) -> str:
        return self._summary

    def _repr_html_(self) -> str:
        return html.multicommodity_flow(self)
