"""A producer on appv2 of python-ndn: it registers with signed Interests and returns PIT tokens."""

import sys

from ndn.appv2 import NDNApp
from ndn.encoding import Component, Name
from ndn.security import DigestSha256Signer

from contract import FRESH_MS, Answers, until_end_of_input

app = NDNApp()
answers = Answers()


def on_interest(name, _app_param, reply, _context):
    last = bytes(Component.get_value(name[-1])).decode()
    if last == "silent":
        return
    data_name = [*name, Component.from_str("leaf")] if last == "tree" else name
    fresh = {} if last == "stale" else {"freshness_period": FRESH_MS}
    reply(app.make_data(data_name, answers.content(last), signer=DigestSha256Signer(), **fresh))


async def main():
    prefix = Name.from_str(sys.argv[1])
    app.attach_handler(prefix, on_interest)
    if await app.register(prefix):
        print("ready", flush=True)
        await until_end_of_input()
    app.shutdown()


app.run_forever(after_start=main())
