"""Names in columns: encodings, text, hashes of prefixes."""

from __future__ import annotations

from typing import Any, Literal, Optional

from . import _native
from ._arrays import Column, like, readable

#: Treatment of rows that cannot be parsed: an exception that names the first, or nulls.
Errors = Literal["raise", "null"]


def parse_name(
    names: Column,
    encoding: str = "ndn",
    *,
    form: Literal["uri", "path"] = "uri",
    errors: Errors = "raise",
) -> Any:
    """Encode names that are given as text.

    Args:
        names: Column of n texts: NDN URIs such as `/hello/v=3`, or file paths if `form` is `path`; for the
            encoding `dns`, names in presentation form.
        encoding: `ndn`, `ccnx`, `offset` or `dns`.
        form: `path` takes each element of a path as a generic component, byte for byte.
        errors: `null` gives a null for each text that is no name.

    Returns:
        Column of n `large_binary`: names of at most 65,535 bytes and 255 components; for `dns`, of at most
        255 bytes.

    Raises:
        ValueError: A row is no name; an argument is unknown.
    """
    return like(_native.parse_name(readable(names), encoding, form, errors), names)


def to_uri(names: Column, encoding: str = "ndn", *, errors: Errors = "raise") -> Any:
    """Write encoded names as text, the inverse of :func:`parse_name`.

    Args:
        names: Column of n encoded names, as bytes.
        encoding: As for :func:`parse_name`.
        errors: `null` gives a null for each row that is no name.

    Returns:
        Column of n `large_string`: URIs without `ndn:`; for `dns`, names in presentation form.

    Raises:
        ValueError: A row is no name; an argument is unknown.
    """
    return like(_native.to_uri(readable(names), encoding, errors), names)


def name_prefix_hashes(
    names: Column,
    encoding: str = "ndn",
    scheme: str = "siphash-1-3",
    key: Optional[bytes] = None,
    *,
    errors: Errors = "raise",
    signed: bool = False,
) -> Any:
    """Hashes of all prefixes of each name: of its first component, of the first two, and so on.

    Args:
        names: Column of n names: encoded, as bytes, or as text, which is parsed as :func:`parse_name` does.
        encoding: `ndn`, `ccnx` or `offset`.
        scheme: `siphash-1-3`, `siphash-2-4` or `crc32c`, each in one pass over a name; or another hash of
            this project, which hashes each prefix from its start.
        key: 16 bytes for a keyed scheme, as for :func:`hash`.
        errors: `null` gives a null for each row that is no name.
        signed: Return lists of `int64` of the same 64 bits.

    Returns:
        Column of n lists of `uint64`, the shortest prefix first; the bytes hashed are those that the
        components cover in the encoding.

    Raises:
        ValueError: A row is no name; an argument is unknown; the key is missing or superfluous.
    """
    result = _native.name_prefix_hashes(readable(names), encoding, scheme, key, errors)
    return like(result, names, signed=signed)
