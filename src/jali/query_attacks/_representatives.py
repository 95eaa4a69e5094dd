"""For which records to query local explanations, so that they cover all records."""

from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Dataset, Floats, Ints

CLUSTERS = range(2, 11)  # numbers of clusters tried; the elbow chooses among them
QUARTERS = 4


def representatives(name: str, records: Dataset, each: int) -> Floats:
    """Distinct records (R, D): `each` from every quarter of every cluster, by distance to its centre.

    Clusters are those of k-means in encoded features, k by the elbow of the sum of squares; a smaller quarter gives all
    its records. The same records give the same representatives, so that all attacks read the same explanations.
    Naretto, Monreale and Giannotti, 2024.
    """
    rows = np.unique(records.X, axis=0)  # sorted, so that the order of the records does not matter
    far, number = _clusters(Encoding(records.schema).encode(rows))
    clusters = int(number.max()) + 1
    if each * QUARTERS * clusters > len(rows):
        raise JaliError(
            f"{name}: each={each} asks for {each * QUARTERS * clusters} explanations, {each} per quarter of {clusters} "
            f"clusters, and there are {len(rows)} different records: lower each."
        )
    picked: Floats = rows[np.concatenate([_spread(np.flatnonzero(number == c), far, each) for c in range(clusters)])]
    return picked


def _spread(mine: Ints, far: Floats, each: int) -> Ints:
    """Rows of one cluster, `each` from every quarter of their distances (n,) to its centre, evenly spaced."""
    quarters = np.array_split(mine[np.argsort(far[mine], kind="stable")], QUARTERS)
    picked = [q[np.unique(np.linspace(0, len(q) - 1, each).round().astype(np.int64))] for q in quarters if len(q)]
    return np.concatenate(picked)


def _clusters(Z: Floats) -> tuple[Floats, Ints]:
    """Distance of each row (n,) to the centre of its cluster, and the cluster's number (n,)."""
    from sklearn.cluster import KMeans

    most = min(len(Z), CLUSTERS.stop - 1)
    if most < CLUSTERS.start:
        return np.zeros(len(Z)), np.zeros(len(Z), dtype=np.int64)
    made = [KMeans(k, n_init=3, random_state=0).fit(Z) for k in range(CLUSTERS.start, most + 1)]
    best = made[int(elbow(np.array([[m.inertia_] for m in made]))[0])]
    number: Ints = best.labels_.astype(np.int64)
    return np.asarray(np.linalg.norm(Z - best.cluster_centers_[number], axis=1)), number


def elbow(curve: Floats) -> Ints:
    """Position (n,) in each column of a monotone curve (K, n) of the point farthest from its chord, either side.

    >>> elbow(np.array([[10.0], [4.0], [2.0], [1.0], [0.0]]))
    array([1])
    """
    along = np.linspace(0.0, 1.0, len(curve))[:, None]
    return np.asarray(np.abs(curve - curve[0] - along * (curve[-1] - curve[0])).argmax(axis=0))
