"""Distributions of flow sizes: measured ones from papers, and others.

Each is a `Sizes`. Other distributions are ``netnum.sim.Sizes([(bytes, fraction of flows that are no larger), ...])``,
and those of measured flows ``netnum.sim.sizes.from_samples(bytes)``.
"""

import numpy as np
from numpy.typing import ArrayLike

from .._core import NumError, Sizes

__all__ = [
    "data_mining",
    "enterprise",
    "exponential",
    "facebook_cache",
    "facebook_hadoop",
    "facebook_web",
    "fixed",
    "from_samples",
    "web_search",
]


def __dir__() -> list[str]:
    return sorted(__all__)


#: A web search cluster: DCTCP, SIGCOMM 2010.
web_search = Sizes.named("web_search")
#: A large enterprise: CONGA, SIGCOMM 2014.
enterprise = Sizes.named("enterprise")
#: Data mining: VL2, SIGCOMM 2009, with pFabric's points.
data_mining = Sizes.named("data_mining")
#: Facebook's web servers, within a cluster: Roy et al., SIGCOMM 2015.
facebook_web = Sizes.named("facebook_web")
#: Facebook's cache followers, within a cluster: Roy et al., SIGCOMM 2015.
facebook_cache = Sizes.named("facebook_cache")
#: Facebook's Hadoop: Roy et al., SIGCOMM 2015, with HPCC's points.
facebook_hadoop = Sizes.named("facebook_hadoop")

fixed = Sizes.fixed
exponential = Sizes.exponential


def from_samples(samples: ArrayLike, name: str = "samples") -> Sizes:
    """The sizes that were measured, each as likely as the others.

    Parameters
    ----------
    samples : array of float, shape (samples,)
        Bytes, in any order.
    name : str
        Its name in reprs.

    Returns
    -------
    Sizes
        Of the same mean as the samples.

    Raises
    ------
    NumError
        Without samples.
    ProblemError
        Naming the point of a size that is not > 0; points are samples in increasing order, each of them twice.

    Examples
    --------
    >>> sizes = netnum.sim.sizes.from_samples([200.0, 100.0, 900.0])
    >>> sizes.mean, sizes.quantile(0.5)
    (400.0, 200.0)
    """
    ordered = np.sort(np.asarray(samples, dtype=float).ravel())
    if not len(ordered):
        raise NumError("there are no samples")
    # The fraction of flows rises at each sample, and nowhere else.
    fractions = np.arange(len(ordered) + 1) / len(ordered)
    return Sizes(np.column_stack([np.repeat(ordered, 2), np.repeat(fractions, 2)[1:-1]]), name)
