import { chmodSync, mkdirSync, mkdtempSync, type statfsSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { openConnection } from "../store/engine/sqlite/connection.ts"
import { makeDataFolder, openingReason, filesOpenToOthers } from "./open-store.ts"

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const newFolder = () => mkdtempSync(join(tmpdir(), inject("testRun"), "data-"))

test.skipIf(process.platform === "win32")(
  "files that an earlier run left readable for everyone are made private, and nothing else",
  () => {
    const folder = newFolder()
    chmodSync(folder, 0o755)
    const ours = ["pawl.db", "pawl.db-wal", "pawl.db-shm", "master.key", "device.db", "chat-history"]
    for (const name of [...ours, "letter.txt"]) writeFileSync(join(folder, name), "x")
    for (const name of ["databases", "photos"]) mkdirSync(join(folder, name))
    symlinkSync(join(folder, "letter.txt"), join(folder, "kept"))
    for (const name of [...ours, "letter.txt"]) chmodSync(join(folder, name), 0o644)
    for (const name of ["databases", "photos"]) chmodSync(join(folder, name), 0o755)
    expect(filesOpenToOthers(folder)).toHaveLength(ours.length + 1)
    makeDataFolder(folder)
    expect(filesOpenToOthers(folder)).toEqual([])
    expect(ours.map((name) => modeOf(join(folder, name)))).toEqual(ours.map(() => "600"))
    expect(["databases", "photos", "letter.txt"].map((name) => modeOf(join(folder, name)))).toEqual([
      "700",
      "755",
      "644",
    ])
  },
)

test.skipIf(process.platform === "win32")("a new database and its log are private, whatever the umask", () => {
  const folder = newFolder()
  const file = join(folder, "pawl.db")
  const db = openConnection(file)
  db.exec("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
  expect(["", "-wal", "-shm"].map((end) => modeOf(`${file}${end}`))).toEqual(["600", "600", "600"])
  db.close()
})

test.skipIf(process.platform !== "linux")(
  "a folder that cannot be created is refused at once, also if the system reports only that it does not exist",
  () => {
    expect(() => makeDataFolder("/proc/nope/data")).toThrow(
      /^The data folder \/proc\/nope\/data \(PAWL_DATA\) cannot be created: the file or folder does not exist\.$/,
    )
    const file = join(newFolder(), "letter.txt")
    writeFileSync(file, "x")
    expect(() => makeDataFolder(join(file, "data"))).toThrow(/letter\.txt.* cannot be created: a file is in its path/)
    expect(() => makeDataFolder(file)).toThrow(/cannot be created: a file is in its path/)
    const deep = join(newFolder(), "a", "b")
    makeDataFolder(deep)
    expect(modeOf(deep)).toBe("700")
  },
)

test("a missing folder leaves nothing open", () => {
  expect(filesOpenToOthers(join(newFolder(), "never-made"))).toEqual([])
})

test("a database that cannot be opened on a full disk reports the full disk, whatever SQLite calls it", () => {
  const free = (bytes: number) => (() => ({ bavail: bytes / 4096, bsize: 4096 })) as unknown as typeof statfsSync
  const error = (errcode: number) => Object.assign(new Error("disk I/O error"), { errcode })
  const FULL = "the disk is full. Free some space and start again"
  // Shared memory that does not fit (SQLITE_IOERR_SHMSIZE), and a database that does not (SQLITE_FULL).
  for (const code of [10 | (19 << 8), 13]) expect(openingReason(error(code), "/d/pawl.db", free(8192))).toBe(FULL)
  expect(openingReason(error(10), "/d/pawl.db", free(8 * 1024 ** 3)), "another fault").toBe(
    "the disk reported an error",
  )
  expect(openingReason(error(26), "/d/pawl.db", free(0)), "no database").toBe("the file is not a SQLite database")
  const lost = () => {
    throw new Error("no such folder")
  }
  expect(openingReason(error(10), "/d/pawl.db", lost)).toBe("the disk reported an error")
})
