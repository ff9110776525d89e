"""Keys and numbers: the error names the argument, its type and the next step."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any, Callable

import pytest

import hashlane
from conftest import KEY
from hashlane import dns, pcap

ENDS = [["10.0.0.1"], [1], ["10.0.0.2"], [2]]

KEYED: list[Callable[[Any], Any]] = [
    lambda key: hashlane.hash(["a"], "siphash-1-3", key).to_pylist(),
    lambda key: hashlane.flow_hash(*ENDS, "siphash-1-3", key).to_pylist(),
    lambda key: hashlane.ehash(*ENDS, function="siphash", ehash_secret=1, key=key).to_pylist(),
    lambda key: hashlane.Distinct(key=key).to_bytes(),
    lambda key: hashlane.Spread("siphash-1-3", 4, key).to_bytes(),
    lambda key: hashlane.name_prefix_hashes(
        hashlane.parse_name(["/a"]), "ndn", "siphash-1-3", key
    ).to_pylist(),
]


@pytest.mark.parametrize("call", KEYED)
def test_a_key_is_bytes_a_bytearray_or_a_memoryview(call: Callable[[Any], Any]) -> None:
    expected = call(KEY)
    assert call(bytearray(KEY)) == expected
    assert call(memoryview(KEY)) == expected
    with pytest.raises(TypeError, match=r"key: expected 16 bytes, got str; pass hashlane\.random_key\(\)"):
        call("k" * 16)
    with pytest.raises(TypeError, match="key: expected 16 bytes, got int"):
        call(16)


def test_the_key_of_a_card_is_named_with_its_length() -> None:
    expected = hashlane.rss(*ENDS, hashlane.RSS_SYMMETRIC_KEY).to_pylist()
    assert hashlane.rss(*ENDS, bytearray(hashlane.RSS_SYMMETRIC_KEY)).to_pylist() == expected
    missing: Any = None
    with pytest.raises(TypeError, match="key of the card: expected 40 bytes, got NoneType"):
        hashlane.rss(*ENDS, missing)


@pytest.mark.parametrize("number", [-1, 0, 1 << 70, 129])
def test_numbers_out_of_range_are_named(number: int) -> None:
    with pytest.raises(ValueError, match=f"queues must be from 1 to 128, not {number}"):
        hashlane.rss(*ENDS, hashlane.RSS_SYMMETRIC_KEY, number)
    with pytest.raises(ValueError, match=f"limit must be from 512 to 65535, not {number}"):
        dns.render([], limit=number)


@pytest.mark.parametrize("number", [-1, 0, 1 << 70])
def test_batch_sizes_out_of_range_are_named(tmp_path: pathlib.Path, number: int) -> None:
    with pytest.raises(ValueError, match=f"batch_size must be from 1 to 4194304, not {number}"):
        pcap.tuples(tmp_path / "none.pcap", batch_size=number)
    word: Any = "9"
    with pytest.raises(TypeError, match="batch_size: expected an int, got str"):
        pcap.tuples(tmp_path / "none.pcap", batch_size=word)


def test_a_number_without_a_text_is_out_of_range() -> None:
    with pytest.raises(ValueError, match="queues must be from 1 to 128, not a longer number"):
        hashlane.rss(*ENDS, hashlane.RSS_SYMMETRIC_KEY, 10**5000)


def test_a_sketch_keeps_a_copy_of_its_key() -> None:
    key = bytearray(KEY)
    sketch = hashlane.Distinct(key=memoryview(key))
    key[0] ^= 1
    other = pickle.loads(pickle.dumps(sketch))
    other.update(["a"])
    same = hashlane.Distinct(key=KEY)
    same.update(["a"])
    assert other.to_bytes() == same.to_bytes()
