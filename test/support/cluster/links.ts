import { afterAll, beforeAll } from "vitest"
import type { NatsServerSettings } from "../../../src/compose/settings.ts"
import { databases } from "../databases.ts"
import { hasNats, NatsServer } from "../processes/nats-server.ts"

/** Only there do several processes share a database. */
export const shared = databases.filter(({ name }) => name === "postgres")

/** What is written at one node must reach the other without a word between the two, where only the database is common to them; and with. */
export const linked = shared.flatMap((database) => [
  { ...database, link: "nothing else" },
  ...(hasNats ? [{ ...database, link: "one NATS" }] : []),
])

/** What the nodes of a test hear each other by: settings for them, as soon as its tests run. */
export function linkedBy(link: string): () => NatsServerSettings | undefined {
  let server: NatsServer | undefined
  beforeAll(async () => {
    if (link === "one NATS") server = await NatsServer.start()
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  return () => server && natsSettings(server)
}

export const natsSettings = ({ url }: NatsServer, more: Partial<NatsServerSettings> = {}): NatsServerSettings => ({
  ...{ url, credentialsFile: undefined, cluster: "test", carriesWords: true },
  ...more,
})
