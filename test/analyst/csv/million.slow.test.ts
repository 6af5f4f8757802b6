import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { dataFolder } from "../../support/processes/pawl-process.ts"
import { tokenFor } from "../../support/processes/token-for.ts"
import { WatchedServer } from "../../support/processes/watched-server.ts"
import { HealthProbe } from "./health-probe.ts"
import { sizes } from "../../support/sizes.ts"

const ROWS = sizes.csvRows
/** How much time of a usual processor one turn of the server's event loop may take. */
const MAX_TURN_MS = 50
/** … or this multiple of what a tenth of the rows take: without yielding it would be tenfold. */
const MAX_GROWTH = 3
const MOST_ROUNDS = 4

/** A file of so many rows, generated while it is sent. */
function manyRows(rows = ROWS): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(to) {
      let text = at === 0 ? "id,name,amount,day,flag\n" : ""
      for (const end = at + 10_000; at < end; at++)
        text += `${at},Name ${at},${at / 4},2024-01-0${(at % 9) + 1},${at % 2 === 0}\n`
      to.enqueue(new TextEncoder().encode(text))
      if (at >= rows) to.close()
    },
  })
}

describe(`a CSV file of ${ROWS} rows`, { timeout: 600_000 }, () => {
  const folder = dataFolder()
  const settings = { PAWL_DATA: folder, PAWL_PORT: "0" }
  let server: WatchedServer
  let url: string
  let token: string

  const start = async () => {
    server = new WatchedServer(settings)
    url = await server.url()
  }
  const upload = (rows = ROWS) =>
    fetch(`${url}/api/connections/csv?name=many`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "text/csv" },
      body: manyRows(rows),
      duplex: "half",
    } as RequestInit)
  const connections = async () => {
    const listed = await fetch(`${url}/api/connections`, { headers: { authorization: `Bearer ${token}` } })
    return ((await listed.json()) as { items: unknown[] }).items
  }
  const uploads = () => {
    const place = join(folder, "databases", ".uploads")
    return existsSync(place) ? readdirSync(place, { recursive: true, encoding: "utf8" }) : []
  }

  beforeAll(async () => {
    await start()
    token = await tokenFor(settings)
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test("is imported while the server answers other requests without delay", async () => {
    // Loads what is loaded on first use.
    expect((await upload(10_000)).status).toBe(201)
    await using probe = await HealthProbe.open(Number(new URL(url).port))
    await probe.latest()
    expect(await server.longestTurn()).toBeGreaterThan(0)
    const response = await upload()
    const { id } = (await response.json()) as { id: string }
    expect(response.status).toBe(201)
    expect(await probe.latest(), "the longest that /healthz took, in ms").toBeLessThan(1000)

    // A busy machine delays some of thousands of turns of a small file too, and not every time.
    let [longest, ofFewer] = [await server.longestTurn(), 0]
    const isTooLong = () => longest > Math.max(MAX_TURN_MS, MAX_GROWTH * ofFewer)
    for (let round = 0; round < MOST_ROUNDS && isTooLong(); round++) {
      expect((await upload(ROWS / 10)).status).toBe(201)
      ofFewer = Math.max(ofFewer, await server.longestTurn())
      expect((await upload()).status).toBe(201)
      longest = Math.min(longest, await server.longestTurn())
    }
    const turns = `the longest turn of the loop, in ms of processor: ${longest}, of a tenth of the rows ${ofFewer}`
    expect(isTooLong(), turns).toBe(false)
    const sql = "SELECT count(*), sum(amount), min(day), sum(flag) FROM many"
    const asked = await fetch(`${url}/api/connections/${id}/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ sql }),
    })
    expect(((await asked.json()) as { rows: unknown }).rows).toEqual([
      [ROWS, (ROWS * (ROWS - 1)) / 8, "2024-01-01", ROWS / 2],
    ])
  })

  test("leaves nothing incomplete if its server is killed in the middle", async () => {
    const kept = (await connections()).length
    const lost = upload(200_000).catch(() => "cut")
    await expect
      .poll(() => uploads().some((name) => name.endsWith("made.db")), { interval: 5, timeout: 60_000 })
      .toBe(true)
    await server.kill("SIGKILL")
    expect(await lost).toBe("cut")
    expect(uploads()).not.toEqual([])
    await server[Symbol.asyncDispose]()
    await start()
    expect(uploads()).toEqual([])
    expect(await connections()).toHaveLength(kept)
  })
})
