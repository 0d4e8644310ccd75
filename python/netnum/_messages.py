"""What errors and reprs say alike."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from typing import Any


def counted(count: int, noun: str) -> str:
    """``1 flow``, ``2 flows``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """``did you mean 'abilene'?`` with the nearest of the known names; empty where none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def optional(module: str, need: str, extra: str) -> Any:
    """A module that netnum can do without, or an error that says the need and the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f'{need}: pip install "netnum[{extra}]"') from error
