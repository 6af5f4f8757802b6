import { expect, test } from "vitest"
import type { Journal } from "../../engine/journal.ts"
import { newId } from "../../protocol/ids.ts"
import type { Conversations } from "../conversation/ports.ts"
import { newestRun } from "./journal-runs.ts"

test("a run that starts during the search does not get the end of the previous run", async () => {
  const id = newId("conv")
  const runs = [1, 5].map((start) => ({ id: newId("run"), start }))
  const [first, second] = runs as [(typeof runs)[number], (typeof runs)[number]]
  const rows = new Map(runs.map((run) => [run.start, run]))
  // The second run starts after the first query.
  const conversations = {
    runs: async () => ({ items: [{ id: first.id, status: "completed", endedAt: "then" }], nextCursor: null }),
    runStart: async () => second.start,
    rowsOfRun: async (_: unknown, run: string) => ({ start: runs.find((each) => each.id === run)!.start, upTo: 9 }),
  } as unknown as Conversations
  const journal = {
    read: async (_: unknown, { upTo }: { upTo: number }) => [{ type: "run_started", runId: rows.get(upTo)!.id }],
  } as unknown as Journal
  const expected = { runId: first.id, start: 1, status: "completed", endedAt: "then" }
  expect(await newestRun({ conversations, journal }, id)).toEqual(expected)
})
