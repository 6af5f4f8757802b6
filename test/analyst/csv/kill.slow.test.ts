import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { scripted } from "../../../core/testing.ts"
import { databases } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"
import type { CsvLife } from "../../support/lives/csv-life.ts"
import { killedLife } from "../../support/processes/killed-life.ts"
import { oneIn } from "../../support/sizes.ts"

describe.concurrent.each(databases)(
  "a CSV file whose server is killed, stored on $name",
  { timeout: 180_000 },
  ({ name, create }) => {
    const moments: readonly [CsvLife["die"], number][] = [
      ["before-record", 0],
      ["after-record", 1],
      ["after-delete", 0],
    ]
    // On PostgreSQL the seed selects usually one of them; long runs test all.
    test.each(name === "sqlite" ? moments : oneIn(3, moments))(
      "%s: file and connection are both there, or neither is",
      async (die, count) => {
        const root = mkdtempSync(join(tmpdir(), inject("testRun"), "csv-kill-"))
        const { url } = await create()
        await killedLife("csv-life", { url, root, die })
        const onDisk = () =>
          readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".db"))
        // Killed after the file was moved to its place, whichever way it goes.
        if (name === "sqlite") expect(onDisk().filter((name) => name.includes("conn_"))).toHaveLength(1)
        await using face = await Face.open({ url, model: scripted(), sqliteRoot: root })
        await face.databases.sweep()
        // On PostgreSQL the files are in the store, for all servers.
        const sql = "SELECT path FROM kept_file WHERE path IS NOT NULL"
        const files = async () => (name === "sqlite" ? onDisk() : await face.store.engine.query(sql, []))
        const ada = await face.as("ada")
        const { items } = (await ada.get("/api/connections")).body
        expect([items.length, (await files()).length, readdirSync(join(root, ".uploads")).length]).toEqual([
          count,
          count,
          0,
        ])
        if (count === 0) return
        const { body } = await ada.post(`/api/connections/${items[0].id}/query`, { sql: "SELECT a, b FROM x" })
        expect(body.rows).toEqual([[1, 2]])
      },
    )
  },
)
