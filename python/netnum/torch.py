"""Rates as a layer of PyTorch: the optimum as a differentiable function of capacities, caps, weights and exponents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from ._core import Problem
from ._layer import Layer

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise ImportError('netnum.torch needs PyTorch: pip install "netnum[torch]"') from error

__all__ = ["Allocation", "allocate"]


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _no_graph(function: _Function) -> _Function:
    """`torch.compile` leaves the function as it is. PyTorch 1 has no compiler."""
    return torch.compiler.disable(function) if hasattr(torch, "compiler") else function


@_no_graph
def allocate(
    problem: Problem,
    *,
    of: str | Sequence[str] = "flow_rates",
    at_kink: Literal["refuse", "hold", "release"] = "refuse",
    threads: int | None = None,
    **parameters: torch.Tensor,
) -> Any:
    """The optimum of a problem as a differentiable function of its parameters.

    Parameters
    ----------
    problem : Problem
        The paths, and everything that is not given as a tensor.
    of : {"flow_rates", "rates", "prices", "objective"}, or sequence of these
        What is returned.
    at_kink : {"refuse", "hold", "release"}
        The derivative where the optimum has none, as of `Sensitivity.vjp`.
    threads : int, optional
        By default as many as the machine has cores. Each problem is solved by one.
    **parameters : torch.Tensor
        ``capacities``, ``rate_cap``, ``flow_cap``, and of the utility ``weight`` or ``scale``, ``alpha``, ``size`` and
        ``epsilon``: float64 on the CPU, shape (..., links), (..., paths) or (..., flows), or one number for all.
        Leading axes are those of a batch of problems and are broadcast.

    Returns
    -------
    torch.Tensor, or tuple of torch.Tensor
        Shape (..., flows), (..., paths), (..., links) or (...).

    Raises
    ------
    TypeError
        For a parameter that is no tensor of float64 on the CPU, or that the utility does not have.
    ProblemError, UtilityError
        For a tensor of another shape, and for values that make no problem; the number of the problem in the batch
        stands in front.
    SensitivityError
        For max-min and linear utilities, problems that are not solved to optimality, at kinks, and for the derivative
        of the objective in an ``alpha`` of 1.

    Notes
    -----
    Rates and prices are refined to rounding, and derivatives are exact: `torch.autograd.gradcheck` passes. Second
    derivatives and the transforms of `torch.func` are not available; `torch.compile` leaves it as it is. Tested with
    PyTorch 1.13, 2.1 and 2.15.

    Examples
    --------
    >>> import torch, netnum.torch
    >>> problem = netnum.Problem([6.0], [[0], [0]], netnum.AlphaFair(1.0))
    >>> weight = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    >>> rates = netnum.torch.allocate(problem, weight=weight)
    >>> rates.detach().numpy().round(6)
    array([2., 4.])
    >>> rates[0].backward()
    >>> weight.grad.numpy().round(6)
    array([ 1.333333, -0.666667])
    """
    return _outcomes(Layer(problem, of, at_kink, threads), parameters)


class Allocation(torch.nn.Module):
    """`allocate` as a module that keeps the prices of the last call.

    The next call starts from them, if it has as many problems.

    Parameters
    ----------
    problem, of, at_kink, threads
        As of `allocate`.

    Examples
    --------
    >>> import torch, netnum.torch
    >>> problem = netnum.Problem([6.0], [[0], [0]], netnum.AlphaFair(1.0))
    >>> layer = netnum.torch.Allocation(problem, of=("flow_rates", "prices"))
    >>> capacities = torch.tensor([[3.0], [6.0]], dtype=torch.float64)
    >>> rates, prices = layer(capacities=capacities)
    >>> rates.numpy().round(6), prices.numpy().round(6)
    (array([[1.5, 1.5],
           [3. , 3. ]]), array([[0.666667],
           [0.333333]]))
    """

    def __init__(
        self,
        problem: Problem,
        *,
        of: str | Sequence[str] = "flow_rates",
        at_kink: Literal["refuse", "hold", "release"] = "refuse",
        threads: int | None = None,
    ) -> None:
        super().__init__()
        self._layer = Layer(problem, of, at_kink, threads, remembers=True)

    def extra_repr(self) -> str:
        """What stands in the parentheses of its `repr`."""
        return repr(self._layer.problem)

    @_no_graph
    def forward(self, **parameters: torch.Tensor) -> Any:
        """The optimum for these parameters, as `allocate` returns it."""
        return _outcomes(self._layer, parameters)


def _outcomes(layer: Layer, parameters: dict[str, torch.Tensor]) -> Any:
    for name, given in parameters.items():
        _check(name, given)
    shapes = layer.full_shapes({name: tuple(given.shape) for name, given in parameters.items()})
    # Autograd adds up over the axes that are expanded here.
    full = [given.expand(shapes[name]) for name, given in parameters.items()]
    outcomes = _Allocate.apply(layer, tuple(parameters), *full)
    return outcomes[0] if layer.is_one else outcomes


class _Allocate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, layer: Layer, names: tuple[str, ...], *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        arrays = [tensor.detach().numpy() for tensor in tensors]
        batch = arrays[0].shape[:-1]
        optima = layer.solve(dict(zip(names, arrays, strict=True)))
        ctx.layer, ctx.names, ctx.optima, ctx.batch = layer, names, optima, batch
        ctx.set_materialize_grads(False)
        return tuple(map(torch.from_numpy, layer.outcomes(optima, batch)))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        given = {
            name: gradient.numpy()
            for name, gradient in zip(ctx.layer.of, gradients, strict=True)
            if gradient is not None
        }
        if not given:
            return (None,) * (2 + len(ctx.names))
        found = ctx.layer.gradients(ctx.optima, ctx.names, given, ctx.batch)
        return (None, None, *map(torch.from_numpy, found))


def _check(name: str, given: Any) -> None:
    if not isinstance(given, torch.Tensor):
        raise TypeError(
            f"{name} must be a tensor, not {type(given).__name__}: what is no tensor belongs in the problem"
        )
    if given.dtype != torch.float64 or given.device.type != "cpu" or given.layout != torch.strided:
        kind = f"{given.dtype} on {given.device.type}"
        kind += "" if given.layout == torch.strided else f", {given.layout}"
        raise TypeError(
            f"{name} is a tensor of {kind}, expected a dense one of torch.float64 on cpu: {name}.double().cpu()"
        )
