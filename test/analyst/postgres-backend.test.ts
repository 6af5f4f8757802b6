import { type AddressInfo, connect, createServer, type Server } from "node:net"
import pg from "pg"
import { expect, inject, test } from "vitest"
import { BACKEND, awaitBackendEnd } from "../../packs/analyst/postgres/backend.ts"
import { cutLink, type OpenClient } from "../../packs/analyst/postgres/link.ts"
import { PostgresTarget } from "../../core/protocol/databases/connections.ts"

const hasPostgres = inject("engines").includes("postgres")

test.runIf(hasPostgres)("waiting for a backend to end stops at its time limit, also without an answer", async () => {
  const { hostname, port, pathname, username: user, password } = new URL(inject("postgresUrl"))
  const asked = Promise.withResolvers<void>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    far.on("error", () => {})
    near.on("error", () => {})
    near.on("close", () => far.destroy())
    near.on("data", (data) => (data.includes("pg_terminate_backend") ? asked.resolve() : far.write(data)))
    far.pipe(near)
  })
  const target = { kind: "postgres", host: "127.0.0.1", port: await listen(server), database: pathname.slice(1) }
  const link = { target: PostgresTarget.parse({ ...target, user, password }), address: "127.0.0.1", mostBytes: 9999 }
  const seen = awaitBackendEnd(link, { process: "1", began: "1" }, new AbortController().signal, 2000)
  await asked.promise
  await seen
  server.close()
})

test("a cancel request ends even if the server keeps sending", async () => {
  const server = createServer((near) => {
    const talking = setInterval(() => near.write("."), 50)
    near.on("error", () => {})
    near.on("close", () => clearInterval(talking))
  })
  const target = { kind: "postgres", host: "127.0.0.1", port: await listen(server), database: "x", user: "x" }
  const client = { processID: 1, secretKey: 1, connection: { stream: { destroy() {} } } } as unknown as OpenClient
  await cutLink(client, { target: PostgresTarget.parse(target), address: "127.0.0.1", mostBytes: 0 })
  server.close()
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return (server.address() as AddressInfo).port
}

test.runIf(hasPostgres)("a backend that ignores a cancel request is terminated, and no other backend is", async () => {
  const { hostname: host, port, pathname, username: user, password, href } = new URL(inject("postgresUrl"))
  const database = pathname.slice(1)
  const target = PostgresTarget.parse({ kind: "postgres", host, port: Number(port), database, user, password })
  const link = { target, address: host, mostBytes: 100_000 }
  const { signal } = new AbortController()
  const busy = new pg.Client(href)
  busy.on("error", () => {}) // the backend is terminated
  await busy.connect()
  await busy.query("BEGIN")
  const [[process = "", began = ""] = []] = (
    await busy.query<string[]>({ text: `SELECT ${BACKEND}`, rowMode: "array" })
  ).rows
  const sleeping = busy.query("SELECT pg_sleep(100)").then(
    () => "slept",
    (error: { code?: string }) => error.code,
  )
  // If the process id belongs to another backend now, that one is left alone and ours counts as gone.
  await awaitBackendEnd(link, { process, began: "1.000000" }, signal)
  await awaitBackendEnd(link, { process: "1", began }, signal)
  expect(await Promise.race([sleeping, Promise.resolve("still there")])).toBe("still there")
  await awaitBackendEnd(link, { process, began }, signal)
  expect(await sleeping).toBe("57P01")
})
