import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { failureReason, systemReason, withoutSystemText } from "./system-errors.ts"

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error("It did not fail.")
}

const folder = mkdtempSync(join(tmpdir(), "pawl-strings-"))

test.each<[failure: string, work: () => unknown, reason: string]>([
  ["a missing file", () => readFileSync(join(folder, "missing")), "the file or folder does not exist"],
  ["a folder in place of a file", () => readFileSync(folder), "it is a folder, not a file"],
  [
    "a file in place of a folder",
    () => {
      writeFileSync(join(folder, "file"), "")
      readFileSync(join(folder, "file", "x"))
    },
    "a part of the path is a file, not a folder",
  ],
  ["a host that does not resolve", () => fetch("http://no-such-host.invalid"), "the host name does not exist"],
  [
    "a port where nothing listens",
    async () => {
      const server = createServer().listen(0)
      const { port } = server.address() as { port: number }
      await new Promise((resolve) => server.close(resolve))
      await fetch(`http://127.0.0.1:${port}`)
    },
    "nothing answers at this address",
  ],
  [
    "a database in a folder that is missing",
    () => new DatabaseSync(join(folder, "no", "x.db")),
    "the file or its folder cannot be opened",
  ],
  [
    "a port that is in use",
    async () => {
      const first = createServer().listen(0)
      const { port } = first.address() as { port: number }
      try {
        await new Promise((_, reject) => createServer().on("error", reject).listen(port))
      } finally {
        first.close()
      }
    },
    "another program already uses this port",
  ],
])("%s is a clause for people", async (_, work, reason) => {
  const error = await errorOf(work)
  expect([reason, "the host name cannot be resolved"]).toContain(systemReason(error))
  expect(failureReason(error)).toBe(systemReason(error))
})

test("an error of ours keeps its message, whatever caused it", () => {
  class SettingsError extends Error {
    override readonly name = "SettingsError"
  }
  const cause = Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT", syscall: "open" })
  expect(failureReason(new SettingsError("The key is wrong.", { cause }))).toBe("The key is wrong")
})

test("an error of ours is no system error, and its message is the reason", () => {
  expect(systemReason(new Error("The key is wrong."))).toBeUndefined()
  expect(failureReason(new Error("The key is wrong."))).toBe("The key is wrong")
})

test("system text in a message becomes its clause", () => {
  expect(withoutSystemText("getaddrinfo ENOTFOUND pawl.example")).toBe("the host name does not exist")
  expect(withoutSystemText("The EDITOR is not set")).toBe("The EDITOR is not set")
})

test("an unknown system error is named by its code alone", () => {
  const error = Object.assign(new Error("EBADF: bad file descriptor, read"), { code: "EBADF", syscall: "read" })
  expect(systemReason(error)).toBe("the system reported the error EBADF")
})
