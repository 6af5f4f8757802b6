import { type AddressInfo, connect, createServer, type Server } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { PostgresTarget } from "../src/protocol/connections.ts"
import { type OpenChanges, openChanges } from "./change-kind.ts"
import { kinds } from "./change-targets.ts"

describe.runIf(kinds.includes("postgres" as never))("a COMMIT of PostgreSQL", () => {
  let changes: OpenChanges
  beforeAll(async () => {
    changes = await openChanges("postgres")
  })
  afterAll(() => changes.close())

  const townOf = async (id: number) => (await changes.target.rows(`SELECT town FROM customer WHERE id = ${id}`))[0]?.[0]

  test.each([
    { reaches: true, town: "Kiel" },
    { reaches: false, town: "London" },
  ])("that is answered by the end of the backend is asked about: reached the server: $reaches", async (told) => {
    const server = await dyingAtCommit(changes.place.target as PostgresTarget, told.reaches)
    const { port } = server.address() as AddressInfo
    const place = { ...changes.place, target: { ...changes.place.target, port } as PostgresTarget }
    const sql = `UPDATE customer SET town = 'Kiel' WHERE id = ${told.reaches ? 3 : 1}`
    const { revision } = await changes.kind.rehearse(place, sql)
    const made = changes.kind.apply(place, sql, { expected: revision, record: async () => {} })
    if (told.reaches) expect((await made).affected).toBe(1)
    else await expect(made).rejects.toMatchObject({ code: "query_failed" })
    expect(await townOf(told.reaches ? 3 : 1)).toBe(told.town)
    server.close()
  })

  test("is not asked about at a server that has taken over from the one it was sent to", async () => {
    let mark = ""
    await changes.apply(
      "UPDATE customer SET town = 'Ulm' WHERE id = 2",
      undefined,
      async (given) => void (mark = given),
    )
    expect(await changes.kind.outcome(changes.place, mark)).toBe("applied")
    const { timeline, ...rest } = JSON.parse(mark)
    expect(timeline).toMatch(/^\d+$/)
    const elsewhere = JSON.stringify({ ...rest, timeline: String(Number(timeline) + 1) })
    expect(await changes.kind.outcome(changes.place, elsewhere)).toBe("unknown")
  })
})

/** Stands before a server, and instead of its word about a COMMIT says what a backend says that is told to go. */
async function dyingAtCommit({ host, port }: PostgresTarget, passOn: boolean): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(port, host)
    let committing = false
    near.on("data", (data) => {
      committing ||= data.includes("COMMIT\0")
      if (!committing || passOn) far.write(data)
      else {
        far.destroy()
        near.end(FATAL)
      }
    })
    far.on("data", (data) => {
      if (!committing) near.write(data)
      else if (data.includes("COMMIT\0")) near.end(FATAL)
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => other.destroy())
      one.on("close", () => (committing && one === far ? undefined : other.end()))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
}

const words = Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")
const head = Buffer.alloc(5)
head.write("E")
head.writeInt32BE(words.length + 4, 1)
const FATAL = Buffer.concat([head, words])
