import { execFileSync } from "node:child_process"
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, inject, test } from "vitest"
import { fileHash, type Folder } from "./folder.ts"
import { openFolder } from "./local-folder.ts"

const SECRET = "not for the model"

/** A folder with every kind of link that leads out of it, next to files that must not change. */
function place() {
  const base = mkdtempSync(join(tmpdir(), inject("testRun"), "folder-"))
  const root = join(base, "work")
  mkdirSync(join(root, "src"), { recursive: true })
  mkdirSync(join(base, "work-old"))
  mkdirSync(join(base, "outside"))
  for (const path of ["work-old/secret", "outside/secret", "secret"]) writeFileSync(join(base, path), SECRET)
  writeFileSync(join(root, "src", "a.txt"), "inside")
  return { base, root, outside: join(base, "outside") }
}

const read = (folder: Folder, path: string) => folder.read(path, 1_000_000).bytes.toString()

describe.each(["descriptors", "names"] as const)("a folder held by %s", (by) => {
  test("reads what is inside, by relative and absolute paths, through links that stay inside", () => {
    const { root } = place()
    symlinkSync("src", join(root, "link"))
    symlinkSync(join(root, "src", "a.txt"), join(root, "absolute"))
    symlinkSync("../link/../src/./a.txt", join(root, "src", "round"))
    using folder = openFolder(root, by)
    for (const path of [
      "src/a.txt",
      "./src//a.txt",
      "src/../src/a.txt",
      join(root, "src/a.txt"),
      "link/a.txt",
      "absolute",
      "src/round",
    ])
      expect(read(folder, path), path).toBe("inside")
    expect(folder.find("link/a.txt")?.path).toBe("src/a.txt")
  })

  test("paths that lead outside are never read or written", () => {
    const { base, root, outside } = place()
    symlinkSync(outside, join(root, "out"))
    symlinkSync("../outside/secret", join(root, "secret-link"))
    symlinkSync("/proc/self/environ", join(root, "environ"))
    symlinkSync("one", join(root, "two"))
    symlinkSync("two", join(root, "one"))
    symlinkSync("hop1", join(root, "hop0"))
    symlinkSync("src/../hop2", join(root, "hop1"))
    symlinkSync("./out", join(root, "hop2"))
    execFileSync("mkfifo", [join(root, "pipe")])
    using folder = openFolder(root, by)
    const paths = [
      ...["../secret", "../outside/secret", "src/../../secret", "..", "/etc/passwd", "/", "/proc/self/environ"],
      ...[
        join(base, "work-old", "secret"),
        `${root}-old/secret`,
        `${root}/../secret`,
        "out/secret",
        "out",
        "secret-link",
      ],
      ...["environ", "one", "hop0/secret", "pipe", "src/a.txt/../../../secret", "a\0b", "out/../secret"],
    ]
    for (const path of paths) {
      expect(() => read(folder, path), path).toThrow()
      expect(() => folder.write(path, Buffer.from("X"), { expect: "absent" }), path).toThrow()
      expect(() => folder.write(path, Buffer.from("X"), { expect: fileHash(Buffer.from(SECRET)) }), path).toThrow()
      expect(() => folder.remove(path, fileHash(Buffer.from(SECRET))), path).toThrow()
    }
    for (const path of ["out/new", "../new", "hop0/new", `${root}-old/new`]) {
      expect(() => folder.write(path, Buffer.from("X"), { expect: "absent" }), path).toThrow("outside")
      expect(() => folder.makeDirectory(path), path).toThrow("outside")
      expect(() => folder.move("src/a.txt", path), path).toThrow("outside")
    }
    expect(() => folder.list("out", 10)).toThrow("outside")
    expect(() => folder.move("out/secret", "mine")).toThrow("outside")
    for (const path of ["work-old/secret", "outside/secret", "secret"])
      expect(readFileSync(join(base, path), "utf8"), path).toBe(SECRET)
    expect(readdirSync(outside)).toEqual(["secret"])
    expect(readdirSync(base).sort()).toEqual(["outside", "secret", "work", "work-old"])
  })

  test("Pawl's own data in the folder is excluded under any path, also before it exists", () => {
    const { base, root } = place()
    mkdirSync(join(root, "data"))
    writeFileSync(join(root, "data", "master.key"), SECRET)
    symlinkSync("data", join(root, "way"))
    symlinkSync(root, join(base, "same"))
    using folder = openFolder(root, by, [join(base, "same", "data"), join(base, "same", "later", "data")])
    for (const path of ["data/master.key", "way/master.key", join(root, "data/master.key"), "src/../data/master.key"]) {
      expect(() => read(folder, path), path).toThrow("outside")
      expect(() => folder.remove(path, fileHash(Buffer.from(SECRET))), path).toThrow()
    }
    expect(() => folder.list("data", 10)).toThrow("outside")
    expect(() => folder.move("data", "mine")).toThrow("outside")
    expect(() => folder.write("data/new", Buffer.from("x"), { expect: "absent" })).toThrow("outside")
    mkdirSync(join(root, "later", "data"), { recursive: true })
    expect(() => folder.write("later/data/new", Buffer.from("x"), { expect: "absent" })).toThrow("outside")
    expect(read(folder, "src/a.txt")).toBe("inside")
    expect(readdirSync(join(root, "data"))).toEqual(["master.key"])
    expect(() => openFolder(join(root, "data"), by, [join(root, "data")])).toThrow("Pawl's own data")
  })

  test("a file with a hard link can be read; a write or a deletion does not change the other name", () => {
    const { root, outside } = place()
    for (const name of ["hard", "gone"]) linkSync(join(outside, "secret"), join(root, name))
    linkSync(join(root, "src", "a.txt"), join(root, "src", "b.txt"))
    using folder = openFolder(root, by)
    expect(read(folder, "hard")).toBe(SECRET)
    expect([folder.find("hard")?.hasOutsideLinks, folder.find("src/b.txt")?.hasOutsideLinks]).toEqual([true, false])
    expect(read(folder, "src/b.txt")).toBe("inside")
    folder.write("hard", Buffer.from("mine"), { expect: fileHash(Buffer.from(SECRET)) })
    folder.remove("gone", fileHash(Buffer.from(SECRET)))
    expect(read(folder, "hard")).toBe("mine")
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe(SECRET)
    expect(folder.find("hard")?.hasOutsideLinks).toBe(false)
  })

  test("pipes, sockets and devices are listed and never opened", async () => {
    const { root } = place()
    execFileSync("mkfifo", [join(root, "pipe")])
    const server = createServer().listen(join(root, "socket"))
    using folder = openFolder(root, by)
    const { entries } = folder.list(".", 10)
    expect(entries.map(({ name, type }) => `${name} ${type}`)).toEqual(["pipe other", "socket other", "src directory"])
    expect(() => read(folder, "pipe")).toThrow("never opened")
    expect(() => read(folder, "socket")).toThrow("never opened")
    await new Promise((resolve) => server.close(resolve))
  })

  test("odd but legal names work", () => {
    const { root } = place()
    using folder = openFolder(root, by)
    for (const name of ["..foo", "-rf", "a\nb", "…", " ", "x (deleted)", "\u001b[31m", "a\\b", "..."]) {
      folder.write(name, Buffer.from(name), { expect: "absent" })
      expect(read(folder, name)).toBe(name)
      expect(folder.list(".", 100).entries.map((entry) => entry.name)).toContain(name)
      folder.remove(name, fileHash(Buffer.from(name)))
    }
    expect(readdirSync(root)).toEqual(["src"])
  })

  test("a write retains the mode, leaves no other file, and refuses a file that has changed", () => {
    const { root } = place()
    const file = join(root, "run.sh")
    writeFileSync(file, "old")
    chmodSync(file, 0o754)
    using folder = openFolder(root, by)
    const { hash } = folder.read("run.sh", 100)
    folder.write("run.sh", Buffer.from("new"), { expect: hash })
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["new", 0o754])
    expect(() => folder.write("run.sh", Buffer.from("again"), { expect: hash })).toThrow("stale")
    expect(() => folder.write("run.sh", Buffer.from("again"), { expect: "absent" })).toThrow("stale")
    expect(() => folder.remove("run.sh", hash)).toThrow("stale")
    expect(readFileSync(file, "utf8")).toBe("new")
    expect(readdirSync(root).sort()).toEqual(["run.sh", "src"])
  })

  test("a write is refused if a link now leads to another path than the shown one", () => {
    const { root } = place()
    mkdirSync(join(root, ".git"))
    symlinkSync(".git", join(root, "d"))
    using folder = openFolder(root, by)
    expect(folder.realPath("d/hook", "follow")).toBe(".git/hook")
    expect(() => folder.write("d/hook", Buffer.from("x"), { expect: "absent" })).toThrow("stale")
    expect(() => folder.makeDirectory("d/hooks")).toThrow("stale")
    expect(() => folder.move("src/a.txt", "d/hook")).toThrow("stale")
    expect(readdirSync(join(root, ".git"))).toEqual([])
  })

  test("a move does not overwrite a file, and moves a link itself", () => {
    const { root } = place()
    symlinkSync("src/a.txt", join(root, "link"))
    using folder = openFolder(root, by)
    folder.write("b.txt", Buffer.from("b"), { expect: "absent" })
    expect(() => folder.move("b.txt", "src/a.txt")).toThrow("exists already")
    expect(() => folder.move("b.txt", "link")).toThrow("exists already")
    folder.move("link", "other")
    expect(lstatSync(join(root, "other")).isSymbolicLink()).toBe(true)
    folder.move("b.txt", "src/c.txt")
    expect(read(folder, "src/c.txt")).toBe("b")
  })

  test("files beyond a size are refused, also those that report no size", () => {
    const { root } = place()
    using folder = openFolder(root, by)
    folder.write("big", Buffer.alloc(2000), { expect: "absent" })
    expect(() => folder.read("big", 1999)).toThrow("2000 bytes")
  })
})
