"""Sketches of data sets that are larger than memory, over all cores or on a cluster.

Every function returns the sketch of :mod:`hashlane` with the same name. Engines differ in speed alone: the
bytes of the sketch are the same, but for heavy hitters, which depend on the order of merges.
"""

from ._functions import distinct, groups, heavy_hitters, imbalance, prefixes, spread
from ._run import ENGINES

__all__ = ["ENGINES", "distinct", "groups", "heavy_hitters", "imbalance", "prefixes", "spread"]
