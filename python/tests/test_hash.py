from __future__ import annotations

import pathlib
import random
import signal
import struct
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from oracles import crc32c, jhash_words, siphash

import hashlane
from conftest import KEY

ROWS = [b"", b"a", b"1234567", b"12345678", b"123456789", "Grüße".encode(), b"x" * 255, b"y" * 4000, bytes(64)]
HASHES = [siphash(KEY, row, 1, 3) for row in ROWS]


def sip(column: Any) -> Any:
    return hashlane.hash(column, "siphash-1-3", KEY)


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str
)
def test_hashes_bytes_of_every_layout(kind: Any) -> None:
    array = pa.array([*ROWS, None], kind)
    assert sip(array).to_pylist() == [*HASHES, None]
    assert sip(array).type == pa.uint64()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_hashes_text_as_its_utf_8(kind: Any) -> None:
    texts = [row.decode() for row in ROWS]
    assert sip(pa.array([None, *texts], kind)).to_pylist() == [None, *HASHES]


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1023, 1024, 1025, 5000])
def test_hashes_any_number_of_rows_of_any_length(count: int) -> None:
    draw = random.Random(count)
    rows = [draw.randbytes(draw.choice([0, 3, 8, 16, 40, 64, 300])) for _ in range(count)]
    oracle = [siphash(KEY, row, 2, 4) for row in rows]
    assert hashlane.hash(pa.array(rows, pa.binary()), "siphash-2-4", KEY).to_pylist() == oracle


@pytest.mark.parametrize("count", [1, 7, 63, 64, 65, 127, 128, 1023, 1024, 1025, 2048, 3000])
@pytest.mark.parametrize(
    "lengths", [[12], [0, 5, 12], [13], [50], [0, 13, 40], [0, 12, 13], [0, 12, 200]], ids=str
)
def test_hashes_views_as_strings(count: int, lengths: list[int]) -> None:
    pl = pytest.importorskip("polars")
    draw = random.Random(count)
    rows = [draw.randbytes(draw.choice(lengths)) for _ in range(count)]
    holes = [None if draw.random() < 0.2 else row for row in rows]
    for column in [rows, holes]:
        strings, views = pa.array(column, pa.binary()), pl.Series(column, dtype=pl.Binary)
        # Filtered or turned, the views are not one after the other in their buffer; a slice begins within it.
        kept = [draw.random() < 0.7 for _ in column]
        pairs = [
            (strings, views),
            (strings.filter(pa.array(kept)), views.filter(pl.Series(kept))),
            (strings[::-1], views.reverse()),
            (strings[count // 3 :], views[count // 3 :]),
        ]
        for scheme, key in [("siphash-1-3", KEY), ("crc32c", None), ("jhash", KEY)]:
            for expected, given in pairs:
                of_strings = hashlane.hash(expected, scheme, key).to_pylist()
                assert hashlane.hash(given, scheme, key).to_list() == of_strings
        for expected, given in pairs:
            sketches = hashlane.Distinct(key=KEY), hashlane.Distinct(key=KEY)
            sketches[0].update(expected)
            sketches[1].update(given)
            assert sketches[0].to_bytes() == sketches[1].to_bytes()


@pytest.mark.parametrize("width", [1, 2, 4, 8, 12, 16, 20, 32, 36, 40, 48])
@pytest.mark.parametrize("scheme", ["siphash-1-3", "siphash-2-4", "jhash", "crc32c"])
def test_hashes_rows_of_one_width_as_any_bytes(width: int, scheme: str) -> None:
    draw = random.Random(width)
    rows = [draw.randbytes(width) for _ in range(1500)]
    key = None if scheme == "crc32c" else KEY
    fixed = hashlane.hash(pa.array(rows, pa.binary(width)), scheme, key)
    assert fixed.to_pylist() == hashlane.hash(pa.array(rows, pa.binary()), scheme, key).to_pylist()
    # A slice whose first byte is at no multiple of eight.
    part = pa.array(rows, pa.binary(width)).slice(3, 700)
    assert hashlane.hash(part, scheme, key).to_pylist() == fixed.to_pylist()[3:703]


@pytest.mark.parametrize(
    ("kind", "form"),
    [("int8", "<b"), ("uint8", "<B"), ("int16", "<h"), ("uint16", "<H"), ("int32", "<i"), ("uint32", "<I"),
     ("int64", "<q"), ("uint64", "<Q")],
)
def test_hashes_integers_by_their_little_endian_bytes(kind: str, form: str) -> None:
    numbers = [0, 1, 2, 100, 127] * 5
    oracle = [siphash(KEY, struct.pack(form, number), 1, 3) for number in numbers]
    assert sip(pa.array(numbers, kind)).to_pylist() == oracle
    assert sip(pa.array(numbers, kind).slice(2, 4)).to_pylist() == oracle[2:6]
    assert sip(np.array(numbers, kind)).tolist() == oracle


def test_schemes_agree_with_their_definitions() -> None:
    assert hashlane.hash([b"123456789"], "crc32c").to_pylist() == [0xE3069283]
    assert hashlane.hash(ROWS, "crc32c").to_pylist() == [crc32c(row) for row in ROWS]


def test_every_scheme_of_bytes_gives_its_check_value() -> None:
    listed = hashlane.schemes()
    assert {"siphash-1-3", "siphash-2-4", "crc32c", "xxh3"} <= {scheme.id for scheme in listed}
    for scheme in listed:
        if scheme.keys == "bytes":
            key = None if scheme.keying == "none" else KEY
            rows = [b"123456789"] * 9
            assert hashlane.hash(rows, scheme.id, key).to_pylist() == [scheme.check] * 9, scheme.id


@pytest.mark.parametrize("scheme", ["siphash-1-3", "siphash-2-4"])
def test_the_vectors_of_the_repository_hold(repository: pathlib.Path, scheme: str) -> None:
    text = (repository / "vectors" / f"{scheme}.txt").read_text()
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    inputs = [bytes(range(int(length))) for length, _ in rows]
    assert len(rows) >= 64
    assert hashlane.hash(inputs, scheme, KEY).to_pylist() == [int(result, 16) for _, result in rows]


def test_agrees_with_another_package() -> None:
    siphashc = pytest.importorskip("siphashc")
    rows = [row.decode() for row in ROWS]
    other = [siphashc.siphash(KEY, row) for row in rows]
    assert hashlane.hash(rows, "siphash-2-4", KEY).to_pylist() == other


def test_agrees_with_xxhash() -> None:
    xxhash = pytest.importorskip("xxhash")
    [scheme] = [scheme for scheme in hashlane.schemes() if scheme.id == "xxh64"]
    seed = int.from_bytes(KEY[: scheme.key_bits // 8], "little")
    assert hashlane.hash(ROWS, "xxh64", KEY).to_pylist() == [xxhash.xxh64_intdigest(row, seed) for row in ROWS]


def test_keeps_nulls_slices_and_chunks() -> None:
    array = pa.array([None, *ROWS, None, b"end"])
    expected = [None, *HASHES, None, siphash(KEY, b"end", 1, 3)]
    for start in range(len(array)):
        for stop in range(start, len(array)):
            assert sip(array[start:stop]).to_pylist() == expected[start:stop]
    chunked = pa.chunked_array([array[:2], array[2:2], array[2:]])
    result = sip(chunked)
    assert isinstance(result, pa.ChunkedArray)
    assert [len(chunk) for chunk in result.chunks] == [2, 0, len(array) - 2]
    assert result.to_pylist() == expected
    assert sip(pa.chunked_array([], pa.string())).to_pylist() == []
    assert sip(pa.array([], pa.string())).to_pylist() == []
    assert sip(pa.nulls(3)).to_pylist() == [None] * 3
    assert sip(pa.nulls(3, pa.string_view())).to_pylist() == [None] * 3


def test_hashes_dictionaries_by_their_values() -> None:
    array = pa.array(["b", None, "a", "b"]).dictionary_encode()
    assert sip(array).to_pylist() == sip(["b", None, "a", "b"]).to_pylist()


def test_polars_in_and_out() -> None:
    pl = pytest.importorskip("polars")
    texts = [row.decode() for row in ROWS]
    series = pl.Series("names", [*texts, None])
    result = sip(series)
    assert result.dtype == pl.UInt64 and result.name == "names"
    assert result.to_list() == [*HASHES, None]
    halves = pl.concat([series, series], rechunk=False)
    assert sip(halves).to_list() == [*HASHES, None] * 2
    assert sip(halves[3:12]).to_list() == ([*HASHES, None] * 2)[3:12]
    assert sip(pl.Series("c", texts).cast(pl.Categorical)).to_list() == HASHES
    assert sip(pl.Series("b", ROWS)).to_list() == HASHES
    frame = pl.DataFrame({"name": texts})
    assert frame.with_columns(sip(frame["name"]).alias("hash"))["hash"].to_list() == HASHES


def test_pandas_in_and_out() -> None:
    pd = pytest.importorskip("pandas")
    texts = [row.decode() for row in ROWS]
    for kind in ["object", "str", "string[pyarrow]"]:
        series = pd.Series([*texts, None], dtype=kind, index=range(10, 11 + len(texts)), name="names")
        result = sip(series)
        assert list(result.index) == list(series.index) and result.name == "names"
        assert [None if pd.isna(value) else value for value in result] == [*HASHES, None]
    numbers = pd.Series([1, 2, 3], dtype="int64")
    assert list(sip(numbers)) == [siphash(KEY, struct.pack("<q", number), 1, 3) for number in [1, 2, 3]]


def test_numbers_of_pandas_have_arithmetic() -> None:
    pd = pytest.importorskip("pandas")
    texts = [row.decode() for row in ROWS]
    for series in [pd.Series([*texts, None]), pd.Series([*texts, None], dtype="string[pyarrow]")]:
        result = sip(series)
        assert result.dtype == "UInt64"
        assert (result % 7).tolist()[:-1] == [hash % 7 for hash in HASHES] and pd.isna(result.iloc[-1])
        assert result.isna().sum() == 1 and (result // 2).iloc[0] == HASHES[0] // 2
    ports = pd.Series([1, 2])
    queues = hashlane.rss(pd.Series(["::1"] * 2), ports, pd.Series(["::2"] * 2), ports, hashlane.RSS_SYMMETRIC_KEY)
    assert queues.dtype == "UInt32" and (queues % 7).between(0, 6).all()
    assert hashlane.parse_name(pd.Series(["/a"])).dtype == pd.ArrowDtype(pa.large_binary())


def test_every_type_of_pandas_gives_what_pandas_computes_with() -> None:
    pd = pytest.importorskip("pandas")
    index = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1), ("y", 1)], names=["a", "b"])
    texts, numbers = ["a", None, "b", "a"], [1, None, 2, 1]
    columns = [
        (pd.Series(texts, dtype=dtype), texts)
        for dtype in ["object", "string", "string[python]", "string[pyarrow]", "category"]
    ]
    columns += [(pd.Series(texts, dtype=pd.ArrowDtype(pa.string())), texts)]
    columns += [(pd.Series(numbers, dtype="Int64"), pa.array(numbers, pa.int64()))]
    columns += [(pd.Series(numbers, dtype="UInt8"), pa.array(numbers, pa.uint8()))]
    columns += [(pd.Series(numbers, dtype=pd.ArrowDtype(pa.int32())), pa.array(numbers, pa.int32()))]
    columns += [(pd.Series([1, 5, 2, 1], dtype="int16"), pa.array([1, 5, 2, 1], pa.int16()))]
    for column, plain in columns:
        column = column.set_axis(index).rename("key")
        found = hashlane.hash(column, "siphash-1-3", KEY)
        assert found.dtype == pd.UInt64Dtype() and found.name == "key" and found.index.equals(index)
        expected = hashlane.hash(plain, "siphash-1-3", KEY).to_pylist()
        assert [None if value is pd.NA else value for value in found] == expected
        # Filters, joins, groups and buckets keep nulls and lose no bit.
        assert (found % 8).dropna().tolist() == [value % 8 for value in expected if value is not None]
        frame = pd.DataFrame({"hash": found, "n": 1})
        assert frame.groupby("hash")["n"].sum().max() == 2
        assert frame[frame["hash"] == expected[0]].index.tolist() == [("x", 1), ("y", 1)]
        assert found.iloc[[3, 0]].tolist() == [expected[3], expected[0]]
    for values in [[1.5, None], [True, False], pd.to_datetime(["2026-01-01", None])]:
        with pytest.raises(TypeError, match="cast it first"):
            hashlane.hash(pd.Series(values), "siphash-1-3", KEY)


def test_an_index_of_pandas_gives_an_index() -> None:
    pd = pytest.importorskip("pandas")
    texts = [row.decode() for row in ROWS]
    result = sip(pd.Index(texts, name="names"))
    assert isinstance(result, pd.Index) and result.name == "names" and result.tolist() == HASHES
    assert sip(pd.CategoricalIndex(texts)).tolist() == HASHES
    assert sip(pd.RangeIndex(3)).tolist() == sip(pd.Series([0, 1, 2])).tolist()
    assert isinstance(hashlane.parse_name(pd.Index(["/a"])), pd.Index)


def test_seeds_are_the_first_bytes_of_the_key() -> None:
    import xxhash

    for seed in [0, 7, (1 << 63) + 12345]:
        key = seed.to_bytes(16, "little")
        expected = [xxhash.xxh3_64_intdigest(row, seed) for row in ROWS]
        assert hashlane.hash(ROWS, "xxh3", key).to_pylist() == expected
        assert hashlane.hash(ROWS, "xxh3", key[:8] + bytes(range(8))).to_pylist() == expected
    words = [3, 5, 7, 11, 13]
    row = struct.pack("<5I", *words)
    assert hashlane.hash([row], "jhash", (99).to_bytes(4, "little") + bytes(12)).to_pylist() == [jhash_words(words, 99)]
    for scheme in hashlane.schemes():
        if scheme.keys == "bytes" and scheme.key_bits in (32, 64):
            part = scheme.key_bits // 8
            [one, other] = [hashlane.hash(ROWS, scheme.id, KEY[:part] + bytes([fill] * (16 - part))) for fill in (0, 255)]
            assert one.to_pylist() == other.to_pylist(), scheme.id


@pytest.mark.parametrize(
    ("id", "near"), [("xxhash", "xxh3"), ("siphash", "siphash-"), ("crc32", "crc32c"), ("sha256", None)]
)
def test_suggestions_begin_as_the_name_that_was_given(id: str, near: Any) -> None:
    with pytest.raises(ValueError) as error:
        hashlane.hash(ROWS, id)
    assert (f'; did you mean "{near}' in str(error.value)) if near else ("did you mean" not in str(error.value))


def test_numpy_in_and_out() -> None:
    texts = [row.decode() for row in ROWS]
    # NumPy's bytes of one width end before their zeros: only the width is known here.
    rows = np.array([b"abcdefgh", b"12345678"], "S8")
    assert sip(rows).tolist() == [siphash(KEY, row, 1, 3) for row in [b"abcdefgh", b"12345678"]]
    assert sip(np.array(texts, object)).tolist() == HASHES
    # So does its text.
    assert sip(np.array(texts[:-1])).tolist() == HASHES[:-1]
    matrix = np.arange(36 * 20, dtype=np.uint8).reshape(20, 36)
    result = sip(matrix)
    assert isinstance(result, np.ndarray) and result.dtype == np.uint64
    assert result.tolist() == [siphash(KEY, row.tobytes(), 1, 3) for row in matrix]
    # Views that do not begin at a multiple of eight bytes.
    assert sip(matrix[1:]).tolist() == result.tolist()[1:]
    assert sip(np.zeros(0, np.int64)).tolist() == []
    frozen = np.arange(5)
    frozen.flags.writeable = False
    assert sip(frozen).tolist() == sip(np.arange(5)).tolist()


def test_an_array_lives_as_long_as_its_memory_is_read() -> None:
    for _ in range(50):
        assert sip(np.full(5000, 7, np.uint64)).tolist() == sip([struct.pack("<Q", 7)]).to_pylist() * 5000


def test_numpy_arrays_of_other_forms_are_refused() -> None:
    with pytest.raises(ValueError, match="ascontiguousarray"):
        sip(np.arange(10)[::2])
    with pytest.raises(TypeError, match="little-endian"):
        sip(np.arange(3, dtype=">i4"))
    with pytest.raises(TypeError, match="shape"):
        sip(np.zeros((2, 2), np.int64))
    with pytest.raises(TypeError, match="<f8"):
        sip(np.zeros(2))


def test_lists_give_arrays_for_every_library() -> None:
    pl = pytest.importorskip("polars")
    result = sip(["a", None])
    assert (len(result), result[1], result[-2]) == (2, None, siphash(KEY, b"a", 1, 3))
    assert pa.array(result).to_pylist() == pl.Series(result).to_list() == result.to_pylist()
    assert np.asarray(sip(["a"])).dtype == np.uint64
    assert "2 rows" in repr(result)
    assert sip([]).to_pylist() == []
    assert sip([None, b"a"]).to_pylist() == [None, siphash(KEY, b"a", 1, 3)]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("one text", "array: expected a column"),
        (7, "array: expected a column"),
        (["a", b"b"], "row 1 is of type bytes"),
        ([b"a", 3], "row 1 is of type int"),
        ([True], "row 0 is of type bool"),
        (pa.array([1.5]), "a column of double;"),
        (pa.array([True]), "a column of bool;"),
        (pa.array([[1.5]]), "a column of double;"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "a column of map;"),
    ],
)
def test_other_types_are_refused(column: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        sip(column)


def test_a_list_of_int_is_one_of_64_bits() -> None:
    assert sip([7, None, -1]).to_pylist() == sip(pa.array([7, None, -1], pa.int64())).to_pylist()
    with pytest.raises(ValueError, match="row 0"):
        sip([1 << 64])


def test_keys_are_neither_forgotten_nor_superfluous() -> None:
    with pytest.raises(ValueError, match=r"siphash-1-3 needs a key of 16 bytes.*random_key"):
        hashlane.hash([b"a"], "siphash-1-3")
    with pytest.raises(ValueError, match="crc32c takes no key"):
        hashlane.hash([b"a"], "crc32c", KEY)
    with pytest.raises(ValueError, match="the key has 15 bytes, expected 16"):
        hashlane.hash([b"a"], "siphash-1-3", KEY[1:])
    with pytest.raises(ValueError, match="ehash/jhash2 hashes tuples, and no other keys: call hashlane.flow_hash"):
        hashlane.hash(["a"], "ehash/jhash2", KEY)
    with pytest.raises(ValueError, match=r'unknown scheme "siphash-1-4".*siphash-'):
        hashlane.hash([b"a"], "siphash-1-4", KEY)
    first, second = hashlane.random_key(), hashlane.random_key()
    assert len(first) == 16 and first != second


def test_a_signal_stops_a_long_call() -> None:
    rows = np.zeros((1 << 21, 64), np.uint8)
    columns = pa.chunked_array([pa.FixedSizeBinaryArray.from_buffers(pa.binary(64), len(rows), [None, pa.py_buffer(rows)])] * 400)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        hashlane.hash(columns, "halfsiphash-2-4", KEY)
        time.sleep(30)
    timer.join()
    assert time.monotonic() - start < 25


def test_other_threads_run_during_a_call() -> None:
    rows = np.zeros((1 << 20, 64), np.uint8)
    ticks, done = 0, threading.Event()

    def work() -> None:
        for _ in range(4):
            hashlane.hash(rows, "halfsiphash-2-4", KEY)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0)
    thread.join()
    assert ticks > 100
