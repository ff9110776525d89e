"""Driver of dnspython for the studies of renderers: renders DNS messages, and times that itself.

Reads requests from standard input, a line each, and ends when the input does. Answers each request with the
line `ok LENGTH` and LENGTH bytes, or with the line `error TEXT`. Messages are numbered from 0.

    version         Answers with the library, the language and their versions, as text.
    message LENGTH  Parses the LENGTH bytes that follow, a message in wire form, and keeps it. The answer has no
                    bytes.
    render NUMBER   Answers with the bytes of a message, rendered with compression.
    time NUMBER NS  Renders a message once, and then repeatedly for at least NS nanoseconds. Answers with
                    `COUNT TOTAL` as text: repeated renderings, and nanoseconds by a monotonic clock.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import Any, BinaryIO

#: Longest message of the DNS.
LONGEST = 65_535

#: Most renderings between two readings of the clock.
MOST = 16


class Driver:
    """Messages in the library's own types."""

    def __init__(self, requests: BinaryIO) -> None:
        self.requests = requests
        self.messages: list[Any] = []

    def version(self) -> bytes:
        import dns.version

        return f"dnspython {dns.version.version}, Python {sys.version.split()[0]}".encode()

    def message(self, length: str) -> bytes:
        # The message is read first: what follows it is the next request, even if it is refused.
        wire = self.requests.read(int(length))
        import dns.message

        # Otherwise records with the same owner become one set, in another order and without duplicates.
        self.messages.append(dns.message.from_wire(wire, one_rr_per_rrset=True))
        return b""

    def render(self, number: str) -> bytes:
        return self.messages[int(number)].to_wire(max_size=LONGEST)

    def time(self, number: str, least: str) -> bytes:
        render, least_ns = self.messages[int(number)].to_wire, int(least)
        render(max_size=LONGEST)
        count, passes = 0, 1
        start = time.perf_counter_ns()
        while True:
            for _ in range(passes):
                render(max_size=LONGEST)
            count += passes
            total = time.perf_counter_ns() - start
            if total >= least_ns:
                return f"{count} {total}".encode()
            passes = min(MOST, 2 * passes)


def main() -> None:
    # Nothing that a package prints reaches the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    driver = Driver(sys.stdin.buffer)
    requests = {
        "version": driver.version,
        "message": driver.message,
        "render": driver.render,
        "time": driver.time,
    }
    # As `timeit` does.
    gc.disable()
    for line in iter(sys.stdin.buffer.readline, b""):
        name, *arguments = line.decode().split()
        try:
            answer = requests[name](*arguments)
            answers.write(b"ok %d\n" % len(answer) + answer)
        except Exception as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())
            answers.write(f"error {text}\n".encode())
        answers.flush()


if __name__ == "__main__":
    main()
