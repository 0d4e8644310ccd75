"""Networks of the Topology Zoo with all their pairs, over the paths that the authors of NCFlow and POP gave them.

Every link carries 1000. A pair has up to four edge-disjoint paths: those that networkx finds by augmenting paths, the
shortest four of them. They are kept in `target/zoo`, since networkx takes an hour for the largest network.
"""

from __future__ import annotations

import multiprocessing
import sys
from array import array
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from networkx.algorithms.connectivity import build_auxiliary_edge_connectivity
from networkx.algorithms.flow import build_residual_network
from tables import ROOT

import netnum

NETWORKS = Path(__file__).parent / "networks"
KEPT = ROOT / "target/zoo"
CAPACITY = 1000.0


@dataclass
class AllPairs:
    """A network and the paths of all its pairs."""

    links: int
    nodes: int
    pairs: Any
    paths: netnum.Paths

    @property
    def size(self) -> str:
        return f"{self.links} links, {len(self.pairs)} flows, {len(self.paths)} paths"

    def uniform(self, seed: int, largest: float) -> Any:
        """A demand per flow, uniform up to the largest one, drawn and rounded as in NCFlow's `UniformTrafficMatrix`."""
        matrix = (np.random.RandomState(seed).rand(self.nodes, self.nodes) * largest).astype(np.float32)
        return matrix[self.pairs[:, 0], self.pairs[:, 1]].astype(float)

    def problem(self, utility: Any, demands: Any = None) -> netnum.Problem:
        return netnum.Problem(np.full(self.links, CAPACITY), self.paths, utility, flow_cap=demands)


def directed(name: str) -> networkx.DiGraph:
    """A network of `networks/`, both ways. The paths depend on the order of nodes and edges."""
    lines = (NETWORKS / f"{name}.txt").read_text().splitlines()
    edges = [tuple(map(int, line.split())) for line in lines if not line.startswith("#")]
    graph = networkx.Graph()
    graph.add_nodes_from(range(1 + max(map(max, edges))))
    graph.add_edges_from(edges)
    return graph.to_directed()


def without_cycles(nodes: list[int]) -> list[int]:
    """A walk without the cycles in it."""
    path: list[int] = []
    for node in nodes:
        if node in path:
            del path[path.index(node) :]
        path.append(node)
    return path


def from_source(name: str, source: int) -> tuple[array, array, array]:
    """For all pairs of a source: paths per pair, links per path, and the links."""
    graph = directed(name)
    number = {edge: link for link, edge in enumerate(graph.edges)}
    auxiliary = build_auxiliary_edge_connectivity(graph)
    residual = build_residual_network(auxiliary, "capacity")
    counts, lengths, links = array("q"), array("q"), array("q")
    for destination in graph:
        if destination == source:
            continue
        found = networkx.edge_disjoint_paths(graph, source, destination, auxiliary=auxiliary, residual=residual)
        chosen = [without_cycles(path) for path in sorted(found, key=len)[:4]]
        counts.append(len(chosen))
        for path in chosen:
            lengths.append(len(path) - 1)
            links.extend(number[edge] for edge in pairwise(path))
    return counts, lengths, links


def all_pairs(name: str) -> AllPairs:
    """A network and the paths of all its pairs: read where they were kept, else found with all cores."""
    kept = KEPT / f"{name}.npz"
    graph = directed(name)
    nodes = len(graph)
    if not kept.exists():
        print(f"finding the paths of {name}, once", file=sys.stderr)
        with multiprocessing.get_context("spawn").Pool() as pool:
            parts = pool.starmap(from_source, [(name, source) for source in range(nodes)], chunksize=1)
        counts, lengths, links = (np.concatenate(column) for column in zip(*parts, strict=True))
        KEPT.mkdir(parents=True, exist_ok=True)
        np.savez(kept, counts=counts, lengths=lengths, links=links)
    with np.load(kept) as parts:
        group = np.repeat(np.arange(len(parts["counts"])), parts["counts"])
        indptr = np.concatenate([[0], np.cumsum(parts["lengths"])])
        paths = netnum.Paths(indptr, parts["links"], group)
    pairs = np.array([(a, b) for a in range(nodes) for b in range(nodes) if a != b])
    return AllPairs(graph.number_of_edges(), nodes, pairs, paths)
