"""What a reader is given: the name of a file, or its text."""

from __future__ import annotations

import os
from pathlib import Path

from .._core import ProblemError


def content(path_or_text: str | os.PathLike[str], is_text: bool, kind: str) -> tuple[bytes, str]:
    """The bytes of a file and its name without the ending; or those of the text itself, and ``graph``.

    Raises
    ------
    ProblemError
        When a str is neither text of that kind nor the name of a file.
    OSError
        When a file cannot be read.
    """
    if isinstance(path_or_text, str):
        if is_text:
            return path_or_text.encode(), "graph"
        if not os.path.isfile(path_or_text):
            short = path_or_text if len(path_or_text) <= 60 else path_or_text[:57] + "..."
            raise ProblemError(f"{short!r} is neither an existing file nor {kind}")
    path = Path(path_or_text)
    return path.read_bytes(), path.stem
