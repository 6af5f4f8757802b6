import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, inject, test } from "vitest"
import type { CallContext, Preview } from "../../core/pack.ts"
import { filesTools } from "./agent.ts"
import { UndoFolder } from "./folder/undo-bytes.ts"
import { openFolder } from "./folder/local-folder.ts"
import { noSandbox } from "./sandbox/sandbox.ts"

/** Previews a write in a folder with these files and links, and returns whether it needs a person. */
function place(files: readonly string[], links: Record<string, string> = {}) {
  const base = mkdtempSync(join(tmpdir(), inject("testRun"), "asked-"))
  // The folder's own place says nothing of what is in it.
  const root = join(base, ".github", "work")
  for (const path of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), "kind\n")
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name))
  const folder = openFolder(root)
  const kept = new UndoFolder(join(base, "kept"))
  const tools = filesTools({ folder, undoBytes: kept, sandbox: noSandbox, environment: {} })
  const context = { state: {}, signal: new AbortController().signal } as unknown as CallContext
  const asks = async (name: string, input: object) => {
    const tool = tools.find((one) => one.name === name) as { preview?: (...given: unknown[]) => Promise<Preview> }
    const preview = await tool.preview?.(input, context)
    expect(preview?.summary.includes("always asked about"), preview?.summary).toBe(preview?.insists)
    return preview?.insists
  }
  return { root, asks }
}

test("a directory that holds what is always asked about is not moved unasked, nor one that cannot be looked through", async () => {
  const { root, asks } = place(["pkg/deep/.github/x.yml", "free/a.txt"])
  const move = (from: string) => asks("move_file", { from, to: "other" })
  expect(await move("pkg")).toBe(true)
  expect(await move("free")).toBe(false)
  expect(await move(join(root, "free"))).toBe(false)
  mkdirSync(join(root, "free", "d/".repeat(300)), { recursive: true })
  expect(await move("free")).toBe(true)
})

test("a change needs approval if its given name is protected, or the target of a protected link", async () => {
  const links = {
    "CLAUDE.md": "docs/rules.md",
    ".cursor": "editor",
    ".envrc": "later.sh",
    ".pawl": "/etc",
    plain: "a.txt",
  }
  const { root, asks } = place(["docs/rules.md", "docs/other.md", "editor/rules", "a.txt"], links)
  const write = (path: string) => asks("write_file", { path, content: "cruel" })
  for (const path of [
    "CLAUDE.md",
    "docs/rules.md",
    "editor/rules",
    "editor/new",
    "later.sh",
    join(root, "docs/rules.md"),
  ])
    expect(await write(path), path).toBe(true)
  for (const path of ["docs/other.md", "plain", "a.txt", join(root, "a.txt"), "new"])
    expect(await write(path), path).toBe(false)
  expect(await asks("edit_file", { path: "CLAUDE.md", old_text: "kind", new_text: "cruel" })).toBe(true)
  expect(await asks("delete_file", { path: "docs/rules.md" })).toBe(true)
  expect(await asks("move_file", { from: "docs", to: "elsewhere" })).toBe(true)
  expect(await asks("move_file", { from: "a.txt", to: "later.sh" })).toBe(true)
  expect(await asks("create_directory", { path: "editor/more" })).toBe(true)
  expect(await asks("create_directory", { path: "docs/more" })).toBe(false)
})

test("files of git need approval under any name, and so do its configured hooks", async () => {
  const git = ["HEAD", "objects/x", "refs/x", "hooks/post-commit", "config"]
  // As `git init --separate-git-dir data` leaves it, and a bare repository.
  const { root, asks } = place([
    ...git.map((path) => `data/${path}`),
    ...git.map((path) => `sub/bare.git/${path}`),
    "a.txt",
  ])
  writeFileSync(join(root, ".git"), "gitdir: data\n")
  writeFileSync(join(root, "data", "config"), '[core]\n\tbare = false\n\thooksPath = "tools/hooks" # ours\n')
  const write = (path: string) => asks("write_file", { path, content: "cruel" })
  for (const path of [".git", "data/hooks/post-commit", "data/config", "data/new", "sub/bare.git/hooks/new", "tools"])
    expect(await write(path), path).toBe(true)
  for (const path of ["a.txt", "sub/a.txt", "new", "database.txt"]) expect(await write(path), path).toBe(false)
  mkdirSync(join(root, "tools", "hooks"), { recursive: true })
  expect(await write("tools/hooks/pre-commit")).toBe(true)
  expect(await write("tools/other")).toBe(false)
  for (const from of ["data", "sub", "tools"])
    expect(await asks("move_file", { from, to: "elsewhere" }), from).toBe(true)
})
