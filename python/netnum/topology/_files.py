"""What a reader is given: the name of a file, or its text."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable
from pathlib import Path

from .._core import ProblemError

DECLARED = r"""^(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')"""
"""The encoding in the first line of XML, after what stands before it."""


def content(path_or_text: str | os.PathLike[str], is_text: Callable[[str], bool], kind: str) -> tuple[bytes, str]:
    """The bytes of a file and its name without the ending; or those of the text itself, and ``graph``.

    A byte-order mark is left out of both. A text that is given as such is no longer in the encoding that its XML
    declares: its bytes are UTF-8, and declare none.

    Raises
    ------
    ProblemError
        When a str is neither text of that kind nor the name of a file.
    OSError
        When a file cannot be read.
    """
    if isinstance(path_or_text, str):
        text = path_or_text.removeprefix("\ufeff")
        if is_text(text):
            return re.sub(DECLARED, r"\1", text, count=1).encode(), "graph"
        if not os.path.isfile(path_or_text):
            short = text if len(text) <= 60 else text[:57] + "..."
            raise ProblemError(f"{short!r} is neither an existing file nor {kind}")
    path = Path(path_or_text)
    return path.read_bytes().removeprefix(codecs.BOM_UTF8), path.stem


def decoded(data: bytes) -> str:
    """The text of bytes in UTF-8, or else in Latin-1, as in older files of the Internet Topology Zoo."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")
