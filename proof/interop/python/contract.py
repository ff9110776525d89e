"""What the producers answer and the consumers expect; README.md says it in full."""

import asyncio
import sys
import time

FRESH_MS = 10_000
BIG = 8000
NAMES = 50
NO_ROUTE = 150
PATIENCE_MS = 400
NOBODY = "/interop-nobody"


class Answers:
    """The content of each Data, by the last component of the Interest's name."""

    def __init__(self):
        self.given = {}

    def content(self, last: str) -> bytes:
        self.given[last] = self.given.get(last, 0) + 1
        return expected(last, self.given[last])


def expected(last: str, count: int) -> bytes:
    content = f"{last} {count}".encode()
    return content.ljust(BIG, b"x") if last == "big" else content


async def until_end_of_input():
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


class Wrong(Exception):
    """What is not as it must be."""


class Checks:
    """The checks of a consumer, which has fetch(name, **flags), nack(name) and silence(name)."""

    def __init__(self, consumer, prefix: str):
        self.consumer = consumer
        self.prefix = prefix
        self.seen = []
        self.wrong = "no check was made"

    async def run(self, names):
        for name in names:
            try:
                self.seen.append(await getattr(self, name)())
            except Exception as error:
                self.wrong = f"{name}: {error!r}; before it: {self.seen}"
                return
        self.wrong = None

    def end(self):
        """Says what was seen, and ends the program."""
        if self.wrong is not None:
            sys.exit(f"wrong: {self.wrong}")
        print(", ".join(self.seen))

    async def names(self):
        await asyncio.gather(*(self.fetch(str(last), 1) for last in range(NAMES)))
        return f"{NAMES} names"

    async def big(self):
        await self.fetch("big", 1)
        return f"{BIG} octets"

    async def leaf(self):
        await self.fetch("tree", 1, child="/leaf", can_be_prefix=True)
        return "leaf"

    async def fresh(self):
        await self.fetch("fresh", 1, must_be_fresh=True)
        await self.fetch("fresh", 1, must_be_fresh=True)
        await self.fetch("stale", 1)
        await self.fetch("stale", 1)
        await self.fetch("stale", 2, must_be_fresh=True)
        return "fresh"

    async def nack(self):
        reason = await self.consumer.nack(NOBODY + self.prefix)
        if reason != NO_ROUTE:
            raise Wrong(f"a Nack of reason {reason}, not {NO_ROUTE}")
        return f"Nack {reason}"

    async def timeout(self):
        start = time.monotonic()
        await self.consumer.silence(f"{self.prefix}/silent")
        elapsed = (time.monotonic() - start) * 1000
        # The loop's timers may end up to a tick of its clock early.
        if not PATIENCE_MS - 5 <= elapsed < 10 * PATIENCE_MS:
            raise Wrong(f"a timeout after {elapsed:.0f} ms")
        return "timeout"

    async def fetch(self, last, count, child="", **flags):
        name = f"{self.prefix}/{last}"
        try:
            found, content = await self.consumer.fetch(name, **flags)
        except Exception as error:
            raise Wrong(f"{error!r} for {name} {flags}") from None
        if found != name + child:
            raise Wrong(f"{found} came for {name}")
        if content != expected(last, count):
            raise Wrong(f"{content[:40]} in {found}, not {expected(last, count)[:40]}")
