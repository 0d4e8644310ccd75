"""A user-defined utility: U(x) = w log(1 + x/s), for flows that need no rate at all.

Four functions on arrays define it. A flow gets no rate when its path costs more than U'(0) = w/s.
"""

import numpy as np

import netnum


class Patient:
    """w log(1 + x/s), with one weight w and one scale s per flow."""

    def __init__(self, weight, scale):
        self.weight, self.scale = np.asarray(weight), np.asarray(scale)

    def value(self, rate):
        """U(x)."""
        return self.weight * np.log1p(rate / self.scale)

    def marginal(self, rate):
        """U'(x)."""
        return self.weight / (self.scale + rate)

    def demand(self, price):
        """The rate at which U'(x) is the price, or 0."""
        return np.maximum(self.weight / price - self.scale, 0.0)

    def demand_slope(self, price):
        """The slope of the demand."""
        return np.where(self.weight / price > self.scale, -self.weight / price**2, 0.0)


def main():
    """Checks the utility's laws, and solves a small network with it."""
    utility = Patient(weight=[1.0, 2.0, 4.0, 1.0], scale=[1.0, 1.0, 1.0, 30.0])
    netnum.check_utility(utility)
    net = netnum.topology.parking_lot(2, capacity=10.0)
    solution = netnum.solve(netnum.Problem(net, [[0, 1], [0], [1], [0, 1]], utility), tol=1e-9)
    print(solution)
    for flow, rate in enumerate(solution.rates):
        print(f"  flow {flow}: rate {rate:.4f}" + ("  (its path is too expensive)" if rate == 0 else ""))
    print(f"  prices {solution.prices.round(5)}")


if __name__ == "__main__":
    main()
