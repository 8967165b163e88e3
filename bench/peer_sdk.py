"""Publishes one event of 2 KB with nostr-sdk and waits for its OK: peer_sdk.py URL"""
import asyncio
import sys

from nostr_sdk import Client, EventBuilder, Keys, Kind, RelayUrl, Tag


async def main():
    client = Client()
    await client.add_relay(RelayUrl.parse(sys.argv[1]))
    await client.connect()
    event = EventBuilder(Kind(43004), "x" * 1700).tags(
        [Tag.parse(["h", "00000000-0000-4000-8000-000000000000"])]).finalize(Keys.generate())
    print(await client.send_event(event))
    await client.shutdown()

asyncio.run(main())
