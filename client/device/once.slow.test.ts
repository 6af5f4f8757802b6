import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { expect, inject, test } from "vitest"
import type { CallOutcome } from "../../core/protocol/socket.ts"
import { LocalDevice } from "./local-device.fixture.ts"

/** The moment when a process is killed: just before or after one of its next commits. A tool has two, around its effect. */
interface Death {
  readonly commit: number
  readonly when: "before" | "after"
}
type Deed =
  | { readonly do: "offer" | "touch" | "ask" | "retry"; readonly id: string; readonly dies?: Death | undefined }
  | { readonly do: "restart" }

const id = fc.constantFrom("call_a", "call_b", "call_c")
const death = fc.record({ commit: fc.constantFrom(1, 2), when: fc.constantFrom("before" as const, "after" as const) })
const dies = fc.option(death, { nil: undefined, freq: 3 })
const deeds = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("offer" as const), id, dies }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("touch" as const), id, dies }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("ask" as const), id, dies }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("retry" as const), id, dies }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("restart" as const) }) },
  ),
  { maxLength: 12 },
)

test("for any order of sent calls, requests and disconnects, each call has its effect at most once and answers are true", async () => {
  // The tables are created once, because that takes longer than the test's calls.
  const made = join(mkdtempSync(join(tmpdir(), inject("testRun"), "once-")), "device.db")
  new LocalDevice(made)[Symbol.dispose]()
  await fc.assert(
    fc.asyncProperty(deeds, async (sequence: readonly Deed[]) => {
      const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "once-"))
      copyFileSync(made, join(folder, "device.db"))
      const touched = new Map<string, number>()
      const answers = new Map<string, (CallOutcome | "never")[]>()
      const say = (name: string, answer: CallOutcome | "never") =>
        answers.set(name, [...(answers.get(name) ?? []), answer])
      const forget = (name: string) => void answers.delete(name)
      let device = live(folder, touched)
      const rows = (name: string) =>
        device.db.prepare("SELECT 1 FROM tasks WHERE title = ?").all(name).length + (touched.get(name) ?? 0)
      for (const deed of sequence) {
        const before = "id" in deed ? rows(deed.id) : 0
        if (deed.do === "restart") kill(device.db)
        else if (deed.dies) killAt(device.db, deed.dies)
        try {
          await perform(device, deed, { say, forget })
        } catch (error) {
          if (!dead.has(device.db)) throw error
        }
        if (dead.has(device.db)) device = live(folder, touched)
        else Reflect.deleteProperty(device.db, "exec")
        if ("id" in deed && deed.do === "ask") expect(rows(deed.id)).toBe(before)
      }
      for (const name of ["call_a", "call_b", "call_c"]) {
        expect(rows(name)).toBeLessThanOrEqual(1)
        const [first, ...others] = answers.get(name) ?? []
        if (first === undefined) continue
        // If the first answer was that nothing was done, every answer is; otherwise all answers are equal.
        const undone = (answer: CallOutcome | "never") => answer === "never" || answer.error !== undefined
        if (undone(first)) expect(others.filter((other) => !undone(other))).toEqual([])
        else expect(others).toEqual(others.map(() => first))
        expect(rows(name)).toBe(undone(first) ? 0 : 1)
      }
      device[Symbol.dispose]()
      rmSync(folder, { recursive: true })
    }),
    { numRuns: 300 },
  )
}, 180_000)

interface Notes {
  say(id: string, answer: CallOutcome | "never"): void
  forget(id: string): void
}

async function perform(device: LocalDevice, deed: Deed, { say, forget }: Notes) {
  if (deed.do === "restart") return
  const { id } = deed
  const insert = { id, table: "tasks", data: { title: id } }
  if (deed.do === "ask" || deed.do === "retry") {
    const report = device.calls.report(id)
    if (deed.do === "retry" && report?.status === "unknown") {
      // A retry invalidates the previous answer.
      forget(id)
      const outcome = await device.calls.perform({ type: "tool_call", action: "insert", ...insert }, "knowing")
      if (outcome) say(id, outcome)
    } else if (report && report.status !== "running") {
      say(id, report.status === "unknown" ? "never" : report.outcome)
    }
    return
  }
  const answer = deed.do === "offer" ? device.offer("insert", insert) : device.offer("touch", { id, data: { id } })
  const outcome = await answer
  if (outcome) say(id, outcome)
}

function live(folder: string, touched: Map<string, number>): LocalDevice {
  const device = new LocalDevice(join(folder, "device.db"), {
    touch: ({ id }) => {
      touched.set(String(id), (touched.get(String(id)) ?? 0) + 1)
      return { text: "touched" }
    },
  })
  device.db.exec("PRAGMA synchronous = OFF") // processes are killed here, not machines
  return device
}

const dead = new WeakSet<DatabaseSync>()

/** The process is killed at one of its next commits: nothing it does afterwards is written. */
function killAt(db: DatabaseSync, { commit, when }: Death): void {
  const exec = db.exec.bind(db)
  let commits = 0
  db.exec = (sql) => {
    if (sql !== "COMMIT" || ++commits < commit) return exec(sql)
    if (when === "after") exec(sql)
    kill(db)
    throw new Error("killed")
  }
}

function kill(db: DatabaseSync): void {
  dead.add(db)
  db.close() // rolls back uncommitted work, like a killed process
}
