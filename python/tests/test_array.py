"""`hashlane.Array`: slices, operators, pickles, and the libraries that take it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hashlane
from conftest import KEY

ROWS = ["a", "b", None, "d", "e"]


def hashes(rows: list[Any] = ROWS) -> Any:
    return hashlane.hash(rows, "siphash-1-3", KEY)


def chunked() -> Any:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.chunked_array([["a", "b"], [None, "d", "e"]]).__arrow_c_stream__(requested_schema)

    return hashlane.hash(Stream(), "siphash-1-3", KEY)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [hashes, chunked])
@pytest.mark.parametrize("part", [slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(9, 12), slice(-2, None)])
def test_slices_are_those_of_a_list(make: Any, part: slice) -> None:
    array = make()
    assert isinstance(array[part], hashlane.Array)
    assert array[part].to_pylist() == array.to_pylist()[part]
    assert array[part][:].to_pylist() == array.to_pylist()[part]


@pytest.mark.parametrize("make", [hashes, chunked])
def test_integer_operators_are_those_of_python(make: Any) -> None:
    array = make()
    values = array.to_pylist()
    operators: list[tuple[Any, Any]] = [
        (array % 1024, lambda v: v % 1024),
        (array // 3, lambda v: v // 3),
        (array & 0xFFFF, lambda v: v & 0xFFFF),
        (array | 1, lambda v: v | 1),
        (array ^ (1 << 63), lambda v: v ^ (1 << 63)),
        (array >> 48, lambda v: v >> 48),
        (array >> 200, lambda v: 0),
        (array % np.arange(1, 6, dtype=np.uint64), None),
    ]
    for result, expected in operators:
        if expected is not None:
            assert result.to_pylist() == [None if v is None else expected(v) for v in values]
    assert (array % [1, 2, 3, 4, 5]).to_pylist() == [
        None if v is None else v % n for v, n in zip(values, range(1, 6))
    ]


def test_operators_on_signed_hashes_follow_python() -> None:
    array = hashlane.hash(ROWS, "siphash-1-3", KEY, signed=True)
    values = array.to_pylist()
    assert any(v is not None and v < 0 for v in values)
    for n in (7, -7):
        assert (array % n).to_pylist() == [None if v is None else v % n for v in values]
        assert (array // n).to_pylist() == [None if v is None else v // n for v in values]
    assert (array >> 3).to_pylist() == [None if v is None else v >> 3 for v in values]


def test_signed_hashes_have_the_same_bits() -> None:
    unsigned, signed = hashes().to_pylist(), hashlane.hash(ROWS, "siphash-1-3", KEY, signed=True)
    assert [v if v is None else v % (1 << 64) for v in signed.to_pylist()] == unsigned
    assert signed.to_arrow().type == pa.int64()
    lists = hashlane.name_prefix_hashes(["/a/b", None], key=KEY)
    lists_signed = hashlane.name_prefix_hashes(["/a/b", None], key=KEY, signed=True)
    assert [v % (1 << 64) for v in lists_signed[0]] == lists[0]
    assert lists_signed[1] is None
    ends: Any = (["192.0.2.1"], [1], ["192.0.2.2"], [2])
    queue = hashlane.rss(*ends, hashlane.RSS_PUBLISHED_KEY, signed=True)
    assert queue.to_arrow().type == pa.int64()
    assert queue.to_pylist() == hashlane.rss(*ends, hashlane.RSS_PUBLISHED_KEY).to_pylist()
    flow = hashlane.flow_hash(*ends, "siphash-1-3", KEY, signed=True)
    assert flow[0] % (1 << 64) == hashlane.flow_hash(*ends, "siphash-1-3", KEY)[0]
    base = hashlane.ehash(*ends, ehash_secret=1)
    assert hashlane.ehash(*ends, ehash_secret=1, signed=True).to_pylist() == base.to_pylist()


def test_comparisons_are_by_row_with_nulls() -> None:
    array = hashes()
    first = array[0]
    assert (array == first).to_pylist() == [True, False, None, False, False]
    assert (array != first).to_pylist() == [False, True, None, True, True]
    assert (array == -1).to_pylist() == [False, False, None, False, False]
    assert (array == array).to_pylist() == [True, True, None, True, True]
    assert (array < np.array([2**64 - 1] * 5, np.uint64)).to_pylist() == [True, True, None, True, True]
    assert (array == None).to_pylist() == [None] * 5  # noqa: E711
    names = hashlane.to_uri(hashlane.parse_name(["/a", "/b", None]))
    assert (names == "/a").to_pylist() == [True, False, None]
    assert (names >= "/b").to_pylist() == [False, True, None]


def test_operators_refuse_what_they_cannot_do() -> None:
    array = hashes()
    with pytest.raises(ZeroDivisionError, match="row 0: division by zero"):
        array % 0
    with pytest.raises(ValueError, match="5 and 2 rows"):
        array % [1, 2]
    with pytest.raises(ValueError, match="row 0: a shift by -1 bits"):
        array >> -1
    with pytest.raises(ValueError, match="row 0: the result of & does not fit|row 0: the result of | does not fit"):
        array | -1
    with pytest.raises(TypeError):
        array % 1.5
    with pytest.raises(TypeError, match="convert by to_arrow"):
        array % "a"
    with pytest.raises(ValueError, match="no truth value"):
        bool(array)
    with pytest.raises(TypeError, match="unhashable"):
        {array}
    lists = hashlane.name_prefix_hashes(["/a/b"], key=KEY)
    with pytest.raises(TypeError):
        lists == lists


@pytest.mark.parametrize(
    "array",
    [
        hashes(),
        chunked(),
        hashes()[1:4],
        hashes([]),
        hashes() == hashes(),
        hashlane.parse_name(["/a", None, "/ccc"]),
        hashlane.to_uri(hashlane.parse_name(["/a", None, "/ccc"]))[1:],
        hashlane.name_prefix_hashes(["/a/b", None, "/c"], key=KEY)[1:],
        hashlane.dns.parse([b"\0" * 12, None], errors="null"),
    ],
    ids=["plain", "chunked", "slice", "empty", "bool", "bytes", "text", "lists", "structs"],
)
def test_pickles_keep_values_and_types(array: Any) -> None:
    for twin in (pickle.loads(pickle.dumps(array)), copy.deepcopy(array)):
        assert isinstance(twin, hashlane.Array)
        assert twin.to_pylist() == array.to_pylist()
        assert pa.array(twin).type == pa.chunked_array(array).type


def test_damaged_pickles_are_refused() -> None:
    kind, rows, nulls, buffers, nested = hashlane._native.to_buffers(hashes()._inner)
    for parts in [
        ("Frog", rows, nulls, buffers, nested),
        (kind, rows + 100, nulls, buffers, nested),
        (kind, rows, b"", buffers, nested),
        (kind, rows, nulls, [], nested),
        ("LargeUtf8", 3, None, [b"\0" * 8, b""], []),
        ("LargeUtf8", 1, None, [(0).to_bytes(8, "little") + (9).to_bytes(8, "little"), b"abc"], []),
        ("LargeUtf8", 1, None, [(0).to_bytes(8, "little") + (1).to_bytes(8, "little"), b"\xff"], []),
    ]:
        with pytest.raises(ValueError, match="not a pickle of hashlane.Array"):
            hashlane._native.from_buffers(parts)


def test_a_slice_is_pickled_without_the_rows_around_it() -> None:
    whole = hashlane.hash(np.arange(100_000).tolist(), "siphash-1-3", KEY)
    assert len(pickle.dumps(whole[5:10])) < 1000


def test_numpy_takes_it() -> None:
    full = hashes(["a", "b"])
    assert full.to_numpy().dtype == np.uint64
    assert np.asarray(full).tolist() == full.to_pylist()
    assert np.asarray(full, dtype=np.float64).dtype == np.float64
    masked = hashes().to_numpy()
    assert isinstance(masked, np.ma.MaskedArray)
    assert masked.dtype == np.uint64
    assert masked.tolist() == hashes().to_pylist()
    assert np.asarray(hashes()).tolist() == hashes().to_pylist()
    assert chunked().to_numpy().tolist() == hashes().to_pylist()


def test_pyarrow_takes_it() -> None:
    for array in (hashes(), chunked()):
        assert pa.array(array).to_pylist() == hashes().to_pylist()
        assert pa.chunked_array(array).to_pylist() == hashes().to_pylist()
        assert pa.table({"hash": array})["hash"].to_pylist() == hashes().to_pylist()
        assert array.to_arrow().to_pylist() == hashes().to_pylist()
    assert pa.array(hashes(["a"]), type=pa.uint64()).type == pa.uint64()


def test_polars_takes_it() -> None:
    pl = pytest.importorskip("polars")
    for array in (hashes(), chunked()):
        assert array.to_polars().to_list() == hashes().to_pylist()
        frame = pl.DataFrame({"name": ROWS}).with_columns(hash=array.to_polars())
        assert frame["hash"].dtype == pl.UInt64
        assert pl.DataFrame({"hash": array})["hash"].to_list() == hashes().to_pylist()
        assert pl.Series("hash", array).to_list() == hashes().to_pylist()


def test_pandas_takes_it_and_computes_with_it() -> None:
    pd = pytest.importorskip("pandas")
    array = hashes()
    series = array.to_pandas()
    assert str(series.dtype) == "UInt64"
    assert (series % 8).tolist() == (array % 8).to_pandas().tolist()
    frame = pd.DataFrame({"name": ROWS}, index=list("vwxyz"))
    frame["hash"] = hashlane.hash(frame["name"], "siphash-1-3", KEY)
    assert frame["hash"].index.tolist() == list("vwxyz")
    assert frame.groupby(frame["hash"] % 2).size().sum() == 4
    assert (frame["hash"] == array[0]).sum() == 1
    frame["bucket"] = (hashes(["a", "b", "c", "d", "e"]) % 4).to_numpy()
    assert pd.Series(hashes(["a", "b"])).tolist() == hashes(["a", "b"]).to_pylist()
    signed = hashlane.hash(frame["name"], "siphash-1-3", KEY, signed=True)
    assert str(signed.dtype) == "Int64"


def test_repr_shows_the_first_rows() -> None:
    assert repr(hashes(["a"]) % 1) == "<hashlane.Array of 1 rows: [0]>"
