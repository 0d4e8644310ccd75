"""What `max_min` returns: an array of rates that says how fair they are proven to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._words import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT = 1e-5
"""Rates that are proven to be this near to max-min fair are it but for rounding."""


class MaxMinRates(np.ndarray):
    """Max-min fair rates: an array with the rate of every path, in the units of the capacities.

    It cannot be written to. What is computed from it, and every part of it, is an ordinary array; a copy, or a view as
    another type or shape, has no proof: its `unfairness` is nan. `netnum.max_min` makes it, and takes it as ``start``.

    Attributes
    ----------
    flow_rates : array of float, shape (flows,)
        The rate of every flow over all its paths.
    unfairness : float
        No flow is further than this part from having all it can use or from a bottleneck, proven. With an unfairness of
        u, whoever gives such a flow more than 1/(1 - u) of its rate takes from one whose fair share is no more than the
        flow's would be with that much: with weights, 1/(1 - u) of its own. 0 but for rounding where rates are exact. A
        rate below 1e-6 of what the flow's paths could carry counts as none and is not judged.
    """

    flow_rates: NDArray[np.float64]
    unfairness: float
    _asked: float | None
    _basis: Any

    def __new__(
        cls,
        rates: NDArray[np.float64],
        flow_rates: NDArray[np.float64],
        unfairness: float,
        asked: float | None = None,
        basis: object = None,
    ) -> MaxMinRates:
        this = np.asarray(rates).view(cls)
        this.flow_rates, this.unfairness, this._asked, this._basis = flow_rates.view(), unfairness, asked, basis
        for array in (this, this.flow_rates):
            array.flags.writeable = False
        return this

    def __array_finalize__(self, source: object) -> None:
        # Only what __new__ makes is proven: numpy comes by here for views, copies and new arrays like this one.
        self.flow_rates, self.unfairness, self._asked, self._basis = np.empty(0), float("nan"), None, None

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, place: Any) -> Any:
        return np.asarray(self)[place]

    @property
    def rates(self) -> NDArray[np.float64]:
        """The same as an ordinary array."""
        return np.asarray(self)

    @property
    def status(self) -> str:
        """``optimal``, or ``approximate`` where that is not proven; ``unknown`` for a copy."""
        if np.isnan(self.unfairness):
            return "unknown"
        return "optimal" if self.unfairness <= EXACT else "approximate"

    def __copy__(self) -> MaxMinRates:
        return MaxMinRates(np.asarray(self), self.flow_rates, self.unfairness, self._asked, self._basis)

    def __deepcopy__(self, memo: object) -> MaxMinRates:
        return self.__copy__()

    def __repr__(self) -> str:
        if np.isnan(self.unfairness):
            return repr(np.asarray(self))
        flows, paths = len(self.flow_rates), self.size
        size = counted(flows, "flow")
        if paths != flows:
            size += f", {paths} paths"
        asked = "" if self._asked is None or self.unfairness <= self._asked else f", {self._asked:g} asked for"
        return f"MaxMinRates({self.status}, {size}, unfairness at most {self.unfairness:.1e}{asked})"

    def __reduce__(self) -> tuple[Any, ...]:
        return MaxMinRates, (np.asarray(self), self.flow_rates, self.unfairness, self._asked)
