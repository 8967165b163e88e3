"""Starts rust-nostr's LocalRelay and prints its URL: local_relay.py PORT [auth]. Its port cannot be 0."""
import asyncio
import sys

import nostr_sdk


async def main():
    builder = nostr_sdk.LocalRelayBuilder().addr("127.0.0.1").port(int(sys.argv[1]))
    if "auth" in sys.argv[2:]:
        both = nostr_sdk.LocalRelayBuilderNip42Mode.BOTH
        builder = builder.nip42(nostr_sdk.LocalRelayBuilderNip42(mode=both))
    relay = builder.build()
    await relay.run()
    print(await relay.url(), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
