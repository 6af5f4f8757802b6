import { expect, test } from "vitest"
import { databases } from "../support/databases.ts"
import { openOlderEvents } from "../support/older-events.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, pawl } from "../support/processes/pawl-process.ts"

test.each(databases.filter(({ name }) => name === "postgres"))(
  "pawl migrate names what it has left on $name, with the reason, and what is not as it should be",
  async ({ createCopy }) => {
    await using older = await openOlderEvents(createCopy)
    const environment = { PAWL_DATA: dataFolder(), DATABASE_URL: older.url }
    await older.query("ALTER TABLE event ENABLE ROW LEVEL SECURITY; CREATE VIEW whole AS SELECT e FROM event e")
    const left = await pawl(["migrate"], environment)
    expect([left.code, left.stdout]).toEqual([0, expect.stringContaining("Left for now: 040_event_partitions.")])
    expect(left.stderr).toContain("row-level security")
    await older.query("ALTER TABLE event DISABLE ROW LEVEL SECURITY")
    for (let times = 0; times < 2; times++) {
      const done = await command(["migrate"], environment)
      expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("The database is up to date")])
      expect(done.stderr).toMatch(/views_read_first_part.*whole/)
    }
  },
)
