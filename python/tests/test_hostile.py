"""Arrays that break their layout: of files that were read without a check, and of wrong exporters."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hashlane
from conftest import KEY
from hashlane import distributed
from mutate import file

FOREIGN = "invalid Arrow data"


def every_use(column: Any) -> list[BaseException]:
    """The errors of all functions that read a column of strings."""
    raised = []
    for use in [
        lambda: hashlane.hash(column, "siphash-1-3", KEY),
        lambda: hashlane.hash(column, "xxh3", KEY),
        lambda: hashlane.parse_name(column, errors="null"),
        lambda: hashlane.flow_hash(column, [1] * len(column), column, [1] * len(column), "siphash-1-3", KEY),
        lambda: hashlane.HeavyHitters(8).update(column),
        lambda: hashlane.Distinct(key=KEY).update(column),
    ]:
        with pytest.raises(ValueError, match=FOREIGN) as error:
            use()
        raised.append(error.value)
    return raised


def strings(kind: Any, *buffers: bytes, rows: int) -> Any:
    return pa.Array.from_buffers(kind, rows, [None, *map(pa.py_buffer, buffers)])


def read(column: Any) -> Any:
    [chunk] = pa.ipc.open_file(column).read_all()["x"].chunks
    return chunk


def damaged(kind: Any, good: list[int], bad: list[int], width: type = np.int32) -> Any:
    """Strings of a file in which other offsets were written over the good ones."""
    offsets, others = np.array(good, width).tobytes(), np.array(bad, width).tobytes()
    data = file(strings(kind, offsets, b"abcd", rows=len(good) - 1))
    assert data.count(offsets) == 1
    return read(data.replace(offsets, others))


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
@pytest.mark.parametrize(
    "offsets", [[0, 1, 2, 1 << 20], [0, 3, 1, 4], [-4, 0, 3, 4], [0, 1, 2, -1], [0, 1 << 20, 3, 4]], ids=str
)
def test_offsets_outside_of_the_data_are_refused(kind: Any, offsets: list[int]) -> None:
    column = damaged(kind, [0, 2, 3, 4], offsets)
    every_use(column)
    every_use(pa.chunked_array([column, column]))
    wide = pa.large_string() if kind == pa.string() else pa.large_binary()
    every_use(damaged(wide, [0, 2, 3, 4], offsets, np.int64))


def view(length: int, buffer: int, offset: int) -> bytes:
    return np.array([length, 0, buffer, offset], np.uint32).tobytes()


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("bad", [(50, 0, 0), (13, 1, 0), (13, 0, 1 << 31), ((1 << 32) - 1, 0, 0)], ids=str)
def test_views_outside_of_their_buffer_are_refused(kind: Any, bad: tuple[int, int, int]) -> None:
    column = strings(kind, view(20, 0, 0) + view(*bad), bytes(20), rows=2)
    every_use(column)
    every_use(column[1:])
    assert len(hashlane.hash(column[:1], "siphash-1-3", KEY)) == 1


def test_a_file_that_is_read_without_a_check_ends_no_interpreter(tmp_path: pathlib.Path) -> None:
    column = strings(pa.string_view(), view(64, 0, 0xFFFFFFF0), bytes(64), rows=1)
    path = tmp_path / "views.arrow"
    path.write_bytes(file(column))
    every_use(read(path))
    with pytest.raises(ValueError, match="views.arrow: .*; replace the file or leave it out"):
        distributed.distinct(path, "x", KEY)


def test_nulls_beyond_memory_are_refused() -> None:
    # They take no memory in a file, and 8 bytes each in a result. Newer versions of pyarrow give them a bitmap
    # when they make them: a file states more.
    def nulls(rows: int) -> Any:
        few = 123_457
        data, number = file(pa.nulls(few)), few.to_bytes(8, "little")
        assert data.count(number) == 3
        return read(data.replace(number, rows.to_bytes(8, "little")))

    many, half = nulls(1 << 45), nulls(1 << 27)
    for column in [many, many.slice(1 << 20), nulls((1 << 62) + 1), pa.chunked_array([half, half, nulls(1)])]:
        for use in [
            lambda: hashlane.hash(column, "crc32c"),
            lambda: hashlane.parse_name(column),
            lambda: hashlane.Distinct(key=KEY).update(column),
        ]:
            with pytest.raises(ValueError, match=r"\d+ rows of type null, at most 268435456 are supported"):
                use()
    structs = pa.StructArray.from_arrays([many], ["a"])
    with pytest.raises(ValueError, match="rows of type struct, at most"):
        hashlane.hash(structs, "crc32c")


def test_rows_of_an_error_count_over_chunks() -> None:
    broken = damaged(pa.string(), [0, 2, 3, 4], [0, 4, 2, 4])
    with pytest.raises(ValueError, match="row 4: array: invalid Arrow data: offset 2 is negative, lower"):
        hashlane.hash(pa.chunked_array([pa.array(["a", "b"]), broken]), "crc32c")


def test_dictionaries_lists_and_tables_are_checked() -> None:
    broken = damaged(pa.string(), [0, 2, 3, 4], [0, 3, 1, 4])
    with pytest.raises(ValueError, match=FOREIGN):
        hashlane.hash(pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), broken), "crc32c")
    names = pa.StructArray.from_arrays([pa.array(["data"] * 3), broken], ["kind", "name"])
    for packets in [names, pa.table({"kind": names.field(0), "name": broken})]:
        with pytest.raises(ValueError, match=FOREIGN):
            hashlane.ndn.encode(packets)
    questions = pa.ListArray.from_buffers(
        pa.list_(pa.struct([("name", pa.string())])),
        2,
        [None, pa.py_buffer(np.array([0, 9, 1], np.int32).tobytes())],
        children=[pa.StructArray.from_arrays([pa.array(["a"])], ["name"])],
    )
    text = pa.StructArray.from_arrays([pa.array(["data"]), strings(pa.string(), bytes(4) + b"\4\0\0\0", b"/a\xe2\x82", rows=1)], ["kind", "name"])
    with pytest.raises(ValueError, match="packets: invalid Arrow data: its text is not UTF-8"):
        hashlane.ndn.encode(text)
    with pytest.raises(ValueError, match=FOREIGN):
        hashlane.dns.render(pa.table({"id": [1, 2], "flags": [0, 0], "questions": questions, "records": questions}))


class Exporter:
    """An object that exports these capsules each time."""

    def __init__(self, *capsules: Any) -> None:
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.capsules


class Stream:
    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.capsule


def test_wrong_capsules_are_a_type_error() -> None:
    moved = Exporter(*pa.array(["a"]).__arrow_c_array__())
    assert len(hashlane.hash(moved, "crc32c")) == 1
    text, structs = pa.array(["a"]), pa.array([{"a": 1, "b": 2}])
    stream = Stream(pa.chunked_array([["a"]]).__arrow_c_stream__())
    assert len(hashlane.hash(stream, "crc32c")) == 1
    for column in [
        moved,
        stream,
        Exporter(),
        Exporter(1, 2),
        Exporter(*reversed(text.__arrow_c_array__())),
        Exporter(structs.type.__arrow_c_schema__(), text.__arrow_c_array__()[1]),
        Exporter(pa.list_(pa.int8()).__arrow_c_schema__(), text.__arrow_c_array__()[1]),
        Exporter(pa.string_view().__arrow_c_schema__(), pa.nulls(3).__arrow_c_array__()[1]),
        Stream(None),
        Stream(text.__arrow_c_array__()[1]),
    ]:
        with pytest.raises(TypeError, match="array: Arrow data that cannot be read: .*; cast it first"):
            hashlane.hash(column, "crc32c")


class Interface:
    def __init__(self, **fields: Any) -> None:
        self.memory = np.arange(4, dtype=np.uint32)
        self.__array_interface__: Any = {**self.memory.__array_interface__, **fields}


@pytest.mark.parametrize(
    "fields",
    [
        {"data": (0, False)}, {"data": None}, {"data": (-1, False)}, {"data": b"abcd"}, {"shape": (-1,)},
        {"shape": (1 << 62,)}, {"shape": (1 << 63,)}, {"shape": None}, {"shape": (1 << 40, 1 << 40), "typestr": "|u1"},
        {"typestr": 4}, {"data": ((1 << 64) - 8, False)},
    ],
    ids=str,
)  # fmt: skip
def test_interfaces_that_cannot_be_are_a_type_error(fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="array: __array_interface__ has no .*; pass numpy.asarray"):
        hashlane.hash(Interface(**fields), "crc32c")
    bare = Interface()
    bare.__array_interface__ = 7
    with pytest.raises(TypeError, match="array: __array_interface__ has no fields"):
        hashlane.hash(bare, "crc32c")


def test_mutated_files_end_no_interpreter() -> None:
    """`python mutate.py SEED INPUTS` mutates more of them."""
    program = str(pathlib.Path(__file__).with_name("mutate.py"))
    done = subprocess.run([sys.executable, program, "1", "200"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "PanicException" not in done.stderr and int(done.stdout.split()[0]) == 200
