// Publishes one event of 2 KB with nostr-tools and waits for its OK: peer_tools.mjs URL
import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure'
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay'
import WebSocket from 'ws'

useWebSocketImplementation(WebSocket) // Node has one of its own from version 22 on
const relay = await Relay.connect(process.argv[2])
await relay.publish(finalizeEvent({
  kind: 43004, created_at: Math.floor(Date.now() / 1000),
  tags: [['h', '00000000-0000-4000-8000-000000000000']], content: 'x'.repeat(1700),
}, generateSecretKey()))
relay.close()
