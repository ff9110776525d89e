"""Sketches that Apache DataSketches reads and writes."""

from __future__ import annotations

from typing import Optional

from . import _native
from ._arrays import Column, readable
from ._sketch import DistinctResult, Sketch, size


class DataSketchesHll(Sketch):
    """Number of distinct keys, as the HLL sketch of Apache DataSketches, which Druid, Spark and others have.

    `to_bytes` writes their format, `from_bytes` reads it, compact or not, from any of their libraries, and
    merges of both count each key once.

    **Not keyed**: their hash is MurmurHash3 with a published seed. Whoever chooses keys can make many that
    count as few. Count strangers' keys with :class:`Distinct`.

    Args:
        lg_k: 4 to 21: 2^lg_k registers. The standard error of one stream is 0.833 / √(2^lg_k), that of a
            merge 1.04 / √(2^lg_k).
        type: `hll_4`, `hll_6` or `hll_8`: bits of a register in the bytes.

    Raises:
        ValueError: An argument is unknown or out of range.
    """

    __slots__ = ()
    _kind = "DataSketchesHll"

    def __init__(self, lg_k: int = 12, *, type: str = "hll_4") -> None:
        self._inner = _native.sketch_datasketches_hll(size("lg_k", lg_k, 4, 21), type)
        self._key = None

    @classmethod
    def from_bytes(cls, data: bytes, key: Optional[bytes] = None) -> DataSketchesHll:
        """The sketch of these bytes, from anyone, in the format of Apache DataSketches, version 1.

        Raises:
            ValueError: The bytes are no such sketch or damaged, with the offset; or a key is given.
        """
        if key is not None:
            raise ValueError("DataSketchesHll has no key; omit key")
        return super().from_bytes(data)

    def update(self, keys: Column) -> None:
        """Take the keys of a batch, hashed as their libraries do: text as UTF-8, integers as 64 bits.

        Empty keys are ignored, as there. A `uint32` counts as its value, as from Python, Java and Spark;
        their C++ library takes its bits for a signed number.

        Raises:
            TypeError: A column of another type than text, bytes and integers.
        """
        self._inner.update([readable(keys)])

    def result(self) -> DistinctResult:
        """The estimate."""
        return DistinctResult(**self._inner.result())


class DataSketchesTheta(Sketch):
    """Number of distinct keys, as the Theta sketch of Apache DataSketches, which Druid and others have.

    `to_bytes` writes their compact format, ordered and without compression; `from_bytes` reads it, ordered or
    not. Exact up to 2^lg_k keys.

    **Not keyed**: as :class:`DataSketchesHll`.

    Args:
        lg_k: 4 to 26: 2^lg_k hashes of 8 bytes, at most. The standard error is 1 / √(2^lg_k).

    Raises:
        ValueError: `lg_k` is out of range.
    """

    __slots__ = ()
    _kind = "DataSketchesTheta"

    def __init__(self, lg_k: int = 12) -> None:
        self._inner = _native.sketch_datasketches_theta(size("lg_k", lg_k, 4, 26))
        self._key = None

    @classmethod
    def from_bytes(cls, data: bytes, key: Optional[bytes] = None) -> DataSketchesTheta:
        """The sketch of these bytes, from anyone, in the compact format of Apache DataSketches, version 3.

        The bytes have no `lg_k`: it is 12 then, or more if there are more hashes. A merge takes the larger.

        Raises:
            ValueError: The bytes are no such sketch or damaged, with the offset; they are compressed or have
                another seed than theirs by default; or a key is given.
        """
        if key is not None:
            raise ValueError("DataSketchesTheta has no key; omit key")
        return super().from_bytes(data)

    def update(self, keys: Column) -> None:
        """Take the keys of a batch, as :meth:`DataSketchesHll.update`.

        Raises:
            TypeError: A column of another type than text, bytes and integers.
        """
        self._inner.update([readable(keys)])

    def result(self) -> DistinctResult:
        """The estimate."""
        return DistinctResult(**self._inner.result())
