"""Reference answers over all paths of a network that know no paths: one flow variable per pair and link."""

import numpy as np

TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class EdgeForm:
    """What flows may do: conserve at every node, and share the links."""

    def __init__(self, net, sources, destinations):
        from scipy import sparse

        self.net, self.flows, self.links = net, len(sources), len(net.links)
        nodes = len(net.node_names)
        tail, head = net.links.T
        incidence = np.zeros((nodes, self.links))
        incidence[tail, np.arange(self.links)] -= 1.0
        incidence[head, np.arange(self.links)] += 1.0
        self.capacities = np.asarray(net.capacities)
        # Per flow: links, then the rate. What enters a node leaves it, but for the rate at the ends.
        blocks, joined = [], []
        for source, destination in zip(sources, destinations, strict=True):
            ends = np.zeros(nodes)
            ends[source], ends[destination] = 1.0, -1.0
            blocks.append(sparse.csr_matrix(np.column_stack([incidence, ends])))
            joined.append(sparse.hstack([sparse.identity(self.links), sparse.csr_matrix((self.links, 1))]))
        self.conserve = sparse.block_diag(blocks, format="csr")
        self.loads = sparse.hstack(joined, format="csr")
        self.rates = np.arange(1, self.flows + 1) * (self.links + 1) - 1

    def best(self, gain, least=None, most=None, shares=None):
        """The program max gain·(rates, t) with rates >= least + shares t, and what it finds: rates and t."""
        from scipy import sparse
        from scipy.optimize import linprog

        width = self.loads.shape[1]
        objective = np.zeros(width + 1)
        objective[self.rates], objective[-1] = -gain[:-1], -gain[-1]
        upper = np.full(width + 1, np.inf)
        lower = np.zeros(width + 1)
        if most is not None:
            upper[self.rates] = most
        pick = sparse.csr_matrix((np.ones(self.flows), (np.arange(self.flows), self.rates)), shape=(self.flows, width))
        rows, bounds = [sparse.hstack([self.loads, sparse.csr_matrix((self.links, 1))])], [self.capacities]
        if least is not None:
            shares = np.zeros(self.flows) if shares is None else shares
            rows.append(sparse.hstack([-pick, sparse.csr_matrix(shares[:, None])]))
            bounds.append(-np.asarray(least))
        answer = linprog(
            objective,
            A_ub=sparse.vstack(rows, format="csr"),
            b_ub=np.concatenate(bounds),
            A_eq=sparse.hstack([self.conserve, sparse.csr_matrix((self.conserve.shape[0], 1))], format="csr"),
            b_eq=np.zeros(self.conserve.shape[0]),
            bounds=np.column_stack([lower, upper]),
            method="highs",
            options=TOLERANCES,
        )
        if answer.status != 0:
            return None, None
        return answer.x[self.rates], answer.x[-1]

    def total(self, weights, most=None):
        """The largest weighted total."""
        rates, _ = self.best(np.append(weights, 0.0), most=most)
        return float(weights @ rates)

    def max_min(self, weights, most=None):
        """Weighted max-min rates, level by level."""
        held, most = np.full(self.flows, np.nan), np.full(self.flows, np.inf) if most is None else most
        while np.isnan(held).any():
            free = np.isnan(held)
            known = np.where(free, 0.0, held * (1 - 1e-9))
            gain = np.append(np.zeros(self.flows), 1.0)
            _, level = self.best(gain, known, most, np.where(free, weights, 0.0))
            level = min(level, np.min((most / weights)[free]))
            least = np.where(free, weights * level * (1 - 1e-9), known)
            rooms = {}
            for flow in np.flatnonzero(free):
                gain = np.zeros(self.flows + 1)
                gain[flow] = 1.0
                rates, _ = self.best(gain, least, most)
                rooms[flow] = rates[flow] / (weights[flow] * level) - 1
            for flow, room in rooms.items():
                if room <= max(1e-6, min(rooms.values())):
                    held[flow] = weights[flow] * level
        return held


def drawn(seed, nodes=7, pairs=6, links=9):
    """A small network whose links join a ring and some more nodes, pairs of different nodes, weights and demands."""
    import netnum

    rng = np.random.default_rng(seed)
    joined = {(node, (node + 1) % nodes) for node in range(nodes)}
    while len(joined) < links:
        one, other = rng.choice(nodes, 2, replace=False)
        if (one, other) not in joined and (other, one) not in joined:
            joined.add((int(one), int(other)))
    lines = [f"n{one} n{other} {rng.uniform(0.5, 5):.6f}" for one, other in sorted(joined)]
    net = netnum.topology.from_edges("\n".join(lines))
    net = net.with_capacities(rng.uniform(0.5, 5, len(net.capacities)))
    all_pairs = [(s, d) for s in range(nodes) for d in range(nodes) if s != d]
    chosen = [all_pairs[place] for place in rng.choice(len(all_pairs), pairs, replace=False)]
    sources, destinations = map(list, zip(*chosen, strict=True))
    return net, sources, destinations, rng.uniform(0.3, 3, pairs), rng.uniform(0.3, 3, pairs)
