"""Hashes of the ends of flows."""

from __future__ import annotations

from typing import Any, Optional

from . import _native
from ._arrays import Column, like, readable


def flow_hash(
    src: Column,
    sport: Column,
    dst: Column,
    dport: Column,
    scheme: str,
    key: Optional[bytes] = None,
    *,
    signed: bool = False,
) -> Any:
    """Hash of the two ends of each received packet: of 36 bytes, eight or sixteen rows at once.

    The bytes are, in network order: destination address (16), source address (16), destination port (2),
    source port (2); IPv4 addresses are IPv4-mapped. The host that receives the packet is the local end.

    Args:
        src, dst: Columns of n addresses: text, 4 or 16 bytes in network order, or `uint32` for IPv4
            (192.0.2.1 is 0xc0000201).
        sport, dport: Columns of n integers, 0 to 65,535.
        scheme: Id of any scheme of :func:`schemes`.
        key: 16 bytes, as for :func:`hash`.
        signed: Return the same 64 bits as `int64`.

    Returns:
        Column of n `uint64` (`int64` if `signed`) in the form of `src`, null where any of the columns is.

    Raises:
        ValueError: The columns have several lengths; a row has no address, no port, or addresses of
            different IP versions; or the reasons of :func:`hash`.
    """
    result = _native.flow_hash(
        readable(src), readable(sport), readable(dst), readable(dport), scheme, key
    )
    return like(result, src, signed=signed)


def ehash(
    local: Column,
    lport: Column,
    foreign: Column,
    fport: Column,
    *,
    function: str = "lport",
    ehash_secret: int,
    ipv6_secret: int = 0,
    mix: int = 0,
    key: Optional[bytes] = None,
    signed: bool = False,
) -> Any:
    """Hash by which Linux chooses the bucket of an established connection, bit for bit.

    Rows of two IPv4 addresses, also IPv4-mapped, go through `inet_ehashfn`; the others through
    `inet6_ehashfn`, both as in the versions of Linux that `function` stands for. The bucket is the hash
    modulo the size of the table, a power of two.

    Args:
        local, foreign: Columns of n addresses, as for :func:`flow_hash`.
        lport, fport: Columns of n ports.
        function: `base` (Linux to 6.4), `jhash2` (6.5 to 6.14, and stable kernels with the fix of
            CVE-2023-1206), `lport` (since 6.15: the local port is added to the hash), `flat` (after 6.18), or
            one that was proposed: `v1`, `hsiphash`, `siphash`. IPv4 rows have one hash under `lport` and
            `flat`, and another under all others.
        ehash_secret: `inet_ehash_secret` for IPv4 rows, `inet6_ehash_secret` for the others, 32 bits. IPv6
            rows of `flat` do without.
        ipv6_secret: `ipv6_hash_secret`, in later kernels `tcp_ipv6_hash_secret`, 32 bits. IPv4 rows do
            without.
        mix: `net_hash_mix()` of the network namespace, 32 bits.
        key: 16 bytes for `hsiphash` and `siphash`.
        signed: Return `int64` of the same values.

    Returns:
        Column of n `uint32` in the form of `local`, null where any of the columns is.

    Raises:
        ValueError: As :func:`flow_hash`; `function` is unknown; a secret has more than 32 bits.
    """
    result = _native.linux_ehash(
        readable(local),
        readable(lport),
        readable(foreign),
        readable(fport),
        function,
        ehash_secret,
        ipv6_secret,
        mix,
        key,
    )
    return like(result, local, signed=signed)


def rss(
    src: Column,
    sport: Column,
    dst: Column,
    dport: Column,
    key: bytes,
    queues: Optional[int] = None,
    *,
    signed: bool = False,
) -> Any:
    """Hash, or queue, that a network card computes for each received packet (receive-side scaling).

    Args:
        src, dst: Columns of n addresses, as for :func:`flow_hash`.
        sport, dport: Columns of n ports.
        key: 40 bytes: the card's key (`ethtool -x`), `RSS_PUBLISHED_KEY` of Microsoft's specification, or
            `RSS_SYMMETRIC_KEY`, which gives both directions of a flow one queue.
        queues: Number of queues, 1 to 128. Without it, the hash is returned.
        signed: Return `int64` of the same values.

    Returns:
        Column of n `uint32` in the form of `src`: Toeplitz hashes, or queues by the indirection table of 128
        entries that Linux sets. Null where any of the columns is.

    Raises:
        ValueError: As :func:`flow_hash`; the key has not 40 bytes; `queues` is out of range.
    """
    result = _native.rss_hash(
        readable(src), readable(sport), readable(dst), readable(dport), key, queues
    )
    return like(result, src, signed=signed)
