"""A producer on NDNApp, the first API of python-ndn: it registers with command Interests in the form before version 0.3."""

import sys

from ndn.app import NDNApp
from ndn.encoding import Component, Name
from ndn.security import DigestSha256Signer

from contract import FRESH_MS, Answers, until_end_of_input

app = NDNApp()
answers = Answers()


def on_interest(name, _param, _app_param):
    last = bytes(Component.get_value(name[-1])).decode()
    if last == "silent":
        return
    data_name = [*name, Component.from_str("leaf")] if last == "tree" else name
    fresh = {} if last == "stale" else {"freshness_period": FRESH_MS}
    app.put_data(data_name, answers.content(last), signer=DigestSha256Signer(), **fresh)


async def main():
    if await app.register(Name.from_str(sys.argv[1]), on_interest):
        print("ready", flush=True)
        await until_end_of_input()
    app.shutdown()


app.run_forever(after_start=main())
