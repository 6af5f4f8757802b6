import pg from "pg"
import { expect, inject, test } from "vitest"
import { BACKEND, seeGone } from "../src/packs/analyst/postgres-backend.ts"
import { PostgresTarget } from "../src/protocol/connections.ts"

test.runIf(inject("engines").includes("postgres"))(
  "a backend that heard of no cancel is told to go, and no other one is",
  async () => {
    const { hostname: host, port, pathname, username: user, password, href } = new URL(inject("postgresUrl"))
    const database = pathname.slice(1)
    const target = PostgresTarget.parse({ kind: "postgres", host, port: Number(port), database, user, password })
    const link = { target, address: host, mostBytes: 100_000 }
    const { signal } = new AbortController()
    const busy = new pg.Client(href)
    busy.on("error", () => {}) // it is told to go
    await busy.connect()
    await busy.query("BEGIN")
    const [[process = "", began = ""] = []] = (
      await busy.query<string[]>({ text: `SELECT ${BACKEND}`, rowMode: "array" })
    ).rows
    const sleeping = busy.query("SELECT pg_sleep(100)").then(
      () => "slept",
      (error: { code?: string }) => error.code,
    )
    // The number has been given to somebody else since: that one is left alone, and ours is gone.
    await seeGone(link, { process, began: "1.000000" }, signal)
    await seeGone(link, { process: "1", began }, signal)
    expect(await Promise.race([sleeping, Promise.resolve("still there")])).toBe("still there")
    await seeGone(link, { process, began }, signal)
    expect(await sleeping).toBe("57P01")
  },
)
