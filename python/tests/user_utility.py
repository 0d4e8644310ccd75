"""A utility as a user would write it."""

import numpy as np


class Log:
    """log x."""

    def value(self, rates):
        return np.log(rates)

    def marginal(self, rates):
        return 1 / rates

    def demand(self, prices):
        return 1 / prices

    def demand_slope(self, prices):
        return -1 / prices**2
