"""Audits of hash functions: can a table that uses them be flooded?"""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional, Union

from . import _native

#: A hash function: a list of keys and a seed of 16 bytes to as many hashes, in a list or a column.
Function = Callable[[list[bytes], bytes], Any]


class Attack(NamedTuple):
    """One attack and its outcome."""

    #: Name of the attack.
    id: str
    #: Facts that the attacker needs: `nothing`, `results` or `the seed`.
    needs: str
    #: `floods`, `harmless` or `does not apply`.
    outcome: str
    #: Reason why it does not apply.
    reason: Optional[str]
    #: Property of the function that it uses.
    title: str
    #: Paper, thread or CVE.
    source: str


@dataclass(frozen=True)
class Audit:
    """Result of an audit."""

    #: The function.
    scheme: str
    #: Its definition.
    source: str
    #: One or two words, such as `floodable`, `if the seed leaks`, `no attack known`.
    verdict: str
    #: The verdict in a sentence.
    sentence: str
    #: True if an attack floods the table without its seed.
    floodable: bool
    #: True if the function fails or breaks its contract.
    faulty: bool
    #: Share of seeds for which the worst pair of keys known collides.
    epsilon: str
    #: The table.
    table: str
    #: Seed of all random choices: the same seed gives the same keys and outcomes.
    seed: int
    #: Keys that flood the table, if an attack does.
    keys: list[bytes] = field(repr=False)
    #: All attacks that were tried.
    attacks: list[Attack] = field(repr=False)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(a.id)}</td><td>{html.escape(a.needs)}</td>"
            f"<td>{html.escape(a.title)}</td></tr>"
            for a in self.attacks
            if a.outcome == "floods"
        )
        floods = (
            f"<table><tr><th>attack</th><th>needs</th><th>uses</th></tr>{rows}</table>" if rows else ""
        )
        return (
            f"<p><b>{html.escape(self.scheme)}</b>: {html.escape(self.sentence)}<br>"
            f"ε: {html.escape(self.epsilon)}</p>{floods}"
        )


def audit(
    scheme: Union[str, Function],
    *,
    table: str = "chained",
    length: Optional[int] = None,
    count: int = 4096,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    bits: int = 64,
    seed_bits: int = 128,
    secret: bool = False,
) -> Audit:
    """Tell if a hash table can be flooded with keys that an attacker chooses.

    Args:
        scheme: Id of a scheme of :func:`schemes`, or a function of your own, which is called with a list of
            keys (`bytes`) and a seed (16 bytes), and returns as many integers of `bits` bits: in a list, or
            faster in a NumPy array or another column. The last four arguments are for such a function.
        table: `chained`, `linear`, `swiss`, `hashbrown` or `linux-ehash`.
        length: Bytes of a key, 1 to 4,096; each attack chooses them if not given.
        count: Keys that an attack makes, at most: from 16 on.
        seed: Seed of all random choices; drawn if not given.
        name: Name of the function in the result.
        bits: Bits of its hashes, 1 to 64.
        seed_bits: Bits of the seed that it uses, the first of the 16 bytes; 0 for a function without a seed.
        secret: True if its author claims that the seed makes collisions unpredictable.

    Returns:
        The verdict, and the outcome of each attack. "No attack known" is no proof.

    Raises:
        ValueError: An argument is unknown or out of range; the function returned other than as many hashes
            of `bits` bits.
        Exception: Whatever the function raises.
    """
    drawn = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    if isinstance(scheme, str):
        result = _native.audit_scheme(scheme, table, length, count, drawn)
    else:
        known = name or str(getattr(scheme, "__name__", "function"))
        result = _native.audit_function(
            scheme, known, bits, seed_bits, secret, table, length, count, drawn
        )
    attacks = [Attack(*row) for row in result.pop("attacks")]
    return Audit(attacks=attacks, **result)
