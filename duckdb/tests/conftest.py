"""Databases with the extension, and files that the tests share."""

from __future__ import annotations

import os
import pathlib
import struct

import duckdb
import pytest

KEY = bytes(range(16))

Connection = duckdb.DuckDBPyConnection


def connect(threads: int = 2) -> Connection:
    """A new database with the extension."""
    config = {"allow_unsigned_extensions": "true", "threads": str(threads)}
    connection = duckdb.connect(config=config)
    connection.execute(f"LOAD '{os.environ['HASHLANE_DUCKDB']}'")
    connection.execute(f"SET VARIABLE key = unhex('{KEY.hex()}')")
    return connection


@pytest.fixture
def db() -> Connection:
    return connect()


@pytest.fixture
def repository() -> pathlib.Path:
    """The repository's folder, with documentation and vectors."""
    return pathlib.Path(os.environ["HASHLANE_REPOSITORY"])


def capture(packets: list[bytes], link: int = 101) -> bytes:
    """A capture of packets of IP, a second apart from 1970-01-01 00:00:01 on."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, link)
    records = [
        struct.pack("<IIII", second, 5, len(packet), len(packet)) + packet
        for second, packet in enumerate(packets, 1)
    ]
    return header + b"".join(records)


def udp(source: tuple[str, int], destination: tuple[str, int], data: bytes) -> bytes:
    """An IPv4 packet."""
    (src, sport), (dst, dport) = source, destination
    ends = b"".join(bytes(int(part) for part in address.split(".")) for address in (src, dst))
    header = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(data), 0, 0, 64, 17, 0)
    return header + ends + struct.pack(">HHHH", sport, dport, 8 + len(data), 0) + data


def query(identifier: int, name: bytes = b"\7example\3com\0") -> bytes:
    """A question for the type A of a name."""
    return struct.pack(">HHHHHH", identifier, 0x0100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1)


def answer(identifier: int) -> bytes:
    """An answer with one record, whose owner is a pointer."""
    question = query(identifier)[12:]
    record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes([192, 0, 2, 1])
    return struct.pack(">HHHHHH", identifier, 0x8180, 1, 1, 0, 0) + question + record


def dns_capture() -> bytes:
    """Two queries and an answer."""
    client, server = ("10.0.0.1", 4000), ("10.0.0.53", 53)
    return capture(
        [
            udp(client, server, query(1)),
            udp(server, client, answer(1)),
            udp(client, server, query(2)),
        ]
    )


def ipfix_message(*sets: tuple[int, bytes]) -> bytes:
    """A message of IPFIX, exported at 2023-11-14 22:13:20, with these sets."""
    content = b"".join(struct.pack(">HH", number, 4 + len(data)) + data for number, data in sets)
    return struct.pack(">HHIII", 10, 16 + len(content), 1_700_000_000, 0, 0) + content


def ipfix_template(number: int, elements: list[tuple[int, int]]) -> tuple[int, bytes]:
    """A set with a template of elements and their lengths."""
    fields = b"".join(struct.pack(">HH", *element) for element in elements)
    return 2, struct.pack(">HH", number, len(elements)) + fields


def ipfix(flows: list[tuple[str, int, str, int, int]]) -> bytes:
    """A file of IPFIX with flows of IPv4 and TCP: two ends, and bytes."""
    elements = [(8, 4), (7, 2), (12, 4), (11, 2), (4, 1), (2, 8), (1, 8)]
    template = struct.pack(">HH", 256, len(elements))
    template += b"".join(struct.pack(">HH", *element) for element in elements)
    sets = struct.pack(">HH", 2, 4 + len(template)) + template
    records = b"".join(
        bytes(int(part) for part in src.split("."))
        + struct.pack(">H", sport)
        + bytes(int(part) for part in dst.split("."))
        + struct.pack(">HBQQ", dport, 6, 3, size)
        for src, sport, dst, dport, size in flows
    )
    sets += struct.pack(">HH", 256, 4 + len(records)) + records
    return struct.pack(">HHIII", 10, 16 + len(sets), 1, 0, 0) + sets
