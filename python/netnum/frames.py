"""Answers as pandas frames. pandas is imported when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import Solutions

if TYPE_CHECKING:
    import pandas

INSTALL = 'pip install "netnum[frames]"'


def frame(columns: dict[str, Any], index: str) -> pandas.DataFrame:
    """The columns as a frame whose rows are numbered under this name."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"frames need pandas: {INSTALL}") from error
    return pandas.DataFrame(columns).rename_axis(index)


def solutions(solutions: Solutions) -> pandas.DataFrame:
    """One row per scenario."""
    columns = {
        "status": solutions.status,
        "objective": solutions.objective,
        "gap": solutions.gap,
        "kkt_residual": solutions.kkt_residual,
        "failed_flows": solutions.failed_flows,
        "iterations": solutions.iterations,
        "seconds": solutions.seconds,
    }
    return frame(columns, "scenario")
