import { once } from "node:events"
import { createServer, type Server, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { expect, inject, test, vi } from "vitest"
import { postgresKind } from "../../packs/analyst/postgres/kind.ts"
import { UNREACHABLE_MS } from "../../packs/analyst/postgres/unreachable.ts"
import type { PostgresTarget } from "../../core/protocol/databases/connections.ts"
import type { UserId } from "../../core/protocol/ids.ts"

vi.setConfig({ testTimeout: 120_000 })

/** This machine as if it were a remote one: it is allowed, and not on the operator's list. */
const hosts = {
  checkAddress() {},
  lookup: (
    _host: string,
    _options: object,
    answer: (error: null, addresses: { address: string; family: 4 }[]) => void,
  ) => answer(null, [{ address: "127.0.0.1", family: 4 }]),
  isOperators: () => false,
}
const target = (port: number, more: Partial<PostgresTarget> = {}): PostgresTarget => ({
  ...{ kind: "postgres", host: "db.example.org", port, database: "x", user: "x", password: "hush" },
  ssl: false,
  ...more,
})
const told = async (place: PostgresTarget) => {
  // One for each: it lets only a few of them wait at a time.
  const kind = postgresKind({ hosts, superuserConnections: true })
  const probed = kind.probe({ target: place, user: "user_ada" as UserId, signal: new AbortController().signal })
  const error = await probed.then(
    () => ({ code: "ok", message: "" }),
    (thrown: { code: string; message: string }) => thrown,
  )
  return { code: error.code, says: error.message.replace(String(place.port), "PORT") }
}

const opened: Server[] = []
async function listening(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {})
    serve(socket)
  }).listen(0, "127.0.0.1")
  opened.push(server)
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

test("a closed port, a silent one and a server that is not PostgreSQL give the same error after the same time", async () => {
  const ports = {
    closed: 1,
    silent: await listening(() => {}),
    http: await listening((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    ssh: await listening((socket) => void socket.write("SSH-2.0-OpenSSH_9.6\r\n")),
    hangsUp: await listening((socket) => socket.destroy()),
  }
  let early = true
  const tries = Object.values(ports).flatMap((port) =>
    ([false, true, "no-verify"] as const).map(async (ssl) => ({ ...(await told(target(port, { ssl }))), early })),
  )
  // Timers fire in this order: no try ends before one that fires a little earlier than its own.
  void pause(UNREACHABLE_MS - 50).then(() => (early = false))
  const [first, ...others] = await Promise.all(tries)
  expect(first).toMatchObject({ code: "connection_failed", early: false })
  expect(first?.says).toContain("nothing that is PostgreSQL has answered at db.example.org, port PORT")
  for (const other of others) expect(other).toEqual(first)
  for (const server of opened) server.close()
})

test("a server without encryption never gets the password of a connection that requires it", async () => {
  const heard: Buffer[] = []
  const port = await listening((socket) => {
    socket.on("data", (bytes: Buffer) => {
      heard.push(bytes)
      socket.write("N")
    })
  })
  expect((await told(target(port, { ssl: true }))).says).toContain("does not support SSL")
  expect(heard).toHaveLength(1)
  expect(heard[0]).toHaveLength(8) // the question whether there is encryption, and nothing else
  for (const server of opened) server.close()
})

test.runIf(inject("postgresUrl") !== "")("errors of PostgreSQL itself are passed on", async () => {
  const { port, pathname, username, password } = new URL(inject("postgresUrl"))
  const place = { database: pathname.slice(1), user: username, password }
  expect(await told(target(Number(port), place))).toMatchObject({ code: "ok" })
  const wrong = await told(target(Number(port), { ...place, database: "no_such_database" }))
  expect(wrong.says).toContain("there is no database of this name")
  expect((await told(target(Number(port), { ...place, ssl: true }))).says).toContain("does not support SSL")
})
