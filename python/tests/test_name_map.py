from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hashlane

ADS = "! ads\n||ads.example^\n@@||good.ads.example^\n||x.example/banner^\n"
HOSTS = "0.0.0.0 tracker.example\n0.0.0.0 bücher.example\n"


@pytest.fixture()
def names(tmp_path: Path) -> hashlane.NameMap:
    (tmp_path / "ads.txt").write_text(ADS)
    return hashlane.NameMap({"ads": tmp_path / "ads.txt", "hosts": HOSTS.splitlines()})


def test_each_name_has_the_lists_that_match_it(names: hashlane.NameMap) -> None:
    column = pa.chunked_array([["www.ADS.example.", "good.ads.example", None], ["tracker.example", "example"]])
    matched = names.match(column)
    assert matched.type == pa.uint64() and matched.num_chunks == 2
    assert matched.to_pylist() == [0b01, 0, None, 0b10, 0]
    assert names.match(["x.tracker.example", "Bücher.example", "xn--bcher-kva.example"]).to_pylist() == [0, 2, 2]
    assert names.match(np.array(["ads.example"])).tolist() == [1]


def test_integers_are_no_names(names: hashlane.NameMap) -> None:
    # The bytes of this number are "abcd.com".
    for call in (names.match, names.longest, lambda column: hashlane.name_prefix_hashes(column, "ndn", "crc32c")):
        with pytest.raises(TypeError, match="names: a column of int64; expected text or bytes"):
            call(np.array([7885630523975066209]))
    with pytest.raises(TypeError, match="lists: a column of int64; expected text or bytes"):
        hashlane.NameMap({"numbers": pa.array([1])})


def test_the_longest_rule_is_named(names: hashlane.NameMap) -> None:
    rows = names.longest(["www.ADS.example", "tracker.example", "example", None]).to_pylist()
    assert rows == [
        {"list": "ads", "rule": "ads.example", "target": "subtree"},
        {"list": "hosts", "rule": "tracker.example", "target": "exact"},
        None,
        None,
    ]


def test_lists_say_what_became_of_them(names: hashlane.NameMap) -> None:
    assert names.lists == [("ads", "adblock", 1, 1, 1), ("hosts", "hosts", 2, 0, 0)]
    assert names.lists[0].format == "adblock" and len(names) == 4 and names.memory > 0
    assert repr(names) == "<hashlane.NameMap: 4 names in 2 lists>"


def test_many_names_are_as_a_search_of_all_rules() -> None:
    rules = [f"d{i}.example{i % 7}.com" for i in range(0, 3000, 3)]
    map = hashlane.NameMap({"a": pa.array(rules), "b": rules[::2]}, plain="subtree")
    names = [f"{'www.' * (i % 2)}d{i % 3000}.example{i % 3000 % 7}.com" for i in range(7001)]
    a, b = set(rules), set(rules[::2])
    bare = [name.removeprefix("www.") for name in names]
    assert map.match(names).to_pylist() == [(name in a) + 2 * (name in b) for name in bare]


def test_a_map_survives_pickle_and_refuses_changed_bytes(names: hashlane.NameMap) -> None:
    again = pickle.loads(pickle.dumps(names))
    assert again.lists == names.lists and again.match(["a.ads.example"]).to_pylist() == [1]
    data = names.to_bytes()
    for changed, why in [(data[:-1], "cut"), (data[:50] + b"x" + data[51:], "checksum"), (b"", "compile lists")]:
        with pytest.raises(ValueError, match=why):
            hashlane.NameMap.from_bytes(changed)


def test_bad_rows_and_lists_say_why(tmp_path: Path, names: hashlane.NameMap) -> None:
    bad = ["ads.example", "a..b", "a" * 64, "", None]
    with pytest.raises(ValueError, match="row 1: an empty label"):
        names.match(bad)
    assert names.match(bad, errors="null").to_pylist() == [1, None, None, None, None]
    assert names.longest(bad, errors="null").to_pylist()[1:] == [None] * 4
    with pytest.raises(FileNotFoundError, match="missing.txt"):
        hashlane.NameMap({"a": tmp_path / "missing.txt"})
    (tmp_path / "long").write_bytes(b"a" * 200_000)
    with pytest.raises(ValueError, match='"long": line 1'):
        hashlane.NameMap({"long": tmp_path / "long"})
    with pytest.raises(ValueError, match="known: hosts"):
        hashlane.NameMap({"a": ["a.example"]}, format="new")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="65, at most 64"):
        hashlane.NameMap({str(i): ["a.example"] for i in range(65)})
    with pytest.raises(TypeError):
        hashlane.NameMap({"a": [1.5]})  # type: ignore[dict-item]
