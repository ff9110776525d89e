from __future__ import annotations

import ipaddress
import pathlib
import random
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from oracles import LATEST, Version, linux_ehash, siphash, toeplitz

import hashlane
from conftest import KEY

DRAW = random.Random(21)
V4 = [(str(ipaddress.IPv4Address(DRAW.getrandbits(32))), DRAW.getrandbits(16),
       str(ipaddress.IPv4Address(DRAW.getrandbits(32))), DRAW.getrandbits(16)) for _ in range(1100)]
V6 = [(str(ipaddress.IPv6Address(DRAW.getrandbits(128))), DRAW.getrandbits(16),
       str(ipaddress.IPv6Address(DRAW.getrandbits(128))), DRAW.getrandbits(16)) for _ in range(1100)]


def packed(address: str) -> bytes:
    parsed = ipaddress.ip_address(address)
    return parsed.packed if parsed.version == 6 else bytes(10) + b"\xff\xff" + parsed.packed


def columns(rows: list[Any]) -> list[Any]:
    return [list(column) if i % 2 == 0 else np.array(column, np.uint16) for i, column in enumerate(zip(*rows))]


@pytest.mark.parametrize("rows", [V4, V6], ids=["IPv4", "IPv6"])
def test_flow_hash_is_the_hash_of_36_bytes(rows: list[Any]) -> None:
    keys = [packed(dst) + packed(src) + struct.pack(">HH", dport, sport) for src, sport, dst, dport in rows]
    for scheme in ["siphash-1-3", "siphash-2-4", "jhash", "xxh3", "halfsiphash-2-4"]:
        hashes = hashlane.flow_hash(*columns(rows), scheme, KEY).to_pylist()
        assert hashes == hashlane.hash(keys, scheme, KEY).to_pylist(), scheme
    assert hashlane.flow_hash(*columns(rows[:9]), "siphash-1-3", KEY).to_pylist() == [
        siphash(KEY, key, 1, 3) for key in keys[:9]
    ]


def test_every_scheme_of_tuples_gives_its_check_value() -> None:
    ends = [["2001:db8:1234:5678:9abc:def0:1122:3344"], np.array([54321]), ["2001:db8::1"], np.array([443])]
    listed = [scheme for scheme in hashlane.schemes() if scheme.keys == "tuple"]
    assert len(listed) > 5
    for scheme in listed:
        key = None if scheme.keying == "none" else KEY
        assert hashlane.flow_hash(*ends, scheme.id, key).to_pylist() == [scheme.check], scheme.id


def test_addresses_may_have_any_form() -> None:
    src, sport, dst, dport = columns(V4)
    expected = hashlane.flow_hash(src, sport, dst, dport, "siphash-1-3", KEY).to_pylist()
    numbers = [np.array([int(ipaddress.IPv4Address(a)) for a in column], np.uint32) for column in (src, dst)]
    four = [pa.array([ipaddress.IPv4Address(a).packed for a in column], pa.binary(4)) for column in (src, dst)]
    sixteen = [pa.array([packed(a) for a in column], pa.large_binary()) for column in (src, dst)]
    views = [pa.array(column, pa.string_view()) for column in (src, dst)]
    for a, b in (numbers, four, sixteen, views, (numbers[0], views[1])):
        result = hashlane.flow_hash(a, pa.array(sport, pa.int64()), b, dport.astype(np.uint64), "siphash-1-3", KEY)
        assert list(result.to_pylist() if hasattr(result, "to_pylist") else result) == expected


def test_columns_may_have_several_chunks_and_nulls() -> None:
    src, sport, dst, dport = (pa.array(column) for column in columns(V4[:10]))
    expected = hashlane.flow_hash(src, sport, dst, dport, "siphash-1-3", KEY).to_pylist()
    cut = pa.chunked_array([src[:3], src[3:3], src[3:]])
    other = pa.chunked_array([dst[:5], dst[5:5], dst[5:6], dst[6:]])
    result = hashlane.flow_hash(cut, sport, other, dport, "siphash-1-3", KEY)
    assert [len(chunk) for chunk in result.chunks] == [3, 0, 7] and result.to_pylist() == expected
    holes = pa.array([None if i == 4 else port for i, port in enumerate(sport.to_pylist())], pa.uint16())
    expected[4] = None
    assert hashlane.flow_hash(src, holes, dst, dport, "siphash-1-3", KEY).to_pylist() == expected
    empty = pa.array([], pa.string()), pa.array([], pa.uint16())
    assert hashlane.flow_hash(*empty, *empty, "siphash-1-3", KEY).to_pylist() == []


def test_rows_that_are_no_flow_are_named() -> None:
    good = pa.array(["192.0.2.1"] * 3)
    ports = pa.array([1, 2, 3])
    for src, sport, dst, message in [
        (pa.array(["192.0.2.1", "192.0.2.300", ""]), ports, good, 'row 1: src "192.0.2.300" is no IP address'),
        (good, pa.array([1, 2, 65536]), good, "row 2: sport 65536 is no port"),
        (good, pa.array([-1, 2, 6]), good, "row 0: sport -1 is no port"),
        (good, ports, pa.array(["::1", "::1", "::1"]), "row 0: the two addresses are of different IP versions"),
        (pa.array([b"1234", b"123", b"1234"]), ports, good, "row 1: src has 3 bytes; an address has 4 or 16"),
        (pa.chunked_array([["192.0.2.1"], ["::1"], ["192.0.2.1"]]), ports, good, "row 1: the two"),
        (good[:2], ports, good, "columns of several lengths: src has 2 rows, sport has 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            hashlane.flow_hash(src, sport, dst, ports, "siphash-1-3", KEY)
    with pytest.raises(TypeError, match="sport: a column of .*; ports are integers"):
        hashlane.flow_hash(good, good, good, ports, "siphash-1-3", KEY)
    with pytest.raises(TypeError, match="src: a column of .*; addresses are"):
        hashlane.flow_hash(pa.array([1.0, 2.0, 3.0]), ports, good, ports, "siphash-1-3", KEY)


@pytest.mark.parametrize(
    ("version", "function"),
    [((6, 4), "base"), ((6, 5), "jhash2"), ((6, 14), "jhash2"), ((6, 15), "lport"), ((6, 18), "lport"), (LATEST, "flat")],
    ids=str,
)
@pytest.mark.parametrize("rows", [V4, V6], ids=["IPv4", "IPv6"])
def test_ehash_is_that_of_each_linux(rows: list[Any], version: Version, function: str) -> None:
    secrets = {"ehash_secret": 0x12345678, "ipv6_secret": 0x9ABCDEF0, "mix": 0x0F1E2D3C}
    result = hashlane.ehash(*columns(rows), function=function, **secrets)
    assert result.to_pylist() == [
        linux_ehash(version, packed(local), lport, packed(foreign), fport, secrets)
        for local, lport, foreign, fport in rows
    ]
    # IPv4-mapped addresses are IPv4.
    if rows is V4:
        mapped = [("::ffff:" + a, b, "::ffff:" + c, d) for a, b, c, d in rows]
        assert hashlane.ehash(*columns(mapped), function=function, **secrets).to_pylist() == result.to_pylist()


@pytest.mark.parametrize("function", ["v1", "hsiphash", "siphash"])
def test_proposed_hashes_of_ipv6_leave_ipv4_as_it_was(function: str) -> None:
    four = hashlane.ehash(*columns(V4), function=function, ehash_secret=7, mix=9, key=KEY).to_pylist()
    assert four == hashlane.ehash(*columns(V4), function="base", ehash_secret=7, mix=9).to_pylist()


def test_ehash_names_its_functions() -> None:
    with pytest.raises(ValueError, match='unknown function "jhash"'):
        hashlane.ehash(*columns(V6), function="jhash", ehash_secret=1)
    with pytest.raises(ValueError, match="siphash needs key"):
        hashlane.ehash(*columns(V6), function="siphash", ehash_secret=1)
    with pytest.raises(ValueError, match="ehash_secret must be from 0 to 4294967295, not 4294967296"):
        hashlane.ehash(*columns(V6), ehash_secret=1 << 32)
    with pytest.raises(ValueError, match="mix must be .*, not -1"):
        hashlane.ehash(*columns(V6), ehash_secret=1, mix=-1)
    with pytest.raises(TypeError, match="ipv6_secret: expected an int, got str"):
        hashlane.ehash(*columns(V6), ehash_secret=1, ipv6_secret="1")  # type: ignore[arg-type]


def test_rss_agrees_with_the_vectors_of_the_specification(repository: pathlib.Path) -> None:
    text = (repository / "vectors" / "toeplitz-rss.txt").read_text()
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert len(rows) == 8
    dst, dport, src, sport, _, hashes = (list(column) for column in zip(*rows))
    ports = [pa.array([int(port) for port in column]) for column in (sport, dport)]
    result = hashlane.rss(pa.array(src), ports[0], pa.array(dst), ports[1], hashlane.RSS_PUBLISHED_KEY)
    assert result.to_pylist() == [int(hash, 16) for hash in hashes]


@pytest.mark.parametrize("rows", [V4, V6], ids=["IPv4", "IPv6"])
def test_rss_is_the_toeplitz_hash_of_the_packet(rows: list[Any]) -> None:
    key = DRAW.randbytes(40)
    rows = rows[:60]
    inputs = [
        ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed + struct.pack(">HH", sport, dport)
        for src, sport, dst, dport in rows
    ]
    oracle = [toeplitz(key, data) for data in inputs]
    assert hashlane.rss(*columns(rows), key).to_pylist() == oracle
    queues = hashlane.rss(*columns(rows), key, queues=6).to_pylist()
    assert queues == [hash % 128 % 6 for hash in oracle]


def test_the_symmetric_key_gives_both_directions_one_queue() -> None:
    src, sport, dst, dport = columns(V6)
    key = hashlane.RSS_SYMMETRIC_KEY
    there = hashlane.rss(src, sport, dst, dport, key, 16).to_pylist()
    assert there == hashlane.rss(dst, dport, src, sport, key, 16).to_pylist()
    assert len(set(there)) == 16


def test_rss_refuses_other_keys_and_queues() -> None:
    with pytest.raises(ValueError, match="has 40 bytes, got 16"):
        hashlane.rss(*columns(V4), KEY)
    with pytest.raises(ValueError, match="from 1 to 128"):
        hashlane.rss(*columns(V4), bytes(40), 129)
