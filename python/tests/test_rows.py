"""Hashes of rows of several columns, against an encoding of its own."""

from __future__ import annotations

import collections
import random
from typing import Any, Callable, Optional

import numpy as np
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


def plain(value: Any) -> Any:
    """A value without the names of fields, which the bytes of a row do not have."""
    if isinstance(value, dict):
        return tuple(map(plain, value.values()))
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", NESTED, ids=str)
def test_groups_by_lists_and_structs_are_the_rows_of_one_hash(kind: pa.DataType) -> None:
    draw = random.Random(6)
    column = pa.array([nested(draw, kind) for _ in range(2500)], kind)
    table = pa.table({"user": pa.array([draw.randrange(3) for _ in range(2500)], pa.int8()), "of": column})
    rows = collections.Counter(repr((row["user"], plain(row["of"]))) for row in table.to_pylist())
    groups = hashlane.Groups(hashlane.Distinct(precision=18, key=KEY))
    for at in range(0, 2500, 900):
        groups.update(table.slice(at, 900), list(range(at, min(at + 900, 2500))))
    found = groups.result().to_arrow()
    hashes = collections.Counter(hashlane.hash(table, "siphash-1-3", KEY).to_pylist())
    assert sorted(hashes.values()) == sorted(found["keys"].to_pylist())
    values = [plain(row) for row in found.to_pylist()]
    assert {repr(row[:-2]): row[-2] for row in values} == rows
    again = hashlane.Groups.from_bytes(groups.to_bytes())
    assert again.to_bytes() == groups.to_bytes() and len(again) == len(rows)
    one = table.slice(1234, 1)
    assert groups.sketch(one).result().keys >= 1


def test_a_struct_that_is_a_column_stands_for_its_fields() -> None:
    kind = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    column = pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}, {"a": 1, "b": ["x"]}], kind)
    groups = hashlane.Groups(hashlane.Distinct(key=KEY))
    groups.update((column,), [1, 2, 3, 4])
    assert groups.result().to_arrow().drop_columns("standard_error").to_pylist() == [
        {"a": None, "b": None, "keys": 2.0},
        {"a": 1, "b": ["x"], "keys": 2.0},
    ]


def hidden(kind: Any, *buffers: bytes) -> Any:
    """Text of three rows, the last of which is null, whatever its bytes."""
    return pa.Array.from_buffers(kind, 3, [pa.py_buffer(buffer) for buffer in (b"\x03", *buffers)])


@pytest.mark.parametrize(
    "texts",
    [
        # A view of a buffer that there is not.
        hidden(pa.string_view(), np.array([1, 97, 0, 0, 1, 98, 0, 0, 20, 0, 7, 0], np.uint32).tobytes()),
        # No UTF-8.
        hidden(pa.string(), np.array([0, 1, 2, 3], np.int32).tobytes(), b"ab\xff"),
        pa.array(["a", "b", None]),
    ],
    ids=["view", "bytes", "text"],
)
def test_fields_of_a_struct_that_is_null_are_null_whatever_else_they_have(texts: Any) -> None:
    mask = pa.array([False, True, False])
    column = pa.StructArray.from_arrays([texts, pa.array([1, 2, 3])], ["text", "number"], mask=mask)
    groups = hashlane.Groups(hashlane.Distinct(key=KEY))
    groups.update((column,), [1, 2, 3])
    assert groups.result().to_arrow().select(["text", "number"]).to_pylist() == [
        {"text": None, "number": None},
        {"text": None, "number": 3},
        {"text": "a", "number": 1},
    ]


def test_keys_of_heavy_hitters_hold_lists_and_structs() -> None:
    kind = pa.struct([("tags", pa.list_(pa.string())), ("at", pa.struct([("x", pa.int16()), ("y", pa.bool_())]))])
    values = [{"tags": ["a", None], "at": {"x": -1, "y": True}}, {"tags": [], "at": None}]
    heavy = hashlane.HeavyHitters(10, columns=2)
    heavy.update(pa.array([values[0], values[1], values[0]], kind))
    assert heavy.result().hitters == [((["a", None], (-1, True)), 2), (([], None), 1)]
    groups = hashlane.Groups(hashlane.HeavyHitters(10, columns=2))
    groups.update(pa.array([["g"], [], ["g"]]), pa.array([values[0], values[1], values[0]], kind))
    assert groups.result().to_arrow().to_pylist() == [
        {"group": [], "key_0": [], "key_1": None, "least": 1, "error": 0, "total": 1},
        {
            "group": ["g"],
            "key_0": ["a", None],
            "key_1": {"field_0": -1, "field_1": True},
            "least": 2,
            "error": 0,
            "total": 2,
        },
    ]


def test_groups_by_lists_are_in_the_order_of_their_values() -> None:
    lists: list[Any] = [None, [], [None], ["a"], ["a", "a"], ["a\0"], ["b"]]
    groups = hashlane.Groups(hashlane.Distinct(key=KEY))
    groups.update(pl.Series("tags", lists[::-1]), list(range(len(lists))))
    table = groups.result().to_polars()
    assert table["tags"].to_list() == lists
    groups.update({"tags": pl.Series([[1]])}, [1])
    with pytest.raises(ValueError, match="tags: values of several types"):
        groups.result()


def test_damaged_names_of_nested_groups_are_refused() -> None:
    groups = hashlane.Groups(hashlane.Distinct(key=KEY))
    kind = pa.list_(pa.struct([("a", pa.list_(pa.int8())), ("b", pa.string())]))
    draw = random.Random(7)
    groups.update(pa.array([nested(draw, kind) for _ in range(20)], kind), list(range(20)))
    data = groups.to_bytes()
    for _ in range(2000):
        bad = bytearray(data)
        bad[draw.randrange(len(bad))] = draw.randrange(256)
        try:
            accepted = hashlane.Groups.from_bytes(bytes(bad))
            accepted.result()
        except ValueError:
            continue
        assert accepted.to_bytes() == bad


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
    groups = hashlane.Groups(hashlane.Distinct(key=KEY))
    for by, error, message in [
        (pa.array([deep]), TypeError, "nested more than 8 deep"),
        (pa.array([[1.5]]), TypeError, "double"),
        (many, ValueError, "lists of 16777217 values"),
        (pa.array([["a" * 5000]]), ValueError, "bytes"),
    ]:
        with pytest.raises(error, match=message):
            groups.update(by, ["a"])
        assert len(groups) == 0
    groups.update(pa.array(deep), ["a"])
    assert groups.result().to_arrow()["group"].to_pylist() == deep


MAP = pa.map_(pa.string(), pa.int64())
