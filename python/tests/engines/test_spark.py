"""`hashlane.spark` beside the functions of `hashlane`."""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa
import pytest
from flows import KEY, whole

import hashlane
from hashlane import spark as functions

ENDS = ["src", "sport", "dst", "dport"]


@pytest.fixture(scope="module")
def table() -> Any:
    """Flows as Spark holds them: with signed integers."""
    types = {"sport": pa.int32(), "dport": pa.int32(), "bytes": pa.int64()}
    flows = whole().select([*ENDS, "bytes", "name"])
    flows = flows.cast(pa.schema([(name, types.get(name, pa.string())) for name in flows.column_names]))
    return flows.append_column("row", pa.array(range(flows.num_rows), pa.int64()))


@pytest.fixture(scope="module")
def frame(spark: Any, table: Any) -> Any:
    frame = spark.createDataFrame(table).repartition(3, "row").cache()
    frame.createOrReplaceTempView("flows")
    return frame


def rows(found: Any) -> list[Any]:
    """The column `result` in the order of the table."""
    return [row.result for row in sorted(found.collect(), key=lambda row: row.row)]


def test_columns_have_the_signed_results_of_the_functions(frame: Any, table: Any) -> None:
    ends = list(table.select(ENDS))
    card = hashlane.RSS_PUBLISHED_KEY
    cases = {
        "text": (
            functions.hash("siphash-1-3", KEY)("dst"),
            hashlane.hash(table["dst"], "siphash-1-3", KEY, signed=True),
        ),
        "unkeyed": (functions.hash("crc32c")("sport"), hashlane.hash(table["sport"], "crc32c", signed=True)),
        "rows": (
            functions.hash("siphash-2-4", KEY)("src", "dst", "bytes"),
            hashlane.hash(table.select(["src", "dst", "bytes"]), "siphash-2-4", KEY, signed=True),
        ),
        "flow_hash": (
            functions.flow_hash("siphash-1-3", KEY)(*ENDS),
            hashlane.flow_hash(*ends, "siphash-1-3", KEY, signed=True),
        ),
        "rss": (functions.rss(card)(*ENDS), hashlane.rss(*ends, card, signed=True)),
        "queue": (functions.rss(card, 8)(*ENDS), hashlane.rss(*ends, card, 8, signed=True)),
        "ehash": (
            functions.ehash(ehash_secret=0xFEDCBA98, mix=7)(*ENDS),
            hashlane.ehash(*ends, ehash_secret=0xFEDCBA98, mix=7, signed=True),
        ),
    }
    found = frame.select("row", *[column.alias(name) for name, (column, _) in cases.items()])
    assert {field.dataType.simpleString() for field in found.schema.fields} == {"bigint"}
    found = sorted(found.collect(), key=lambda row: row.row)
    for name, (_, expected) in cases.items():
        assert [row[name] for row in found] == expected.to_pylist(), name


def test_aggregates_of_groups_equal_the_sketches(frame: Any, table: Any) -> None:
    users = functions.distinct(precision=12, key=KEY)("dst").alias("users")
    spread = functions.spread("siphash-1-3", 64, KEY)("name").alias("spread")
    heavy = functions.heavy(16)("dst", "bytes").alias("heavy")
    found = frame.selectExpr("*", "sport % 3 AS part").groupBy("part").agg(users, spread, heavy).collect()
    assert sorted(row.part for row in found) == [0, 1, 2]
    for row in found:
        part = table.filter(pa.array([port % 3 == row.part for port in table["sport"].to_pylist()]))
        distinct = hashlane.Distinct(precision=12, key=KEY)
        distinct.update(part["dst"])
        assert row.users == distinct.result().keys
        expected = hashlane.Spread("siphash-1-3", 64, KEY)
        expected.update(part["name"])
        fields = expected.result()._asdict()
        del fields["loads"]
        assert row.spread.asDict() == fields
        # The counters depend on the order of the rows, the bound of the error does not.
        weights: dict[bytes, int] = {}
        for key, weight in zip(part["dst"].to_pylist(), part["bytes"].to_pylist()):
            if key is not None:
                weights[key.encode()] = weights.get(key.encode(), 0) + weight
        assert row.heavy.total == sum(weights.values())
        assert row.heavy.error <= row.heavy.total / 17
        for hitter in row.heavy.hitters:
            assert hitter.least <= weights[bytes(hitter.key)] <= hitter.least + row.heavy.error


def test_an_aggregate_takes_the_columns_of_a_flow(frame: Any, table: Any) -> None:
    expected = hashlane.Distinct(key=KEY)
    expected.update(*table.select(ENDS))
    [row] = frame.agg(functions.distinct(key=KEY)(*ENDS).alias("flows")).collect()
    assert row.flows == expected.result().keys


def test_registered_functions_run_in_sql(spark: Any, frame: Any, table: Any) -> None:
    spark.udf.register("siphash13", functions.hash("siphash-1-3", KEY))
    spark.udf.register("distinct_keys", functions.distinct(key=KEY))
    found = spark.sql("SELECT row, siphash13(name) AS result FROM flows")
    assert rows(found) == hashlane.hash(table["name"], "siphash-1-3", KEY, signed=True).to_pylist()
    query = "SELECT sport % 2 AS part, distinct_keys(src) AS sources FROM flows GROUP BY 1"
    assert {row.part: row.sources for row in spark.sql(query).collect()} == {0: 256.0, 1: 256.0}


def test_plans_and_errors_hold_no_key(spark: Any, frame: Any) -> None:
    spark.udf.register("keyed", functions.hash("siphash-1-3", KEY))
    columns = [functions.hash("siphash-1-3", KEY)("name"), functions.flow_hash("siphash-2-4", KEY)(*ENDS)]
    frames = [frame.select(*columns), spark.sql("SELECT keyed(name) FROM flows")]
    frames.append(frame.groupBy("dst").agg(functions.distinct(key=KEY)("src")))
    texts = [str(found._jdf.queryExecution().toString()) for found in frames] + [str(columns)]
    assert all("hashlane_" in text or "keyed" in text for text in texts)
    with pytest.raises(Exception, match="src") as raised:
        # One task, as each is tried four times.
        one = frame.coalesce(1)
        one.select(functions.flow_hash("siphash-1-3", KEY)("name", "sport", "dst", "dport")).collect()
    texts.append(str(raised.value))
    for text in texts:
        for form in [KEY.hex(), repr(KEY)[2:-1], base64.b64encode(KEY).decode(), str(list(KEY))[1:-1]]:
            assert form.lower() not in text.lower()


def test_wrong_arguments_are_errors_when_the_function_is_made() -> None:
    for make, message in [
        (lambda: functions.hash("siphash-1-3"), "key"),
        (lambda: functions.hash("siphash"), "unknown scheme"),
        (lambda: functions.flow_hash("crc32c", KEY), "key"),
        (lambda: functions.rss(KEY), "40"),
        (lambda: functions.ehash(function="none", ehash_secret=0), "none"),
        (lambda: functions.distinct(precision=3, key=KEY), "precision is 3"),
        (lambda: functions.spread("siphash-1-3", 0, KEY), "buckets is 0"),
        (lambda: functions.heavy(0), "counters is 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
