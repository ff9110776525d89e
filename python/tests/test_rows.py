"""Hashes of rows of several columns, against an encoding of its own."""

from __future__ import annotations

import random
from typing import Any, Callable, Optional

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hashlane

KEY = bytes(range(16))
#: Types of integers by their number in the bytes of a row.
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
INTEGERS += [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def encoded(value: Any, kind: pa.DataType) -> bytes:
    """The bytes of a value, as docs/python.md defines them."""
    if value is None:
        return b"\x00"
    if kind == pa.bool_():
        return b"\x0c" if value else b"\x0b"
    if kind in INTEGERS:
        bits = kind.bit_width
        turned = value + 2 ** (bits - 1) if pa.types.is_signed_integer(kind) else value
        return bytes([1 + INTEGERS.index(kind)]) + turned.to_bytes(bits // 8, "big")
    tag = b"\x0a" if isinstance(value, bytes) else b"\x09"
    text = value if isinstance(value, bytes) else value.encode()
    return tag + text.replace(b"\x00", b"\x00\xff") + b"\x00\x00"


def expected(table: pa.Table) -> list[int]:
    rows = zip(*(table[name].to_pylist() for name in table.column_names))
    kinds = table.schema.types
    keys = [b"".join(map(encoded, row, kinds)) for row in rows]
    return list(hashlane.hash(keys, "siphash-1-3", KEY).to_pylist())


def drawn(seed: int) -> pa.Table:
    draw = random.Random(seed)

    def column(kind: pa.DataType, value: Callable[[], Any]) -> pa.Array:
        return pa.array([None if draw.random() < 0.1 else value() for _ in range(2500)], kind)

    def integer(kind: pa.DataType) -> int:
        low = -(2 ** (kind.bit_width - 1)) if pa.types.is_signed_integer(kind) else 0
        return draw.choice([low, low + 2**kind.bit_width - 1, draw.randrange(low, low + 2**kind.bit_width)])

    def text() -> bytes:
        return bytes(draw.choice(b"\x00\x01a\xff") for _ in range(draw.randrange(6)))

    columns = {f"i{at}": column(kind, lambda kind=kind: integer(kind)) for at, kind in enumerate(INTEGERS)}
    columns["text"] = column(pa.string(), lambda: text().decode("latin-1"))
    columns["bytes"] = column(pa.binary(), text)
    columns["flag"] = column(pa.bool_(), lambda: draw.random() < 0.5)
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_hashed_by_the_bytes_that_the_page_defines(seed: int) -> None:
    table = drawn(seed)
    hashes = hashlane.hash(table, "siphash-1-3", KEY)
    assert isinstance(hashes, pa.ChunkedArray)
    assert hashes.to_pylist() == expected(table)
    part = table.slice(700, 1111)
    assert hashlane.hash(part, "siphash-1-3", KEY).to_pylist() == expected(part)
    chunks = pa.concat_tables([table.slice(0, 3), table.slice(3, 2000)])
    assert hashlane.hash(chunks, "siphash-1-3", KEY).to_pylist() == expected(table)[:2003]


def test_each_library_gets_its_own_type() -> None:
    table = pa.table({"a": ["x", "y", None], "b": pa.array([1, 2, 2], pa.int64())})
    found = expected(table)
    polars = hashlane.hash(pl.DataFrame({"a": ["x", "y", None], "b": [1, 2, 2]}), "siphash-1-3", KEY)
    assert isinstance(polars, pl.Series) and polars.to_list() == found
    frame = pd.DataFrame({"a": ["x", "y", None], "b": [1, 2, 2]}, index=[5, 6, 7])
    pandas = hashlane.hash(frame[["a", "b"]], "siphash-1-3", KEY)
    assert isinstance(pandas, pd.Series) and list(pandas.index) == [5, 6, 7]
    assert pandas.tolist() == found
    signed = hashlane.hash(table, "siphash-1-3", KEY, signed=True)
    assert [hash % 2**64 for hash in signed.to_pylist()] == found
    plugin = pl.DataFrame(table).select(
        pl.struct("a", "b").hashlane.hash("siphash-1-3", KEY)  # type: ignore[attr-defined]
    )
    assert plugin.to_series().to_list() == found


def test_rows_that_differ_have_other_bytes() -> None:
    def one(*values: Optional[str]) -> int:
        table = pa.table({str(at): pa.array([value], pa.string()) for at, value in enumerate(values)})
        return int(hashlane.hash(table, "siphash-1-3", KEY)[0].as_py())

    rows = [("ab", "c"), ("a", "bc"), ("abc", ""), ("abc", None), (None, "abc"), ("abc",)]
    rows += [("a\0", "b"), ("a", "\0b"), ("a\0\0b",), ("", ""), ("",), (None, None), (None,)]
    assert len({one(*row) for row in rows}) == len(rows)
    eight = hashlane.hash(pa.table({"a": pa.array([1], pa.int8())}), "siphash-1-3", KEY)
    sixteen = hashlane.hash(pa.table({"a": pa.array([1], pa.int16())}), "siphash-1-3", KEY)
    assert eight != sixteen


def test_a_struct_that_is_null_stays_null() -> None:
    column = pa.array([{"a": 1}, None, {"a": None}], pa.struct([("a", pa.int32())]))
    one, two, three = hashlane.hash(column, "siphash-1-3", KEY).to_pylist()
    assert two is None
    assert [one, three] == expected(pa.table({"a": pa.array([1, None], pa.int32())}))


def test_other_types_in_a_row_are_refused() -> None:
    for column in [pa.array([1.5]), pa.array([[1]]), pa.array([{"b": 1}])]:
        with pytest.raises(TypeError):
            hashlane.hash(pa.table({"a": column}), "siphash-1-3", KEY)
