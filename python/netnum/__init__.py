"""Network utility maximization: the rates that are worth the most in all, and a proof of how close they are."""

from ._core import __version__

__all__ = ["__version__"]
