"""Floors that fill links but for a little: how many problems are proven.

    python benches/tight_floors.py --count 20 --seed 1

Floors of some flows are drawn and scaled to the largest that fit, less a part of 10⁻³ to 10⁻⁹, which is what the others
have on the links that these fill. Networks: four nodes and 5 flows; a ring of 12 nodes with 6 chords and 40 flows; the
110 flows of Abilene; 3 shortest paths each. All links are equal, or 1 to 10; weights 1, 2 or 4.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from tables import markdown

import netnum

ALPHAS = [0.5, 1.0, 2.0, 4.0]
LEFT = [1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-9]


def four_nodes(_: np.random.Generator) -> tuple[netnum.Topology, Any]:
    net = netnum.topology.from_edges("A B 10\nB C 6\nA C 4\nC D 5\nB D 3")
    return net, [("A", "C"), ("B", "C"), ("A", "B"), ("A", "D"), ("D", "B")]


def ring(rng: np.random.Generator) -> tuple[netnum.Topology, Any]:
    edges = {(node, (node + 1) % 12) for node in range(12)}
    while len(edges) < 18:
        one, other = rng.choice(12, 2, replace=False).tolist()
        if (one, other) not in edges and (other, one) not in edges:
            edges.add((one, other))
    equal = rng.random() < 0.5
    text = "\n".join(f"n{one} n{other} {1 if equal else rng.integers(1, 11)}" for one, other in sorted(edges))
    net = netnum.topology.from_edges(text)
    pairs = [rng.choice(12, 2, replace=False).tolist() for _ in range(40)]
    return net, [(f"n{one}", f"n{other}") for one, other in pairs]


def abilene(_: np.random.Generator) -> tuple[netnum.Topology, Any]:
    net = netnum.topology.backbone("abilene")
    return net, net.all_pairs()


NETWORKS = {"four nodes": four_nodes, "ring with chords": ring, "Abilene": abilene}


def drawn(network: str, seed: int, number: int) -> tuple[netnum.Topology, netnum.Paths, Any, Any]:
    """A network, paths, weights, and the largest floors that fit."""
    rng = np.random.default_rng([seed, number])
    net, pairs = NETWORKS[network](rng)
    paths = net.k_shortest_paths(pairs, 3)[0]
    flows = int(paths.group.max()) + 1
    floors = np.where(rng.random(flows) < 0.6, rng.uniform(1.0, 6.0, flows), 0.0)
    floors[rng.integers(flows)] = 3.0
    wanted = netnum.Problem(net, paths, "proportional", flow_cap=np.maximum(floors, 1e-12))
    return net, paths, rng.choice([1.0, 2.0, 4.0], flows), floors * netnum.concurrent_flow(wanted).fraction


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = []
    for network in NETWORKS:
        problems = [drawn(network, options.seed, number) for number in range(options.count)]
        for left in LEFT:
            cells, seconds = [], 0.0
            for alpha in ALPHAS:
                optimal = 0
                for net, paths, weights, floors in problems:
                    utility = netnum.AlphaFair(alpha, weights)
                    problem = netnum.Problem(net, paths, utility, flow_floor=(1 - left) * floors)
                    solution = netnum.solve(problem, time_limit=20)
                    optimal += solution.is_optimal
                    seconds = max(seconds, solution.seconds)
                cells.append(f"{optimal} of {len(problems)}")
            rows.append([network, f"{left:g}", *cells, f"{seconds:.2f} s"])
    print(markdown(["network", "left", *(f"alpha {alpha:g}" for alpha in ALPHAS), "longest"], rows))


if __name__ == "__main__":
    main()
