"""Solves over the ranks of an MPI communicator: every process holds some of the flows, over the same links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import Problem, Solution, solve_part
from ._messages import optional

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

__all__ = ["solve"]


def __dir__() -> list[str]:
    return sorted(__all__)


def solve(
    problem: Problem,
    method: str = "auto",
    *,
    comm: Intracomm | None = None,
    progress: bool = False,
    **settings: Any,
) -> Solution:
    """Solve a problem of which every rank holds a part of the flows.

    All ranks of the communicator call it. An iteration adds up two numbers per link over the ranks, and the certificate
    is of the whole problem. The paths of one flow are on one rank; a rank may have no flows. The ranks run the same
    version of netnum on processors of one kind.

    Parameters
    ----------
    problem : Problem
        All links, with the same capacities on all ranks, and the flows of this rank.
    method : str
        A method that moves prices by a rule: ``"fast-ned"``, which is also ``"auto"``, ``"ned"``, ``"gradient"``,
        ``"fgm"``, ``"newton-like"`` or ``"rcp"``.
    comm : mpi4py.MPI.Intracomm, optional
        By default ``MPI.COMM_WORLD``. Numbers go over a duplicate of it, which all ranks make at their first call.
        One thread at a time uses a communicator; others have one of their own.
    progress : bool
        Whether rank 0 shows a progress bar on stderr.
    **settings
        As of `netnum.solve`, the same on all ranks: ``tol``, ``stop``, ``max_iterations``, ``time_limit``,
        ``warm_start``, ``trace`` and the options of the method. A ``callback`` and ``threads`` may differ: a callback
        on any rank has all certify every iteration, and one that returns False stops all. A step is not broken off by
        the time limit, and what a limit leaves idle is filled on a single rank only.

    Returns
    -------
    Solution
        Status, iterations, prices, loads, objective and certificate of the whole problem, the same on all ranks; rates,
        bottlenecks and failed flows of this rank's part, which is `Solution.part`.

    Raises
    ------
    TypeError
        For a `comm` that is no intracommunicator of mpi4py, and a communicator in the place of the method.
    ImportError
        Without mpi4py: ``pip install "netnum[mpi]"``.
    NumError
        On all ranks, for what differs between ranks, with the ranks and their values; and ``rank 3 has failed: …``
        where another rank has raised an exception or was interrupted. Where not all ranks come to a call of netnum
        within 3 s of that (they wait in a collective of the program, say), that rank prints its error to stderr and
        ends all processes by ``MPI_Abort``. Where a process is killed, the launcher of MPI ends the others; which one
        it was is for the launcher to say.
    MethodError, ProblemError, UtilityError
        As `netnum.solve` does, for the part of this rank.

    Examples
    --------
    ``mpiexec -n 2 python shares.py``, where ``shares.py`` has these lines, prints 1.0 twice: four flows share a link.

    >>> from mpi4py import MPI  # doctest: +SKIP
    >>> part = netnum.Problem([4.0], [[0], [0]], netnum.AlphaFair(1.0))
    >>> netnum.distributed.solve(part, comm=MPI.COMM_WORLD).rates[0].round(3)  # doctest: +SKIP
    1.0
    """
    return solve_part(problem, _communicator(comm, method), method, progress=progress, **settings)


def _communicator(comm: Any, method: Any = None) -> Any:
    MPI = optional("mpi4py.MPI", "netnum.distributed needs mpi4py", "mpi")
    if isinstance(method, MPI.Comm):
        raise TypeError("a communicator is given as the method: it is netnum.distributed.solve(part, comm=comm)")
    if comm is None:
        return MPI.COMM_WORLD
    if isinstance(comm, MPI.Comm) and comm == MPI.COMM_NULL:
        raise TypeError("comm is MPI.COMM_NULL: this rank is outside of the group, or the communicator was freed")
    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm must be an intracommunicator of mpi4py, not {comm!r}")
    return comm
