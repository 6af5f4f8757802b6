import { execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { appendFile, appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { open, writeFile } from "node:fs/promises"
import { createServer, get, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { watchOutside } from "./outside.ts"
import { runAs } from "./boundaries.ts"

const folder = mkdtempSync(join(tmpdir(), "outside-"))
const file = join(folder, "file.txt")
const requests: string[] = []
const server = createServer((request, response) => {
  requests.push(request.method ?? "")
  response.end("heard")
})
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

beforeAll(async () => {
  await watchOutside()
  await once(server.listen(0, "127.0.0.1"), "listening")
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const length = () => readFileSync(file, "utf8").length

/** Effects, each with a count of what exists right before and right after it. */
const deeds: Readonly<Record<string, { do(): unknown; name: string; there(): number }>> = {
  "a file that is waited for": { name: "appendFileSync", do: () => appendFileSync(file, "x"), there: length },
  "a file by a promise": { name: "writeFile", do: () => writeFile(file, "x".repeat(length() + 1)), there: length },
  "a file by a callback": {
    ...{ name: "appendFile", there: length },
    do: () => new Promise((resolve) => appendFile(file, "x", resolve)),
  },
  "a file that was opened": {
    name: "appendFile",
    async do() {
      await using opened = await open(file, "a")
      await opened.appendFile("x")
    },
    there: length,
  },
  "a request by fetch": { name: "fetch", do: () => fetch(address(), { method: "POST" }), there: () => requests.length },
  "a request of node:http": {
    name: "get",
    async do() {
      const [response] = (await once(get(address()), "response")) as [IncomingMessage]
      response.resume()
    },
    there: () => requests.length,
  },
  "a program": { name: "spawn", do: () => once(spawn("sh", ["-c", `printf x >> ${file}`]), "exit"), there: length },
  "a program that is waited for": {
    ...{ name: "execFileSync", there: length },
    do: () => execFileSync("sh", ["-c", `printf x >> ${file}`]),
  },
  "a program by a promise": {
    ...{ name: "execFile", there: length },
    do: () => promisify(execFile)("sh", ["-c", `printf x >> ${file}`]),
  },
}

test.each(Object.entries(deeds))("%s is seen once, before and after it is there", async (_, deed) => {
  appendFileSync(file, "x")
  const before = deed.there()
  const seen: string[] = []
  const told = await asCall(seen, deed.do, deed.there)
  expect(told).toEqual([`before ${deed.name}: ${before}`, `after ${deed.name}: ${before + 1}`])
})

test("writes to a database of node:sqlite are counted, reads are not", async () => {
  using database = new DatabaseSync(":memory:")
  const told = await asCall([], () => {
    database.exec("CREATE TABLE t (x)")
    database.prepare("INSERT INTO t VALUES (?)").run(1)
    return database.prepare("SELECT x FROM t").all()
  })
  expect(told).toEqual(["before exec: 0", "after exec: 0", "before run: 0", "after run: 0"])
})

test("effects in a callback belong to the call, and effects without a call are not counted", async () => {
  const told = await asCall([], () => {
    return new Promise<void>((resolve) => {
      appendFile(file, "x", () => {
        appendFileSync(file, "x")
        resolve()
      })
    })
  })
  expect(told.filter((line) => line.startsWith("before"))).toEqual(["before appendFile: 0", "before appendFileSync: 0"])
  appendFileSync(file, "x")
  expect(told).toHaveLength(4)
})

async function asCall(seen: string[], make: () => unknown, there = () => 0): Promise<string[]> {
  const call = { call: "one", tool: "tool", input: "{}", effect: "write", afterCrash: "in-doubt" } as const
  const reach = (what: string) => {
    const name = what.replace("tool: ", "")
    seen.push(`before ${name}: ${there()}`)
    return () => void seen.push(`after ${name}: ${there()}`)
  }
  await runAs({ call, reach }, async () => make())
  return seen
}
