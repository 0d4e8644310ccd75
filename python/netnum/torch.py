"""Rates as a layer of PyTorch: the optimum as a differentiable function of what the problem has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from ._core import Problem
from ._layer import Layer

try:
    import torch
except ImportError as error:
    raise ImportError('netnum.torch needs PyTorch: pip install "netnum[torch]"') from error

__all__ = ["Allocation", "allocate"]


def __dir__() -> list[str]:
    return sorted(__all__)


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
        ``capacities``, ``rate_cap``, ``flow_cap``, ``flow_floor``, ``path_cost``, ``coefficients``, and of the utility
        ``weight`` or ``scale``, ``alpha``, ``size`` and ``epsilon``: float64 on the CPU, shape (..., links),
        (..., paths), (..., flows), of coefficients (..., crossings) in the order of `Paths.indices`, or one number for
        all. Leading axes are those of a batch of problems and are broadcast.

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
        In the forward pass for max-min and linear utilities and problems that are not solved to optimality; in the
        backward pass at kinks, and for the derivative of the objective in an ``alpha`` of 1.

    Notes
    -----
    Rates and prices are refined to rounding, and derivatives are exact: `torch.autograd.gradcheck` passes. Second
    derivatives and the transforms of `torch.func` are errors (in place of `torch.func.vmap` give a batch);
    `torch.compile` leaves it as it is. Tested with PyTorch 1.13, 2.1 and 2.15.

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
    layer.check_names(list(parameters))
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
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)

        def gradients(given: Sequence[torch.Tensor | None]) -> tuple[torch.Tensor, ...]:
            of = {name: one.numpy() for name, one in zip(layer.of, given, strict=True) if one is not None}
            return tuple(map(torch.from_numpy, layer.gradients(optima, names, of, batch)))

        ctx.gradients = gradients
        return tuple(map(torch.from_numpy, layer.outcomes(optima, batch)))

    @staticmethod
    def backward(ctx: Any, *given: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        if all(one is None for one in given):
            return (None,) * (2 + len(ctx.saved_tensors))
        return (None, None, *_Gradients.apply(ctx.gradients, len(given), *given, *ctx.saved_tensors))


class _Gradients(torch.autograd.Function):
    """Depends on the parameters too, or their second derivatives would be 0 without a word."""

    @staticmethod
    def forward(ctx: Any, gradients: Callable[..., Any], outcomes: int, *tensors: torch.Tensor | None) -> Any:
        return gradients([tensor if tensor is None else tensor.detach() for tensor in tensors[:outcomes]])

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> Any:
        raise NotImplementedError("netnum.torch has no second derivatives, only gradients")


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
