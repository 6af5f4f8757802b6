import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { newId } from "../../protocol/ids.ts"
import type { StoredBytes } from "../../engine/stored-files.ts"
import type { Engine } from "../engine/engine.ts"
import { openStore, type Store } from "../store.ts"
import { FileCache } from "./file-cache.ts"
import { SqlDatabaseFiles } from "./database-files.ts"
import { removeFile, replaceBytes } from "./naming.ts"

const MEGABYTE = 1024 * 1024

/** On both engines, as all that brings statements to a database, though a server keeps files only in one that machines share. */
describe.each(databases)("files in the database on $name", { timeout: 120_000 }, ({ create }) => {
  let store: Store
  let folder: string
  let now = Date.now()
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), inject("testRun"), "kept-"))
    store = await openStore({ url: (await create()).url, durability: "normal" })
  })
  afterAll(() => store[Symbol.asyncDispose]())

  const open = (engine: Engine = store.engine) => {
    const cache = new FileCache({ folder: mkdtempSync(join(folder, "cache-")), now: () => now })
    return new SqlDatabaseFiles(engine, cache, () => now)
  }
  const written = (bytes: Buffer) => {
    const file = join(folder, randomBytes(4).toString("hex"))
    writeFileSync(file, bytes)
    return file
  }
  /** A connection of a person. Without one, files are not created. */
  const connected = async () => {
    const [user, id] = [newId("user"), newId("conn")]
    const sql = `INSERT INTO connection (id, person, name, engine, key_id, sealed, created_at, updated_at)
      VALUES (?, ?, 'x', 'sqlite', '', '', 0, 0)`
    await store.engine.change({ type: "statements", statements: [{ sql, values: [id, user] }] })
    return { user, id, path: `csv/${id}.db` }
  }
  const partsOf = async ({ id }: StoredBytes) => {
    const sql = "SELECT count(*) AS n FROM kept_file_part WHERE content = ?"
    return (await store.engine.query<{ n: number }>(sql, [id]))[0]?.n
  }
  const change = async (statements: ReturnType<typeof replaceBytes>) =>
    (await store.engine.change({ type: "statements", statements })).ok

  test.each([0, 1, MEGABYTE - 1, MEGABYTE, 3 * MEGABYTE + 7])("%i bytes are returned unchanged", async (size) => {
    const { user, id, path } = await connected()
    const bytes = randomBytes(size)
    const kept = open()
    const stored = await kept.put(user, written(bytes))
    expect(await kept.find(user, path)).toBeUndefined()
    expect(await kept.add(user, path, stored, id)).toBe(true)
    expect(await open().fetch(newId("user"), path)).toBeUndefined() // another person's file is not found
    const file = await open().fetch(user, path)
    expect(readFileSync(file?.local ?? "").equals(bytes)).toBe(true)
    expect(await kept.bytesOf(user)).toBe(size)
  })

  test("a file is added once, and only for an existing connection", async () => {
    const { user, id, path } = await connected()
    const kept = open()
    const [one, two] = [
      await kept.put(user, written(Buffer.from("a"))),
      await kept.put(user, written(Buffer.from("b"))),
    ]
    expect(await kept.add(user, path, one, newId("conn"))).toBe(false)
    expect(await kept.add(newId("user"), path, one, id)).toBe(false)
    const ends = await Promise.all([kept.add(user, path, one, id), kept.add(user, path, two, id)])
    expect(ends.toSorted()).toEqual([false, true])
  })

  test("dropped bytes are deleted, but not those of a file, whose confirmation may have been lost", async () => {
    const { user, id, path } = await connected()
    const kept = open()
    const [one, two] = [
      await kept.put(user, written(Buffer.from("a"))),
      await kept.put(user, written(Buffer.from("b"))),
    ]
    await kept.add(user, path, one, id)
    await kept.drop(one)
    await kept.drop(two)
    expect([await kept.find(user, path), await partsOf(one), await partsOf(two)]).toEqual([one, 1, 0])
  })

  test("new bytes only replace the ones that they were derived from", async () => {
    const { user, id, path } = await connected()
    const kept = open()
    const [one, two, three] = await Promise.all(
      ["1", "2", "3"].map((text) => kept.put(user, written(Buffer.from(text)))),
    )
    await kept.add(user, path, one!, id)
    const ends = await Promise.all([two!, three!].map((to) => change(replaceBytes({ user, path, from: one!.id, to }))))
    expect(ends.toSorted()).toEqual([false, true])
    const winner = ends[0] ? two! : three!
    expect(await kept.find(user, path)).toEqual(winner)
    expect([await partsOf(one!), await partsOf(winner)]).toEqual([0, 1])
    // One that has been swept up, or is a file already, is no replacement.
    expect(await change(replaceBytes({ user, path, from: winner.id, to: one! }))).toBe(false)
    expect(await change(replaceBytes({ user, path, from: winner.id, to: winner }))).toBe(false)
    await change(removeFile(user, path))
    expect([await kept.find(user, path), await partsOf(winner)]).toEqual([undefined, 0])
  })

  test("a read during a replacement returns one version or the other, complete", async () => {
    const { user, id, path } = await connected()
    const kept = open()
    const bytes = ["a", "b"].map((letter) => Buffer.alloc(2 * MEGABYTE, letter))
    const [one, two] = await Promise.all(bytes.map((each) => kept.put(user, written(each))))
    await kept.add(user, path, one!, id)
    let reads = 0
    const query: Engine["query"] = async (sql, values) => {
      // In the middle of the first one.
      if (sql.includes("kept_file_part") && reads++ === 1)
        await change(replaceBytes({ user, path, from: one!.id, to: two! }))
      return store.engine.query(sql, values)
    }
    const file = await open({ ...store.engine, query }).fetch(user, path)
    expect([file?.stored, readFileSync(file?.local ?? "").equals(bytes[1]!)]).toEqual([two, true])
  })

  test("bytes that never become a file are deleted after an hour, and no others", async () => {
    const { user, id, path } = await connected()
    const kept = open()
    const [file, left] = [
      await kept.put(user, written(Buffer.from("f"))),
      await kept.put(user, written(Buffer.from("l"))),
    ]
    await kept.add(user, path, file, id)
    await kept.sweep()
    expect([await partsOf(file), await partsOf(left)]).toEqual([1, 1])
    now += 61 * 60_000
    await kept.sweep()
    expect([await partsOf(file), await partsOf(left)]).toEqual([1, 0])
    expect(await kept.add(user, "csv/other.db", left, id)).toBe(false)
  })

  test("an incomplete upload leaves nothing", async () => {
    const { user } = await connected()
    const failing: Engine["change"] = async (operation: never) => {
      if (JSON.stringify(operation).includes("INSERT INTO kept_file_part")) throw new Error("the disk is full")
      return store.engine.change(operation) as never
    }
    await expect(open({ ...store.engine, change: failing }).put(user, written(Buffer.from("x")))).rejects.toThrow(
      "full",
    )
    expect(await store.engine.query("SELECT 1 FROM kept_file WHERE person = ?", [user])).toEqual([])
  })

  test("a part that arrives after its row was swept is not inserted", async () => {
    const { user } = await connected()
    const late: (() => Promise<unknown>)[] = []
    const cutOff: Engine["change"] = async (operation: never) => {
      if (!JSON.stringify(operation).includes("INSERT INTO kept_file_part"))
        return store.engine.change(operation) as never
      late.push(() => store.engine.change(operation))
      throw new Error("the connection was cut")
    }
    await expect(open({ ...store.engine, change: cutOff }).put(user, written(Buffer.from("x")))).rejects.toThrow("cut")
    for (const arrive of late) await arrive()
    const left = await store.engine.query("SELECT 1 FROM kept_file_part WHERE person = ?", [user])
    expect([late.length, left]).toEqual([1, []])
  })

  test("an upload that is swept while it arrives is refused and leaves nothing", async () => {
    const { user } = await connected()
    let parts = 0
    const sweeping: Engine["change"] = async (operation: never) => {
      const isPart = JSON.stringify(operation).includes("INSERT INTO kept_file_part")
      if (isPart && parts++ === 1) {
        now += 61 * 60_000
        await open().sweep()
      }
      return store.engine.change(operation) as never
    }
    const put = open({ ...store.engine, change: sweeping }).put(user, written(randomBytes(3 * MEGABYTE)))
    await expect(put).rejects.toMatchObject({ code: "store_unavailable" })
    expect(await store.engine.query("SELECT 1 FROM kept_file_part WHERE person = ?", [user])).toEqual([])
  })
})
