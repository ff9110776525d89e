"""NDN packets in columns (NDN Packet Format 0.3)."""

from __future__ import annotations

from typing import Any

from . import _native
from ._arrays import Column, like, readable
from ._names import Errors

__all__ = ["encode", "parse"]


def parse(packets: Column, *, errors: Errors = "raise") -> Any:
    """Read Interest and Data packets, also within NDNLPv2 link packets.

    Args:
        packets: Column of n packets, as bytes.
        errors: `null` gives a null for each row that is no packet, or a fragment of one.

    Returns:
        Column of n structs: `kind` (`interest`, `data`, or `nack` for a refused Interest); `name`, encoded
        (:func:`hashlane.to_uri` shows it); of an Interest `can_be_prefix`, `must_be_fresh`, `nonce`
        (`uint32`), `lifetime_ms` (`uint64`), `hop_limit` (`uint8`), `parameters` (bytes); of Data
        `content_type` (`uint64`), `freshness_ms` (`uint64`), `content` (bytes). Fields of the other kind, and
        absent ones, are null. Signatures are not verified.

    Raises:
        ValueError: A row is no packet.
    """
    return like(_native.ndn_parse(readable(packets), errors), packets)


def encode(packets: Column) -> Any:
    """Write Interest and Data packets.

    Args:
        packets: Column of n structs, or a table, with the fields of :func:`parse`; all but `kind` and `name`
            may be missing. Names are encoded or text.

    Returns:
        Column of n `large_binary`, at most 8,800 bytes each. A Data packet is signed with its SHA-256 digest,
        which detects corruption and authenticates nobody. An Interest with parameters gets their digest at
        the end of its name.

    Raises:
        ValueError: A row has no name, an unknown kind, or more than 8,800 bytes.
    """
    return like(_native.ndn_encode(readable(packets)), packets)
