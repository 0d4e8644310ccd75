# The families of utilities, for the page of the reference: `automodule` shows a docstring, and makes the pages of what
# an `autosummary` in it lists.
import netnum

__doc__ = """
.. currentmodule:: netnum
.. autosummary::
   :toctree: generated
   :nosignatures:

"""
__doc__ += "".join(f"   {family.__name__}\n" for family in netnum.Utility.__subclasses__())
