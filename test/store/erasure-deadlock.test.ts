import pg from "pg"
import { describe, expect, test } from "vitest"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { stage } from "../../core/engine/replay/replay.ts"
import { newId } from "../../core/protocol/ids.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"

const postgres = databases.find(({ name }) => name === "postgres")

const WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

describe.runIf(postgres)("on postgres", () => {
  test("erasing a user and reserving money for their model call do not deadlock", async () => {
    await using database = await postgres!.create()
    await using store = await openStore({ url: database.url })
    const { id: user } = await store.people.ensure("ada", 1)
    const client = new pg.Client(database.url)
    await client.connect()
    try {
      await client.query("INSERT INTO budget (person) VALUES ($1)", [user])
      await client.query("INSERT INTO reservation VALUES ('conv_1', 'hold_1', $1, 1, 1)", [user])
      // The statements of SqlBudget, in its order, with the erasure in between.
      await client.query("BEGIN")
      await client.query("UPDATE budget SET person = person WHERE person = $1", [user])
      const erased = store.retention.erasePerson(user)
      await expect.poll(() => store.engine.query(WAITS, [])).toHaveLength(1)
      await client.query("DELETE FROM reservation WHERE person = $1", [user])
      await client.query("COMMIT")
      expect(await erased).toBe(true)
    } finally {
      await client.end()
    }
  })

  test("no query result of a conversation is stored while it is erased", async () => {
    await using database = await postgres!.create()
    await using store = await openStore({ url: database.url })
    const { id: user } = await store.people.ensure("ada", 1)
    const conversation = emptyConversation(newId("conv"), user)
    const { id } = conversation
    const begun = { type: "conversation_started", agent: "a", model: null, provider: null, mode: "confirm" } as const
    await store.journal.create(conversation, stage(conversation, [{ ...begun, title: null }], 1), false)
    const client = new pg.Client(database.url)
    await client.connect()
    try {
      // The erasure has to wait for this once it has deleted the results.
      await client.query("INSERT INTO message_file_use VALUES ('file_1', $1, 'msg_1', $2, 1)", [id, user])
      await client.query("BEGIN; SELECT 1 FROM message_file_use FOR UPDATE")
      const erased = store.retention.eraseConversation(user, id)
      await expect.poll(() => store.engine.query(WAITS, [])).toHaveLength(1)
      let isKept = false
      const answer = { columns: [], rows: [["secret"]], truncated: false }
      const result = { connectionId: newId("conn"), conversationId: id, sql: "SELECT 'secret'", answer }
      const kept = store.results.keep(user, result as never).finally(() => (isKept = true))
      await expect.poll(async () => isKept || (await store.engine.query(WAITS, [])).length === 2).toBe(true)
      await client.query("COMMIT")
      expect(await erased).toBe(true)
      await kept
      expect(await store.engine.query("SELECT id FROM query_result", [])).toEqual([])
    } finally {
      await client.end()
    }
  })
})
