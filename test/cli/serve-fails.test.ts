import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { expect, test } from "vitest"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { createLog } from "../../apps/cli/process/log.ts"
import { type ComposedServer, composeServer } from "../../core/compose/compose-server.ts"
import { serveUntilStopped } from "../../apps/cli/commands/serve-until-stopped.ts"
import { failure } from "../../core/protocol/errors.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { databases } from "../support/databases.ts"

const full = failure("store_unavailable", { problem: "the disk is full" })

test.each<[what: string, breaks: (server: ComposedServer) => void]>([
  ["invite its owner", ({ store }) => void (store.people.ensure = () => Promise.reject(full))],
  ["take up what was left behind", ({ runtime }) => void (runtime.recover = () => Promise.reject(full))],
])("a server that cannot %s frees its port with the error, and ends", async (_what, breaks) => {
  await using database = await databases[0]!.create()
  const port = await freePort()
  const config = { ...readConfig({ PAWL_PORT: String(port), PAWL_DATA: dataFolder() }), databaseUrl: database.url }
  const log = createLog([], () => {})
  await using server = await composeServer(config, { log })
  breaks(server)
  const stopping = new AbortController().signal
  const serving = serveUntilStopped(server, { config, stopping })
  await expect(serving).rejects.toThrow("the disk is full")
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}
