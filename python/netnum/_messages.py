"""Parts of messages that errors and reprs share."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """``1 flow``, ``2 flows``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """``did you mean 'abilene'?`` with the nearest of the known names; empty where none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else ""
