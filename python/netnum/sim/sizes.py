"""Distributions of flow sizes: measured ones from papers, and others.

Each is a `Sizes`. Other distributions are ``netnum.sim.Sizes([(bytes, fraction of flows that are no larger), ...])``.
"""

from .._core import Sizes

__all__ = [
    "data_mining",
    "enterprise",
    "exponential",
    "facebook_cache",
    "facebook_hadoop",
    "facebook_web",
    "fixed",
    "web_search",
]

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
