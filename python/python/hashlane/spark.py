"""Functions of Spark: `frame.select(hashlane.spark.hash("siphash-1-3", key)("user"))`.

Each call makes a function of Spark that takes columns, in `select`, in `groupBy(…).agg` and, once it is
registered by `session.udf.register(name, function)`, in SQL. Spark has no unsigned integers: hashes are the
same 64 bits as `int64`, and hashes of 32 bits `int64` of the same value.

Plans, logs and SQL texts hold the name of the function and its columns, never the key. The key is in the
pickled function that Spark sends to its workers, which need this package and pyarrow.

Arrow functions need Spark 4.1 or newer; docs/engines.md names the tested version.
"""

from __future__ import annotations

from typing import Any, Optional

import pyarrow as pa
import pyspark

from . import _flow, _hash, _native
from ._sketch import Distinct, HeavyHitters, Spread

if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < (4, 1):
    raise ImportError(
        f"hashlane.spark needs Spark 4.1 or newer, found {pyspark.__version__}: pip install --upgrade pyspark, "
        "or call hashlane.hash within mapInArrow"
    )
from pyspark.sql.functions import arrow_udf  # noqa: E402
from pyspark.sql.types import (  # noqa: E402
    ArrayType,
    BinaryType,
    DoubleType,
    LongType,
    StructField,
    StructType,
)

__all__ = ["distinct", "ehash", "flow_hash", "hash", "heavy", "rss", "spread"]

#: Fields of the result of :func:`spread`.
_SPREAD = pa.struct(
    [
        ("keys", pa.int64()),
        ("buckets", pa.int64()),
        ("chi_squared", pa.float64()),
        ("degrees", pa.int64()),
        ("p_value", pa.float64()),
        ("longest", pa.int64()),
        ("longest_median", pa.int64()),
        ("longest_limit", pa.int64()),
    ]
)

#: Fields of the result of :func:`heavy`.
_HEAVY = pa.struct(
    [
        ("total", pa.int64()),
        ("error", pa.int64()),
        ("hitters", pa.list_(pa.struct([("key", pa.binary()), ("least", pa.int64())]))),
    ]
)

#: The types of Spark for those of Arrow.
_TYPES = {pa.int64(): LongType(), pa.float64(): DoubleType(), pa.binary(): BinaryType()}


def _spark_type(type: Any) -> Any:
    # Not a text of DDL: only a session can read one, and functions are made before there is a session.
    if pa.types.is_struct(type):
        fields = [type.field(place) for place in range(type.num_fields)]
        return StructType([StructField(field.name, _spark_type(field.type)) for field in fields])
    if pa.types.is_list(type):
        return ArrayType(_spark_type(type.value_type))
    return _TYPES[type]


def hash(scheme: str, key: Optional[bytes] = None) -> Any:
    """Hash of each row: a function of one column, or of several, which are hashed as a row.

    Equal to :func:`hashlane.hash` with `signed=True`. A null in one column gives a null; of several columns a
    null is a value.

    Args:
        scheme: Id of a hash of bytes, such as `siphash-1-3`; see :func:`hashlane.schemes`.
        key: 16 bytes for a keyed scheme.

    Raises:
        ValueError: The scheme is unknown, or the key is missing, superfluous or of another length.
    """
    _native.hash([], scheme, key)
    secret = _copied(key)

    def hashlane_hash(column: pa.Array, *others: pa.Array) -> pa.Array:
        rows = column
        if others:
            columns = [column, *others]
            rows = pa.StructArray.from_arrays(columns, names=[str(place) for place in range(len(columns))])
        return _hash.hash(rows, scheme, secret, signed=True)

    return arrow_udf(hashlane_hash, LongType())


def flow_hash(scheme: str, key: Optional[bytes] = None) -> Any:
    """Hash of the two ends of each packet: a function of `src`, `sport`, `dst` and `dport`.

    Equal to :func:`hashlane.flow_hash` with `signed=True`. Arguments and errors as for :func:`hash`.
    """
    _native.flow_hash([], [], [], [], scheme, key)
    secret = _copied(key)

    def hashlane_flow_hash(src: pa.Array, sport: pa.Array, dst: pa.Array, dport: pa.Array) -> pa.Array:
        return _flow.flow_hash(src, sport, dst, dport, scheme, secret, signed=True)

    return arrow_udf(hashlane_flow_hash, LongType())


def rss(key: bytes, queues: Optional[int] = None) -> Any:
    """Hash or queue of a network card: a function of `src`, `sport`, `dst` and `dport`.

    Equal to :func:`hashlane.rss` with `signed=True`, with its arguments and errors.
    """
    _native.rss_hash([], [], [], [], key, queues)
    secret = bytes(key)

    def hashlane_rss(src: pa.Array, sport: pa.Array, dst: pa.Array, dport: pa.Array) -> pa.Array:
        return _flow.rss(src, sport, dst, dport, secret, queues, signed=True)

    return arrow_udf(hashlane_rss, LongType())


def ehash(
    *,
    function: str = "lport",
    ehash_secret: int,
    ipv6_secret: int = 0,
    mix: int = 0,
    key: Optional[bytes] = None,
) -> Any:
    """Hash of Linux' table of connections: a function of `local`, `lport`, `foreign` and `fport`.

    Equal to :func:`hashlane.ehash` with `signed=True`, with its arguments and errors.
    """
    _native.linux_ehash([], [], [], [], function, ehash_secret, ipv6_secret, mix, key)
    secrets: dict[str, Any] = {"ehash_secret": ehash_secret, "ipv6_secret": ipv6_secret, "mix": mix}
    secrets["key"] = _copied(key)

    def hashlane_ehash(local: pa.Array, lport: pa.Array, foreign: pa.Array, fport: pa.Array) -> pa.Array:
        return _flow.ehash(local, lport, foreign, fport, function=function, signed=True, **secrets)

    return arrow_udf(hashlane_ehash, LongType())


def distinct(*, precision: int = 14, key: bytes) -> Any:
    """Number of distinct keys, estimated: an aggregate of a column of keys, or of the four of a flow.

    Equal to `keys` of :class:`hashlane.Distinct`, with its arguments and errors: `double`.
    """
    Distinct(precision=precision, key=key)
    secret = bytes(key)

    def hashlane_distinct(column: pa.Array, *others: pa.Array) -> float:
        sketch = Distinct(precision=precision, key=secret)
        sketch.update(column, *others)
        return sketch.result().keys

    return arrow_udf(hashlane_distinct, DoubleType())


def spread(scheme: str, buckets: int, key: Optional[bytes] = None, *, reduction: str = "remainder") -> Any:
    """Keys of each bucket: an aggregate of one column of keys, or of the four of a flow.

    Equal to the fields of :class:`hashlane.SpreadResult` but `loads`, as a struct. Arguments and errors as
    for :class:`hashlane.Spread`.
    """
    Spread(scheme, buckets, key, reduction=reduction)
    secret = _copied(key)

    def hashlane_spread(column: pa.Array, *others: pa.Array) -> pa.Scalar:
        sketch = Spread(scheme, buckets, secret, reduction=reduction)
        sketch.update(column, *others)
        result = sketch.result()._asdict()
        del result["loads"]
        return pa.scalar(result, _SPREAD)

    return arrow_udf(hashlane_spread, _spark_type(_SPREAD))


def heavy(counters: int) -> Any:
    """Keys with the largest weights: an aggregate of a column of keys, or of keys and weights.

    Equal to :class:`hashlane.HeavyHittersResult`, as a struct. Arguments and errors as for
    :class:`hashlane.HeavyHitters`.
    """
    HeavyHitters(counters)

    def hashlane_heavy(keys: pa.Array, *weights: pa.Array) -> pa.Scalar:
        if len(weights) > 1:
            raise ValueError(f"heavy takes keys and weights, not {1 + len(weights)} columns")
        sketch = HeavyHitters(counters)
        sketch.update(keys, *weights)
        total, error, hitters = sketch.result()
        listed = [hitter._asdict() for hitter in hitters]
        return pa.scalar({"total": total, "error": error, "hitters": listed}, _HEAVY)

    return arrow_udf(hashlane_heavy, _spark_type(_HEAVY))


def _copied(key: Optional[bytes]) -> Optional[bytes]:
    return None if key is None else bytes(key)
