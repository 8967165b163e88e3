// Starts @nostr-relay/core and prints its URL: core_relay.mjs DATABASE [HOSTNAME]. With a host name it asks for AUTH, and
// prints "auth PUBKEY" for each that it let in. A plugin, its own way of saying no, blocks one word.
import { createRequire } from "node:module";

const require = createRequire(process.env.INTEROP_MODULES + "/");
const { WebSocketServer } = require("ws");
const { NostrRelay } = require("@nostr-relay/core");
const { Validator } = require("@nostr-relay/validator");
const { EventRepositorySqlite } = require("@nostr-relay/event-repository-sqlite");

const [database, hostname] = process.argv.slice(2);
const repository = new EventRepositorySqlite(database);
await repository.init();
const quiet = { setLogLevel() {}, debug() {}, info() {}, warn() {}, error: console.error };
const relay = new NostrRelay(repository, { hostname, logger: quiet });
relay.register({
  async beforeHandleEvent(event) {
    const blocked = event.content.includes("xyzzy");
    return blocked ? { canHandle: false, message: "blocked: not that word" } : { canHandle: true };
  },
});

const validator = new Validator();
const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
server.on("listening", () => console.log(`ws://${hostname ?? "127.0.0.1"}:${server.address().port}`));
server.on("connection", (socket) => {
  relay.handleConnection(socket);
  socket.on("message", async (data) => {
    try {
      const message = await validator.validateIncomingMessage(data);
      const result = await relay.handleMessage(socket, message);
      if (result?.messageType === "AUTH" && result.success) console.log(`auth ${message[1].pubkey}`);
    } catch (error) {
      socket.send(JSON.stringify(["NOTICE", error.message]));
    }
  });
  socket.on("close", () => relay.handleDisconnect(socket));
  socket.on("error", () => socket.terminate());
});
process.on("SIGTERM", () => process.exit(0));
