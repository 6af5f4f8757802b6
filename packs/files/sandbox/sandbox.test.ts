import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { newId } from "../../../core/pack.ts"
import { fakeBubblewrap, isReal, NO_BUBBLEWRAP, open, place, scratch } from "../../../test/support/files/commands.ts"
import { bubblewrap, findSandbox, hiddenPaths, noSandbox } from "./sandbox.ts"

test("a sandbox mounts the files that programs need, and has no network unless it was approved", async () => {
  const { program, told, bin } = fakeBubblewrap()
  const home = scratch()
  expect(findSandbox(place({ searchPath: `/nonexistent:${bin}` })).isEnforced).toBe(true)
  expect(findSandbox(place({ searchPath: "/nonexistent" }))).toBe(noSandbox)
  expect(findSandbox(place({ root: "/" }))).toMatchObject({ isEnforced: false })
  const { run, look, root } = open(bubblewrap(program, place({ home })))
  mkdirSync(join(root, ".git"))
  expect(await look({ command: "true" })).toMatchObject({
    insists: false,
    summary: expect.stringContaining("without network"),
  })
  expect(await look({ command: "true", network: true })).toMatchObject({
    insists: true,
    summary: expect.stringContaining("WITH the network"),
  })
  await run({ command: "true" })
  for (const part of [
    "--ro-bind\n/usr\n/usr\n",
    "--unshare-net\n",
    "--die-with-parent\n",
    "--seccomp\n3\n",
    `--bind\n${root}\n${root}\n`,
    `--ro-bind-try\n${root}/.git\n`,
  ])
    expect(told()).toContain(part)
  for (const part of ["bind\n/\n", `bind\n${home}\n`, "/etc/resolv.conf", "/run"]) expect(told()).not.toContain(part)
  await run({ command: "true", network: true })
  expect(told()).not.toContain("--unshare-net")
  if (existsSync("/etc/resolv.conf")) expect(told()).toContain("\n/etc/resolv.conf\n")
  expect(await look({ command: "git commit", changes_protected: true })).toMatchObject({
    insists: true,
    summary: expect.stringContaining("MAY change .git"),
  })
  await run({ command: "true", changes_protected: true })
  expect(told()).not.toContain(`${root}/.git`)
})

test("the real bubblewrap hides keys, protects the system and blocks the network", async ({ skip }) => {
  skip(!isReal, NO_BUBBLEWRAP)
  const keys = mkdtempSync("/var/tmp/pawl-keys-")
  const outside = join(keys, "..", `pawl-canary-${newId("call")}`)
  writeFileSync(join(keys, "key"), "hush")
  try {
    const { root, run } = open(findSandbox(place()))
    const ports = "tail -n +3 /proc/net/dev | grep -v lo: | wc -l"
    const tries = [`cat ${keys}/key`, `echo x > ${outside}`, "echo x > /etc/pawl-canary", `echo ports $(${ports})`]
    const { text } = await run({ command: [...tries, "echo mine > inside.txt", "cat inside.txt"].join("; ") })
    expect(text).toContain("ports 0")
    expect(text).toContain("mine")
    expect(text).not.toContain("hush")
    expect([outside, "/etc/pawl-canary"].filter((path) => existsSync(path))).toEqual([])
    expect(readFileSync(join(root, "inside.txt"), "utf8")).toBe("mine\n")
    const late = await run({ command: "sleep 60 & sleep 60", seconds: 1 })
    expect(late.text).toContain("did not end within 1 s")
  } finally {
    rmSync(keys, { recursive: true })
  }
})

test("hidden paths in the folder stay hidden, also if they are read-only as well", async () => {
  const { program, told } = fakeBubblewrap()
  const home = scratch()
  for (const name of [".ssh", ".local/share"]) mkdirSync(join(home, name), { recursive: true })
  const { run } = open(bubblewrap(program, place({ home, hidden: hiddenPaths(home, join(home, "nothing")) })), {
    root: home,
  })
  await run({ command: "true" })
  const [, after = ""] = told().split(`--bind\n${home}\n${home}\n`)
  expect(after.indexOf(`--tmpfs\n${home}/.ssh\n`)).toBeGreaterThan(after.indexOf(`--ro-bind-try\n${home}/.ssh\n`))
  expect(after).toContain(`--tmpfs\n${home}/.local/share\n`)
})

test("the real bubblewrap hides keys and Pawl's data in the folder, also after renames", async ({ skip }) => {
  skip(!isReal, NO_BUBBLEWRAP)
  const home = mkdtempSync("/var/tmp/pawl-home-")
  try {
    for (const name of [".ssh", ".local/share"]) mkdirSync(join(home, name), { recursive: true })
    for (const path of [".ssh/key", ".local/share/key", ".netrc"]) writeFileSync(join(home, path), "hush")
    const { run } = open(findSandbox(place({ home, root: home, hidden: hiddenPaths(home, join(home, "nothing")) })), {
      root: home,
    })
    const command =
      "cat .ssh/key .local/share/key .netrc; echo x > .ssh/key; mv .local gone; mv .ssh gone2; echo mine > a"
    for (const _ of [1, 2]) expect((await run({ command })).text).not.toContain("hush")
    expect(readFileSync(join(home, ".ssh/key"), "utf8")).toBe("hush")
    expect(readdirSync(home).sort()).toEqual([".local", ".netrc", ".ssh", "a"])
  } finally {
    rmSync(home, { recursive: true })
  }
})

test("a sandbox that does not work on this machine is reported and not used", () => {
  const bin = scratch()
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\nexit 1\n")
  chmodSync(join(bin, "bwrap"), 0o755)
  expect(findSandbox(place({ searchPath: bin }))).toMatchObject({
    isEnforced: false,
    description: expect.stringContaining("cannot create"),
  })
})

test("the real bubblewrap protects files that always need approval, also if a folder above is renamed", async ({
  skip,
}) => {
  skip(!isReal, NO_BUBBLEWRAP)
  const { run, root } = open(findSandbox(place()))
  mkdirSync(join(root, "sub"))
  for (const path of ["AGENTS.md", "sub/AGENTS.md"]) writeFileSync(join(root, path), "kind")
  symlinkSync("AGENTS.md", join(root, "CLAUDE.md"))
  const tries = ["echo cruel > AGENTS.md", "mv AGENTS.md b", "mv sub sub2", "mkdir sub", "echo cruel > sub/AGENTS.md"]
  const { text } = await run({ command: [...tries, "rm CLAUDE.md", "echo cruel > CLAUDE.md"].join("; ") })
  expect(text).toContain("It replaced CLAUDE.md")
  for (const path of ["AGENTS.md", "sub/AGENTS.md"]) expect(readFileSync(join(root, path), "utf8"), path).toBe("kind")
  expect(existsSync(join(root, "CLAUDE.md"))).toBe(false)
})

test("files that builds and installations execute are protected if they belong to the project, but not if a build generates them", async ({
  skip,
}) => {
  skip(!isReal, NO_BUBBLEWRAP)
  const { run, root } = open(findSandbox(place()))
  writeFileSync(join(root, "package.json"), "{}")
  mkdirSync(join(root, "dist/esm"), { recursive: true })
  writeFileSync(join(root, "dist/esm/package.json"), "{}")
  const tries = ["echo evil > package.json", "echo built > dist/esm/package.json", "echo built > dist/package.json"]
  const { text } = await run({
    command: [...tries, "echo evil > Makefile", "mkdir a && echo evil > a/conftest.py"].join("; "),
  })
  expect(readFileSync(join(root, "package.json"), "utf8")).toBe("{}")
  for (const path of ["dist/esm/package.json", "dist/package.json"])
    expect(readFileSync(join(root, path), "utf8"), path).toBe("built\n")
  for (const path of ["Makefile", "a/conftest.py"]) {
    expect(text).toContain(`It made ${path}, which is always asked about: it was put aside`)
    expect(existsSync(join(root, path)), path).toBe(false)
  }
})
