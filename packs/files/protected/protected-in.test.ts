import { execFileSync } from "node:child_process"
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, inject, test } from "vitest"
import { type Folder, fileHash, fileRefusal } from "../folder/folder.ts"
import { openFolder } from "../folder/local-folder.ts"
import { protectedIn, setAside } from "./protected-in.ts"

function folderWith(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "protected-"))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const at = (path: string) => join(root, path)
  const read = (path: string) => readFileSync(at(path), "utf8")
  return { root, at, read, folder: openFolder(root) }
}

/** The folder, with something that does not work. */
function broken(folder: Folder, but: Partial<Folder>): Folder {
  return new Proxy(folder, {
    get(of, name) {
      const given = Reflect.get(but, name) ?? Reflect.get(of, name)
      return typeof given === "function" ? given.bind(of) : given
    },
  })
}

const paths = (folder: Folder, most?: number) => protectedIn(folder, "", most).found.map(({ path }) => path)

test("shallow files are found first, however many are deeper, and skipped folders are reported", () => {
  const { folder } = folderWith({
    "a/b/c/d/1": "",
    "a/b/c/d/2": "",
    "z/AGENTS.md": "",
    ".git/x": "",
    "a/b/c/d/.git/x": "",
  })
  expect(protectedIn(folder)).toMatchObject({ isComplete: true })
  expect(paths(folder)).toEqual([".git", "z/AGENTS.md", "a/b/c/d/.git"])
  expect(paths(folder, 5)).toEqual([".git", "z/AGENTS.md"])
  expect(protectedIn(folder, "", 5).isComplete).toBe(false)
})

test("a directory that cannot be opened, or has too many names, makes the search incomplete", () => {
  const { folder, root } = folderWith({ "a/b": "", "deep/AGENTS.md": "" })
  const list: Folder["list"] = (path, most) => {
    if (path === "a") throw fileRefusal("a: permission denied")
    return folder.list(path, most)
  }
  expect(protectedIn(broken(folder, { list }))).toMatchObject({
    isComplete: false,
    found: [{ path: "deep/AGENTS.md" }],
  })
  mkdirSync(join(root, "many"))
  execFileSync("sh", ["-c", "seq 20001 | xargs touch"], { cwd: join(root, "many") })
  expect(protectedIn(folder)).toMatchObject({ isComplete: false, found: [{ path: "deep/AGENTS.md" }] })
})

test("finds files at any depth", () => {
  const { folder } = folderWith({ "1/2/3/4/5/6/7/8/9/10/11/12/AGENTS.md": "" })
  expect(paths(folder)).toEqual(["1/2/3/4/5/6/7/8/9/10/11/12/AGENTS.md"])
})

test("a directory that was renamed and created again is detected: the new file is put aside and the old one put back", () => {
  const { folder, at, read } = folderWith({ "sub/AGENTS.md": "kind", "sub/a": "" })
  const before = protectedIn(folder)
  renameSync(at("sub"), at("sub2"))
  mkdirSync(at("sub"))
  writeFileSync(at("sub/AGENTS.md"), "cruel")
  const [aside, back, ...rest] = setAside(folder, before)
  expect(aside).toMatch(/^It replaced sub\/AGENTS.md, .* put aside as sub\/put-aside-/)
  expect([back, ...rest]).toEqual([expect.stringContaining("to sub2/AGENTS.md: it was put back")])
  expect(read("sub/AGENTS.md")).toBe("kind")
  expect(readdirSync(at("sub2"))).toEqual(["a"])
})

test("a file that replaces a link is detected, and so is a changed target of a link", () => {
  const { folder, at } = folderWith({ "AGENTS.md": "kind", "docs/rules.md": "kind" })
  symlinkSync("AGENTS.md", at("CLAUDE.md"))
  symlinkSync("docs/rules.md", at("GEMINI.md"))
  symlinkSync("AGENTS.md", at(".cursorrules"))
  const before = protectedIn(folder)
  expect(setAside(folder, before)).toEqual([])
  rmSync(at("CLAUDE.md"))
  writeFileSync(at("CLAUDE.md"), "cruel")
  renameSync(at("docs"), at("docs2"))
  mkdirSync(at("docs"))
  writeFileSync(at("docs/rules.md"), "cruel")
  rmSync(at(".cursorrules"))
  const told = setAside(folder, before).join("\n")
  expect(told).toMatch(/It replaced CLAUDE.md/)
  expect(told).toMatch(/It replaced GEMINI.md/)
  expect(told).toMatch(/^\.cursorrules, .* is gone/m)
  expect(lstatSync(at("CLAUDE.md"), { throwIfNoEntry: false })).toBeUndefined()
  expect(lstatSync(at("GEMINI.md"), { throwIfNoEntry: false })).toBeUndefined()
})

test("a file that cannot be put aside is reported, and the others are put aside", () => {
  const { folder, at } = folderWith({})
  const before = protectedIn(folder)
  for (const path of [".github", "AGENTS.md"]) writeFileSync(at(path), "x")
  const move: Folder["move"] = (from, to) => {
    if (from === ".github") throw fileRefusal(".github: the disk is full")
    folder.move(from, to)
  }
  const told = setAside(broken(folder, { move }), before)
  expect(told).toEqual([
    expect.stringMatching(/\.github, .* STILL STANDS .* the disk is full/),
    expect.stringMatching(/AGENTS.md, .* put aside/),
  ])
  expect(readdirSync(at("."))).toEqual([".github", expect.stringMatching(/^put-aside-/)])
})

test("a git directory is protected under any name, with its configured hooks; a hook with a hard link is not protected completely", () => {
  const git = (at: string) => ({ [`${at}/HEAD`]: "", [`${at}/objects/x`]: "", [`${at}/refs/x`]: "" })
  const { folder, at } = folderWith({
    ...git("deep/data"),
    ...{
      ".git/config": "[core]\nhooksPath=tools/hooks\n",
      ".git/hooks/post-commit": "",
      "tools/hooks/x": "",
      "docs/a": "",
    },
  })
  expect(paths(folder).toSorted()).toEqual([".git", "deep/data", "tools/hooks"])
  expect(protectedIn(folder).isComplete).toBe(true)
  linkSync(at(".git/hooks/post-commit"), at("docs/other"))
  expect(protectedIn(folder).isComplete, "it could be written under its other name").toBe(false)
  // Under another name it may be read, and what is written there is another file.
  expect(folder.find("docs/other")?.hasOutsideLinks).toBe(true)
  folder.write("docs/other", Buffer.from("mine"), { expect: fileHash(Buffer.from("")) })
  expect(readFileSync(at(".git/hooks/post-commit"), "utf8")).toBe("")
})

test("a command cannot create the missing hooks that a repository is configured for", () => {
  const { folder, at } = folderWith({ ".git/config": "[core]\nhooksPath = tools/hooks\n", "tools/a": "" })
  const before = protectedIn(folder)
  mkdirSync(at("tools/hooks"))
  expect(setAside(folder, before).join()).toContain("tools/hooks, which is always asked about: it was put aside")
})
