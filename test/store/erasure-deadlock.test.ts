import pg from "pg"
import { describe, expect, test } from "vitest"
import { openStore } from "../../src/store/store.ts"
import { databases } from "../support/databases.ts"

const postgres = databases.find(({ name }) => name === "postgres")

const WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

describe.runIf(postgres)("on postgres", () => {
  test("whoever is erased while a model call of theirs sets money aside does not wait for it and it for them", async () => {
    await using database = await postgres!.create()
    await using store = await openStore({ url: database.url })
    const { id: user } = await store.people.ensure("ada", 1)
    const client = new pg.Client(database.url)
    await client.connect()
    try {
      await client.query("INSERT INTO budget (person) VALUES ($1)", [user])
      await client.query("INSERT INTO reservation VALUES ('conv_1', 'hold_1', $1, 1, 1)", [user])
      // What SqlBudget does, in its order, with the erasure in between.
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
})
