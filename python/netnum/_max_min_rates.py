"""The result of `max_min`: an array of rates with the unfairness that is proven of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._messages import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT = 1e-5
"""The largest unfairness that is due to rounding alone: such rates are exact."""


class MaxMinRates(np.ndarray):
    """Max-min fair rates: an array with the rate of every path, in the units of the capacities.

    It is read-only. Results of computations with it, and all parts of it, are ordinary arrays; a copy, or a view as
    another type or shape, has no proof: its `unfairness` is nan. `netnum.max_min` makes it, and takes it as ``start``.

    Attributes
    ----------
    flow_rates : array of float, shape (flows,)
        The rate of every flow over all its paths.
    unfairness : float
        A proven bound for every flow on its relative distance from its cap or saturation, or from a bottleneck. With an
        unfairness of u, a flow can get more than 1/(1 - u) times its rate only at the expense of a flow whose fair
        share is at most the one that the first flow then has: with weights, 1/(1 - u) times its share. 0 to rounding
        where rates are exact. A rate below 1e-6 of the capacity of the flow's paths counts as 0 and is not judged.

    Examples
    --------
    >>> problem = netnum.Problem([1.0, 2.0], [[0], [0, 1], [1]], netnum.AlphaFair(1.0))
    >>> rates = netnum.max_min(problem)
    >>> rates.rates.round(6), rates.status
    (array([0.5, 0.5, 1.5]), 'optimal')
    """

    flow_rates: NDArray[np.float64]
    unfairness: float
    _accuracy: float | None
    _basis: Any

    def __new__(
        cls,
        rates: NDArray[np.float64],
        flow_rates: NDArray[np.float64],
        unfairness: float,
        accuracy: float | None = None,
        basis: object = None,
    ) -> MaxMinRates:
        this = np.asarray(rates).view(cls)
        this.flow_rates, this.unfairness, this._accuracy, this._basis = flow_rates.view(), unfairness, accuracy, basis
        for array in (this, this.flow_rates):
            array.flags.writeable = False
        return this

    def __array_finalize__(self, source: object) -> None:
        # Only results of __new__ have a proof: NumPy calls this for views, copies and new arrays of this type.
        self.flow_rates, self.unfairness, self._accuracy, self._basis = np.empty(0), float("nan"), None, None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, place: Any) -> Any:
        return np.asarray(self)[place]

    @property
    def rates(self) -> NDArray[np.float64]:
        """The rates as an ordinary array."""
        return np.asarray(self)

    @property
    def status(self) -> str:
        """``optimal``, or ``approximate`` where that is not proven; ``unknown`` for a copy."""
        if np.isnan(self.unfairness):
            return "unknown"
        return "optimal" if self.unfairness <= EXACT else "approximate"

    def __copy__(self) -> MaxMinRates:
        return MaxMinRates(np.asarray(self), self.flow_rates, self.unfairness, self._accuracy, self._basis)

    def __deepcopy__(self, memo: object) -> MaxMinRates:
        return self.__copy__()

    def __repr__(self) -> str:
        if np.isnan(self.unfairness):
            return repr(np.asarray(self))
        flows, paths = len(self.flow_rates), self.size
        size = counted(flows, "flow")
        if paths != flows:
            size += f", {paths} paths"
        missed = self._accuracy is not None and self.unfairness > self._accuracy
        target = f", target {self._accuracy:g}" if missed else ""
        return f"MaxMinRates({self.status}, {size}, unfairness at most {self.unfairness:.1e}{target})"

    def __reduce__(self) -> tuple[Any, ...]:
        return MaxMinRates, (np.asarray(self), self.flow_rates, self.unfairness, self._accuracy)
