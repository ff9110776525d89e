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
    if isinstance(value, list):
        return b"\x0d" + b"".join(b"\x01" + encoded(each, kind.value_type) for each in value) + b"\x00"
    if isinstance(value, dict):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        values = [b"\x01" + encoded(value[field.name], field.type) for field in fields]
        return b"\x0e" + b"".join(values) + b"\x00"
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


#: Types of lists and structs, within each other.
NESTED = [
    pa.list_(pa.string()),
    pa.large_list(pa.int16()),
    pa.list_(pa.uint8(), 3),
    pa.list_(pa.list_(pa.binary())),
    pa.list_(pa.list_(pa.bool_(), 2)),
    pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]),
    pa.list_(pa.struct([("a", pa.string()), ("c", pa.struct([("d", pa.int8())]))])),
    pa.list_(pa.null()),
]


def nested(draw: random.Random, kind: pa.DataType) -> Any:
    """A value of a type, or null."""
    if draw.random() < 0.15 or pa.types.is_null(kind):
        return None
    if pa.types.is_struct(kind):
        return {kind.field(at).name: nested(draw, kind.field(at).type) for at in range(kind.num_fields)}
    if pa.types.is_fixed_size_list(kind):
        return [nested(draw, kind.value_type) for _ in range(kind.list_size)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [nested(draw, kind.value_type) for _ in range(draw.randrange(4))]
    if pa.types.is_boolean(kind):
        return draw.random() < 0.5
    if pa.types.is_integer(kind):
        return draw.randrange(100)
    text = draw.choice(["", "a", "a\0b", "ü"])
    return text.encode() if pa.types.is_binary(kind) else text


@pytest.mark.parametrize("kind", NESTED, ids=str)
def test_lists_and_structs_in_rows_are_hashed_by_the_bytes_that_the_page_defines(kind: pa.DataType) -> None:
    draw = random.Random(5)
    column = pa.array([nested(draw, kind) for _ in range(2500)], kind)
    table = pa.table({"a": pa.array(range(2500), pa.int64()), "b": column})
    assert hashlane.hash(table, "siphash-1-3", KEY).to_pylist() == expected(table)
    part = table.slice(1000, 1100)
    assert hashlane.hash(part, "siphash-1-3", KEY).to_pylist() == expected(part)
    if pa.types.is_struct(kind):
        return
    # The column by itself: a list that is null stays null.
    found = hashlane.hash(column, "siphash-1-3", KEY)
    rows = expected(pa.table({"b": column}))
    valid = column.is_valid().to_pylist()
    assert found.to_pylist() == [row if is_valid else None for row, is_valid in zip(rows, valid)]
    assert hashlane.hash(column.slice(7, 1500), "siphash-1-3", KEY).to_pylist() == found.to_pylist()[7:1507]


def test_lists_of_polars_and_pandas() -> None:
    lists = [["a", "b"], [], None, ["ab"], [None]]
    found = hashlane.hash(pa.array(lists), "siphash-1-3", KEY).to_pylist()
    series = pl.Series("tags", lists)
    assert hashlane.hash(series, "siphash-1-3", KEY).to_list() == found
    frame = pl.DataFrame({"tags": series})
    plugin = frame.select(pl.col("tags").hashlane.hash("siphash-1-3", KEY))  # type: ignore[attr-defined]
    assert plugin.to_series().to_list() == found
    pairs = pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2))
    fixed = hashlane.hash(pairs, "siphash-1-3", KEY).to_list()
    assert fixed == hashlane.hash(pa.array([[1, 2], [3, 4]]), "siphash-1-3", KEY).to_pylist()
    column = pd.Series(lists, index=list("vwxyz"))
    pandas = hashlane.hash(column, "siphash-1-3", KEY)
    assert list(pandas.index) == list("vwxyz")
    assert [None if value is pd.NA else value for value in pandas] == found


def test_lists_that_differ_have_other_bytes() -> None:
    kind = pa.list_(pa.list_(pa.string()))
    values: list[Any] = [[], [[]], [[], []], [None], [["a"]], [["a"], []], [["a", None]], [["a"], None], [[""]]]
    values += [[["", ""]], [[""], [""]], [["a", "b"]], [["ab"]], [["a"], ["b"]]]
    assert len(set(hashlane.hash(pa.array(values, kind), "siphash-1-3", KEY).to_pylist())) == len(values)


def test_other_types_in_a_row_are_refused() -> None:
    for column in [pa.array([1.5]), pa.array([[1.5]]), pa.array([{"b": 1.5}]), pa.array([[("a", 1)]], MAP)]:
        with pytest.raises(TypeError):
            hashlane.hash(pa.table({"a": column}), "siphash-1-3", KEY)
        with pytest.raises(TypeError):
            hashlane.hash(column, "siphash-1-3", KEY)
    deep: Any = 1
    for _ in range(9):
        deep = [deep]
    with pytest.raises(TypeError, match="nested more than 8 deep"):
        hashlane.hash(pa.array([deep]), "siphash-1-3", KEY)
    assert hashlane.hash(pa.array(deep), "siphash-1-3", KEY)[0].as_py() is not None
    many = pa.ListArray.from_arrays(pa.array([0, (1 << 24) + 1], pa.int32()), pa.nulls((1 << 24) + 1))
    with pytest.raises(ValueError, match="lists of 16777217 values of type null"):
        hashlane.hash(many, "siphash-1-3", KEY)
    for keys in [pa.array([["a"]]), pa.table({"a": [["a"]]})]:
        with pytest.raises(TypeError, match="list in a key"):
            hashlane.Groups(hashlane.Distinct(key=KEY)).update(keys, ["a"])


MAP = pa.map_(pa.string(), pa.int64())
