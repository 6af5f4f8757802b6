import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { examineDisk, examineDurability } from "../../apps/cli/doctor/machine.ts"
import { examineProviders, examineReservations } from "../../apps/cli/doctor/providers.ts"
import { examineStatements, examineTraces } from "../../apps/cli/doctor/server.ts"
import { composeServer } from "../../core/compose/compose-server.ts"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"

const all = async <Item>(items: AsyncIterable<Item>) => await Array.fromAsync(items)

describe.each(databases)("on $name", ({ create, name }) => {
  test("the durability in force is read from the database, and a relaxed one is a warning", async () => {
    await using database = await create()
    await using store = await openStore({ url: database.url, durability: "normal" })
    const inForce = name === "sqlite" ? "SQLite with a write-ahead log" : "PostgreSQL with fsync"
    const [kept, relaxed] = await all(examineDurability(store.engine, "normal"))
    expect(kept).toEqual(["ok", expect.stringContaining(`durability: normal, ${inForce}`)])
    expect(relaxed).toEqual(["note", expect.stringContaining("PAWL_DURABILITY=full")])
    expect(await all(examineDurability(store.engine, "full"))).toEqual([["ok", expect.stringContaining("full")]])
  })

  test("statements of a turn are timed without a query counter", async () => {
    await using database = await create()
    await using store = await openStore({ url: database.url, durability: "normal" })
    let ms = 0
    const each = (takes: number) => all(examineStatements(store, () => (ms += takes)))
    expect(await each(50)).toEqual([["ok", "SQL statements: none takes more than 50 ms (measured now)"]])
    const cure = name === "sqlite" ? "a faster disk" : "run ANALYZE"
    expect(await each(51)).toEqual([
      [
        "note",
        expect.stringMatching(
          `^SQL statements: the query for runs of failed nodes takes 51 ms \\(measured now\\); .*${cure}`,
        ),
      ],
      ["note", expect.stringMatching(/^SQL statements: the query for changes in doubt takes 51 ms/)],
    ])
  })
})

test("an SQLite without its write-ahead log, as on some network disks, or that syncs nothing, is an error", async () => {
  const engine = (mode: string, synchronous: number) => ({
    name: "sqlite" as const,
    query: async <Row>(sql: string) =>
      [sql.includes("journal_mode") ? { journal_mode: mode } : { synchronous }] as Row[],
  })
  expect((await all(examineDurability(engine("delete", 2), "full")))[0]).toEqual([
    "wrong",
    expect.stringContaining("move the data folder (PAWL_DATA) to a local disk"),
  ])
  expect((await all(examineDurability(engine("wal", 0), "full")))[0]?.[0]).toBe("wrong")
  expect((await all(examineDurability(engine("wal", 1), "full")))[0]?.[0]).toBe("ok")
})

test("a limit on reserved memory, under which a thread would end the server, is a warning; no limit is not", () => {
  const limits = (space: string, data: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \n` +
    `Max data size             ${data.padEnd(20)} unlimited            bytes     \n` +
    `Max address space         ${space.padEnd(20)} unlimited            bytes     \n`
  const found = (space: string, data = "unlimited") => [...examineReservations(limits(space, data))]
  expect(found("unlimited")).toEqual([])
  expect(found(String(64 * 2 ** 30))).toEqual([])
  expect(found(String(1.5 * 2 ** 30))).toEqual([["note", expect.stringMatching(/^memory: .* 1\.5 GB .*\(ulimit -v\)/)]])
  expect(found("unlimited", "1073741824")).toEqual([["note", expect.stringContaining("ulimit -d")]])
  expect([...examineReservations("")]).toEqual([])
})

test("a test file is written to the folder and removed; a read-only folder is an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "doctor-"))
  try {
    const found = await all(examineDisk("disk", folder))
    expect(found.map(([mark]) => mark)).not.toContain("wrong")
    expect(found[1]?.[1]).toMatch(/^disk: a write with fsync takes [\d.]+ ms/)
    expect(readdirSync(folder)).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
  expect(await all(examineDisk("disk", folder))).toEqual([
    ["wrong", expect.stringContaining("cannot be written: the file or folder does not exist; check")],
  ])
})

test.each<[what: string, disk: { free: number; takes: number }, marks: string[], says: RegExp]>([
  ["room and speed", { free: 5e9, takes: 50 }, ["ok", "ok"], /5\.0 GB free$/],
  ["little room", { free: 0.9e9, takes: 50 }, ["note", "ok"], /0\.9 GB free; free some space/],
  ["nearly none", { free: 0.09e9, takes: 50 }, ["wrong", "ok"], /0\.1 GB free; free some space/],
  ["a slow disk", { free: 5e9, takes: 51 }, ["ok", "note"], /51\.0 ms; .*use a faster disk/],
])("for a disk with %s it reports what to do", async (_, { free, takes }, marks, says) => {
  const folder = mkdtempSync(join(tmpdir(), "doctor-"))
  let ms = 0
  const statDisk = async () => ({ bavail: free / 1000, bsize: 1000, type: 0xef53 })
  const found = await all(examineDisk("disk", folder, { statDisk, now: () => (ms += takes) }))
  rmSync(folder, { recursive: true })
  expect(found.map(([mark]) => mark)).toEqual(marks)
  expect(found.map(([, told]) => told).some((told) => says.test(told))).toBe(true)
  const inMemory = { statDisk: async () => ({ ...(await statDisk()), type: 0x01021994 }) }
  expect(await all(examineDisk("disk", tmpdir(), inMemory))).toContainEqual([
    "note",
    expect.stringContaining("lost when the machine stops"),
  ])
})

test.each([
  ["anthropic", 200, "ok", /^provider anthropic: answers/],
  ["anthropic", 401, "wrong", /^provider anthropic: it refused the key; check its key/],
  ["gemini", 503, "wrong", /^provider google: it answered with status 503; check/],
  ["azure_openai", 404, "note", /^provider azure: reachable, .*pawl exec --model azure\/…/],
] as const)(
  "a provider that is asked for no list is reached with its key too: %s, and %i is %s",
  async (name, status, mark, says) => {
    const header = { anthropic: "x-api-key", gemini: "x-goog-api-key", azure_openai: "api-key" }[name]
    const asked: string[] = []
    await using provider = await answering((request) => {
      asked.push(`${request.url} ${String(request.headers[header])}`)
      return status
    })
    const variable = name.toUpperCase()
    const address = name === "azure_openai" ? "AZURE_OPENAI_ENDPOINT" : `${variable}_BASE_URL`
    const found = await providersOf({ [`${variable}_API_KEY`]: "sk-secret-of-ada", [address]: provider.url })
    expect(found).toEqual([[mark, expect.stringMatching(says)]])
    expect(asked).toEqual([expect.stringMatching(/^\/(?:openai\/)?v1(?:beta)?\/models sk-secret-of-ada$/)])
    expect(JSON.stringify(found)).not.toContain("sk-secret")
  },
)

test.each([
  ["http/json", 200, "ok", /^traces: http:\/\/127\.0\.0\.1:\d+ accepts them as http\/json$/],
  ["http/protobuf", 200, "ok", /accepts them as http\/protobuf$/],
  ["http/json", 401, "wrong", /answers with status 401; check OTEL_EXPORTER_OTLP_HEADERS$/],
  ["http/json", 404, "wrong", /status 404; check the path of OTEL_EXPORTER_OTLP_ENDPOINT/],
] as const)("the traces endpoint is sent an empty batch as %s: %i is %s", async (protocol, status, mark, says) => {
  const asked: unknown[] = []
  await using receiver = await answering(({ method, url, headers }) => {
    asked.push([method, url, headers["content-type"], headers.authorization])
    return status
  })
  const telemetry = tracesTo(receiver.url, protocol)
  expect(await all(examineTraces(telemetry))).toEqual([[mark, expect.stringMatching(says)]])
  const type = protocol === "http/json" ? "application/json" : "application/x-protobuf"
  expect(asked).toEqual([["POST", "/v1/traces", type, "Bearer secret-of-ada"]])
})

test("an unreachable traces endpoint is named, without a key; without one, no request is made", async () => {
  const gone = await answering(() => 200)
  await gone[Symbol.asyncDispose]()
  const found = await all(examineTraces(tracesTo(gone.url, "http/json")))
  expect(found).toEqual([["wrong", expect.stringMatching(/^traces: .* cannot be reached; check OTEL_/)]])
  expect(JSON.stringify(found)).not.toContain("secret-of-ada")
  expect(await all(examineTraces(undefined))).toEqual([])
})

test("an endpoint that answers nothing in time is named, with what to try", async () => {
  const found = await providersOf({ AWS_BEARER_TOKEN_BEDROCK: "sk-secret-of-ada", AWS_REGION: "eu-west-1" })
  expect(found).toEqual([["note", expect.stringMatching(/^provider bedrock: configured, .*exec --model bedrock\/…/)]])
})

test.each([
  [200, "ok", /^provider openai: answers with \d+ models?/],
  [401, "wrong", /^provider openai: .*; check its key and its address$/],
])("a configured provider is asked with its key: %i is %s, and the key is not printed", async (status, mark, says) => {
  const asked: string[] = []
  const provider = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`)
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ data: [{ id: "gpt-x" }] }))
  }).listen(0, "127.0.0.1")
  await once(provider, "listening")
  const OPENAI_BASE_URL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const folder = mkdtempSync(join(tmpdir(), "doctor-"))
  try {
    const config = readConfig({ PAWL_DATA: folder, OPENAI_API_KEY: "sk-secret-of-ada", OPENAI_BASE_URL })
    await using server = await composeServer(config)
    expect(await all(examineProviders(server.personal.shared))).toEqual([[mark, expect.stringMatching(says)]])
    expect(JSON.stringify(await all(examineProviders(server.personal.shared)))).not.toContain("sk-secret")
    expect(asked).toContain("/v1/models Bearer sk-secret-of-ada")
  } finally {
    provider.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

const tracesTo = (url: string, OTEL_EXPORTER_OTLP_PROTOCOL: string) =>
  readConfig({
    ...{ PAWL_DATA: tmpdir(), OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL },
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20secret-of-ada",
  }).telemetry

/** The findings about providers with these settings. */
async function providersOf(environment: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "doctor-"))
  try {
    await using server = await composeServer(readConfig({ PAWL_DATA: folder, ...environment }), {})
    return await all(examineProviders(server.personal.shared))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A server that answers each request with a status, and with a list if all is well. */
async function answering(toStatus: (request: IncomingMessage) => number) {
  const server = createServer((request, response) => {
    response.writeHead(toStatus(request), { "content-type": "application/json" }).end(JSON.stringify({ data: [] }))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}
