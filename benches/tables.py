"""Numbers as text, tables in Markdown, and the name of what is measured: for the pages of benchmarks."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def duration(nanoseconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= 0.9995 * size:
            return f"{three_digits(nanoseconds / size)} {unit}"
    return f"{three_digits(nanoseconds)} ns"


def three_digits(number: float) -> str:
    """A number with three digits, or with all that are before the point."""
    return f"{number:#.3g}".rstrip(".") if number < 999.5 else f"{number:.0f}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table: the first column is words, the others are numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def output_of(*command: str) -> str:
    """The output of a command, empty where it fails."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def commit() -> str:
    """The commit that is measured."""
    return output_of("git", "describe", "--always", "--dirty") or "unknown"


def processor() -> str:
    """The name of the processor, where the system has it."""
    names = Path("/proc/cpuinfo")
    if names.exists():
        for text in names.read_text().splitlines():
            if text.startswith("model name"):
                return text.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
