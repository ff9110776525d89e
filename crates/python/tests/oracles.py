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

    def rotl(x: int, n: int) -> int:
        return ((x << n) | (x >> (32 - n))) & M32

    a = b = c = (0xDEADBEEF + 4 * len(words) + initval) & M32
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


def toeplitz(key: bytes, data: bytes) -> int:
    """The Toeplitz hash (Microsoft, RSS Hashing Functions)."""
    bits, width = int.from_bytes(key, "big"), 8 * len(key)
    result = 0
    for place in range(8 * len(data)):
        if data[place // 8] >> (7 - place % 8) & 1:
            result ^= bits >> (width - 32 - place) & M32
    return result
