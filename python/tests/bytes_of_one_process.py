"""The comparison of a call with sketches that one process updates with all rows."""

from __future__ import annotations

from typing import Any

from flows import ENDS, FILES, KEY, ROWS, whole

import hashlane
from hashlane import Distinct, Groups, HeavyHitters, Imbalance, Prefixes, Spread, distributed


def compare(source: Any, **options: Any) -> None:
    """Compares the four functions, with these options, on the files of `flows.write`."""
    rows = whole()
    ends = [rows[name] for name in ENDS]

    spread = Spread("siphash-1-3", 512, KEY)
    spread.update(*ends)
    found: Any = distributed.spread(source, ENDS, "siphash-1-3", KEY, buckets=512, **options)
    # A null in each file.
    assert found.to_bytes() == spread.to_bytes() and found.result().keys == FILES * (ROWS - 1)

    distinct = Distinct(key=KEY)
    distinct.update(rows["name"])
    found = distributed.distinct(source, "name", KEY, **options)
    assert found.to_bytes() == distinct.to_bytes()

    prefixes = Prefixes("ndn", key=KEY)
    prefixes.update(hashlane.parse_name(rows["name"]))
    found = distributed.prefixes(source, "name", "ndn", KEY, **options)
    assert found.to_bytes() == prefixes.to_bytes()

    imbalance = Imbalance("rss", 8, candidates=10, key=KEY)
    imbalance.update(*ends, bytes=rows["bytes"])
    found = distributed.imbalance(source, ENDS, "rss", 8, KEY, candidates=10, bytes="bytes", **options)
    assert found.to_bytes() == imbalance.to_bytes()
    assert found.candidate(found.result().best.number) == imbalance.candidate(found.result().best.number)


def compare_groups(source: Any, **options: Any) -> None:
    """Compares groups of each kind of sketch, with these options, on the files of `flows.write`."""
    rows = whole()
    ends, by = [rows[name] for name in ENDS], {"src": rows["src"], "sport": rows["sport"]}
    spread = Spread("siphash-1-3", 64, KEY)
    imbalance = Imbalance("rss", 4, key=KEY)
    cases: list[tuple[Any, Any, dict[str, str]]] = [
        ("name", Distinct(key=KEY), {}),
        (ENDS, spread, {}),
        (ENDS, imbalance, {"bytes": "bytes"}),
    ]
    for columns, sketch, loads in cases:
        expected = Groups(sketch)
        keys = [rows["name"]] if columns == "name" else ends
        expected.update(by, *keys, **{name: rows[column] for name, column in loads.items()})
        found: Any = distributed.groups(source, list(by), columns, sketch, **loads, **options)
        assert found.to_bytes() == expected.to_bytes() and len(found) > 10_000
        assert found.result().to_arrow().equals(expected.result().to_arrow())
    # Counters for all keys, so that the order of merges does not matter.
    heavy = HeavyHitters(50, columns=2)
    weights = {"weights": "bytes", "most": 300}
    found = distributed.groups(source, "src", ["dport", "dst"], heavy, **weights, **options)
    expected = Groups(HeavyHitters(50, columns=2))
    expected.update({"src": rows["src"]}, (rows["dport"], rows["dst"]), weights=rows["bytes"])
    totals = {tuple(row[name] for name in ("src", "total")) for row in found.result().to_arrow().to_pylist()}
    assert totals == {(row["src"], row["total"]) for row in expected.result().to_arrow().to_pylist()}
    one = distributed.heavy_hitters(source, "src", 300, weights="bytes", **options)
    whole_heavy = HeavyHitters(300)
    whole_heavy.update(rows["src"], rows["bytes"])
    assert sorted(one.result().hitters) == sorted(whole_heavy.result().hitters)


def errors(folder: Any, **options: Any) -> list[tuple[type[BaseException], str]]:
    """The errors of calls on files that do not fit, each for one cause."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    raised: list[tuple[type[BaseException], str]] = []

    def call(columns: Any, source: Any) -> None:
        try:
            distributed.spread(source, columns, "siphash-1-3", KEY, **options)
        except Exception as error:
            raised.append((type(error), str(error)))

    call("name", folder / "no-such*.parquet")
    call("nam", folder)
    bad = folder / "deep" / "bad.parquet"
    bad.parent.mkdir()
    addresses = ["::1"] * 69_999 + ["none"]
    pq.write_table(pa.table({"address": addresses, "port": [1] * 70_000}), bad, row_group_size=3000)
    call(["address", "port", "address", "port"], bad)
    other = folder / "flows-7.parquet"
    pq.write_table(pa.table({"name": [1]}), other)
    call("name", folder)
    pq.write_table(pa.table({"x": [1]}), other)
    call("name", folder)
    data = (folder / "flows-1.parquet").read_bytes()
    other.write_bytes(data[: len(data) // 2])
    call("name", folder)
    # The end of the file is intact, the rows are not.
    other.write_bytes(data[:4] + bytes(len(data) // 2) + data[len(data) // 2 + 4 :])
    call("name", folder)
    return raised


#: Kinds and parts of the messages of `errors`.
EXPECTED: list[tuple[tuple[type[BaseException], ...], str]] = [
    ((FileNotFoundError,), r"no-such.*no file"),
    ((ValueError,), r"flows-0.parquet: no column 'nam'; there are src, sport"),
    ((ValueError,), r"bad.parquet: row 69999: src .none. is no IP address"),
    ((ValueError,), r"flows-7.parquet: column 'name' is of type int64, but string in .*flows-0.parquet; cast"),
    ((ValueError,), r"flows-7.parquet: no column 'name'"),
    ((ValueError,), r"flows-7.parquet: damaged, or no Parquet file: [^.]*; replace it or leave it out$"),
    ((OSError,), r"flows-7.parquet"),
]
