import { connect } from "@nats-io/transport-node"
import { afterAll, beforeAll } from "vitest"
import { type BusKeys, MessageCipher } from "../../core/bus/message-cipher.ts"
import type { NatsServerSettings } from "../../core/compose/settings.ts"
import { databases } from "../support/databases.ts"
import { testMasterKey } from "../support/server/face.ts"
import { hasNats, NatsServer } from "../support/processes/nats-server.ts"

/** Only with these do several processes share a database. */
export const shared = databases.filter(({ name }) => name === "postgres")

/** Runs each test twice: with only the database shared between the nodes, and with NATS as well. */
export const linked = shared.flatMap((database) => [
  { ...database, link: "nothing else" },
  ...(hasNats ? [{ ...database, link: "one NATS" }] : []),
])

/** Settings for how the nodes of a test reach each other. Call it once the tests run. */
export function linkedBy(link: string): () => NatsServerSettings | undefined {
  let server: NatsServer | undefined
  beforeAll(async () => {
    if (link === "one NATS") server = await NatsServer.start()
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  return () => server && natsSettings(server)
}

export const natsSettings = ({ url }: NatsServer, more: Partial<NatsServerSettings> = {}): NatsServerSettings => ({
  ...{ url, credentialsFile: undefined, cluster: "test", carriesText: true },
  ...more,
})

/** The keys of the servers that tests open. */
export const busKeys: BusKeys = { current: async () => testMasterKey, all: async () => [testMasterKey] }

/** Records all messages between the nodes of a test cluster from now on, decrypted. */
export async function readTraffic({ url }: NatsServer) {
  const cipher = new MessageCipher(busKeys, { cluster: "test", self: "node_reader" })
  await cipher.refresh()
  const texts: string[] = []
  const connection = await connect({ servers: url })
  connection.subscribe("pawl.test.>", {
    callback(_, { subject, data }) {
      const opened = cipher.open(subject, data)
      texts.push("text" in opened ? opened.text : JSON.stringify(opened))
    },
  })
  await connection.flush()
  return { texts, [Symbol.asyncDispose]: () => connection.close() }
}
