"""Columns that are easily read wrongly: addresses, padding, masks, and types without a value."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hashlane
from conftest import KEY
from hashlane import dns, ndn


def crc(column: Any) -> Any:
    return hashlane.hash(column, "crc32c")


def hashes(column: Any) -> list[Any]:
    result: list[Any] = crc(column).to_pylist()
    return result


def test_addresses_of_python_objects_are_never_hashed() -> None:
    pl = pytest.importorskip("polars")
    objects = pl.Series(["a"], dtype=pl.Object)
    with pytest.raises(TypeError, match="array: .*Object.*cast it"):
        crc(objects)
    with pytest.raises(TypeError, match="src: .*Object.*cast it"):
        hashlane.flow_hash(objects, [1], ["::"], [1], "siphash-1-3", KEY)
    with pytest.raises(TypeError, match="messages: .*Object"):
        dns.render(pl.DataFrame({"id": [1], "data": objects}))


@pytest.mark.parametrize("kind", [[("a", "O")], [("a", "u1"), ("b", "<u4")], "V4"], ids=str)
def test_structures_of_numpy_are_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match="array: .*structures.*one field, or rows of uint8"):
        crc(np.zeros(2, kind))


def test_padding_of_numpy_bytes_is_not_hashed() -> None:
    rows = [b"ab", b"abc", b"", b"a\0b"]
    assert crc(np.array(rows)).tolist() == crc(np.array(rows, "S20")).tolist() == hashes(rows)
    full = [b"abc", b"xyz"]
    assert crc(np.array(full)).tolist() == hashes(full)
    zeros = np.array([b"ab\0"], "S3").view(np.uint8).reshape(1, 3)
    assert crc(zeros).tolist() == hashes([b"ab\0"])


@pytest.mark.parametrize(
    "values",
    [[1, 2, 3], [b"ab", b"abc", b"c"], [b"abc", b"abd", b"abe"], ["a", "b", "c"]],
    ids=["int", "padded", "full", "text"],
)
def test_masked_elements_of_numpy_are_nulls(values: list[Any]) -> None:
    mask = [False, True, False]
    whole = hashes(values)
    assert hashes(np.ma.array(values, mask=mask)) == [whole[0], None, whole[2]]
    assert list(crc(np.ma.array(values))) == whole
    assert list(crc(np.ma.array(values, mask=[False] * 3))) == whole


def test_rows_with_a_masked_byte_are_nulls() -> None:
    matrix = np.arange(12, dtype=np.uint8).reshape(3, 4)
    mask = np.zeros((3, 4), bool)
    mask[1, 2] = True
    whole = crc(matrix).tolist()
    assert hashes(np.ma.array(matrix, mask=mask)) == [whole[0], None, whole[2]]


def test_masks_hold_in_flows_and_weights() -> None:
    ports = np.ma.array([1, 2], mask=[False, True])
    result = hashlane.flow_hash(["10.0.0.1"] * 2, ports, ["10.0.0.2"] * 2, [5, 5], "siphash-1-3", KEY)
    assert [value is None for value in result.to_pylist()] == [False, True]
    heavy = hashlane.HeavyHitters(4)
    with pytest.raises(ValueError, match="row 1: weights is null"):
        heavy.update(["a", "b"], ports)
    spread = hashlane.Spread("crc32c", 16)
    spread.update(ports)
    assert spread.result().keys == 1


@pytest.mark.parametrize(
    ("indices", "why"),
    [
        (pa.array([0, None, 9]), "row 2: .* dictionary index 9, outside of 0..1"),
        (pa.array([0, -1], pa.int8()), "row 1: .* dictionary index -1, outside"),
        (pa.array([0, 1 << 63], pa.uint64()), "row 1: .* dictionary index 9223372036854775808, outside"),
    ],
)
def test_indices_outside_of_a_dictionary_are_refused(indices: Any, why: str) -> None:
    broken = pa.DictionaryArray.from_arrays(indices, pa.array(["a"]), safe=False)
    rest = [[1] * len(broken), ["::1"] * len(broken), [1] * len(broken)]
    with pytest.raises(ValueError, match=why):
        crc(broken)
    with pytest.raises(ValueError, match=why.replace(".*", "src has the", 1)):
        hashlane.flow_hash(broken, *rest, "siphash-1-3", KEY)
    with pytest.raises(ValueError, match=why.replace(".*", "keys has the", 1)):
        hashlane.Spread("crc32c", 16).update(broken)
    packets = pa.StructArray.from_arrays([broken, broken], ["kind", "name"])
    with pytest.raises(ValueError, match="dictionary index"):
        ndn.encode(packets)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(1)], ids=str
)
def test_nulls_of_a_dictionary_are_those_of_its_values_and_of_its_indices(kind: Any) -> None:
    texts = ["c", "a", None, "b"]
    values = pa.array([text.encode() if text and "binary" in str(kind) else text for text in texts], kind)
    column = pa.DictionaryArray.from_arrays(pa.array([0, 3, None, 2, 1, 3], pa.int8()), values)[1:]
    decoded = [None if index is None else values[index].as_py() for index in [3, None, 2, 1, 3]]
    assert hashes(column) == hashes(decoded) and hashes(column).count(None) == 2
    assert hashes(pa.chunked_array([column, column[:2]])) == hashes(decoded + decoded[:2])


def test_a_long_value_that_many_rows_have_is_not_copied() -> None:
    # 4 GiB if it were.
    rows, value = 4096, pa.array(["x" * (1 << 20)])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), value)
    with pytest.raises(ValueError, match='row 0: src "x+" is no IP address'):
        hashlane.flow_hash(column, [1] * rows, ["::"] * rows, [1] * rows, "siphash-1-3", KEY)


def test_errors_about_dictionaries_count_rows_over_all_chunks() -> None:
    good = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["a"]))
    broken = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["a"]), safe=False)
    with pytest.raises(ValueError, match="row 3: array has the dictionary index 9"):
        crc(pa.chunked_array([good, broken]))


def test_a_list_of_int_is_signed_or_unsigned() -> None:
    assert hashes([7, None, -1]) == hashes(pa.array([7, None, -1], pa.int64()))
    assert hashes([7, None, (1 << 64) - 1]) == hashes(pa.array([7, None, (1 << 64) - 1], pa.uint64()))
    large = hashlane.hash(["a", "b", "c", "d"], "siphash-1-3", KEY)
    assert hashes(large.to_pylist()) == hashes(large)
    with pytest.raises(ValueError, match="array: row 1 is above 2\\^64 - 1"):
        crc([1, 1 << 64])
    with pytest.raises(ValueError, match="array: row 2 is negative, beside others above"):
        crc([None, 1 << 63, -1])
    with pytest.raises(ValueError, match="array: row 0 is below -2\\^63"):
        crc([-(1 << 63) - 1])


def test_an_empty_list_is_a_column_of_any_type() -> None:
    assert hashlane.flow_hash([], [], [], [], "siphash-1-3", KEY).to_pylist() == []
    assert hashlane.rss([], (), [], np.array([], object), hashlane.RSS_SYMMETRIC_KEY).to_pylist() == []
    assert hashes([]) == []
    assert hashlane.parse_name([]).to_pylist() == []
    prefixes = hashlane.Prefixes("ndn", key=KEY)
    prefixes.update([])


def test_polars_nulls_and_wide_integers() -> None:
    pl = pytest.importorskip("polars")
    nulls = pl.Series("none", [None, None])
    result = crc(nulls)
    assert (result.name, result.dtype, result.to_list()) == ("none", pl.UInt64, [None, None])
    assert crc(pl.Series([], dtype=pl.Null)).to_list() == []
    for kind in ["Int128", "UInt128"]:
        if hasattr(pl, kind):
            with pytest.raises(TypeError, match=f"array: .*{kind}.*cast it"):
                crc(pl.Series([1], dtype=getattr(pl, kind)))


def test_polars_nulls_in_lists_structs_and_frames() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"none": [None, None], "pair": [{"x": None, "y": 1}, None], "list": [[None], []]})
    typed = frame.with_columns(
        pl.col("none").cast(pl.Int8),
        pl.col("pair").cast(pl.Struct({"x": pl.String, "y": pl.Int64})),
        pl.col("list").cast(pl.List(pl.UInt32)),
    )
    kinds = frame.dtypes
    assert crc(frame).to_list() == crc(typed).to_list()
    assert frame.dtypes == kinds
    for name in ["pair", "list"]:
        assert crc(frame[name]).to_list() == crc(typed[name]).to_list()
    array = pl.Series("array", [[None, None]], dtype=pl.Array(pl.Null, 2))
    assert crc(array).to_list() == crc(array.cast(pl.Array(pl.Int8, 2))).to_list()


def test_categories_in_lists_structs_and_tables_are_their_values() -> None:
    texts = pa.array(["b", None, "a", "b", ""])
    categories, numbers = texts.dictionary_encode(), pa.array([1, 2, 3, None, 5], pa.int16())
    offsets = pa.array([0, 2, 2, 5], pa.int32())
    wide = pa.array([0, 2, 2, 5], pa.int64())

    def nested(column: Any) -> list[Any]:
        pairs = pa.StructArray.from_arrays([column, numbers], ["text", "number"])
        return [
            pa.table({"text": column, "number": numbers}),
            pairs,
            pairs[2:],
            pa.chunked_array([pairs[:2], pairs[2:]]),
            pa.ListArray.from_arrays(offsets, column),
            pa.ListArray.from_arrays(offsets, column)[1:],
            pa.LargeListArray.from_arrays(wide, pairs),
            pa.FixedSizeListArray.from_arrays(column, 5),
        ]

    for given, expected in zip(nested(categories), nested(texts), strict=True):
        assert crc(given).to_pylist() == crc(expected).to_pylist()
    broken = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["a"]), safe=False)
    with pytest.raises(ValueError, match="row 1: array has the dictionary index 9, outside of 0..1"):
        crc(pa.StructArray.from_arrays([broken], ["text"]))
    with pytest.raises(ValueError, match="array has the dictionary index 9, outside of 0..1"):
        crc(pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), broken))


def test_messages_without_records_need_no_type() -> None:
    question = {"name": "example.com.", "type": "A", "class": "IN"}
    message = {"id": 7, "flags": 0x100, "questions": [question], "records": []}
    assert dns.parse(dns.render(pa.array([message]))).to_pylist() == [message]
    empty = {"id": 7, "flags": 0x100, "questions": [], "records": []}
    assert dns.parse(dns.render(pa.array([empty, empty]))).to_pylist() == [empty, empty]
    with pytest.raises(ValueError, match="\"records\" has nulls"):
        dns.render(pa.array([{**message, "records": [None]}]))


@pytest.mark.parametrize(
    ("column", "row"),
    [(["a", b"b"], 1), (["a", None, 1], 2), ([b"a", 3], 1), ([1, 2, "a"], 2), ([None, 1.5], 1), ([1, True], 1)],
)
def test_the_row_of_another_type_is_named(column: Any, row: int) -> None:
    with pytest.raises(TypeError, match=f"array: row {row} is of type"):
        crc(column)


def test_text_without_utf_8_is_named_by_its_row() -> None:
    with pytest.raises(ValueError, match=re.escape("array: row 1 has a surrogate")):
        crc(["a", "\ud800"])


@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "binary", "large_binary", "double", "float", "bool"]
)
def test_errors_name_types_as_pyarrow_does(kind: str) -> None:
    column = pa.nulls(1, pa.type_for_alias(kind))
    assert str(column.type) == kind
    with pytest.raises(TypeError, match=f"sport: a column of {kind}; ports are integers"):
        hashlane.flow_hash(["::1"], column, ["::2"], [1], "siphash-1-3", KEY)
