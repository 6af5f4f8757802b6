import { describe, expect, test } from "vitest"
import type { Conversation } from "../../core/engine/conversation.ts"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { stage } from "../../core/engine/replay/replay.ts"
import { text } from "../../core/engine/staged.fixture.ts"
import { compareSnapshot } from "../../labs/replay/compare-snapshot.ts"
import type { NewEvent } from "../../core/protocol/events.ts"
import { newId } from "../../core/protocol/ids.ts"
import { readConversation } from "../../core/store/journal/read-conversation.ts"
import { openStore } from "../../core/store/store.ts"
import { anyDatabase } from "../support/databases.ts"

const NOW = Date.UTC(2026, 0, 1)
const STARTED = { type: "conversation_started", agent: "a", model: null, provider: null, mode: "confirm" } as const

/** One run of four rows. */
function turn(conversation: Conversation) {
  const { seq } = conversation
  const said = (role: "user" | "assistant", at: number) =>
    ({ type: "message", id: newId("msg"), seq: seq + at, role, parts: [text("Hello?")] }) satisfies NewEvent
  return stage(
    conversation,
    [
      { type: "run_started", runId: newId("run"), maxIterations: 5 },
      said("user", 1),
      { ...said("assistant", 2), finish: "stop" },
      { type: "run_ended", status: "completed" },
    ],
    NOW,
  )
}

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a snapshot is compared byte for byte with the state that the journal gives; one that is ignored does no harm", async () => {
    await using database = await create()
    await using store = await openStore({ url: database.url, durability: "normal" })
    const { journal, engine } = store
    const { id: user } = await store.people.ensure("ada", NOW)
    const conversation = emptyConversation(newId("conv"), user)
    const { id } = conversation
    await journal.create(conversation, stage(conversation, [{ ...STARTED, title: null }], NOW), true)
    const talk = async (runs: number) => {
      for (let run = 0; run < runs; run++) await journal.append(conversation, turn(conversation), { release: false })
    }
    const look = () => compareSnapshot(engine, id)
    /** Reads the conversation, so that a snapshot is stored; the reader does not wait for that write. */
    const kept = async () => {
      await readConversation(engine, id)
      await expect.poll(async () => (await look()).position).toBe(conversation.position)
    }
    const change = (sql: string) =>
      engine.change({
        type: "statements",
        statements: [{ sql: `UPDATE kept_fold SET ${sql}`, values: [], mustChange: true }],
      })

    await talk(60)
    expect(await look()).toEqual({ verdict: "none" })
    await kept()
    await talk(40)
    expect(await look()).toEqual({ verdict: "equal", position: 241 })
    // Stored once more, from the stored snapshot and the rows after it.
    await kept()
    expect(await look()).toEqual({ verdict: "equal", position: 401 })
    await change("body = replace(body, 'Hello?', 'Hullo?')")
    expect(await look()).toEqual({ verdict: "differs", position: 401 })
    await change("body = substr(body, 1, 1000)")
    expect(await look()).toEqual({ verdict: "passed over", position: 401 })
  })
})
