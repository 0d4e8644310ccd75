"""The table of a reproduced figure: what the paper says, what is accepted of a fluid model, what came out.

A script here measures, fills a `Page` and ends with `page.finish()`, which prints it. Two arguments say how:

- ``--small`` measures less, as the tests do;
- ``--write`` also puts the page, with its plot, into ``docs/reproductions.md``, as ``make reproductions`` does.
"""

import argparse
import math
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "reproductions.md"


class Page:
    """One figure of a paper, reproduced."""

    def __init__(self, title, about):
        """`title` as in "Flowtune, Fig. 8: convergence"; `about` says in a sentence or two what is measured."""
        parser = argparse.ArgumentParser(description=f"{title}. {about}")
        parser.add_argument("--small", action="store_true", help="measure less, as the tests do")
        parser.add_argument("--write", action="store_true", help=f"put the page into {DOCUMENT.relative_to(ROOT)}")
        arguments = parser.parse_args()
        self.title, self.about = title, about
        self.small, self.write = arguments.small, arguments.write
        self.name = Path(sys.argv[0]).stem
        self.rows, self.notes, self.plots, self.unexpected = [], [], [], []

    def row(self, what, paper, ours, *, accept=None, small=None, form=".3g", misses=None):
        """A line of the table.

        `paper` is text; `ours` a number; `accept` the lowest and the highest number that a faithful fluid model should
        give (None: not bounded on that side), or None where there is nothing to hold it against. `small` is the same
        for ``--small``, where fewer samples allow less to be said; it is `accept` unless given. `misses` is for one
        that is known not to be accepted in the full form, for a reason that a note gives: between what it lies instead.
        """
        if small is not None and accept is None:
            raise ValueError(f"{what}: bounds for the small form only")
        bounds = small if self.small and small is not None else accept
        reported = "" if accept is None else bounds_text(bounds, form)
        holds = not math.isnan(ours) and (bounds is None or within(ours, *bounds))
        expected = holds if misses is None or self.small else not holds and within(ours, *misses)
        if not expected:
            self.unexpected.append(what)
        self.rows.append(
            (what, paper, reported, format(ours, form), "" if bounds is None else ("yes" if holds else "NO"))
        )

    def note(self, text):
        """Says why figures differ, or which choice decides."""
        self.notes.append(" ".join(text.split()))

    def plot(self, figure, alt):
        """Keeps a matplotlib figure; `alt` says in words what it shows."""
        folder = DOCUMENT.parent / "reproductions" if self.write else Path(os.environ.get("NETNUM_PLOTS", "plots"))
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.name}{len(self.plots) or ''}.png"
        figure.savefig(file, dpi=110)
        self.plots.append((file, alt))

    def finish(self):
        """Prints the page, and writes it if asked to.

        Ends with a failure if a figure is not within its bounds, or one is that was known not to be.
        """
        head = ("", "paper", "accepted", "netnum", "holds")
        widths = [max(len(row[column]) for row in [head, *self.rows]) for column in range(5)]
        print(f"{self.title}\n")
        for row in (head, *self.rows):
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        print()
        for line in [*self.notes, *(f"{alt}: {file}" for file, alt in self.plots)]:
            print(line)
        if self.write:
            self.put(head)
        if self.unexpected:
            sys.exit(f"{self.name}: not as expected of the accepted bounds: {', '.join(self.unexpected)}")

    def put(self, head):
        """Puts the page between its marks in the document, or at the end of it."""
        command = f"python examples/reproductions/{self.name}.py"
        lines = [f"## {self.title}", "", self.about, "", f"`{command}`", ""]
        lines += ["| " + " | ".join(cell or " " for cell in row) + " |" for row in [head, ("---",) * 5, *self.rows]]
        lines += ["", *(f"- {note}" for note in self.notes), ""]
        lines += [f"![{alt}](reproductions/{file.name})\n" for file, alt in self.plots]
        begin, end = f"<!-- {self.name} -->", f"<!-- end of {self.name} -->"
        page = "\n".join([begin, *lines, end])
        text = DOCUMENT.read_text()
        marked = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        text = marked.sub(lambda _: page, text) if marked.search(text) else f"{text.rstrip()}\n\n{page}\n"
        DOCUMENT.write_text(text)


def within(value, low, high):
    """Whether a number lies between bounds, each of which may be None."""
    return (low is None or value >= low) and (high is None or value <= high)


def bounds_text(bounds, form):
    """Bounds as they stand in the table."""
    low, high = bounds
    if low is None:
        return f"≤ {high:{form}}"
    return f"≥ {low:{form}}" if high is None else f"{low:{form}} to {high:{form}}"
