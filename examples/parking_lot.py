"""Fairness in a parking lot: one long flow over n links, a short one on each.

The long flow uses n times as much of the network per unit of its rate. What it gets is for the exponent alpha to
decide: c/(1 + n^(1/alpha)) on every link.
"""

import netnum

LINKS, CAPACITY = 4, 10.0


def main():
    """Prints the long flow's rate for several alphas, next to the closed form."""
    net = netnum.topology.parking_lot(LINKS, capacity=CAPACITY)
    paths = [list(range(LINKS))] + [[link] for link in range(LINKS)]
    print(f"{'alpha':>6}{'long flow':>12}{'on paper':>12}{'short flows':>14}{'price of a link':>18}")
    for alpha in (0.5, 1.0, 2.0, 5.0, 10.0):
        solution = netnum.solve(netnum.Problem(net, paths, netnum.AlphaFair(alpha)), tol=1e-10)
        on_paper = CAPACITY / (1 + LINKS ** (1 / alpha))
        long, short = solution.rates[0], solution.rates[1]
        print(f"{alpha:>6}{long:>12.5f}{on_paper:>12.5f}{short:>14.5f}{solution.prices[0]:>18.3e}")


if __name__ == "__main__":
    main()
