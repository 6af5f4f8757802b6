import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { anyDatabase } from "../support/databases.ts"
import { hostileDocumentsOf } from "./hostile-documents.ts"
import { isLong, oneIn } from "../support/sizes.ts"
import { WatchedServer } from "../support/processes/watched-server.ts"

/** No upload delays `/healthz` by more than a second. */
const MAX_MS = 1000
/** Cost that grows with the square of a document shows with a quarter of the largest size as well. */
const PART = isLong ? 1 : 1 / 4

describe.each(anyDatabase)("documents that are expensive to process, on $name", ({ name: engine, create }) => {
  let server: WatchedServer
  let url: string
  let token: string
  let collection: string

  const ask = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const response = await fetch(`${url}/api${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said; the test looks into it freely
    return { status: response.status, body: (await response.json()) as any }
  }

  beforeAll(async () => {
    // A file of its own is in its data folder.
    const database: Record<string, string> = engine === "sqlite" ? {} : { DATABASE_URL: (await create()).url }
    const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_RATE_LIMIT: "0", ...database }
    server = new WatchedServer(settings)
    url = await server.url()
    token = await tokenFor(settings)
    collection = (await ask("/collections", { name: "Papers" })).body.id
    await server.longestTurn() // that of its start
  })
  afterAll(() => server[Symbol.asyncDispose]())

  const documents = [
    ...hostileDocumentsOf(PART),
    ["megabytes of words", "j.txt", () => "The flow over a plate. ".repeat(360_000 * PART), "added"] as const,
  ]
  test.each(oneIn(5, documents))("%s do not delay other requests", async (_what, name, content, became) => {
    const { status, body } = await ask(`/collections/${collection}/documents`, {
      name,
      content: content(),
      encoding: "text",
    })
    expect([status, body[became] > 0], JSON.stringify(body).slice(0, 300)).toEqual([201, true])
    expect(await server.longestTurn()).toBeLessThan(MAX_MS)
  })
})
