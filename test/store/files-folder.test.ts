import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { stage } from "../../core/engine/replay/replay.ts"
import { newId, type UserId } from "../../core/protocol/ids.ts"
import { BytesFolder } from "../../core/store/files/bytes-folder.ts"
import { FolderFiles } from "../../core/store/files/folder-files.ts"
import { folderDisk } from "../../core/store/files/folder-disk.ts"
import { MARK_FILE, readMark } from "../../core/store/files/folder-mark.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import {
  bytesOf,
  fileOf,
  filesOver,
  LARGE,
  large,
  mortal,
  namesIn,
  newFolder,
} from "../support/message-files/files-world.ts"

const HOUR = 60 * 60_000
const DAY = 24 * HOUR
const MOST = 100 * 1024 * 1024

const rowsOf = async ({ engine }: Store, table: string) => engine.query(`SELECT * FROM ${table}`, [])
const placesOf = async ({ engine }: Store) =>
  (await engine.query<{ place: string }>("SELECT place FROM file_place ORDER BY place", [])).map(({ place }) => place)

describe.each(databases)("on $name", ({ create }) => {
  async function open(folder: string | undefined = newFolder()) {
    const database = await create()
    const clock = new TurnedClock()
    const opened = async (filesFolder: string | undefined = folder) =>
      openStore({ url: database.url, durability: "normal", clock, filesFolder })
    let store = await opened()
    return {
      ...{ clock, folder, opened, url: database.url },
      get store() {
        return store
      },
      get files() {
        return store.messageFiles
      },
      person: async (name: string) => (await store.people.ensure(name, clock.now())).id,
      /** The same database with another folder, or without one. */
      async again(filesFolder?: string) {
        await store[Symbol.asyncDispose]()
        store = await openStore({ url: database.url, durability: "normal", clock, filesFolder })
      },
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  test.skipIf(process.platform !== "linux")(
    "a folder that cannot be created is refused, and not retried for ever",
    async () => {
      await using database = await create()
      const opening = openStore({ url: database.url, durability: "normal", filesFolder: "/proc/pawl/files" })
      await expect(opening).rejects.toMatchObject({
        code: "files_folder_refused",
        message: expect.stringContaining("ENOENT") as string,
      })
    },
  )

  test("a folder is created with its missing parents", async () => {
    await using world = await open(join(newFolder(), "not", "there"))
    expect(statSync(world.folder).mode & 0o777).toBe(0o700)
  })

  test("a large file is in the folder, under a random name and private; a small one is in rows", async () => {
    await using world = await open()
    const { store, files, folder } = world
    const [ada, bob] = [await world.person("ada"), await world.person("bob")]
    const file = large("x")
    const kept = await files.keep(ada, file, MOST)
    const small = await files.keep(ada, fileOf(Buffer.alloc(LARGE - 5, "s")), MOST)
    const [name = "", ...more] = namesIn(folder)
    expect(more).toEqual([])
    expect(name).toMatch(/^[0-9a-f]{32}$/)
    expect(file.sha256).not.toContain(name)
    expect([statSync(folder).mode & 0o777, statSync(join(folder, name)).mode & 0o777]).toEqual([0o700, 0o600])
    expect(await rowsOf(store, "message_file_part")).toHaveLength(1)
    expect((await bytesOf(files, ada, kept.id)).equals(file.bytes)).toBe(true)
    expect(await bytesOf(files, ada, kept.id, 7)).toHaveLength(7)
    expect(await bytesOf(files, ada, small.id)).toHaveLength(LARGE - 5)
    expect(await bytesOf(files, bob, kept.id)).toHaveLength(0)
    const [same] = await Promise.all([files.keep(ada, file, MOST), files.keep(ada, file, MOST)])
    expect(same.id).toBe(kept.id)
    await files.keep(bob, file, MOST)
    expect(namesIn(folder)).toEqual(await placesOf(store))
    expect(namesIn(folder)).toHaveLength(2)
  })

  test("an upload that is killed at any step is not visible, and a sweep removes it", { timeout: 60_000 }, async () => {
    await using world = await open()
    const { store, files, folder, clock } = world
    const ada = await world.person("ada")
    const file = large("k")
    let deaths = 0
    for (const when of ["before", "after"] as const) {
      for (let at = 1; ; at++) {
        const life = mortal(at, when)
        const dying = await filesOver(store, { engine: life.engine(store.engine), disk: life.disk(folderDisk) })
        await dying.keep(ada, file, MOST).catch(() => {})
        if (!life.isDead()) break
        deaths++
        // Either it is there and complete, or it is not there at all.
        const sql = "SELECT id FROM message_file WHERE hash IS NOT NULL"
        const [seen] = await store.engine.query<{ id: never }>(sql, [])
        if (seen) expect((await bytesOf(files, ada, seen.id)).equals(file.bytes)).toBe(true)
        const { id } = await files.keep(ada, file, MOST)
        expect((await bytesOf(files, ada, id)).equals(file.bytes)).toBe(true)
        clock.shift(2 * HOUR)
        await files.sweep()
        expect([namesIn(folder).length, await placesOf(store)]).toEqual([1, namesIn(folder)])
        await files.remove(ada, id)
        expect([namesIn(folder), await placesOf(store)]).toEqual([[], []])
      }
      clock.shift(2 * DAY)
      await files.sweep()
    }
    expect(deaths).toBeGreaterThanOrEqual(10)
  })

  test("a removal that is killed at any step is finished by the next sweep of any node", async () => {
    await using world = await open()
    const { store, files, folder } = world
    const ada = await world.person("ada")
    for (const when of ["before", "after"] as const) {
      for (let at = 1; ; at++) {
        const { id } = await files.keep(ada, large("r"), MOST)
        const life = mortal(at, when)
        const dying = await filesOver(store, { engine: life.engine(store.engine), disk: life.disk(folderDisk) })
        await dying.remove(ada, id).catch(() => {})
        const stillSeen = await files.find(ada, id)
        if (stillSeen) {
          expect([at, when]).toEqual([1, "before"])
          expect(await bytesOf(files, ada, id)).toHaveLength(LARGE)
          await files.remove(ada, id)
        }
        await files.sweep()
        expect([namesIn(folder), await placesOf(store)]).toEqual([[], []])
        if (!life.isDead()) break
      }
    }
  })

  test("a sweep deletes nothing that another node is writing, however old it looks", async () => {
    await using world = await open()
    const { store, folder } = world
    const ada = await world.person("ada")
    await using other = await world.opened()
    const agedFile = {
      ...folderDisk,
      create: async (path: string, bytes: Uint8Array) => {
        await folderDisk.create(path, bytes)
        utimesSync(path, 1, 1)
        await other.messageFiles.sweep()
      },
    }
    const files = await filesOver(store, { disk: agedFile })
    const { id } = await files.keep(ada, large("w"), MOST)
    expect(await bytesOf(files, ada, id)).toHaveLength(LARGE)
    // And an upload that finishes while the folder is being listed.
    const mark = (await readMark(folder))!
    const place = new BytesFolder(folder, mark)
    const late = Object.assign(Object.create(place) as BytesFolder, {
      async *list() {
        await files.keep(ada, large("v"), MOST)
        for (const name of namesIn(folder)) yield { name, writtenAt: 0 }
      },
      remove: (names: string[]) => place.remove(names),
    })
    await new FolderFiles(store.engine, { place: late, now: () => store.clock.now() }).sweep()
    expect(namesIn(folder)).toHaveLength(2)
  })

  test("an upload that paused until a sweep deleted it is written again, or leaves nothing", async () => {
    await using world = await open()
    const { store, folder, clock } = world
    const ada = await world.person("ada")
    let swept = 0
    const slow = (times: number) => ({
      ...folderDisk,
      rename: async (from: string, to: string) => {
        if (swept++ < times) {
          clock.shift(2 * HOUR)
          await store.messageFiles.sweep()
          writeFileSync(from, "written on by a process that has woken up")
        }
        await folderDisk.rename(from, to)
      },
    })
    const files = await filesOver(store, { disk: slow(1) })
    const { id } = await files.keep(ada, large("s"), MOST)
    expect(await bytesOf(files, ada, id)).toHaveLength(LARGE)
    expect([namesIn(folder), namesIn(folder).length]).toEqual([await placesOf(store), 1])
    swept = 0
    await expect((await filesOver(store, { disk: slow(9) })).keep(ada, large("t"), MOST)).rejects.toMatchObject({
      code: "store_unavailable",
    })
    expect(namesIn(folder)).toEqual(await placesOf(store))
  })

  test("a file without a row is deleted after a day, and a foreign file stays", async () => {
    await using world = await open()
    const { files, folder } = world
    const [orphan, part, fresh] = ["a", "b", "c"].map((digit) => digit.repeat(32))
    const old = [orphan, `${part}.part`, "notes.txt", "A".repeat(32)] as string[]
    for (const name of old) {
      writeFileSync(join(folder, name), "x")
      utimesSync(join(folder, name), 1, 1)
    }
    const now = world.clock.now() / 1000
    writeFileSync(join(folder, fresh as string), "x")
    utimesSync(join(folder, fresh as string), now, now)
    mkdirSync(join(folder, "d".repeat(32)))
    await files.sweep()
    expect(namesIn(folder)).toEqual(["A".repeat(32), fresh, "d".repeat(32), "notes.txt"])
  })

  test("a missing, damaged or replaced file is reported with a sentence, and does not affect others", async () => {
    await using world = await open()
    const { store, files, folder } = world
    const ada = await world.person("ada")
    const good = await files.keep(ada, large("g"), MOST)
    const { id } = await files.keep(ada, large("d"), MOST)
    const [row] = await store.engine.query<{ place: string }>("SELECT place FROM file_place WHERE file = ?", [id])
    const path = join(folder, row!.place)
    const secret = join(newFolder(), "secret")
    writeFileSync(secret, Buffer.alloc(LARGE, "d")) // the same bytes: following the link would go unnoticed
    const faults: [string, () => void][] = [
      ["was changed", () => writeFileSync(path, Buffer.alloc(LARGE, "e"))],
      ["was changed", () => writeFileSync(path, Buffer.alloc(LARGE - 1, "d"))],
      ["was changed", () => (rmSync(path), symlinkSync(secret, path))],
      ["was changed", () => (rmSync(path), mkdirSync(path))],
      ["is missing from the folder", () => rmSync(path, { recursive: true })],
      ["heck that its disk is mounted", () => renameSync(join(folder, MARK_FILE), join(folder, "moved"))],
    ]
    expect(await bytesOf(files, ada, id)).toHaveLength(LARGE) // considered good until then
    for (const [words, plant] of faults) {
      plant()
      let given = 0
      const reading = async () => {
        for await (const portion of files.read(ada, id)) given += portion.length
      }
      await expect(reading()).rejects.toMatchObject({
        code: "file_unreadable",
        message: expect.stringContaining(words) as string,
      })
      expect(given, "not a byte of what is another file").toBe(0)
      expect(await bytesOf(files, ada, good.id)).toHaveLength(LARGE)
    }
    renameSync(join(folder, "moved"), join(folder, MARK_FILE))
    const lines = await Array.fromAsync(store.retention.exportOf(ada))
    expect(lines).toContainEqual({
      kind: "message_file_unreadable",
      file: id,
      problem: expect.stringContaining("is missing from the folder") as string,
    })
    const parts = lines.filter(({ kind }) => kind === "message_file_part")
    expect(
      Buffer.concat(parts.map(({ base64 }) => Buffer.from(base64 as string, "base64"))).equals(
        large("g").bytes as Buffer,
      ),
    ).toBe(true)
  })

  test("an invalid name in the database leads nowhere", async () => {
    await using world = await open()
    const { store, files, folder } = world
    const ada = await world.person("ada")
    const { id } = await files.keep(ada, large("h"), MOST)
    for (const place of ["../secret", "/etc/passwd", `${"a".repeat(32)}/../../b`, ""]) {
      await store.engine.change({
        type: "statements",
        statements: [{ sql: "UPDATE file_place SET place = ?", values: [place] }],
      })
      await expect(bytesOf(files, ada, id)).rejects.toMatchObject({ code: "file_unreadable" })
    }
    expect(namesIn(folder)).toHaveLength(1)
  })

  test("a full disk or a missing folder stores nothing, and both are reported", async () => {
    await using world = await open()
    const { store, folder } = world
    const ada = await world.person("ada")
    const failing = (code: string) => async (path: string) => {
      writeFileSync(path, "half of it")
      throw Object.assign(new Error(code), { code })
    }
    for (const [code, words] of [
      ["ENOSPC", "the disk is full"],
      ["EDQUOT", "the disk is full"],
      ["EIO", "cannot be used: EIO"],
    ] as const) {
      const files = await filesOver(store, { disk: { ...folderDisk, create: failing(code) } })
      await expect(files.keep(ada, large("f"), MOST)).rejects.toMatchObject({
        code: "store_unavailable",
        message: expect.stringContaining(words) as string,
      })
      expect([namesIn(folder), await rowsOf(store, "message_file"), await placesOf(store)]).toEqual([[], [], []])
    }
    renameSync(join(folder, MARK_FILE), join(folder, "moved"))
    await expect(world.files.keep(ada, large("f"), MOST)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("mounted") as string,
    })
    expect([namesIn(folder), await rowsOf(store, "message_file")]).toEqual([["moved"], []])
    renameSync(join(folder, "moved"), join(folder, MARK_FILE))
    await world.files.sweep()
    expect(await placesOf(store)).toEqual([])
  })

  test("deleting a conversation or a user deletes the bytes; those of a missing folder, when it is back", async () => {
    await using world = await open()
    const { store, files, folder } = world
    const ada = await world.person("ada")
    const [one, two] = [await begin(store, ada), await begin(store, ada)]
    const [only, both] = [await files.keep(ada, large("1"), MOST), await files.keep(ada, large("2"), MOST)]
    await files.use(ada, { conversation: one.id }, [only.id, both.id])
    await files.use(ada, { conversation: two.id }, [both.id])
    await store.retention.eraseConversation(ada, one.id)
    expect(namesIn(folder)).toHaveLength(1)
    expect(await bytesOf(files, ada, both.id)).toHaveLength(LARGE)
    const away = `${folder}-away`
    renameSync(folder, away)
    mkdirSync(folder)
    expect(await store.retention.eraseConversation(ada, two.id)).toBe(true)
    expect(await files.find(ada, both.id)).toBeUndefined()
    await expect(files.sweep()).rejects.toMatchObject({ code: "store_unavailable" })
    rmSync(folder, { recursive: true })
    renameSync(away, folder)
    expect(namesIn(folder)).toHaveLength(1)
    await files.sweep()
    expect([namesIn(folder), await placesOf(store)]).toEqual([[], []])
    await files.keep(ada, large("3"), MOST)
    await store.retention.erasePerson(ada)
    expect([namesIn(folder), await placesOf(store)]).toEqual([[], []])
  })

  test("without the setting, files of the folder are reported and new ones go to rows; with it again all are read", async () => {
    await using world = await open()
    const ada = await world.person("ada")
    const kept = await world.files.keep(ada, large("o"), MOST)
    const gone = await world.files.keep(ada, large("p"), MOST)
    await world.again()
    await expect(bytesOf(world.files, ada, kept.id)).rejects.toThrow("set PAWL_FILES_FOLDER")
    const inRows = await world.files.keep(ada, large("q"), MOST)
    expect(await bytesOf(world.files, ada, inRows.id)).toHaveLength(LARGE)
    expect(await world.files.remove(ada, gone.id)).toBe(true)
    await world.files.sweep()
    expect(namesIn(world.folder)).toHaveLength(2)
    await world.again(world.folder)
    for (const { id } of [kept, inRows]) expect(await bytesOf(world.files, ada, id)).toHaveLength(LARGE)
    await world.files.sweep()
    expect(namesIn(world.folder)).toHaveLength(1)
  })

  test("the folder of another database is refused at the start, with instructions", async () => {
    const elsewhere = newFolder()
    await using another = await open(elsewhere)
    await using world = await open()
    const refusal = async (folder: string) =>
      world.opened(folder).then(
        (store) => store[Symbol.asyncDispose]().then(() => "opened"),
        (error: Error) => error.message,
      )
    expect(another.folder).toBe(elsewhere)
    expect(await refusal(elsewhere)).toContain("belongs to another database")
    // Like a node that shares the database and not the disk.
    const own = newFolder()
    expect(await refusal(own)).toContain("pawl-files is missing")
    writeFileSync(
      join(own, MARK_FILE),
      readFileSync(join(world.folder, MARK_FILE), "utf8").replace(/ .*/, ` ${"0".repeat(32)}`),
    )
    expect(await refusal(own)).toContain("all nodes of a database must use the same folder")
    expect(await refusal(join(own, "nothing"))).toContain("Check that its disk is mounted")
    symlinkSync(world.folder, join(own, "link"))
    expect(await refusal(join(own, "link"))).toBe("opened")
    // The command in the refusal fixes it.
    const fresh = newFolder()
    const [, line] = /`echo (\S+ \S+) > [^`]*\/pawl-files`/.exec(await refusal(fresh)) ?? []
    writeFileSync(join(fresh, MARK_FILE), `${line}\n`)
    expect(await refusal(fresh)).toBe("opened")
  })

  test("of two nodes that start at once with different folders one is refused; with the same folder both start", async () => {
    await using database = await create()
    const start = (filesFolder: string) =>
      openStore({ url: database.url, durability: "normal", clock: new TurnedClock(), filesFolder })
    const full = newFolder()
    writeFileSync(join(full, "thesis.tex"), "x")
    await expect(start(full)).rejects.toThrow("not empty")
    const apart = await Promise.allSettled([start(newFolder()), start(newFolder())])
    expect(apart.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
    const winner = apart.find((each) => each.status === "fulfilled")!.value
    // It was killed after the mark was on the disk, and before the database had it.
    await winner.engine.change({
      type: "statements",
      statements: [{ sql: "UPDATE files_folder SET folder_mark = NULL", values: [] }],
    })
    await winner[Symbol.asyncDispose]()
    for (const store of await Promise.all([start(winner.filesFolder!), start(winner.filesFolder!)]))
      await store[Symbol.asyncDispose]()
  })
})

async function begin(store: Store, user: UserId) {
  const conversation = emptyConversation(newId("conv", user), user)
  const started = { type: "conversation_started", agent: "test", model: null, provider: null } as const
  const events = stage(conversation, [{ ...started, mode: "confirm", title: null }], 1)
  await store.journal.create(conversation, events, false)
  return conversation
}
