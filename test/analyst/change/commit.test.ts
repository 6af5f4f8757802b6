import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { PostgresTarget } from "../../../core/protocol/databases/connections.ts"
import { type OpenChanges, openChanges } from "../change-kind.ts"
import { kinds } from "../change-targets.ts"

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

  test("is not sent if its caller aborts while the attempt is recorded", async () => {
    const line = await holdingCancels(changes.place.target as PostgresTarget)
    const { port } = line.server.address() as AddressInfo
    const over = new AbortController()
    const target = { ...changes.place.target, port } as PostgresTarget
    const place = { ...changes.place, target, signal: over.signal }
    const before = await townOf(1)
    const sql = "UPDATE customer SET town = 'Jena' WHERE id = 1"
    const { revision } = await changes.kind.rehearse(place, sql)
    const record = async () => {
      over.abort(new Error("over"))
      await made.catch(() => {})
    }
    const made = changes.kind.apply(place, sql, { expected: revision, record })
    await expect(made).rejects.toThrow("over")
    await line.ended()
    expect([line.commits, await townOf(1)]).toEqual([0, before])
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

/** A proxy that answers COMMIT with the error of a terminated backend, with or without sending it to the server. */
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

/** A proxy that holds back every cancel request, like a slow network. */
async function holdingCancels({ host, port }: PostgresTarget) {
  const lines = new Set<Socket>()
  const line = { server: createServer(join), commits: 0, ended }
  function join(near: Socket) {
    const far = connect(port, host)
    near.on("error", () => {})
    far.on("error", () => {})
    near.once("data", (first) => {
      if (first.length === 16 && first.readInt32BE(4) === 80_877_102) return void far.destroy()
      lines.add(near)
      far.on("close", () => lines.delete(near))
      near.on("close", () => far.end())
      near.on("data", (data) => {
        if (data.includes("COMMIT\0")) line.commits++
        far.write(data)
      })
      far.write(first)
      far.pipe(near)
    })
  }
  /** Resolves once the server has processed all input and closed the connection. */
  async function ended() {
    await expect.poll(() => lines.size, { timeout: 60_000 }).toBe(0)
    line.server.close()
  }
  await new Promise<void>((resolve) => line.server.listen(0, "127.0.0.1", resolve))
  return line
}

const words = Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")
const head = Buffer.alloc(5)
head.write("E")
head.writeInt32BE(words.length + 4, 1)
const FATAL = Buffer.concat([head, words])
