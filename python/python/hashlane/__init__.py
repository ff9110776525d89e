"""Hashes, names, flow tuples and records over Arrow arrays.

Every column may be a `pyarrow` array, whole or in chunks, a Polars or pandas Series, a NumPy array, any other
object of the Arrow PyCapsule interface, or a list. Results have the form, the chunks and the nulls of the
(first) column that came in. Errors are `ValueError` or `TypeError`; those about a row name it, counted from 0.
Python's lock is released during the work, and Ctrl-C stops it.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import dns, ndn, pcap
from ._arrays import Array, Table
from ._audit import Attack, Audit, audit
from ._datasketches import DataSketchesHll, DataSketchesTheta
from ._flow import ehash, flow_hash, rss
from ._groups import Groups
from ._hash import Scheme, hash, hash128, random_key, schemes
from ._name_map import NameList, NameMap
from ._names import name_prefix_hashes, parse_name, to_uri
from ._native import RSS_PUBLISHED_KEY, RSS_SYMMETRIC_KEY, __version__
from ._records import compare, records
from ._sketch import (
    Depth,
    Distinct,
    DistinctResult,
    HeavyHitter,
    HeavyHitters,
    HeavyHittersResult,
    Imbalance,
    ImbalanceResult,
    KeyImbalance,
    Load,
    Memory,
    Prefixes,
    PrefixesResult,
    Sketch,
    Spread,
    SpreadResult,
)

__all__ = [
    "Array",
    "Attack",
    "Audit",
    "DataSketchesHll",
    "DataSketchesTheta",
    "Depth",
    "Distinct",
    "DistinctResult",
    "Groups",
    "HeavyHitter",
    "HeavyHitters",
    "HeavyHittersResult",
    "Imbalance",
    "ImbalanceResult",
    "KeyImbalance",
    "Load",
    "Memory",
    "NameList",
    "NameMap",
    "Prefixes",
    "PrefixesResult",
    "RSS_PUBLISHED_KEY",
    "RSS_SYMMETRIC_KEY",
    "Scheme",
    "Sketch",
    "Spread",
    "SpreadResult",
    "Table",
    "__version__",
    "audit",
    "compare",
    "distributed",
    "dns",
    "ehash",
    "flow_hash",
    "hash",
    "hash128",
    "name_prefix_hashes",
    "ndn",
    "parse_name",
    "pcap",
    "random_key",
    "records",
    "rss",
    "schemes",
    "study",
    "to_uri",
]

# Expressions of Polars, without importing it for those who do not use it.
if "polars" in _sys.modules:
    try:
        from . import polars as _polars
    except ImportError:
        # An older Polars, which the other functions take: `import hashlane.polars` tells the reason.
        pass

if _TYPE_CHECKING:
    from . import distributed, study


def __getattr__(name: str) -> _Any:
    """Modules that import much of the standard library, when they are used."""
    if name in ("distributed", "study"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
