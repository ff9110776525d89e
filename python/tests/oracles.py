"""Slow implementations in Python, written from the definitions, to compare with."""

from __future__ import annotations

import struct

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1


def siphash(key: bytes, data: bytes, c: int, d: int) -> int:
    """SipHash-c-d (Aumasson and Bernstein 2012)."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def rotl(x: int, n: int) -> int:
        return ((x << n) | (x >> (64 - n))) & M64

    def rounds(n: int) -> None:
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M64
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & M64
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M64
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M64
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(c)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(d)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def crc32c(data: bytes) -> int:
    """CRC-32C, bit by bit (RFC 3720 §12.1)."""
    crc = M32
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ M32


def jhash_words(words: list[int], initval: int) -> int:
    """jhash2 (Linux include/linux/jhash.h)."""
    return jhash_lanes(words, 0xDEADBEEF + 4 * len(words) + initval)


def jhash_lanes(words: list[int], start: int) -> int:
    """The mixing of jhash with all lanes at `start`."""

    def rotl(x: int, n: int) -> int:
        return ((x << n) | (x >> (32 - n))) & M32

    a = b = c = start & M32
    words = list(words)
    while len(words) > 3:
        a, b, c = (a + words[0]) & M32, (b + words[1]) & M32, (c + words[2]) & M32
        a = (a - c & M32) ^ rotl(c, 4)
        c = (c + b) & M32
        b = (b - a & M32) ^ rotl(a, 6)
        a = (a + c) & M32
        c = (c - b & M32) ^ rotl(b, 8)
        b = (b + a) & M32
        a = (a - c & M32) ^ rotl(c, 16)
        c = (c + b) & M32
        b = (b - a & M32) ^ rotl(a, 19)
        a = (a + c) & M32
        c = (c - b & M32) ^ rotl(b, 4)
        b = (b + a) & M32
        words = words[3:]
    words += [0] * (3 - len(words))
    a, b, c = (a + words[0]) & M32, (b + words[1]) & M32, (c + words[2]) & M32
    c = ((c ^ b) - rotl(b, 14)) & M32
    a = ((a ^ c) - rotl(c, 11)) & M32
    b = ((b ^ a) - rotl(a, 25)) & M32
    c = ((c ^ b) - rotl(b, 16)) & M32
    a = ((a ^ c) - rotl(c, 4)) & M32
    b = ((b ^ a) - rotl(a, 14)) & M32
    return ((c ^ b) - rotl(b, 24)) & M32


#: Versions of Linux; LATEST is commit d482bb509b7d.
Version = tuple[int, int]
LATEST = (6, 19)


def linux_ehash(
    version: Version, local: bytes, lport: int, foreign: bytes, fport: int, secrets: dict[str, int]
) -> int:
    """`sk_ehashfn` on a little-endian machine: net/ipv4/inet_hashtables.c, net/ipv6/inet6_hashtables.c.

    `local` and `foreign` have 16 bytes. A socket of IPv6 whose foreign address is IPv4-mapped takes the hash
    of IPv4. A `__be32` and a `__be16` are read as they lie in memory; the local port is a number.
    """
    l, f = struct.unpack("<4I", local), struct.unpack("<4I", foreign)
    [be_fport] = struct.unpack("<H", struct.pack(">H", fport))
    # Commit 9544d60a2605 (6.15), in both files: the hash is taken of local port 0, and the port added to it.
    hashed, added = (0, lport) if version >= (6, 15) else (lport, 0)
    initval = secrets["ehash_secret"] + secrets["mix"]
    if foreign[:12] == bytes(10) + b"\xff\xff":
        return (added + jhash_words([l[3], f[3], hashed << 16 | be_fport], initval)) & M32
    if version >= LATEST:
        words = [l[0] ^ secrets["mix"], *l[1:], *f, be_fport]
        return (added + jhash_lanes(words, secrets["ipv6_secret"])) & M32
    # Commit d11b0df7ddf1 (6.5): jhash2 of all words, where two were joined before.
    of_foreign = list(f) if version >= (6, 5) else [f[0] ^ f[1], f[2], f[3]]
    fhash = jhash_words(of_foreign, secrets["ipv6_secret"])
    return (added + jhash_words([l[3], fhash, hashed << 16 | be_fport], initval)) & M32


def toeplitz(key: bytes, data: bytes) -> int:
    """The Toeplitz hash (Microsoft, RSS Hashing Functions)."""
    bits, width = int.from_bytes(key, "big"), 8 * len(key)
    result = 0
    for place in range(8 * len(data)):
        if data[place // 8] >> (7 - place % 8) & 1:
            result ^= bits >> (width - 32 - place) & M32
    return result
