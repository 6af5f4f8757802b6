import { createHash, randomBytes } from "node:crypto"
import { createReadStream, createWriteStream, mkdtempSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { expect, inject, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { sizes } from "../../../test/support/sizes.ts"
import { usedMemory } from "../../../test/support/worked.ts"
import { newId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { openStore } from "../store.ts"
import { FileCache } from "./file-cache.ts"
import { SqlDatabaseFiles } from "./database-files.ts"

const MEGABYTE = 1024 * 1024

test.each(databases)(
  "a large file goes into $name and comes back through little memory",
  { timeout: 300_000 },
  async ({ create }) => {
    const [user, id] = [newId("user"), newId("conn")]
    const path = `csv/${id}.db`
    await using store = await openStore({ url: (await create()).url, durability: "normal" })
    const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "kept-"))
    const sql = `INSERT INTO connection (id, person, name, engine, key_id, sealed, created_at, updated_at)
      VALUES (?, ?, 'x', 'sqlite', '', '', 0, 0)`
    await store.engine.change({ type: "statements", statements: [{ sql, values: [id, user] }] })
    const file = await largeFile(join(folder, "large"), sizes.keptMegabytes)
    const before = usedMemory() / MEGABYTE
    let [most, asked] = [0, 0]
    const watched = async <T>(work: Promise<T>): Promise<T> => {
      // Seldom, since collecting takes as long as all that other files of tests have left: but past the bound on either way.
      if (++asked % 16 === 0) most = Math.max(most, usedMemory() / MEGABYTE - before)
      return work
    }
    const engine = {
      ...store.engine,
      change: ((operation: never) => watched(store.engine.change(operation))) as Engine["change"],
      query: ((sql: string, values: unknown[]) => watched(store.engine.query(sql, values))) as Engine["query"],
    }
    const cache = new FileCache({ folder: mkdtempSync(join(folder, "cache-")), now: Date.now })
    const kept = new SqlDatabaseFiles(engine, cache, Date.now)
    const stored = await kept.put(user, file)
    await kept.add(user, path, stored, id)
    const { local = "" } = (await kept.fetch(user, path)) ?? {}
    const [from, back] = await Promise.all([file, local].map(hashOf))
    expect([statSync(local).size, back]).toEqual([sizes.keptMegabytes * MEGABYTE, from])
    expect(asked).toBeGreaterThan(2 * sizes.keptMegabytes)
    // Freed memory is counted some parts later. The bound does not grow with the file, and is far below its size.
    expect(most).toBeLessThan(48)
  },
)

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256")
  await pipeline(createReadStream(path), hash)
  return hash.digest("hex")
}

async function largeFile(path: string, megabytes: number): Promise<string> {
  const file = createWriteStream(path)
  for (let n = 0; n < megabytes; n++)
    if (!file.write(randomBytes(MEGABYTE))) await new Promise((resolve) => file.once("drain", () => resolve(undefined)))
  await new Promise((resolve) => file.end(() => resolve(undefined)))
  return path
}
