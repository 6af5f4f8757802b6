import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { describe, expect, test } from "vitest"
import { openStore } from "../../core/store/store.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { databases } from "../support/databases.ts"
import { lifeNamed } from "../support/processes/package.ts"

/** A process and the lines it prints; `until` waits for one. */
class Life {
  readonly process: ChildProcess
  readonly lines: string[] = []
  /** Includes its last line. */
  readonly ended: Promise<unknown>
  #listeners = new Set<() => void>()

  constructor(url: string, role: "first" | "second") {
    const script = lifeNamed("zombie-life")
    this.process = spawn(process.execPath, [script, JSON.stringify({ url, role })], {
      stdio: ["pipe", "pipe", "inherit"],
    })
    this.ended = once(this.process, "close")
    createInterface({ input: this.process.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      this.lines.push(line)
      for (const listener of this.#listeners) listener()
    })
  }

  async until(start: string): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => line.startsWith(start))
      if (found) return found
      await new Promise<void>((resolve) => this.#listeners.add(resolve))
    }
  }
}

describe.each(databases)("on $name", ({ create }) => {
  test("a node that was stopped past its lease has its late append refused", async () => {
    await using database = await create()
    const first = new Life(database.url, "first")
    const id = (await first.until("conversation ")).split(" ")[1] as ConversationId
    await first.until("streaming")
    first.process.kill("SIGSTOP")

    const second = new Life(database.url, "second")
    await second.until("finished")
    await using store = await openStore({ url: database.url })
    const before = await store.journal.read(id)

    first.process.kill("SIGCONT")
    first.process.stdin?.write("go\n")
    await first.until("finished")
    await first.ended
    expect(first.lines.filter((line) => /^(refused|appended)/.test(line))).toEqual(["refused append lease_lost"])

    expect(await store.journal.read(id)).toEqual(before)
    expect(before.map((event) => event.type)).toEqual([
      "conversation_started",
      "run_started",
      "message",
      "restarted",
      "message",
      "run_ended",
    ])
    expect(before[4]).toMatchObject({ parts: [{ text: "The second answers." }] })
    const rows = await store.engine.query("SELECT status, owner FROM conversation", [])
    expect(rows).toEqual([{ status: "active", owner: null }])
  }, 180_000)
})
