import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { openStore } from "../../core/store/store.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { databases } from "../support/databases.ts"
import { lifeNamed } from "../support/processes/package.ts"

vi.setConfig({ testTimeout: 180_000 })

const script = lifeNamed("embedded-life")

function start(words: readonly string[], environment: Record<string, string> = {}): ChildProcess {
  const env = { PATH: process.env.PATH, ...environment }
  return spawn(process.execPath, [script, ...words], { env, stdio: ["pipe", "pipe", "inherit"] })
}

async function says(child: ChildProcess, text: string): Promise<void> {
  let heard = ""
  for await (const chunk of child.stdout!) if ((heard += String(chunk)).includes(text)) return
  throw new Error(`It ended without "${text}": ${heard}`)
}

describe.each(databases)("a program that embeds Pawl, on $name", ({ create }) => {
  test("continues by itself what a killed process left, asks for it once, closes, and does not keep its process alive", async () => {
    await using database = await create()
    const file = join(dataFolder(), "done")
    writeFileSync(file, "")
    const killed = start([database.url, file, "begin"])
    await says(killed, "in the tool")
    killed.kill("SIGKILL")
    await once(killed, "exit")
    expect(readFileSync(file, "utf8")).toBe("mark\n")

    const next = start([database.url, file], { PAWL_TEST_WAITS: "1" })
    await expect
      .poll(() => readFileSync(file, "utf8"), { timeout: 60_000 })
      .toBe("mark\nmark\nanswered\nanswered: Done.\n")
    next.stdin?.end()
    expect(await once(next, "exit")).toEqual([0, null])
    await using store = await openStore({ url: database.url })
    const runs = await store.engine.query("SELECT status FROM runs", [])
    expect(runs).toEqual([{ status: "completed" }])

    // Without work the process ends, although the server was not closed.
    const idle = start([database.url, file])
    const ended = once(idle, "exit")
    idle.stdin?.end()
    idle.stdout?.resume()
    expect(await ended).toEqual([0, null])
  })
})
