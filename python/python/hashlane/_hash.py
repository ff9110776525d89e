"""Hashes of columns."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional

from . import _native
from ._arrays import Column, like, numpy_words, readable


class Scheme(NamedTuple):
    """A registered hash."""

    #: Id, for the argument `scheme`.
    id: str
    #: Keys that it takes: `bytes` of any length, or `tuple`: the ends of flows, for :func:`flow_hash` alone.
    keys: str
    #: Bits of a hash that carry information; the rest of the `uint64` is 0.
    bits: int
    #: `secret`: a key that makes collisions unpredictable; `seed`: one that does not; `none`.
    keying: str
    #: Bits of the key that reach the hash: 32 or 64 are its first 4 or 8 bytes, read in little-endian order; the
    #: schemes `ehash/…` derive their secrets from all 16.
    key_bits: int
    #: Hash of the nine bytes `123456789` under the key 00 01 … 0f.
    check: int
    #: Definition: RFC, paper, kernel file, crate.
    source: str
    #: Safe uses.
    safe: str


def schemes() -> list[Scheme]:
    """All registered hashes."""
    return [Scheme(*row) for row in _native.schemes()]


def random_key() -> bytes:
    """A key of 16 bytes from the operating system's random numbers.

    Hashes under one key can be compared with each other alone: keep the key as long as the hashes.
    """
    return os.urandom(16)


def hash(
    array: Column, scheme: str, key: Optional[bytes] = None, *, signed: bool = False
) -> Any:
    """Hash of each row.

    Args:
        array: Column of n rows: text (its UTF-8), bytes, or integers (their little-endian bytes, so that an
            `int32` and an `int64` of one value have different hashes). Dictionaries are hashed by their
            values. A NumPy matrix of `uint8` is a column of its rows. Tables, columns of structs and of lists
            are hashed by the bytes of their rows, which docs/python.md defines; their values may be booleans,
            lists and structs, too.
        scheme: Id of a hash of bytes, such as `siphash-1-3`; see :func:`schemes`.
        key: 16 bytes, such as :func:`random_key` makes. A scheme with a key refuses to work without one, and
            an unkeyed scheme with one. A seed of 64 bits is the first 8 bytes, of 32 bits the first 4, in
            little-endian order: `seed.to_bytes(16, "little")` gives `xxh3` and `jhash` that seed.
        signed: Return the same 64 bits as `int64`, for engines without unsigned integers, such as Spark.

    Returns:
        Column of n `uint64` (`int64` if `signed`), null where `array` is. In a table, a null is a value, and no
        row is null.

    Raises:
        TypeError: `array` is no column, or one of another type.
        ValueError: The scheme is unknown, or the key is missing, superfluous or of another length.
    """
    return like(_native.hash(readable(array), scheme, key), array, signed=signed)


def hash128(array: Column, scheme: str, key: Optional[bytes] = None) -> Any:
    """Hash of 128 bits of each row: a name that rows do not share by chance.

    Args:
        array: As :func:`hash` takes it.
        scheme: `siphash-1-3-128` or `siphash-2-4-128`.
        key: 16 bytes, such as :func:`random_key` makes.

    Returns:
        Column of n `fixed_size_binary[16]`, the bytes of the reference implementation; in Polars a column of
        `Binary`, in NumPy a matrix of n rows of two `uint64`, the low one first. Null where `array` is.

    Raises:
        TypeError: `array` is no column, or one of another type.
        ValueError: The scheme is unknown, or the key is missing or of another length.
    """
    result = _native.hash128(readable(array), scheme, key)
    words = numpy_words(result, array)
    return like(result, array) if words is None else words
