"""Checks the files of keys that `hashlane audit --out DIR` writes, without hashlane.

    python3 verify_keys.py DIR/*.txt

For each file it computes the hash of every key under the stated seed by an implementation of its own, written
from the functions' definitions, and counts the keys of the fullest bucket, or compares the hashes of a pair.
Where a flood needs no seed, it repeats this under seeds of its own choice. Of functions that it does not
implement, it checks the stated hashes alone, and says so.

The exit status is 0 if every file holds what it claims, 1 if one does not, 2 if one cannot be read. It needs
Python 3.9 and nothing else.
"""

import argparse
import hashlib
import os
import sys
from collections import Counter

M32, M64 = 2**32 - 1, 2**64 - 1

# Seeds of our own choice under which keys that need no seed are tried.
OWN_SEEDS = 2


def rotl(word, by, bits):
    """A word of `bits` bits, rotated left."""
    return (word << by | word >> (bits - by)) & (2**bits - 1)


def words(data, size):
    """The whole words of some bytes, little-endian, and the bytes after them."""
    whole = len(data) // size * size
    return [int.from_bytes(data[at:at + size], "little") for at in range(0, whole, size)], data[whole:]


def low(seed, size):
    """The first bytes of a seed as a number, little-endian."""
    return int.from_bytes(seed[:size], "little")


def fnv_1a(start, data):
    """FNV-1a of 64 bits. draft-eastlake-fnv; check: 85944171f73967e8 for `foobar`."""
    for byte in data:
        start = (start ^ byte) * 0x100000001B3 & M64
    return start


FNV_BASIS = 0xCBF29CE484222325


def djb2(start, data):
    """Times 33 plus the next byte. Bernstein, comp.lang.c, 1991."""
    for byte in data:
        start = (start * 33 + byte) & M32
    return start


def murmur3_x86_32(seed, data):
    """MurmurHash3_x86_32. Appleby, MurmurHash3.cpp (public domain); check: b3dd93fa for `abc` under 0."""
    def mix(word):
        return rotl(word * 0xCC9E2D51 & M32, 15, 32) * 0x1B873593 & M32

    blocks, tail = words(data, 4)
    for block in blocks:
        seed = (rotl(seed ^ mix(block), 13, 32) * 5 + 0xE6546B64) & M32
    seed ^= mix(low(tail, 4)) ^ len(data)
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & M32
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & M32
    return seed ^ seed >> 16


def xxh32(seed, data):
    """XXH32. Collet, xxhash_spec.md; check: 32d153ff for `abc` under 0."""
    p1, p2, p3, p4, p5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
    length = len(data)
    if length >= 16:
        lanes = [(seed + p1 + p2) & M32, (seed + p2) & M32, seed, (seed - p1) & M32]
        whole = length // 16 * 16
        for number, word in enumerate(words(data[:whole], 4)[0]):
            lane = (lanes[number % 4] + word * p2) & M32
            lanes[number % 4] = rotl(lane, 13, 32) * p1 & M32
        acc = sum(rotl(lane, by, 32) for lane, by in zip(lanes, (1, 7, 12, 18))) & M32
        data = data[whole:]
    else:
        acc = (seed + p5) & M32
    acc = (acc + length) & M32
    rest, tail = words(data, 4)
    for word in rest:
        acc = rotl((acc + word * p3) & M32, 17, 32) * p4 & M32
    for byte in tail:
        acc = rotl((acc + byte * p5) & M32, 11, 32) * p1 & M32
    acc = (acc ^ acc >> 15) * p2 & M32
    acc = (acc ^ acc >> 13) * p3 & M32
    return acc ^ acc >> 16


def crc32c_table():
    """Remainders of all bytes by the polynomial of Castagnoli, reflected."""
    table = []
    for rest in range(256):
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
        table.append(rest)
    return table


CRC32C = crc32c_table()


def crc32c(data):
    """CRC32C. RFC 3720 appendix B.4; check: e3069283 for `123456789`."""
    rest = M32
    for byte in data:
        rest = rest >> 8 ^ CRC32C[(rest ^ byte) & 0xFF]
    return rest ^ M32


def siphash(c_rounds, d_rounds, seed, data):
    """SipHash. Aumasson and Bernstein, 2012, appendix A; check: a129ca6149be45e5 for the bytes 0 to 14."""
    k0, k1 = low(seed, 8), low(seed[8:], 8)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(number):
        for _ in range(number):
            v[0] = (v[0] + v[1]) & M64
            v[1] = rotl(v[1], 13, 64) ^ v[0]
            v[0] = rotl(v[0], 32, 64)
            v[2] = (v[2] + v[3]) & M64
            v[3] = rotl(v[3], 16, 64) ^ v[2]
            v[0] = (v[0] + v[3]) & M64
            v[3] = rotl(v[3], 21, 64) ^ v[0]
            v[2] = (v[2] + v[1]) & M64
            v[1] = rotl(v[1], 17, 64) ^ v[2]
            v[2] = rotl(v[2], 32, 64)

    blocks, tail = words(data, 8)
    for block in blocks + [(len(data) & 0xFF) << 56 | low(tail, 8)]:
        v[3] ^= block
        rounds(c_rounds)
        v[0] ^= block
    v[2] ^= 0xFF
    rounds(d_rounds)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def jhash(seed, data):
    """hashlittle of lookup3.c, as Linux has it. Jenkins, 2006; check: 17770551 for `Four score and …`."""
    a = b = c = (0xDEADBEEF + len(data) + seed) & M32

    def sub(one, other, by):
        return (one - other) & M32 ^ rotl(other, by, 32)

    def xor_sub(one, other, by):
        return (one ^ other) - rotl(other, by, 32) & M32

    if not data:
        return c
    while len(data) > 12:
        (x, y, z), _ = words(data[:12], 4)
        a, b, c, data = (a + x) & M32, (b + y) & M32, (c + z) & M32, data[12:]
        a, c = sub(a, c, 4), (c + b) & M32
        b, a = sub(b, a, 6), (a + c) & M32
        c, b = sub(c, b, 8), (b + a) & M32
        a, c = sub(a, c, 16), (c + b) & M32
        b, a = sub(b, a, 19), (a + c) & M32
        c, b = sub(c, b, 4), (b + a) & M32
    (x, y, z), _ = words(data.ljust(12, b"\0"), 4)
    a, b, c = (a + x) & M32, (b + y) & M32, (c + z) & M32
    c = xor_sub(c, b, 14)
    a = xor_sub(a, c, 11)
    b = xor_sub(b, a, 25)
    c = xor_sub(c, b, 16)
    a = xor_sub(a, c, 4)
    b = xor_sub(b, a, 14)
    return xor_sub(c, b, 24)


def java_string(data):
    """String.hashCode of Latin-1 bytes, spread as by HashMap. Java SE API; 2112 for `Aa` before."""
    hash_ = 0
    for byte in data:
        hash_ = (hash_ * 31 + byte) & M32
    return hash_ ^ hash_ >> 16


def php_djbx33a(data):
    """Times 33 plus the next byte, in 64 bits with the highest set. Zend/zend_string.h."""
    hash_ = 5381
    for byte in data:
        hash_ = (hash_ * 33 + byte) & M64
    return hash_ | 1 << 63


def one_at_a_time(hash_, data):
    """One-at-a-time. Jenkins, 1997; check: ca2e9442 for `a`."""
    for byte in data:
        hash_ = (hash_ + byte) & M32
        hash_ = (hash_ + (hash_ << 10)) & M32
        hash_ ^= hash_ >> 6
    hash_ = (hash_ + (hash_ << 3)) & M32
    hash_ ^= hash_ >> 11
    return (hash_ + (hash_ << 15)) & M32


# Functions by their names in the files: from a seed of 16 bytes and a key to a hash.
FUNCTIONS = {
    "fnv-1a": lambda seed, key: fnv_1a(FNV_BASIS, key),
    "fnv-1a-offset": lambda seed, key: fnv_1a(FNV_BASIS ^ low(seed, 8), key),
    "djb2": lambda seed, key: djb2(5381, key),
    "djb2-seeded": lambda seed, key: djb2(low(seed, 4), key),
    "murmurhash3-x86-32": lambda seed, key: murmur3_x86_32(low(seed, 4), key),
    "xxh32": lambda seed, key: xxh32(low(seed, 4), key),
    "crc32c": lambda seed, key: crc32c(key),
    "siphash-1-3": lambda seed, key: siphash(1, 3, seed, key),
    "siphash-2-4": lambda seed, key: siphash(2, 4, seed, key),
    "jhash": lambda seed, key: jhash(low(seed, 4), key),
    "java-string": lambda seed, key: java_string(key),
    "php-djbx33a": lambda seed, key: php_djbx33a(key),
    "one-at-a-time": lambda seed, key: one_at_a_time(low(seed, 4), key),
}

# Published values: what this program computes must be the functions of their names.
CHECKS = [
    (fnv_1a(FNV_BASIS, b"foobar"), 0x85944171F73967E8),
    (djb2(5381, b"a"), 177670),
    (murmur3_x86_32(0, b"abc"), 0xB3DD93FA),
    (xxh32(0, b"abc"), 0x32D153FF),
    (crc32c(b"123456789"), 0xE3069283),
    (siphash(2, 4, bytes(range(16)), bytes(range(15))), 0xA129CA6149BE45E5),
    (jhash(0, b"Four score and seven years ago"), 0x17770551),
    (java_string(b"Aa"), 2112),
    (php_djbx33a(b"x"), 9223372036854953501),
    (one_at_a_time(0, b"a"), 0xCA2E9442),
]


class Failed(Exception):
    """A file does not hold what it claims."""


class Malformed(Exception):
    """A file is not one of keys."""


def read(path):
    """The head of a file as a dictionary, its keys and their hashes."""
    head, keys, hashes = {}, [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# "):
                name, _, value = line[2:].strip().partition(": ")
                head[name] = value
                continue
            key, _, hash_ = line.strip().partition(" ")
            keys.append(b"" if key == "-" else bytes.fromhex(key))
            hashes.append(int(hash_, 16))
    if head.get("hashlane audit keys") != "1":
        raise Malformed("not a file of keys of format 1")
    return head, keys, hashes


def bucket(hash_, head):
    """The bucket of a hash in the table of the file."""
    bits, tag = int(head["hash-bits"]), int(head["tag-bits"])
    buckets = int(head["buckets"])
    hash_, bits = (hash_ & 2**bits - 1) >> tag, bits - tag
    if head["index"] == "modulo":
        return hash_ % buckets
    if head["index"] == "mask":
        return hash_ & buckets - 1
    if head["index"] == "multiply-shift":
        hash_, bits = hash_ * 0x9E3779B97F4A7C15 & M64, 64
    elif head["index"] != "upper":
        raise Malformed(f"unknown index {head['index']}")
    return hash_ >> max(0, bits - (buckets.bit_length() - 1))


def deepest(hashes, head):
    """Keys of the fullest bucket."""
    return Counter(bucket(hash_, head) for hash_ in hashes).most_common(1)[0][1]


def check(head, keys, hashes):
    """Says what a file's keys do."""
    if len(set(keys)) != len(keys) or not keys:
        raise Failed("keys are missing, or repeat")
    seed = bytes.fromhex(head["seed"])
    function = FUNCTIONS.get(head["function"])
    if function:
        for key, stated in zip(keys, hashes):
            computed = function(seed, key)
            if computed != stated:
                raise Failed(f"the hash of {key.hex()} is {computed:x}, not {stated:x}")
    if "equal" in head:
        if len(set(hashes)) != 1:
            raise Failed("the keys have different hashes")
        done = f"{len(keys)} keys of one hash"
    else:
        most = deepest(hashes, head)
        if most != int(head["deepest"]):
            raise Failed(f"{most} keys share a bucket, not {head['deepest']}")
        done = f"{most} of {len(keys)} keys in one of {head['buckets']} buckets"
    if not function:
        return f"{done} by the stated hashes; {head['function']} is not implemented here"
    flooded, _, tried = head.get("seeds", "").partition(" of ")
    if head.get("needs") != "nothing" or flooded != tried:
        return f"{done} under the stated seed"
    for number in range(OWN_SEEDS):
        own = hashlib.sha256(f"{head['seed']} {number}".encode()).digest()[:16]
        under_own = deepest([function(own, key) for key in keys], head)
        # Lanes carry now and then: nearly all keys, under nearly all seeds.
        if 2 * under_own < most:
            raise Failed(f"under the seed {own.hex()} {under_own} keys share a bucket, not about {most}")
    return f"{done} under the stated seed and {OWN_SEEDS} of our own"


def main():
    parser = argparse.ArgumentParser(description="Check files of keys of hashlane audit --out")
    parser.add_argument("files", nargs="+", help="files, or folders of them")
    status = 0
    if any(computed != published for computed, published in CHECKS):
        print("this program computes other functions than those published", file=sys.stderr)
        return 2
    paths = []
    for path in parser.parse_args().files:
        folder = os.path.isdir(path)
        paths += [os.path.join(path, name) for name in sorted(os.listdir(path))] if folder else [path]
    for path in paths:
        try:
            head, keys, hashes = read(path)
            print(f"{path}: {head['function']}: {check(head, keys, hashes)}")
        except Failed as why:
            print(f"{path}: FAILED: {why}")
            status = max(status, 1)
        except (Malformed, OSError, ValueError, KeyError) as why:
            print(f"{path}: cannot be read: {why}", file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
