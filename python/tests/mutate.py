"""Mutated Arrow files, given to every function that reads columns: `python mutate.py SEED INPUTS`.

Files are read as users read them, without a check. Errors are documented ones, and nothing ends the
interpreter.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import pyarrow as pa

import hashlane
from hashlane import dns, ndn

KEY = bytes(range(16))

#: Numbers that lengths and offsets break at.
EXTREMES = [0, 1, 12, 13, 0x7F, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, 0xFFFF_FFFF]


def file(column: Any) -> bytes:
    """An Arrow file of one column `x`."""
    sink = pa.BufferOutputStream()
    table = pa.table({"x": column})
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def columns() -> list[Any]:
    texts = ["a", None, "example.com", "/a/b/c", "2001:db8::1", "a text of more than twelve bytes", ""] * 3
    question = {"name": "example.com.", "type": "A", "class": "IN"}
    message = {"id": 7, "flags": 0x100, "questions": [question], "records": []}
    return [
        *(pa.array(texts, kind) for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary_view())),
        pa.array(texts).dictionary_encode(),
        pa.array([bytes([row] * 16) for row in range(9)], pa.binary(16)),
        pa.array([1, None, 70_000], pa.uint32()),
        pa.array([message, None, message]),
        pa.array([{"kind": "data", "name": "/a/b", "content": b"abc"}, None]),
    ]


def use(column: Any) -> None:
    rows = len(column)
    ports = [1] * min(rows, 1 << 12)
    for call in (
        lambda: hashlane.hash(column, "siphash-1-3", KEY),
        lambda: hashlane.hash(column, "crc32c"),
        lambda: hashlane.parse_name(column, errors="null"),
        lambda: hashlane.name_prefix_hashes(column, "ndn", "siphash-1-3", KEY),
        lambda: hashlane.flow_hash(column, ports, column, ports, "siphash-1-3", KEY),
        lambda: hashlane.HeavyHitters(8).update(column),
        lambda: hashlane.Spread("siphash-1-3", 64, KEY).update(column),
        lambda: hashlane.Prefixes("ndn", key=KEY).update(column),
        lambda: dns.render(column) if pa.types.is_struct(column.type) else None,
        lambda: dns.parse(column, errors="null"),
        lambda: ndn.encode(column) if pa.types.is_struct(column.type) else None,
    ):
        try:
            call()
        except (ValueError, TypeError):
            pass


def mutated(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(changed))
        if draw.random() < 0.5:
            changed[at] = draw.randrange(256)
        else:
            at = at // 4 * 4
            changed[at : at + 4] = draw.choice(EXTREMES).to_bytes(4, "little")[: len(changed) - at]
    return bytes(changed)


def main(seed: int, inputs: int) -> None:
    draw, files, read = random.Random(seed), [file(column) for column in columns()], 0
    for number in range(inputs):
        data = mutated(draw, draw.choice(files))
        try:
            column = pa.ipc.open_file(data).read_all()["x"]
        except (pa.ArrowException, OSError, KeyError):
            continue
        # A file may claim any number of rows of a type without bytes.
        if len(column) < 1 << 20:
            use(column)
            read += 1
    print(inputs, "inputs,", read, "of them read")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
