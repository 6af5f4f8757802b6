import { expect, test } from "vitest"
import type { Model } from "../../core/engine/model.ts"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import type { RebuiltRun } from "../../core/engine/rebuild/rebuild-requests.ts"
import { ADA, ID, run as runId, Staged } from "../../core/engine/staged.fixture.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { Run } from "../../core/protocol/conversation/conversation.ts"
import { DryRun } from "./dry-run.ts"
import { readJournalRows, unlikeRow } from "./compare-snapshot.ts"
import { dryLines, replayLines } from "./replay-lines.ts"

const RUN: Run = {
  ...{ id: runId(1), conversationId: ID, status: "completed", iteration: 0, maxIterations: 5, pauseReason: null },
  ...{ error: null, model: "m", usage: null, startedAt: "", endedAt: "" },
}
const nothing = { requests: [], asides: [], newer: undefined, missing: undefined }
const rebuilt = (more: Partial<RebuiltRun> = {}): RebuiltRun => {
  return { ...nothing, conversation: emptyConversation(ID, ADA), ...more }
}
const replayed = { run: RUN, rebuilt: rebuilt(), unlike: [], torn: undefined, keptFold: { verdict: "none" as const } }

test("an unreadable journal and a snapshot that differs from it are reported and exit with 1", () => {
  expect(replayLines(replayed).code).toBe(0)
  const missing = replayLines({ ...replayed, rebuilt: rebuilt({ missing: 5 }) })
  expect([missing.code, missing.text.join("\n")]).toEqual([1, expect.stringContaining("Row 5 is missing")])
  const torn = replayLines({ ...replayed, torn: 7 })
  expect([torn.code, torn.text.join("\n")]).toEqual([1, expect.stringContaining("Row 7 cannot be read")])
  const differs = replayLines({ ...replayed, keptFold: { verdict: "differs", position: 9 } })
  expect([differs.code, differs.text.join("\n")]).toEqual([
    1,
    expect.stringContaining("The snapshot after row 9 differs"),
  ])
  const passed = replayLines({ ...replayed, keptFold: { verdict: "passed over", position: 9 } })
  expect([passed.code, passed.text.join("\n")]).toEqual([0, expect.stringContaining("was skipped")])
  const unlike = replayLines({ ...replayed, unlike: ["status", "usage"] })
  expect([unlike.code, unlike.text.join("\n")]).toEqual([1, expect.stringContaining("(status, usage)")])
})

test("the row of a run is held against its fold, field by field", () => {
  const conversation = new Staged().asks("Look.").calls("look").starts(1).result(1).answers("Seen.").conversation
  const folded = rebuilt({ conversation })
  const row = { ...RUN, iteration: 1 }
  expect(unlikeRow(row, folded)).toEqual([])
  const other = { ...row, status: "failed", iteration: 2, error: { code: "internal", message: "" } } as const
  expect(unlikeRow(other, folded)).toEqual(["status", "iteration", "error"])
  const used = { ...row, usage: { inputTokens: 1, outputTokens: 1, cost: 0 } }
  expect(unlikeRow(used, folded)).toEqual(["usage"])
})

test("the first unreadable row is found, and the rows before it are read", async () => {
  const events = Array.from({ length: 100 }, (_, at) => ({ position: at + 1 }) as JournalEvent)
  for (const broken of [1, 2, 50, 99, 100]) {
    const read = async (_: unknown, { after = 0, upTo = 100 } = {}) => {
      if (broken > after && broken <= upTo) throw new SyntaxError("torn")
      return events.slice(after, upTo)
    }
    const { events: whole, torn } = await readJournalRows({ read }, ID, 100)
    expect([whole.length, torn]).toEqual([broken - 1, broken])
  }
  await expect(readJournalRows({ read: () => Promise.reject(new Error("away")) }, ID, 100)).rejects.toThrow("away")
})

test("the text of another model is shown in full; a run without a reply is reported as one without a request", () => {
  const dry = new DryRun({ name: "other" } as Model, ADA)
  const empty = dryLines(replayed, dry).text.join("\n")
  expect(empty).toContain("The run has no recorded reply")
  expect(empty).not.toContain("to the end of the run")
  const words = Array.from({ length: 60 }, (_, at) => `word${at}`)
  const then = { text: "Short.", calls: [], model: "m" }
  dry.answers.push({ position: 5, then, now: { text: words.join(" "), calls: [], ms: 1 } as never, agree: true })
  const { text } = dryLines(replayed, dry)
  const right = text.flatMap((line) => line.split(" │ ")[1] ?? [])
  expect(right.slice(1).join(" ")).toBe(words.join(" "))
})
