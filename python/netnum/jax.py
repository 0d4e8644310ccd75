"""Rates as a function that JAX differentiates: the optimum in terms of what the problem has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
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


def __dir__() -> list[str]:
    return sorted(__all__)


def allocate(
    problem: Problem,
    *,
    of: str | Sequence[str] = "flow_rates",
    at_kink: Literal["refuse", "hold", "release"] = "refuse",
    threads: int | None = None,
    **parameters: jax.Array,
) -> Any:
    """The optimum of a problem as a differentiable function of its parameters.

    `jax.grad`, `jax.vjp`, `jax.jacrev`, `jax.jit` and `jax.vmap` take it, the last as one batch. Forward mode
    (`jax.jvp`, `jax.jacfwd`) is a TypeError of JAX: it is `Sensitivity.jvp`.

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
        ``capacities``, ``rate_cap``, ``flow_cap``, ``flow_floor``, ``path_cost``, ``coefficients``, and of the utility
        ``weight`` or ``scale``, ``alpha``, ``size`` and ``epsilon``: float64 on the CPU, shape (..., links),
        (..., paths), (..., flows), of coefficients (..., crossings) in the order of `Paths.indices`, or one number for
        all. Leading axes are those of a batch of problems and are broadcast.

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
    jax.errors.JaxRuntimeError, ValueError
        Where the solve itself raises: the first from a call that JAX compiles, the second from later ones. The text
        ends with the error of netnum: `ProblemError` and `UtilityError` for values that make no problem, and
        `SensitivityError`, in the forward pass for max-min and linear utilities and problems that are not solved to
        optimality, in the backward pass at kinks and for the derivative of the objective in an ``alpha`` of 1.
    NotImplementedError
        For second derivatives, such as `jax.hessian`.

    Notes
    -----
    JAX compiles the call once for a problem, and keeps that, with the problem, until its caches are cleared: give
    changing values as parameters, and not in new problems. Tested with JAX 0.10.

    Examples
    --------
    >>> import jax, netnum.jax
    >>> jax.config.update("jax_enable_x64", True)
    >>> problem = netnum.Problem([6.0], [[0], [0]], netnum.AlphaFair(1.0))
    >>> first = lambda weight: netnum.jax.allocate(problem, weight=weight)[0]
    >>> np.asarray(jax.grad(first)(jax.numpy.array([1.0, 2.0]))).round(6)
    array([ 1.333333, -0.666667])
    """
    return _outcomes(Layer(problem, of, at_kink, threads), parameters)


class Allocation:
    """`allocate` as an object that keeps the prices of the last call.

    The next call starts from them, if it has as many problems.

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
        self._layer = Layer(problem, of, at_kink, threads, remembers=True)

    def __repr__(self) -> str:
        return f"Allocation({self._layer.problem!r})"

    def __call__(self, **parameters: jax.Array) -> Any:
        """The optimum for these parameters, as `allocate` returns it."""
        return _outcomes(self._layer, parameters)


def _outcomes(layer: Layer, parameters: dict[str, jax.Array]) -> Any:
    layer.check_names(list(parameters))
    arrays = {name: _checked(name, given) for name, given in parameters.items()}
    shapes = layer.full_shapes({name: array.shape for name, array in arrays.items()})
    full = tuple(jnp.broadcast_to(array, shapes[name]) for name, array in arrays.items())
    outcomes = _allocate(layer, tuple(arrays), full)
    return outcomes[0] if layer.is_one else outcomes


@dataclass(frozen=True)
class _Solve:
    """From parameters, all of the same leading axes, to what is asked for, and rates and prices.

    Equal for equal layers: JAX compiles what calls it once, and keeps that.
    """

    layer: Layer
    names: tuple[str, ...]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        given = dict(zip(self.names, map(np.asarray, arrays), strict=True))
        batch = given[self.names[0]].shape[:-1]
        optima = self.layer.solve(given)
        return tuple(self.layer.outcome(name, optima, batch) for name in (*self.layer.of, "rates", "prices"))


@dataclass(frozen=True)
class _Differentiate:
    """From parameters, rates, prices, and derivatives in what was asked for, to those in parameters."""

    layer: Layer
    names: tuple[str, ...]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        count = len(self.names)
        rates, prices, *gradients = map(np.asarray, arrays[count:])
        optima = self.layer.at(dict(zip(self.names, map(np.asarray, arrays[:count]), strict=True)), rates, prices)
        toward = dict(zip(self.layer.of, gradients, strict=True))
        return tuple(self.layer.gradients(optima, self.names, toward, rates.shape[:-1]))


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _call(work: _Solve | _Differentiate, shapes: tuple[jax.ShapeDtypeStruct, ...], *arrays: Any) -> tuple[Any, ...]:
    """Work outside of JAX. First derivatives are those of `_allocate`, so that others are second ones."""
    return jax.pure_callback(work, shapes, *arrays, vmap_method="broadcast_all")


@_call.defjvp
def _derivative_of_call(*_: Any) -> Any:
    raise NotImplementedError("netnum.jax has no second derivatives, only gradients")


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _allocate(layer: Layer, names: tuple[str, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    return _forward(layer, names, arrays)[0]


def _forward(layer: Layer, names: tuple[str, ...], arrays: tuple[Any, ...]) -> tuple[Any, Any]:
    batch = arrays[0].shape[:-1]
    shapes = [jax.ShapeDtypeStruct(layer.shape(name, batch), np.float64) for name in (*layer.of, "rates", "prices")]
    *outcomes, rates, prices = _call(_Solve(layer, names), tuple(shapes), *arrays)
    return tuple(outcomes), (arrays, rates, prices)


def _backward(layer: Layer, names: tuple[str, ...], residuals: Any, gradients: Any) -> Any:
    arrays, rates, prices = residuals
    shapes = tuple(jax.ShapeDtypeStruct(array.shape, np.float64) for array in arrays)
    return (_call(_Differentiate(layer, names), shapes, *arrays, rates, prices, *gradients),)


_allocate.defvjp(_forward, _backward)


def _checked(name: str, given: Any) -> Any:
    if not isinstance(given, (jax.Array, np.ndarray, float, int)):
        raise TypeError(f"{name} must be an array, not {type(given).__name__}")
    array = jnp.asarray(float(given) if isinstance(given, int) else given)
    if array.dtype == np.float32:
        raise TypeError(f'{name} is of float32, expected float64: jax.config.update("jax_enable_x64", True)')
    if array.dtype != np.float64:
        raise TypeError(f"{name} is of {array.dtype}, expected float64")
    if not isinstance(array, jax.core.Tracer) and any(device.platform != "cpu" for device in array.devices()):
        raise TypeError(f"{name} is on {next(iter(array.devices())).platform}, expected the CPU")
    return array
