import { describe, expect, test } from "vitest"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { stage } from "../../core/engine/replay/replay.ts"
import { newId } from "../../core/protocol/ids.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"

describe.each(databases)("on $name", ({ create }) => {
  test("a node whose read is older than the writer's last event cannot take over, even with nothing to add", async () => {
    await using database = await create()
    await using writer = await openStore({ url: database.url })
    await using other = await openStore({ url: database.url })
    const { id: user } = await writer.people.ensure("ada", 1)
    const conversation = emptyConversation(newId("conv"), user)
    const start = { type: "conversation_started", agent: "test", model: null, provider: null, title: null } as const
    const events = stage(conversation, [{ ...start, mode: "confirm" }], 1)
    await writer.journal.create(conversation, events, true)
    const old = await other.journal.load(conversation.id, true)
    const last = stage(conversation, [{ type: "settings", mode: "read-only" }], 2)
    await writer.journal.append(conversation, last, { release: true })

    const claimed = await other.journal.claim(old, [], { release: true, withInbox: true })
    const rows = await other.engine.query("SELECT mode FROM conversations WHERE id = ?", [conversation.id])
    expect({ claimed, rows }).toEqual({ claimed: "moved", rows: [{ mode: "read-only" }] })
    const fresh = await other.journal.load(conversation.id, true)
    expect(await other.journal.claim(fresh, [], { release: true, withInbox: true })).toBe("claimed")
  })
})
