import { describe, expect, test } from "vitest"
import { says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { Face, type FaceOptions, Visitor } from "../support/server/face.ts"
import { TurnedClock } from "../support/loop/world.ts"

const shared = databases.filter(({ name }) => name === "postgres")

describe.each(shared)("two servers on one $name", ({ create }) => {
  const open = async (more: Partial<FaceOptions> = {}) => {
    const { url } = await create()
    // Their clocks stand still: no allowance refills, and they exchange counts only when a test lets them.
    const options = () => ({ url, model: scripted(says("Hi.")), clock: new TurnedClock(), ...more })
    const [one, two] = [await Face.open(options()), await Face.open(options())]
    return {
      ...{ one, two },
      async exchange() {
        for (const each of [one, two, one]) await each.server.sharedLimits?.exchange()
      },
      async [Symbol.asyncDispose]() {
        await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()])
      },
    }
  }
  const from = (face: Face, address: string, token?: string) =>
    new Visitor((request) => face.fetch(request, address), token)
  /** Returns how many of the requests were let through. */
  const allowed = async (count: number, ask: (n: number) => Promise<{ status: number }>) => {
    let through = 0
    for (let n = 0; n < count; n++) if ((await ask(n)).status !== 429) through++
    return through
  }

  test("together allow no more attempts at a sign-in link than one does, at any moment", async () => {
    await using nodes = await open({ requestsPerMinute: 1000 })
    const tries = await allowed(60, (n) =>
      from(n % 2 ? nodes.one : nodes.two, "192.0.2.1").post("/api/auth/sign-in", { secret: "x" }),
    )
    // One more refills every three seconds, on the clock of the database.
    expect(tries).toBeGreaterThanOrEqual(20)
    expect(tries).toBeLessThan(30)
    const other = from(nodes.one, "192.0.2.2")
    expect((await other.post("/api/auth/sign-in", { secret: "x" })).status).toBe(401)
  })

  test("count a person's requests at both, and each refuses by the sum", async () => {
    await using nodes = await open({ requestsPerMinute: 30 })
    const [here, there] = [await nodes.one.as("ada"), await nodes.two.as("ada")]
    const bob = await nodes.two.as("bob")
    expect(await allowed(20, () => here.get("/api/auth/me"))).toBe(20)
    await nodes.exchange()
    // One more refills every two seconds, on the clock of the database.
    const rest = await allowed(30, () => there.get("/api/auth/me"))
    expect(rest).toBeGreaterThanOrEqual(10)
    expect(rest).toBeLessThan(20)
    await nodes.exchange()
    const { status, headers } = await here.get("/api/auth/me")
    expect([status, Number(headers.get("retry-after")) > 0]).toEqual([429, true])
    expect((await bob.get("/api/auth/me")).status).toBe(200)
  })

  test("allow a stranger as many token guesses as a single server; guesses beyond it in between are deducted later", async () => {
    await using nodes = await open({ requestsPerMinute: 1000 })
    const guess = (face: Face) => () => from(face, "192.0.2.1", "pawl_wrong").get("/api/auth/me")
    expect(await allowed(130, guess(nodes.one))).toBe(120)
    expect(await allowed(130, guess(nodes.two))).toBe(120) // the other node has not reported its use yet
    await nodes.exchange()
    expect(await allowed(10, guess(nodes.one))).toBe(0)
    const { headers } = await guess(nodes.two)()
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(30)
  })

  test("store no address and no person in the database, and no row for a caller whose minute is full again", async () => {
    // Two a minute: of a thousand each is forgiven after 60 ms, which a busy machine takes to come to the exchange.
    await using nodes = await open({ requestsPerMinute: 2 })
    const { engine } = nodes.one.store
    const past = "INSERT INTO bucket (kind, who, full_at, changed_at) VALUES ('people', 'somebody', 5, 1)"
    await engine.change({ type: "statements", statements: [{ sql: past, values: [] }] })
    const ada = await nodes.one.as("ada")
    await ada.get("/api/auth/me")
    await from(nodes.one, "192.0.2.1", "pawl_wrong").get("/api/auth/me")
    await nodes.exchange()
    const rows = await engine.query<{ kind: string; who: string }>("SELECT kind, who FROM bucket ORDER BY kind", [])
    expect(rows.map(({ kind }) => kind)).toEqual(["people", "strangers"])
    expect(rows.every(({ who }) => /^[\w-]{22}$/.test(who))).toBe(true)
  })
})

describe.each(databases.filter(({ name }) => name === "sqlite"))("a server on $name", ({ create }) => {
  test("a single server shares no limits, and writes nothing about them", async () => {
    const { url } = await create()
    await using face = await Face.open({ url, model: scripted(says("Hi.")), requestsPerMinute: 5 })
    const ada = await face.as("ada")
    for (let n = 0; n < 5; n++) expect((await ada.get("/api/auth/me")).status).toBe(200)
    expect((await ada.get("/api/auth/me")).status).toBe(429)
    expect(face.server.sharedLimits).toBeUndefined()
    expect(await face.store.engine.query("SELECT * FROM bucket", [])).toEqual([])
  })
})
