"""Hashes of 128 bits, against the vectors of the reference implementation."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hashlane
from hashlane import hash128

KEY = bytes(range(16))
TEXTS = ["a", None, "", "bc" * 500]


def test_vectors_of_the_reference_implementation(repository: pathlib.Path) -> None:
    lines = (repository / "vectors" / "siphash-2-4-128.txt").read_text().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    keys = [bytes(range(int(length))) for length, _ in rows]
    assert len(keys) == 64
    found = hash128(keys, "siphash-2-4-128", KEY)
    assert [value.hex() for value in found] == [result for _, result in rows]
    assert hash128(keys, "siphash-1-3-128", KEY).to_pylist() != found.to_pylist()


def test_each_library_gets_its_own_type() -> None:
    found = hash128(TEXTS, "siphash-1-3-128", KEY)
    assert isinstance(found, hashlane.Array) and found[1] is None and len(found[0]) == 16
    assert pickle.loads(pickle.dumps(found)).to_pylist() == found.to_pylist()
    arrow = hash128(pa.chunked_array([TEXTS[:1], TEXTS[1:]]), "siphash-1-3-128", KEY)
    assert arrow.type == pa.binary(16) and arrow.num_chunks == 2 and arrow.to_pylist() == found.to_pylist()
    polars = hash128(pl.Series("name", TEXTS), "siphash-1-3-128", KEY)
    assert polars.dtype == pl.Binary and polars.name == "name" and polars.to_list() == found.to_pylist()
    pandas = hash128(pd.Series(TEXTS, index=list("abcd")), "siphash-1-3-128", KEY)
    assert list(pandas.index) == list("abcd") and pandas["a"] == found[0] and pd.isna(pandas["b"])


def test_numpy_gets_two_words_for_each_row() -> None:
    numbers = np.arange(3000, dtype=np.int32)
    words = hash128(numbers, "siphash-2-4-128", KEY)
    assert words.shape == (3000, 2) and words.dtype == np.uint64
    listed = hash128(pa.array(numbers), "siphash-2-4-128", KEY).to_pylist()
    assert [row.tobytes() for row in words] == listed
    assert hash128(numbers[:0], "siphash-2-4-128", KEY).shape == (0, 2)
    masked = np.ma.array(numbers[:2], mask=[True, False])
    assert hash128(masked, "siphash-2-4-128", KEY).to_pylist() == [None, listed[1]]


def test_tables_and_lists_have_the_bytes_of_rows() -> None:
    table = pa.table({"a": ["x", None], "b": pa.array([1, 2], pa.int8())})
    rows = [b"\x09x\x00\x00\x01\x81", b"\x00\x01\x82"]
    expected = hash128(rows, "siphash-2-4-128", KEY).to_pylist()
    assert hash128(table, "siphash-2-4-128", KEY).to_pylist() == expected
    lists = pa.array([["x"], None])
    one = hash128([b"\x0d\x01\x09x\x00\x00\x00"], "siphash-2-4-128", KEY)[0]
    assert hash128(lists, "siphash-2-4-128", KEY).to_pylist() == [one, None]


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="siphash-2-4-128 needs a key of 16 bytes"):
        hash128(["a"], "siphash-2-4-128")
    with pytest.raises(ValueError, match="unknown scheme .*of 128 bits there are siphash-1-3-128 and"):
        hash128(["a"], "siphash-2-4", KEY)
    with pytest.raises(ValueError, match="the key has 15 bytes, expected 16"):
        hash128(["a"], "siphash-2-4-128", KEY[:15])
    with pytest.raises(TypeError, match="double"):
        hash128(pa.array([1.5]), "siphash-2-4-128", KEY)
