import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { conversationStatus } from "../../core/engine/conversation.ts"
import { replay } from "../../core/engine/replay/replay.ts"
import { checkRequest } from "../../core/models/scripted/check-request.ts"
import { JournalEvent } from "../../core/protocol/events.ts"
import type { ConversationId, UserId } from "../../core/protocol/ids.ts"

const folder = new URL("../journals/", import.meta.url)

/**
 * Journals as releases have written them. Lines are never changed, only files added: journals on users' disks must
 * replay.
 */
describe("a journal written by an earlier release", () => {
  test.each(readdirSync(folder).filter((file) => file.endsWith(".jsonl")))("%s still gives the same state", (file) => {
    const [expected, ...events] = readFileSync(new URL(file, folder), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown)
    for (const event of events) expect(JournalEvent.safeParse(event).error).toBeUndefined()
    const conversation = replay("conv_1" as ConversationId, "user_1" as UserId, events as JournalEvent[])
    const { history, run, seq, mode, proposals, grants, undone, hasSeen: holds } = conversation
    const since = { grants: [...grants.values()].map(({ tool, left }) => [tool, left]), undone: undone.size, holds }
    // A journal from before a feature has none of its data and reports none.
    const told = Object.entries(since).filter(([name]) => name in (expected as object))
    expect({
      status: conversationStatus(conversation),
      run: run && { status: run.status, iteration: run.iteration, tools: run.toolHistory.map(({ status }) => status) },
      roles: history.map(({ role }) => role),
      open: [...proposals.values()].map(({ status }) => status),
      seq,
      mode,
      ...Object.fromEntries(told),
    }).toEqual(expected)
    const tools = [{ name: "any", description: "any", inputSchema: { type: "object" } }]
    if (run?.status !== "running" && history.at(-1)?.role === "assistant") {
      checkRequest({ system: "", history: [...history, { role: "user", text: "next" }], tools, toolChoice: "auto" })
    }
  })
})
