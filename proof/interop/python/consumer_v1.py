"""A consumer on NDNApp, the first API of python-ndn."""

import sys

from ndn.app import NDNApp
from ndn.encoding import Name
from ndn.types import InterestNack, InterestTimeout

from contract import PATIENCE_MS, Checks, Wrong

app = NDNApp()


class Consumer:
    async def fetch(self, name, **flags):
        found, _meta, content = await app.express_interest(name, lifetime=4000, **flags)
        return Name.to_str(found), bytes(content)

    async def nack(self, name):
        try:
            await app.express_interest(name, lifetime=4000)
        except InterestNack as nack:
            return nack.reason

    async def silence(self, name):
        try:
            await app.express_interest(name, lifetime=PATIENCE_MS)
        except InterestTimeout:
            return
        raise Wrong(f"Data came for {name}")


checks = Checks(Consumer(), sys.argv[1])


async def main():
    await checks.run(sys.argv[2:])
    app.shutdown()


app.run_forever(after_start=main())
checks.end()
