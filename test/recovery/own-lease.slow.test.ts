import { cpSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import type { ProviderServer } from "../../core/models/providers/server.fixture.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import {
  callsOnce,
  type Environment,
  settings,
  startLife,
  stateOf,
  tokenOf,
  until,
} from "../support/processes/server-lives.ts"
import { Visitor } from "../support/server/face.ts"
import { slownessOf } from "../support/worked.ts"

vi.setConfig({ testTimeout: 120_000 })

const MASTER_ENCRYPTION_KEY = Buffer.alloc(32, 7).toString("base64")

describe.each(databases.filter(({ name }) => name === "postgres"))("on $name", (database) => {
  /** A node in the middle of a tool call, and the conversation that it works on. */
  async function working(provider: ProviderServer) {
    const { url: DATABASE_URL } = await database.create()
    const environment: Environment = { ...settings(provider), DATABASE_URL, MASTER_ENCRYPTION_KEY }
    const mark = join(environment.PAWL_DATA ?? "", "hanging")
    await writeFile(mark, "")
    const token = await tokenOf(environment)
    const server = await startLife(environment)
    const ada = new Visitor(fetch, token, server.url)
    const id = await ada.begin()
    ada.say(id, "go").catch(() => {})
    await server.says(/hanging/)
    return { environment, mark, server, token, id }
  }

  test("a killed node that starts again on its data folder continues its run at once, not when its lease has ended", async () => {
    await using provider = await callsOnce("hang")
    const { environment, mark, server, token, id } = await working(provider)
    await rm(mark)
    await server.kill("SIGKILL")
    await using next = await startLife(environment)
    const startedAt = performance.now()
    const ada = new Visitor(fetch, token, next.url)
    const run = await until(
      () => stateOf(ada, id),
      ({ status }) => status !== "running",
      30_000,
    )
    expect(run).toMatchObject({ status: "completed" })
    expect(performance.now() - startedAt).toBeLessThan(5000 * slownessOf())
  })

  test("a node that starts on the data folder of a running one, or on a copy of it, leaves its lease alone", async () => {
    await using provider = await callsOnce("hang")
    const { environment, server } = await working(provider)
    const copy = join(dataFolder(), "copy")
    cpSync(environment.PAWL_DATA ?? "", copy, { recursive: true })
    await using store = await openStore({ url: environment.DATABASE_URL ?? "" })
    const leases = () => store.engine.query("SELECT owner, fence FROM conversation", [])
    const nodes = () => store.engine.query("SELECT id FROM node", [])
    const [leasesBefore, nodesBefore] = [await leases(), await nodes()]
    expect(leasesBefore).toMatchObject([{ owner: expect.stringMatching(/^node_/) as string }])
    await using _same = await startLife(environment)
    await using _copied = await startLife({ ...environment, PAWL_DATA: copy })
    expect(await leases()).toEqual(leasesBefore)
    expect(await nodes()).toEqual(expect.arrayContaining(nodesBefore))
    await server.kill("SIGKILL")
  })
})
