"""A consumer on appv2 of python-ndn."""

import sys

from ndn.appv2 import NDNApp
from ndn.encoding import Name
from ndn.security import sha256_digest_checker
from ndn.types import InterestNack, InterestTimeout, ValidResult

from contract import PATIENCE_MS, Checks, Wrong

app = NDNApp()


async def digest(name, sig, _context):
    return ValidResult.PASS if await sha256_digest_checker(name, sig) else ValidResult.FAIL


class Consumer:
    async def fetch(self, name, **flags):
        found, content, _context = await app.express(name, digest, lifetime=4000, **flags)
        return Name.to_str(found), bytes(content)

    async def nack(self, name):
        try:
            await app.express(name, digest, lifetime=4000)
        except InterestNack as nack:
            return nack.reason

    async def silence(self, name):
        try:
            await app.express(name, digest, lifetime=PATIENCE_MS)
        except InterestTimeout:
            return
        raise Wrong(f"Data came for {name}")


checks = Checks(Consumer(), sys.argv[1])


async def main():
    await checks.run(sys.argv[2:])
    app.shutdown()


app.run_forever(after_start=main())
checks.end()
