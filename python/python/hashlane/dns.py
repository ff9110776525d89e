"""DNS messages in columns."""

from __future__ import annotations

from typing import Any

from . import _native
from ._arrays import Column, like, readable
from ._names import Errors

__all__ = ["parse", "render"]


def parse(messages: Column, *, errors: Errors = "raise") -> Any:
    """Read DNS messages in wire form.

    Args:
        messages: Column of n messages, as bytes, without the length before them on a stream.
        errors: `null` gives a null for each row that is no message.

    Returns:
        Column of n structs: `id` (`uint16`); `flags` (`uint16`: QR is 0x8000, AA 0x0400, TC 0x0200; the low
        four bits are the rcode); `questions`, a list of structs of `name`, `type`, `class`; `records`, a list
        of structs of `section` (`answer`, `authority`, `additional`), `owner`, `type`, `class`, `ttl`
        (`uint32`, seconds), `data` (bytes in wire form, names in them whole). Names, types and classes are in
        presentation form.

    Raises:
        ValueError: A row is no message: it is cut off, bytes follow it, or a name or record is malformed.
    """
    return like(_native.dns_parse(readable(messages), errors), messages)


def render(messages: Column, *, limit: int = 65_535, case_sensitive: bool = False) -> Any:
    """Write DNS messages in wire form, with names compressed (RFC 1035 §4.1.4).

    Args:
        messages: Column of n structs, or a table, as :func:`parse` returns them. Sections must be in order.
        limit: Largest message in bytes, 512 to 65,535.
        case_sensitive: Point to names alone that are spelled alike.

    Returns:
        Column of n `large_binary`.

    Raises:
        ValueError: A row does not fit into `limit`; a name, type or section is malformed; the data of a
            record do not fit its type.
    """
    return like(_native.dns_render(readable(messages), limit, case_sensitive), messages)
