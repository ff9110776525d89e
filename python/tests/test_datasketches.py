"""HLL and Theta sketches of Apache DataSketches: ours read by theirs, theirs read by ours, merged both ways."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hashlane import DataSketchesHll, DataSketchesTheta, Distinct

theirs = pytest.importorskip("datasketches")

_types = theirs.tgt_hll_type
TYPES = {"hll_4": _types.HLL_4, "hll_6": _types.HLL_6, "hll_8": _types.HLL_8}
#: Numbers of keys: none, lists, the first sets, sets, registers.
SIZES = [0, 1, 7, 8, 9, 100, 383, 384, 385, 3000, 60_000]


def of_theirs(lg_k: int, kind: str, keys: Any) -> Any:
    sketch = theirs.hll_sketch(lg_k, TYPES[kind])
    for key in keys:
        sketch.update(key)
    return sketch


def of_ours(lg_k: int, kind: str, keys: Any) -> DataSketchesHll:
    sketch = DataSketchesHll(lg_k, type=kind)
    sketch.update(keys)
    return sketch


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lg_k", [4, 8, 12])
def test_both_read_the_others_and_estimate_alike(kind: str, size: int, lg_k: int) -> None:
    keys = [f"key {row}" for row in range(size)]
    ours, sketch = of_ours(lg_k, kind, keys), of_theirs(lg_k, kind, keys)
    for data in (sketch.serialize_compact(), sketch.serialize_updatable()):
        read = DataSketchesHll.from_bytes(data)
        # The estimate of a stream is theirs, to the coupons' interpolation.
        assert read.result().keys == pytest.approx(sketch.get_estimate(), rel=1e-4)
        if size < 8 or size > 384 or lg_k < 8:
            # The same registers; the estimate of a stream depends on its order.
            assert read.to_bytes()[40:] == ours.to_bytes()[40:]
    back = theirs.hll_sketch.deserialize(ours.to_bytes())
    assert back.lg_config_k == lg_k and back.tgt_type == TYPES[kind] and back.is_empty() == (size == 0)
    assert back.get_estimate() == pytest.approx(ours.result().keys, rel=1e-4)
    # Keys that both have count once.
    estimates = []
    for other in (sketch, back):
        union = theirs.hll_union(lg_k)
        union.update(sketch)
        union.update(other)
        estimates.append(union.get_estimate())
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-9)


@pytest.mark.parametrize(
    "sizes", [(5, 5), (5, 300), (300, 5), (300, 300), (5, 9000), (9000, 300), (9000, 9000)]
)
@pytest.mark.parametrize("precisions", [(12, 12), (12, 10), (10, 12)])
def test_merges_are_theirs(sizes: tuple[int, int], precisions: tuple[int, int]) -> None:
    first = [f"key {row}" for row in range(sizes[0])]
    second = [f"key {row}" for row in range(sizes[0] // 2, sizes[0] // 2 + sizes[1])]
    distinct = len({*first, *second})
    merged = of_ours(precisions[0], "hll_8", first)
    merged.merge(DataSketchesHll.from_bytes(of_theirs(precisions[1], "hll_4", second).serialize_compact()))
    union = theirs.hll_union(12)
    union.update(of_theirs(precisions[0], "hll_6", first))
    union.update(theirs.hll_sketch.deserialize(of_ours(precisions[1], "hll_6", second).to_bytes()))
    other = union.get_result(theirs.tgt_hll_type.HLL_8)
    back = theirs.hll_sketch.deserialize(merged.to_bytes())
    # Estimators differ after a merge; the registers do not.
    read = DataSketchesHll.from_bytes(other.serialize_compact())
    if back.lg_config_k == other.lg_config_k:
        assert sorted(read.to_bytes()[40:]) == sorted(merged.to_bytes()[40:])
    for estimate in (merged.result().keys, back.get_estimate(), read.result().keys, other.get_estimate()):
        assert abs(estimate - distinct) < 0.01 + 5 * 1.04 / 2 ** (min(precisions) / 2) * distinct


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([1, -1, 2**40, None, -(2**63)], pa.int64()),
        pa.array([1, 255, None, 1], pa.uint8()),
        pa.array([1, -128], pa.int8()),
        pa.array([1, 2**32 - 1], pa.uint32()),
        np.arange(-500, 500, dtype=np.int32),
        pa.array(["a", "", "ünïcode", "x" * 16, "y" * 31, "z" * 1000, None]),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        [f"{row}" * (row % 40) for row in range(300)],
    ],
    ids=lambda keys: str(getattr(keys, "type", getattr(keys, "dtype", "list"))),
)
def test_keys_have_their_hashes(keys: Any) -> None:
    values = keys.tolist() if hasattr(keys, "tolist") else list(keys)
    values = [value.as_py() if isinstance(value, pa.Scalar) else value for value in values]
    sketch = of_theirs(14, "hll_8", [value for value in values if value is not None])
    ours = of_ours(14, "hll_8", keys)
    assert DataSketchesHll.from_bytes(sketch.serialize_compact()).to_bytes()[8:] == ours.to_bytes()[8:]


def test_values_above_15_are_exceptions_of_4_bits() -> None:
    sketch = of_theirs(21, "hll_4", range(900_000))
    read = DataSketchesHll.from_bytes(sketch.serialize_compact())
    again = theirs.hll_sketch.deserialize(read.to_bytes())
    assert again.get_estimate() == sketch.get_estimate() == read.result().keys
    ours = of_ours(21, "hll_4", np.arange(900_000))
    assert read.to_bytes()[40:] == ours.to_bytes()[40:]
    assert DataSketchesHll.from_bytes(sketch.serialize_updatable()).to_bytes() == read.to_bytes()


def test_it_is_a_sketch_of_its_own() -> None:
    ours = of_ours(12, "hll_6", ["a", "b"])
    moved = pickle.loads(pickle.dumps(ours))
    assert moved.to_bytes() == ours.to_bytes() and repr(moved) == "<hashlane.DataSketchesHll: lg_k 12, hll_6>"
    assert moved.result().keys == pytest.approx(2)
    with pytest.raises(ValueError, match="Distinct cannot be merged into DataSketchesHll"):
        ours.merge(Distinct(key=bytes(16)))
    with pytest.raises(ValueError, match="no HLL sketch of Apache DataSketches: .*version 0"):
        DataSketchesHll.from_bytes(bytes(40))
    with pytest.raises(ValueError, match="no HLL sketch of Apache DataSketches: truncated"):
        DataSketchesHll.from_bytes(b"")
    with pytest.raises(ValueError, match="omit key"):
        DataSketchesHll.from_bytes(ours.to_bytes(), bytes(16))
    with pytest.raises(ValueError, match="lg_k is 3"):
        DataSketchesHll(3)
    with pytest.raises(ValueError, match="hll_8"):
        DataSketchesHll(type="hll_5")
    with pytest.raises(TypeError, match="double"):
        ours.update(pa.array([1.5]))


@pytest.mark.parametrize("size", [5, 100, 5000])
def test_bad_bytes_are_refused(size: int) -> None:
    draw = random.Random(size)
    for kind in TYPES:
        data = of_ours(10, kind, list(range(size))).to_bytes()
        for _ in range(200):
            bad = bytearray(data)
            bad[draw.randrange(len(bad))] = draw.randrange(256)
            try:
                read = DataSketchesHll.from_bytes(bytes(bad))
            except ValueError:
                continue
            again = DataSketchesHll.from_bytes(read.to_bytes())
            assert again.to_bytes() == read.to_bytes() and again.result() == read.result()
        for end in range(0, len(data), 7):
            with pytest.raises(ValueError):
                DataSketchesHll.from_bytes(data[:end])


def theta_of_theirs(lg_k: int, keys: Any) -> Any:
    sketch = theirs.update_theta_sketch(lg_k)
    for key in keys:
        sketch.update(key)
    return sketch


def theta_of_ours(lg_k: int, keys: Any) -> DataSketchesTheta:
    sketch = DataSketchesTheta(lg_k)
    sketch.update(keys)
    return sketch


@pytest.mark.parametrize("size", [0, 1, 2, 31, 32, 33, 60, 4096, 4097, 60_000])
@pytest.mark.parametrize("lg_k", [5, 12])
def test_theta_has_their_bytes(lg_k: int, size: int) -> None:
    keys = [f"key {row}" for row in range(size)]
    ours, sketch = theta_of_ours(lg_k, keys), theta_of_theirs(lg_k, keys)
    # Theirs keep up to 15/8 of the hashes until they are trimmed.
    full = sketch.compact(False).serialize()
    estimate = DataSketchesTheta.from_bytes(full).result().keys
    assert estimate == pytest.approx(sketch.get_estimate(), rel=1e-9)
    sketch.trim()
    assert sketch.compact(True).serialize() == ours.to_bytes()
    assert ours.result().keys == pytest.approx(sketch.get_estimate(), rel=1e-9)
    for data in (sketch.compact(True).serialize(), sketch.compact(False).serialize()):
        assert DataSketchesTheta.from_bytes(data).to_bytes() == ours.to_bytes()
    back = theirs.compact_theta_sketch.deserialize(ours.to_bytes())
    assert back.is_empty() == (size == 0) and back.is_ordered()
    assert back.get_estimate() == sketch.get_estimate()


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0), (5, 5), (5, 9000), (9000, 300), (9000, 9000)])
@pytest.mark.parametrize("precisions", [(12, 12), (12, 10), (10, 12)])
def test_merges_of_theta_are_theirs(sizes: tuple[int, int], precisions: tuple[int, int]) -> None:
    first = [f"key {row}" for row in range(sizes[0])]
    second = [f"key {row}" for row in range(sizes[0] // 2, sizes[0] // 2 + sizes[1])]
    union = theirs.theta_union(12)
    merged = DataSketchesTheta(12)
    for lg_k, keys in zip(precisions, (first, second)):
        union.update(theta_of_theirs(lg_k, keys))
        merged.merge(DataSketchesTheta.from_bytes(theta_of_theirs(lg_k, keys).compact(False).serialize()))
    ours = theirs.theta_union(12)
    for lg_k, keys in zip(precisions, (first, second)):
        read = theta_of_ours(lg_k, keys).to_bytes()
        ours.update(theirs.compact_theta_sketch.deserialize(read))
    distinct = len({*first, *second})
    for estimate in (ours.get_result().get_estimate(), merged.result().keys, union.get_result().get_estimate()):
        error = 0 if distinct <= 1024 else 4 / 2 ** (min(precisions) / 2)
        assert abs(estimate - distinct) <= 1e-9 + error * distinct
    # A union trims to 2^12 hashes, one that was read may keep more.
    if max(sizes) <= 4096:
        assert union.get_result().serialize() == merged.to_bytes()


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([1, -1, 2**40, None, -(2**63)], pa.int64()),
        pa.array([1, 255, None, 1], pa.uint8()),
        np.arange(-500, 500, dtype=np.int32),
        pa.array(["a", "", "ünïcode", "x" * 16, "z" * 1000, None]),
    ],
    ids=lambda keys: str(getattr(keys, "type", getattr(keys, "dtype", "list"))),
)
def test_keys_of_theta_have_their_hashes(keys: Any) -> None:
    values = keys.tolist() if hasattr(keys, "tolist") else list(keys)
    sketch = theta_of_theirs(12, [value for value in values if value is not None])
    assert sketch.compact().serialize() == theta_of_ours(12, keys).to_bytes()


def test_theta_is_a_sketch_of_its_own() -> None:
    ours = theta_of_ours(14, ["a", "b"])
    assert repr(ours) == "<hashlane.DataSketchesTheta: lg_k 14>"
    moved = pickle.loads(pickle.dumps(ours))
    assert moved.to_bytes() == ours.to_bytes() and moved.result() == ours.result() == (2, 0)
    with pytest.raises(ValueError, match="DataSketchesHll cannot be merged into DataSketchesTheta"):
        ours.merge(DataSketchesHll())
    sketch = theta_of_theirs(12, range(1000))
    with pytest.raises(ValueError, match=r"no Theta sketch of Apache DataSketches: .*without compression\) at byte 1"):
        DataSketchesTheta.from_bytes(sketch.compact().serialize(compress=True))
    with pytest.raises(ValueError, match="family"):
        DataSketchesTheta.from_bytes(DataSketchesHll().to_bytes()[:1] + b"\x03" + bytes(30))
    other = theirs.update_theta_sketch(12, seed=7)
    other.update(1)
    with pytest.raises(ValueError, match="seed hash"):
        DataSketchesTheta.from_bytes(other.compact().serialize())
    with pytest.raises(ValueError, match="truncated"):
        DataSketchesTheta.from_bytes(b"")
    with pytest.raises(ValueError, match="omit key"):
        DataSketchesTheta.from_bytes(ours.to_bytes(), bytes(16))
    with pytest.raises(ValueError, match="lg_k is 3"):
        DataSketchesTheta(3)
    with pytest.raises(TypeError, match="double"):
        ours.update(pa.array([1.5]))


def test_a_sampled_theta_is_read() -> None:
    sketch = theirs.update_theta_sketch(12, p=0.1)
    for key in range(1000):
        sketch.update(key)
    read = DataSketchesTheta.from_bytes(sketch.compact().serialize())
    assert read.result().keys == pytest.approx(sketch.get_estimate())
    assert read.to_bytes() == sketch.compact().serialize()
