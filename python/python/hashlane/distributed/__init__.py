"""Sketches of data sets that are larger than memory, over all cores or on a cluster.

Every function returns the sketch of :mod:`hashlane` with the same name. Engines differ in speed alone: the
bytes of the sketch are the same.
"""

from ._functions import distinct, imbalance, prefixes, spread
from ._run import ENGINES

__all__ = ["ENGINES", "distinct", "imbalance", "prefixes", "spread"]
