"""Mergeable sketches: answers for more keys than a machine holds."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Optional, TypeVar, Union

from . import _native
from ._arrays import Array, ArrowStream, Column, readable
from ._native import RSS_PUBLISHED_KEY

_Self = TypeVar("_Self", bound="Sketch")

#: One column, or several: a table (of pyarrow, Polars, pandas, or another Arrow stream of structs), a
#: dictionary of columns by name, or a tuple of columns.
Columns = Union[Column, ArrowStream, Mapping[str, Column], tuple[Column, ...]]


class Sketch:
    """A summary of keys of a fixed size, which sketches of other parts of the data can be merged into.

    Rows that are null are left out. The bytes hold no key, only a number to recognise it by; a pickle holds
    the key: guard pickles as the key. An update that Ctrl-C stops leaves a sketch that raises `ValueError`
    from then on, as it has a part of the batch; any other error leaves the sketch as it was. Threads may
    share a sketch; they wait for each other.
    """

    __slots__ = ("_inner", "_key")

    _kind: ClassVar[str] = "Sketch"
    _inner: _native.Sketch
    _key: Optional[bytes]

    def merge(self, other: Sketch) -> None:
        """Add the keys of `other` to this sketch. Any order of merges gives the same result.

        Raises:
            TypeError: `other` is no sketch.
            ValueError: The sketches differ in kind, key or another argument, which the message names; or a
                total of keys, packets, bytes or weights would pass 2⁶³ − 1.
        """
        if not isinstance(other, Sketch):
            raise TypeError(f"expected a sketch to merge, got {type(other).__name__}")
        self._inner.merge(other._inner)

    def to_bytes(self) -> bytes:
        """The sketch as bytes, without its key, of the same format as in the crate hashlane-sketch."""
        return self._inner.to_bytes()

    @classmethod
    def from_bytes(cls: type[_Self], data: bytes, key: Optional[bytes] = None) -> _Self:
        """The sketch of these bytes. It can be merged and has a result; with its key it can be updated, too.

        Memory is in proportion to the bytes, whatever they are.

        Args:
            data: Bytes of :meth:`to_bytes`; from anyone.
            key: The 16 bytes that the sketch was made with.

        Raises:
            ValueError: The bytes are no sketch of this kind or damaged, with the offset; the key is another.
        """
        sketch = cls.__new__(cls)
        sketch._inner = _native.sketch_read(cls._kind, bytes(data), key)
        sketch._key = None if key is None else bytes(key)
        return sketch

    def __reduce__(self) -> tuple[Any, tuple[bytes, Optional[bytes]]]:
        return (type(self).from_bytes, (self.to_bytes(), self._key))

    def __repr__(self) -> str:
        return f"<hashlane.{self._inner.description()}>"


class SpreadResult(NamedTuple):
    """Loads of buckets."""

    #: Number of keys.
    keys: int
    #: Number of buckets.
    buckets: int
    #: χ² of the loads against even ones: Σ (load − mean)² / mean.
    chi_squared: float
    #: Degrees of freedom: buckets − 1.
    degrees: int
    #: Probability that a random function has a χ² at least as large. Good from about 5 keys a bucket on, or
    #: with thousands of buckets.
    p_value: float
    #: Keys of the fullest bucket.
    longest: int
    #: Median of `longest` for a random function.
    longest_median: int
    #: Limit that `longest` of a random function passes in one of 1,000 cases, at most.
    longest_limit: int
    #: Load and number of buckets with it, by load.
    loads: list[tuple[int, int]]

    @classmethod
    def from_counts(cls, counts: Column) -> SpreadResult:
        """Statistics of a table of someone else's, such as a kernel's: a column of the keys of each bucket.

        Raises:
            TypeError: A column of another type than integers.
            ValueError: A count is null or negative, there are none, or the total passes 2⁶³ − 1.
        """
        return cls(**_native.spread_result(readable(counts)))

    @classmethod
    def from_buckets(cls, numbers: Column, buckets: int) -> SpreadResult:
        """Statistics of `buckets` buckets: a column of the bucket of each key, from 0.

        Raises:
            TypeError: A column of another type than integers.
            ValueError: A number is null, negative, or `buckets` or more.
        """
        return cls(**_native.spread_result(readable(numbers), size("buckets", buckets, 1, 1 << 26)))

    def quantile(self, share: float) -> int:
        """Load that this share of the buckets, 0 to 1, does not exceed: 0.5 is the median."""
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share}, but must be from 0 to 1")
        rank, below = max(1, math.ceil(share * self.buckets)), 0
        for load, number in self.loads:
            below += number
            if below >= rank:
                return load
        return self.longest


class Spread(Sketch):
    """Number of keys in each bucket of a table under a hash. Exact; 8 bytes a bucket.

    Keys that come several times count each time: pass distinct keys for the depth of a table.

    Args:
        scheme: Id of a hash, such as `siphash-1-3`; hashes of other libraries are not accepted.
        buckets: 1 to 2²⁶.
        key: 16 bytes for a keyed scheme.
        reduction: `remainder`: hash modulo buckets, as the tables of Linux for connections (ehash); or
            `scaled`: hash times buckets / 2^width, as conntrack.

    Raises:
        ValueError: An argument is unknown or out of range, or the key is missing or superfluous.
    """

    __slots__ = ()
    _kind = "Spread"

    def __init__(
        self, scheme: str, buckets: int, key: Optional[bytes] = None, *, reduction: str = "remainder"
    ) -> None:
        self._inner = _native.sketch_spread(scheme, size("buckets", buckets, 1, 1 << 26), key, reduction)
        self._key = None if key is None else bytes(key)

    def update(self, *columns: Column) -> None:
        """Count the keys of a batch of n rows.

        Args:
            columns: One column of keys, as :func:`hashlane.hash` takes it; or four of flows (source address
                and port, destination address and port), as :func:`hashlane.flow_hash` takes them.

        Raises:
            TypeError: A column is of another type.
            ValueError: A row is no address or port; there are other than one or four columns; the sketch was
                read without its key; or the number of keys would pass 2⁶³ − 1.
        """
        self._inner.update([readable(column) for column in columns])

    def counts(self) -> Array:
        """Keys in each bucket: a column of as many `uint64` as there are buckets."""
        return Array(self._inner.counts())

    def result(self) -> SpreadResult:
        """Statistics of the buckets."""
        return SpreadResult(**self._inner.result())


class Memory(NamedTuple):
    """Memory of a table."""

    #: Number of entries.
    entries: int
    #: Bytes, with names and the allocator's part.
    bytes: int


class Depth(NamedTuple):
    """Prefixes of one depth."""

    #: Number of components.
    depth: int
    #: Number of names of as many components or more, repeated ones included.
    names: int
    #: Number of distinct prefixes, estimated.
    distinct: float
    #: Mean bytes of a prefix over the names, repeated ones included.
    mean_len: float


class PrefixesResult(NamedTuple):
    """Population of prefixes."""

    #: Number of names, repeated ones included.
    names: int
    #: Number of rows that break a rule of the encoding; they are left out.
    invalid: int
    #: Number of distinct names, estimated.
    distinct_names: float
    #: Mean bytes of the components of a name, repeated ones included.
    mean_name_len: float
    #: Standard error of the estimates, relative to the number.
    standard_error: float
    #: Memory of a PIT with all distinct names pending at once.
    pit: Memory
    #: Prefixes of depth 1, 2, …, to the longest name.
    depths: list[Depth]


class Prefixes(Sketch):
    """Number of distinct name prefixes by depth, by UltraLogLog, and the memory that tables of them take.

    Takes at most 2^precision bytes for each depth and one more; small numbers are exact, and the standard
    error of larger ones is at most 0.761 / √(2^precision).

    Args:
        encoding: `ndn`, `ccnx` or `offset`.
        precision: 4 to 16.
        key: 16 bytes.

    Raises:
        ValueError: An argument is unknown or out of range, or the key is missing.
    """

    __slots__ = ()
    _kind = "Prefixes"

    def __init__(self, encoding: str, *, precision: int = 12, key: bytes) -> None:
        self._inner = _native.sketch_prefixes(encoding, size("precision", precision, 4, 16), key)
        self._key = bytes(key)

    def update(self, names: Column) -> None:
        """Take the names of a batch.

        Args:
            names: Column of n encoded names, such as :func:`hashlane.parse_name` makes.

        Raises:
            TypeError: A column of text or of another type.
            ValueError: The sketch was read without its key, or a total would pass 2⁶³ − 1.
        """
        self._inner.update([readable(names)])

    def fib(self, least: int = 1, most: int = 255) -> Memory:
        """Memory of a FIB with an entry for each distinct prefix of `least` to `most` components."""
        return Memory(*self._inner.fib(size("least", least, 0), size("most", most, 0)))

    def result(self) -> PrefixesResult:
        """Population by depth."""
        result = self._inner.result()
        depths = [Depth(*row) for row in result.pop("depths")]
        return PrefixesResult(depths=depths, pit=Memory(*result.pop("pit")), **result)


class Load(NamedTuple):
    """Load of a queue."""

    #: Number of packets.
    packets: int
    #: Number of bytes.
    bytes: int


class KeyImbalance(NamedTuple):
    """Imbalance under one key: the largest load over the mean. 1 is even, and the value without load."""

    #: Number of the key; 0 is the one in use.
    number: int
    #: Imbalance in packets.
    packets: float
    #: Imbalance in bytes.
    bytes: float

    @classmethod
    def from_counts(cls, packets: Column, bytes: Optional[Column] = None) -> KeyImbalance:
        """Imbalance of queues whose loads someone else has counted, as `ethtool -S` does.

        Args:
            packets: Column of the packets of each queue.
            bytes: Column of their bytes; 0 if not given.

        Raises:
            TypeError: A column of another type than integers.
            ValueError: A number is null or negative, or the columns are of several lengths.
        """
        return cls(*_native.imbalance_result(readable(packets), optional(bytes)))


class ImbalanceResult(NamedTuple):
    """Imbalance under the key in use and the candidates."""

    #: Packets and bytes of all queues.
    total: Load
    #: Under the key in use.
    current: KeyImbalance
    #: The least in packets of all keys; in bytes among equal ones, then the lowest number.
    best: KeyImbalance
    #: Median in packets of the candidates: what a key has without a search.
    median: float
    #: Under each key, the one in use first.
    keys: list[KeyImbalance]

    def __repr__(self) -> str:
        # Up to 65,537 keys.
        fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields[:-1], self))
        return f"ImbalanceResult({fields}, keys=[{len(self.keys)} keys])"


class Imbalance(Sketch):
    """Load of queues, or of members of a group, under the key in use and under many candidates at once.

    Exact sums. Takes 16 bytes a queue and key.

    Args:
        function: `rss`: receive-side scaling of a network card, with an indirection table of 128 entries;
            `symmetric-rss`: the same under keys that give both directions of a flow one queue; `keyed`:
            SipHash-1-3 of the tuple.
        n: Number of queues: 1 to 128, for `keyed` to 65,536.
        candidates: Number of keys to try, 0 to 65,536, drawn from `key`.
        key: 16 bytes: key 0 of `keyed`, and the secret that candidates are derived from.
        rss_key: The 40 bytes in use for `rss`. The bytes of the sketch contain them.

    Raises:
        ValueError: An argument is unknown or out of range, or the key is missing.
    """

    __slots__ = ()
    _kind = "Imbalance"

    def __init__(
        self,
        function: str,
        n: int,
        *,
        candidates: int = 0,
        key: bytes,
        rss_key: bytes = RSS_PUBLISHED_KEY,
    ) -> None:
        queues = size("n", n, 1, 1 << 16 if function == "keyed" else 128)
        tried = size("candidates", candidates, 0, 1 << 16)
        self._inner = _native.sketch_imbalance(function, queues, tried, key, rss_key)
        self._key = bytes(key)

    def update(
        self,
        src: Column,
        sport: Column,
        dst: Column,
        dport: Column,
        *,
        packets: Optional[Column] = None,
        bytes: Optional[Column] = None,
    ) -> None:
        """Add a batch of n flows or packets.

        Args:
            src, sport, dst, dport: Columns of addresses and ports, as :func:`hashlane.rss` takes them.
            packets: Column of n integers, the packets of each row; 1 if not given.
            bytes: Column of n integers, the bytes of all packets of each row; 0 if not given.

        Raises:
            TypeError: A column is of another type.
            ValueError: A row is no address or port, or its packets or bytes are null or negative; the columns
                are of several lengths; the sketch was read without its key; or the total of packets or of
                bytes would pass 2⁶³ − 1.
        """
        ends = [readable(column) for column in (src, sport, dst, dport)]
        self._inner.update(ends, optional(packets), optional(bytes))

    def loads(self, number: int = 0) -> list[Load]:
        """Load of each queue under key `number`.

        Raises:
            ValueError: There is no such key.
        """
        return [Load(*load) for load in self._inner.loads(self._number(number))]

    def _number(self, number: int) -> int:
        return size("number of the key", number, 0, self._inner.candidates())

    def candidate(self, number: int) -> bytes:
        """Key `number`: 40 bytes for a card (`ethtool -X … hkey`), 16 bytes for `keyed`.

        Raises:
            ValueError: There is no such key, or the sketch was read without its own.
        """
        return self._inner.candidate_key(self._number(number))

    def result(self) -> ImbalanceResult:
        """Imbalance under each key."""
        result = self._inner.result()
        return ImbalanceResult(
            Load(*result["total"]),
            KeyImbalance(*result["current"]),
            KeyImbalance(*result["best"]),
            result["median"],
            [KeyImbalance(*row) for row in result["keys"]],
        )


class DistinctResult(NamedTuple):
    """Estimate of a number of distinct keys."""

    #: Number of distinct keys.
    keys: float
    #: Standard error, relative to the number; 0 while the number is exact.
    standard_error: float


class Distinct(Sketch):
    """Number of distinct keys, by SipHash-1-3: exact while small, by UltraLogLog beyond.

    Up to 7/64 of 2^precision keys (1,792 at precision 14) take at most 16 bytes each, and their number is
    exact. More take 2^precision bytes; the standard error is at most 0.761 / √(2^precision): 0.59 % at
    precision 14. Merges lose none of it.

    Args:
        precision: 4 to 18.
        key: 16 bytes. Without it, nobody can choose keys that count as few or as many.

    Raises:
        ValueError: The precision is out of range, or the key is missing.
    """

    __slots__ = ()
    _kind = "Distinct"

    def __init__(self, *, precision: int = 14, key: bytes) -> None:
        self._inner = _native.sketch_distinct(size("precision", precision, 4, 18), key)
        self._key = bytes(key)

    def update(self, *columns: Column) -> None:
        """Take the keys of a batch; arguments and errors as :meth:`Spread.update`."""
        self._inner.update([readable(column) for column in columns])

    def result(self) -> DistinctResult:
        """The estimate."""
        return DistinctResult(**self._inner.result())


class HeavyHitter(NamedTuple):
    """One key."""

    #: The key: of text its UTF-8, of integers their little-endian bytes; of several columns a tuple of their
    #: values.
    key: Any
    #: Weight that it has at least.
    least: int


class HeavyHittersResult(NamedTuple):
    """Keys with the largest weights."""

    #: Weight of all keys.
    total: int
    #: Bound of the error: the weight of a key is `least` to `least + error`; a key that is not listed
    #: weighs at most `error`. At most total / (counters + 1).
    error: int
    #: Keys, the heaviest first.
    hitters: list[HeavyHitter]


class HeavyHitters(Sketch):
    """Keys with the largest weights, by counters of Misra and Gries.

    Each key with more than total / (counters + 1) is in the result. The counters depend on the order of
    updates and merges, the bound of the error does not.

    Args:
        counters: 1 to 2²⁰; each takes about 128 bytes and two keys.
        columns: Number of columns of a key, 1 to 255. Rows of several columns are keys with nulls as values.

    Raises:
        ValueError: A number is out of range.
    """

    __slots__ = ()
    _kind = "HeavyHitters"

    def __init__(self, counters: int, *, columns: int = 1) -> None:
        width = size("columns", columns, 1, 255)
        self._inner = _native.sketch_heavy_hitters(size("counters", counters, 1, 1 << 20), width)
        self._key = None

    @classmethod
    def from_bytes(cls, data: bytes, key: Optional[bytes] = None) -> HeavyHitters:
        """The sketch of these bytes; as :meth:`Sketch.from_bytes`, but without a key."""
        if key is not None:
            raise ValueError("HeavyHitters has no key; omit key")
        return super().from_bytes(data)

    def update(self, keys: Columns, weights: Optional[Column] = None) -> None:
        """Add the weights of the keys of a batch.

        Args:
            keys: Column of n keys, of at most 4,096 bytes each; for several columns a table of them, a
                dictionary or a tuple.
            weights: Column of n integers from 0 on; each is 1 if not given.

        Raises:
            TypeError: A column is of another type.
            ValueError: A key is too long, a weight null or negative, the columns of several lengths, or the
                total would pass 2⁶³ − 1.
        """
        self._inner.update([column for _, column in named_columns("key", keys)], optional(weights))

    def result(self) -> HeavyHittersResult:
        """The keys with the largest weights."""
        result = self._inner.result()
        hitters = [HeavyHitter(*row) for row in result.pop("hitters")]
        return HeavyHittersResult(hitters=hitters, **result)


def named_columns(name: str, columns: Any) -> list[tuple[str, Any]]:
    """Columns as the native functions read them, with their names; a table is one of them."""
    if isinstance(columns, Mapping):
        return [(str(name), readable(column)) for name, column in columns.items()]
    if isinstance(columns, tuple):
        return [(f"{name}_{place}", readable(column)) for place, column in enumerate(columns)]
    given = getattr(columns, "name", None)
    return [(given if isinstance(given, str) and given else name, readable(columns))]


def optional(column: Optional[Column]) -> Any:
    return None if column is None else readable(column)


def size(name: str, value: int, least: int, most: int = 2**32 - 1) -> int:
    """A number within its range."""
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}, but must be from {least} to {most:,}")
    return number
