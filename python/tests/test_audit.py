from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest

import hashlane


def test_the_verdicts_of_registered_schemes() -> None:
    weak = hashlane.audit("crc32c", seed=1, count=64)
    assert weak.floodable and weak.verdict == "floodable" and 16 <= len(weak.keys) <= 64
    # The keys do what the verdict says: they collide.
    buckets = np.asarray(hashlane.hash(weak.keys, "crc32c")) % 64
    assert len(set(buckets.tolist())) <= 2
    strong = hashlane.audit("siphash-2-4", seed=1, count=64)
    assert not strong.floodable and not strong.faulty and strong.keys == []
    assert {attack.outcome for attack in strong.attacks} <= {"harmless", "does not apply", "not tried"}
    assert "siphash-2-4" in strong._repr_html_() and "<table>" in weak._repr_html_()
    # The text is the verdict, not the keys and all attacks.
    assert "floodable" in repr(weak) and len(repr(weak)) < 600
    again = hashlane.audit("crc32c", seed=1, count=64)
    assert (again.keys, again.attacks, again.epsilon) == (weak.keys, weak.attacks, weak.epsilon)


def test_a_function_of_python_is_audited() -> None:
    def polynomial(keys: list[bytes], seed: bytes) -> list[int]:
        hashes = []
        for key in keys:
            hash = int.from_bytes(seed[:4], "little")
            for byte in key:
                hash = (31 * hash + byte) & 0xFFFFFFFF
            hashes.append(hash)
        return hashes

    result = hashlane.audit(polynomial, bits=32, seed_bits=32, seed=1, count=32)
    assert result.scheme == "polynomial" and result.floodable, result.sentence
    # In a table of as many buckets by the low bits of the hash.
    assert len({hash % 32 for hash in polynomial(result.keys, bytes(16))}) < len(result.keys) / 2


def test_a_function_may_return_columns() -> None:
    def sip(keys: list[bytes], seed: bytes) -> Any:
        return hashlane.hash(keys, "siphash-1-3", seed)

    result = hashlane.audit(sip, secret=True, seed=1, count=32, length=16)
    assert not result.floodable and not result.faulty, result.sentence


def test_exceptions_of_the_function_come_through() -> None:
    def broken(keys: list[bytes], seed: bytes) -> list[int]:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        hashlane.audit(broken)
    with pytest.raises(ValueError, match="returned 1 hashes"):
        hashlane.audit(lambda keys, seed: [1])
    with pytest.raises(ValueError, match="more than 32 bits"):
        hashlane.audit(lambda keys, seed: [1 << 40] * len(keys), bits=32)
    with pytest.raises(OverflowError):
        hashlane.audit(lambda keys, seed: [-1] * len(keys))
    with pytest.raises(TypeError):
        hashlane.audit(lambda keys, seed: ["a"] * len(keys))


def test_a_signal_stops_an_audit() -> None:
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                hashlane.audit("halfsiphash-2-4", count=16384)
    finally:
        timer.cancel()
        timer.join()


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(ValueError, match='unknown scheme "siphash"'):
        hashlane.audit("siphash")
    with pytest.raises(ValueError, match='unknown table "chain".*chained'):
        hashlane.audit("crc32c", table="chain")
    with pytest.raises(ValueError, match="count must be from 16"):
        hashlane.audit("crc32c", count=3)
    with pytest.raises(ValueError, match="length must be"):
        hashlane.audit("crc32c", length=0)
    with pytest.raises(ValueError, match="seed_bits must be"):
        hashlane.audit(lambda keys, seed: [], seed_bits=0, secret=True)
