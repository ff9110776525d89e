from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from oracles import crc32c, siphash

import hashlane
from conftest import KEY

NAMES = ["/", "/a", "/hello/v=3", "/hello/world/seg=300", "/%00/...", "/" + "/".join("abcdefgh" * 3 for _ in range(40))]


@pytest.mark.parametrize("encoding", ["ndn", "ccnx", "offset"])
def test_names_survive_encoding(encoding: str) -> None:
    encoded = hashlane.parse_name(pa.array([*NAMES, None]), encoding)
    assert encoded.type == pa.large_binary()
    assert hashlane.to_uri(encoded, encoding).to_pylist() == [*NAMES, None]


def test_ndn_names_have_the_bytes_of_the_specification() -> None:
    assert hashlane.parse_name(["ndn:/hello/v=3"])[0] == b"\x07\x0a\x08\x05hello\x36\x01\x03"
    assert hashlane.parse_name(["/usr//%2e"], form="path")[0] == b"\x07\x0a\x08\x03usr\x08\x03%2e"


def test_dns_names_in_presentation_form() -> None:
    texts = ["example.com", ".", r"a\.b.\007."]
    encoded = hashlane.parse_name(texts, "dns")
    assert encoded.to_pylist() == [b"\x07example\x03com\0", b"\0", b"\x03a.b\x01\x07\0"]
    assert hashlane.to_uri(encoded, "dns").to_pylist() == ["example.com.", ".", r"a\.b.\007."]


def components(name: bytes) -> list[bytes]:
    """The components of a short NDN name, each with its type and length."""
    value, parts = name[2:], []
    while value:
        parts.append(value[: 2 + value[1]])
        value = value[2 + value[1] :]
    return parts


@pytest.mark.parametrize("scheme", ["siphash-1-3", "siphash-2-4", "crc32c", "halfsiphash-2-4"])
def test_prefix_hashes_are_hashes_of_the_components(scheme: str) -> None:
    texts = [f"/{'x' * (i % 9)}a/b{i}/c" for i in range(600)]
    encoded = hashlane.parse_name(pa.array(texts))
    key = None if scheme == "crc32c" else KEY
    prefixes = [[b"".join(components(name)[: i + 1]) for i in range(3)] for name in encoded.to_pylist()]
    expected = hashlane.hash(pa.array(sum(prefixes, [])), scheme, key).to_pylist()
    lists = hashlane.name_prefix_hashes(encoded, "ndn", scheme, key)
    assert sum(lists.to_pylist(), []) == expected and {len(row) for row in lists.to_pylist()} == {3}
    assert hashlane.name_prefix_hashes(pa.array(texts), "ndn", scheme, key).to_pylist() == lists.to_pylist()
    oracle: Any = {"siphash-1-3": lambda p: siphash(KEY, p, 1, 3), "crc32c": crc32c}.get(scheme)
    if oracle:
        assert lists[5].as_py() == [oracle(prefix) for prefix in prefixes[5]]


def test_prefix_hashes_keep_nulls_chunks_and_slices() -> None:
    encoded = hashlane.parse_name(pa.array([None, *NAMES, None]))
    whole = hashlane.name_prefix_hashes(encoded, "ndn", "siphash-1-3", KEY).to_pylist()
    assert whole[0] is None and whole[-1] is None and whole[1] == [] and len(whole[6]) == 40
    chunked = pa.chunked_array([encoded[:3], encoded[3:]])
    result = hashlane.name_prefix_hashes(chunked, "ndn", "siphash-1-3", KEY)
    assert [len(chunk) for chunk in result.chunks] == [3, 5] and result.to_pylist() == whole
    assert hashlane.name_prefix_hashes([], "ndn", "siphash-1-3", KEY).to_pylist() == []


def test_polars_gets_lists() -> None:
    pl = pytest.importorskip("polars")
    lists = hashlane.name_prefix_hashes(pl.Series("n", ["/a/b", None]), "ndn", "siphash-1-3", KEY)
    assert lists.dtype == pl.List(pl.UInt64) and lists.list.len().to_list() == [2, None]


def test_bad_names_are_named_or_become_null() -> None:
    texts = pa.chunked_array([["/a"], [None, "a", "/b"]], pa.string())
    with pytest.raises(ValueError, match='row 2: expected "/" at offset 0'):
        hashlane.parse_name(texts)
    assert hashlane.parse_name(texts, errors="null").null_count == 2
    encoded = [b"\x07\x03\x08\x01a", b"\x07\x03\x08\x02a", b"", b"\x00"]
    for function in [hashlane.to_uri, lambda names, **kw: hashlane.name_prefix_hashes(names, "ndn", "crc32c", **kw)]:
        with pytest.raises(ValueError, match="row 1: "):
            function(encoded)
        assert [row is None for row in function(encoded, errors="null").to_pylist()] == [False, True, True, True]
    with pytest.raises(ValueError, match="row 1: "):
        hashlane.name_prefix_hashes(["/a", "b"], "ndn", "crc32c")


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(ValueError, match='unknown encoding "nnd".*ndn'):
        hashlane.parse_name(["/a"], "nnd")
    with pytest.raises(ValueError, match='unknown encoding "dns"'):
        hashlane.name_prefix_hashes(["/a"], "dns", "crc32c")
    with pytest.raises(ValueError, match='unknown scheme "xxh3"; for names: '):
        hashlane.name_prefix_hashes(["/a"], "ndn", "xxh3")
    with pytest.raises(ValueError, match="form must be"):
        hashlane.parse_name(["/a"], form="url")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="errors must be"):
        hashlane.parse_name(["/a"], errors="skip")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs a key"):
        hashlane.name_prefix_hashes(["/a"])
