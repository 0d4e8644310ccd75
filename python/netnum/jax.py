"""Rates as a function that JAX differentiates: the optimum in terms of capacities, caps, weights and exponents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ._core import Problem
from ._layer import Layer

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError('netnum.jax needs JAX: pip install "netnum[jax]"') from error

__all__ = ["Allocation", "allocate"]


def allocate(
    problem: Problem,
    *,
    of: str | Sequence[str] = "flow_rates",
    at_kink: Literal["refuse", "hold", "release"] = "refuse",
    threads: int | None = None,
    **parameters: jax.Array,
) -> Any:
    """The optimum of a problem as a differentiable function of its parameters.

    `jax.grad`, `jax.vjp`, `jax.jit` and `jax.vmap` take it, the last as one batch. Forward mode (`jax.jvp`) is
    `Sensitivity.jvp`.

    Parameters
    ----------
    problem : Problem
        The paths, and everything that is not given as an array.
    of : {"flow_rates", "rates", "prices", "objective"}, or sequence of these
        What is returned.
    at_kink : {"refuse", "hold", "release"}
        The derivative where the optimum has none, as of `Sensitivity.vjp`.
    threads : int, optional
        By default as many as the machine has cores. Each problem is solved by one.
    **parameters : jax.Array
        ``capacities``, ``rate_cap``, ``flow_cap``, and of the utility ``weight`` or ``scale``, ``alpha``, ``size`` and
        ``epsilon``: float64 on the CPU, shape (..., links), (..., paths) or (..., flows), or one number for all.
        Leading axes are those of a batch of problems and are broadcast.

    Returns
    -------
    jax.Array, or tuple of jax.Array
        Shape (..., flows), (..., paths), (..., links) or (...).

    Raises
    ------
    TypeError
        For a parameter that the utility does not have, is not on the CPU, or is not of float64, for which JAX needs
        ``jax.config.update("jax_enable_x64", True)``.
    ProblemError
        For an array of another shape.
    jax.errors.JaxRuntimeError
        Where the solve itself raises, with the error of netnum in its text: `ProblemError` and `UtilityError` for
        values that make no problem, `SensitivityError` as `netnum.torch.allocate`.

    Examples
    --------
    >>> import jax, netnum.jax
    >>> jax.config.update("jax_enable_x64", True)
    >>> problem = netnum.Problem([6.0], [[0], [0]], netnum.AlphaFair(1.0))
    >>> first = lambda weight: netnum.jax.allocate(problem, weight=weight)[0]
    >>> np.asarray(jax.grad(first)(jax.numpy.array([1.0, 2.0]))).round(6)
    array([ 1.333333, -0.666667])
    """
    return Allocation(problem, of=of, at_kink=at_kink, threads=threads)(**parameters)


class Allocation:
    """`allocate` as an object that keeps the prices of the last call, from which the next one starts.

    Parameters
    ----------
    problem, of, at_kink, threads
        As of `allocate`.

    Examples
    --------
    >>> import jax, netnum.jax
    >>> jax.config.update("jax_enable_x64", True)
    >>> layer = netnum.jax.Allocation(netnum.Problem([6.0], [[0], [0]], netnum.AlphaFair(1.0)))
    >>> jax.jit(layer)(capacities=jax.numpy.array([[3.0], [6.0]])).round(6).tolist()
    [[1.5, 1.5], [3.0, 3.0]]
    """

    def __init__(
        self,
        problem: Problem,
        *,
        of: str | Sequence[str] = "flow_rates",
        at_kink: Literal["refuse", "hold", "release"] = "refuse",
        threads: int | None = None,
    ) -> None:
        self._layer = Layer(problem, of, at_kink, threads)
        self._functions: dict[tuple[str, ...], Any] = {}

    def __repr__(self) -> str:
        return f"Allocation({self._layer.problem!r})"

    def __call__(self, **parameters: jax.Array) -> Any:
        """The optimum for these parameters, as `allocate` returns it."""
        layer, names = self._layer, tuple(parameters)
        arrays = {name: _checked(name, given) for name, given in parameters.items()}
        shapes = layer.full_shapes({name: array.shape for name, array in arrays.items()})
        full = [jnp.broadcast_to(array, shapes[name]) for name, array in arrays.items()]
        if names not in self._functions:
            self._functions[names] = _function(layer, names)
        outcomes = self._functions[names](*full)
        return outcomes[0] if layer.is_one else outcomes


def _function(layer: Layer, names: tuple[str, ...]) -> Any:
    """The optimum as a function of these parameters, all of the same leading axes."""

    def solved(*arrays: Any) -> tuple[Any, ...]:
        given = _numpy(names, arrays)
        batch = given[names[0]].shape[:-1]
        optima = layer.solve(given)
        return tuple(layer.outcome(name, optima, batch) for name in (*layer.of, "rates", "prices"))

    def differentiated(*arrays: Any) -> tuple[Any, ...]:
        given = _numpy(names, arrays)
        rates, prices, *gradients = map(np.asarray, arrays[len(names) :])
        batch = rates.shape[:-1]
        optima = layer.at(given, rates, prices)
        found = layer.gradients(optima, names, dict(zip(layer.of, gradients, strict=True)))
        return tuple(each.reshape(*batch, -1) for each in found)

    def forward(*arrays: Any) -> tuple[Any, Any]:
        batch = arrays[0].shape[:-1]
        shapes = [jax.ShapeDtypeStruct(layer.shape(name, batch), np.float64) for name in (*layer.of, "rates", "prices")]
        *outcomes, rates, prices = jax.pure_callback(solved, tuple(shapes), *arrays, vmap_method="broadcast_all")
        return tuple(outcomes), (arrays, rates, prices)

    def backward(residuals: Any, gradients: Any) -> Any:
        arrays, rates, prices = residuals
        shapes = tuple(jax.ShapeDtypeStruct(array.shape, np.float64) for array in arrays)
        return jax.pure_callback(
            differentiated, shapes, *arrays, rates, prices, *gradients, vmap_method="broadcast_all"
        )

    function = jax.custom_vjp(lambda *arrays: forward(*arrays)[0])
    function.defvjp(forward, backward)
    return function


def _numpy(names: tuple[str, ...], arrays: tuple[Any, ...]) -> dict[str, Any]:
    return {name: np.asarray(array) for name, array in zip(names, arrays, strict=False)}


def _checked(name: str, given: Any) -> Any:
    if not isinstance(given, (jax.Array, np.ndarray, float)):
        raise TypeError(f"{name} must be an array, not {type(given).__name__}")
    array = jnp.asarray(given)
    if array.dtype != np.float64:
        raise TypeError(f'{name} is of {array.dtype}, expected float64: jax.config.update("jax_enable_x64", True)')
    if not isinstance(array, jax.core.Tracer) and any(device.platform != "cpu" for device in array.devices()):
        raise TypeError(f"{name} is on {next(iter(array.devices())).platform}, expected the CPU")
    return array
