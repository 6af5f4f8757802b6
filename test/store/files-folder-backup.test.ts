import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { backUp } from "../../core/store/engine/sqlite/backup.ts"
import { backUpFolder } from "../../core/store/files/back-up-folder.ts"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { bytesOf, LARGE, large, namesIn, newFolder } from "../support/message-files/files-world.ts"

const MOST = 100 * 1024 * 1024
const sqlite = databases.find(({ name }) => name === "sqlite")!

async function withFiles() {
  const database = await sqlite.create()
  const folder = newFolder()
  const store = await openStore({ url: database.url, durability: "normal", filesFolder: folder })
  const { id: ada } = await store.people.ensure("ada", Date.now())
  const from = database.url.slice("file:".length)
  const to = join(newFolder(), "copy.db")
  const copy = (named: string | undefined, meanwhile?: () => Promise<unknown>) => {
    let copied: Awaited<ReturnType<typeof backUpFolder>> | undefined
    const beforePublish = async (made: string) => {
      await meanwhile?.()
      copied = await backUpFolder({ copy: made, database: from, folder: named, to: `${to}.files` })
    }
    return backUp({ from, to, beforePublish }).then(() => copied)
  }
  return {
    ...{ store, folder, ada, to, copy },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

test("a backup contains the files that its database names, and opens like the original", async () => {
  await using world = await withFiles()
  const { store, ada, to, folder } = world
  const files = store.messageFiles
  const [good, lost, erased] = [
    await files.keep(ada, large("g"), MOST),
    await files.keep(ada, large("l"), MOST),
    await files.keep(ada, large("e"), MOST),
  ]
  const [row] = await store.engine.query<{ place: string }>("SELECT place FROM file_place WHERE file = ?", [lost.id])
  rmSync(join(folder, row!.place))
  const copied = await world.copy(folder, async () => {
    await files.remove(ada, erased.id)
    await files.keep(ada, large("n"), MOST)
  })
  expect(copied).toEqual({ files: 1, bytes: LARGE, unreadable: 1 })
  expect(namesIn(`${to}.files`)).toHaveLength(1)
  const [name = ""] = namesIn(`${to}.files`)
  expect([statSync(`${to}.files`).mode & 0o777, statSync(join(`${to}.files`, name)).mode & 0o777]).toEqual([
    0o700, 0o600,
  ])
  await using restored = await openStore({ url: `file:${to}`, filesFolder: `${to}.files` })
  expect((await bytesOf(restored.messageFiles, ada, good.id)).equals(large("g").bytes as Buffer)).toBe(true)
})

test("without its folder, or with another one, there is no backup at all", async () => {
  await using world = await withFiles()
  expect(await world.copy(undefined)).toEqual({ files: 0, bytes: 0, unreadable: 0 })
  rmSync(world.to)
  await world.store.messageFiles.keep(world.ada, large("x"), MOST)
  await expect(world.copy(undefined)).rejects.toThrow("set PAWL_FILES_FOLDER")
  await expect(world.copy(newFolder())).rejects.toThrow("is not the folder that contains the 1 attached files")
  writeFileSync(`${world.to}.files`, "mine")
  await expect(world.copy(world.folder)).rejects.toMatchObject({ code: "EEXIST" })
  expect(readFileSync(`${world.to}.files`, "utf8")).toBe("mine")
  expect(namesIn(join(world.to, ".."))).toEqual(["copy.db.files"])
})
