import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { expect, inject, test, vi } from "vitest"
import type { Answer, CallContext, Preview } from "../../agent/tool.ts"
import { isGone } from "../../../test/processes.ts"
import { newId } from "../../protocol/ids.ts"
import { openFolder } from "./local-folder.ts"
import { runCommand } from "./run-command.ts"
import { bubblewrap, findSandbox, hiddenPlaces, noSandbox, type Sandbox } from "./sandbox.ts"

const scratch = () => mkdtempSync(join(tmpdir(), inject("testRun"), "command-"))
const PATH = process.env.PATH ?? ""

interface Setting {
  readonly signal?: AbortSignal
  readonly root?: string
  readonly agreed?: Preview
}

function open(sandbox: Sandbox, { signal = new AbortController().signal, root = scratch(), agreed }: Setting = {}) {
  const folder = openFolder(root)
  const tool = runCommand({ folder, sandbox, environment: { PATH, LANG: "C" } })
  const context = { state: {}, signal, callId: newId("call"), agreed } as unknown as CallContext
  const run = async (input: object) => (await tool.run(input, context)) as Answer
  const look = async (input: object) =>
    (await (tool as { preview?: typeof tool.run }).preview?.(input, context)) as unknown as Preview
  return { root, run, look }
}

/** Stands in for bubblewrap: notes what it was told and runs the command without walls. */
function fakeBubblewrap() {
  const bin = scratch()
  const program = join(bin, "bwrap")
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$@" > ${bin}/told\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`,
  )
  chmodSync(program, 0o755)
  return { bin, program, told: () => readFileSync(join(bin, "told"), "utf8") }
}

test("a command that does not end in time is ended with all that it started", async () => {
  const { run } = open(noSandbox)
  const begun = Date.now()
  const { status, text } = await run({ command: "trap '' TERM; sleep 300 & echo $!; sleep 100", seconds: 1 })
  expect([status, text]).toEqual(["error", expect.stringContaining("did not end within 1 s")])
  expect(Date.now() - begun).toBeLessThan(5000)
  const [, pid] = /^(\d+)$/m.exec(text) ?? []
  await expect.poll(() => isGone(Number(pid))).toBe(true)
})

test("one that is stopped ends within the time a write is given", async () => {
  // On a clock of the test's own: on that of a busy machine two seconds are luck.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    const stop = new AbortController()
    const { root, run } = open(noSandbox, { signal: stop.signal })
    const running = run({ command: "trap '' TERM; echo $$ > begun; while :; do sleep 1; done" })
    const begun = () => (existsSync(join(root, "begun")) ? readFileSync(join(root, "begun"), "utf8") : "")
    await comes(() => begun().endsWith("\n"))
    stop.abort()
    vi.advanceTimersByTime(1900)
    await comes(() => isGone(Number(begun())))
    expect((await running).text).toContain("It was stopped")
  } finally {
    vi.runOnlyPendingTimers() // one that has not been ended in time must not outlive this
    vi.useRealTimers()
  }
})

test("one that left the group and holds the output open is not waited for, and is told of", async () => {
  const { run } = open(noSandbox)
  const begun = Date.now()
  // As `setsid` does, which not every system has.
  const leaving = `require("child_process").spawn("sh", ["-c", process.argv[1]], { detached: true, stdio: "inherit" }).unref()`
  const { status, text } = await run({
    command: `'${process.execPath}' -e '${leaving}' "echo \\$\\$; exec sleep 30"; echo done`,
    seconds: 20,
  })
  const [, pid] = /^(\d+)$/m.exec(text) ?? []
  try {
    expect(Date.now() - begun).toBeLessThan(5000)
    expect([status, text]).toEqual(["ok", expect.stringMatching(/done[\s\S]*may still run/)])
  } finally {
    process.kill(Number(pid))
  }
  expect((await run({ command: "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end" })).text).toMatch(
    /end\n\[It ran/,
  )
})

test("its input is closed, its environment is what it was given, and how it ended is told", async () => {
  const { run } = open(noSandbox)
  expect((await run({ command: "cat; env | grep -v -E '^(PATH|LANG|PWD|SHLVL|OLDPWD|_)='" })).text).toContain(
    "Exit code 1.",
  )
  expect(await run({ command: "echo out; echo err >&2; kill -9 $$" })).toMatchObject({
    status: "error",
    text: expect.stringMatching(/SIGKILL[\s\S]*out[\s\S]*on standard error\]\nerr/),
  })
  expect((await run({ command: "echo fine" })).text).toBe(`Exit code 0.\nfine\n[It ran ${noSandbox.says}.]`)
})

test("a sandbox shows the system read-only, hides keys, and has no network unless that was shown and asked about", async () => {
  const { program, told, bin } = fakeBubblewrap()
  const home = scratch()
  mkdirSync(join(home, ".ssh"))
  writeFileSync(join(home, ".netrc"), "")
  const hidden = hiddenPlaces(home, join(home, "nothing"))
  expect(findSandbox(`/nonexistent:${bin}`, hidden, home).holds).toBe(true)
  expect(findSandbox("/nonexistent", hidden, home)).toBe(noSandbox)
  const { run, look, root } = open(bubblewrap(program, hidden))
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
    `--ro-bind\n/\n/\n`,
    "--unshare-net\n",
    "--die-with-parent\n",
    `--tmpfs\n${home}/.ssh\n`,
    `--ro-bind\n/dev/null\n${home}/.netrc\n`,
    `--bind\n${root}\n${root}\n`,
    `--ro-bind-try\n${root}/.git\n`,
  ])
    expect(told()).toContain(part)
  await run({ command: "true", network: true })
  expect(told()).not.toContain("--unshare-net")
  expect(await look({ command: "git commit", changes_protected: true })).toMatchObject({
    insists: true,
    summary: expect.stringContaining("MAY change .git"),
  })
  await run({ command: "true", changes_protected: true })
  expect(told()).not.toContain(`${root}/.git`)
})

/** Where this machine has none, or may not use it, nothing can be said of the real one. */
const isReal = findSandbox(PATH, [], "/nonexistent").holds
const NO_BUBBLEWRAP = "bubblewrap is missing, or may not be used, on this machine"

test("the real bubblewrap keeps a command from keys, from the system and from the network", async ({ skip }) => {
  skip(!isReal, NO_BUBBLEWRAP)
  const keys = mkdtempSync("/var/tmp/pawl-keys-")
  const outside = join(keys, "..", `pawl-canary-${newId("call")}`)
  writeFileSync(join(keys, "key"), "hush")
  try {
    const { root, run } = open(findSandbox(PATH, [keys], "/nonexistent"))
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

test("what is hidden stays hidden where the folder holds it, also where it is read-only by its name", async () => {
  const { program, told } = fakeBubblewrap()
  const home = scratch()
  for (const name of [".ssh", ".local/share"]) mkdirSync(join(home, name), { recursive: true })
  const { run } = open(bubblewrap(program, hiddenPlaces(home, join(home, "nothing"))), { root: home })
  await run({ command: "true" })
  const [before = "", after = ""] = told().split(`--bind\n${home}\n${home}\n`)
  expect(before).toContain(`--tmpfs\n${home}/.ssh\n`)
  expect(after.indexOf(`--tmpfs\n${home}/.ssh\n`)).toBeGreaterThan(after.indexOf(`--ro-bind-try\n${home}/.ssh\n`))
  expect(after).toContain(`--tmpfs\n${home}/.local/share\n`)
})

test("the real bubblewrap hides keys and our data in the folder, whatever is renamed", async ({ skip }) => {
  skip(!isReal, NO_BUBBLEWRAP)
  const home = mkdtempSync("/var/tmp/pawl-home-")
  try {
    for (const name of [".ssh", ".local/share"]) mkdirSync(join(home, name), { recursive: true })
    for (const path of [".ssh/key", ".local/share/key", ".netrc"]) writeFileSync(join(home, path), "hush")
    const { run } = open(findSandbox(PATH, hiddenPlaces(home, join(home, "nothing")), home), { root: home })
    const command =
      "cat .ssh/key .local/share/key .netrc; echo x > .ssh/key; mv .local gone; mv .ssh gone2; echo mine > a"
    for (const _ of [1, 2]) expect((await run({ command })).text).not.toContain("hush")
    expect(readFileSync(join(home, ".ssh/key"), "utf8")).toBe("hush")
    expect(readdirSync(home).sort()).toEqual([".local", ".netrc", ".ssh", "a"])
  } finally {
    rmSync(home, { recursive: true })
  }
})

test("one that cannot work on this machine is none, and says so", () => {
  const bin = scratch()
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\nexit 1\n")
  chmodSync(join(bin, "bwrap"), 0o755)
  expect(findSandbox(bin, [], "/nonexistent")).toMatchObject({
    holds: false,
    says: expect.stringContaining("cannot make"),
  })
})

test("what a command in a sandbox makes, and is always asked about, is put aside", async () => {
  const { run, root } = open(bubblewrap(fakeBubblewrap().program, []))
  const { text } = await run({
    command: "mkdir -p .github/workflows sub && touch ok sub/AGENTS.md .github/workflows/x.yml",
  })
  expect(text).toContain("It made .github, which is always asked about")
  expect(readdirSync(root).sort()).toEqual(["ok", expect.stringMatching(/^put-aside-/), "sub"])
  expect(readdirSync(join(root, "sub"))).toEqual([expect.stringMatching(/^put-aside-/)])
})

test("a folder that cannot be looked through to its end is said to be one, and each command in it is asked about", async () => {
  const { look, root } = open(bubblewrap(fakeBubblewrap().program, []))
  expect(await look({ command: "true" })).toMatchObject({ insists: false })
  mkdirSync(join(root, "d/".repeat(300)), { recursive: true })
  expect(await look({ command: "true" })).toMatchObject({
    insists: true,
    summary: expect.stringContaining("MAY change some of .git"),
  })
})

test("what was agreed to within walls does not run without them, and how it is held is told first", async () => {
  const root = scratch()
  const held = open(bubblewrap(fakeBubblewrap().program, []), { root })
  const command = `touch ran; ${"x".repeat(5000)}`
  const agreed = await held.look({ command })
  expect(agreed.summary.slice(0, 400)).toContain("in a sandbox (bubblewrap)")
  const free = open(noSandbox, { root, agreed })
  expect((await free.look({ command })).summary.slice(0, 400)).toContain("without a sandbox")
  await expect(free.run({ command })).rejects.toThrow("stale")
  await expect(
    open(bubblewrap(fakeBubblewrap().program, []), { root, agreed }).run({ command, network: true }),
  ).rejects.toThrow("stale")
  expect(existsSync(join(root, "ran"))).toBe(false)
  await open(bubblewrap(fakeBubblewrap().program, []), { root, agreed }).run({ command })
  expect(existsSync(join(root, "ran"))).toBe(true)
})

test("the real bubblewrap holds what is always asked about, whatever lies above it is renamed", async ({ skip }) => {
  skip(!isReal, NO_BUBBLEWRAP)
  const { run, root } = open(findSandbox(PATH, [], "/nonexistent"))
  mkdirSync(join(root, "sub"))
  for (const path of ["AGENTS.md", "sub/AGENTS.md"]) writeFileSync(join(root, path), "kind")
  symlinkSync("AGENTS.md", join(root, "CLAUDE.md"))
  const tries = ["echo cruel > AGENTS.md", "mv AGENTS.md b", "mv sub sub2", "mkdir sub", "echo cruel > sub/AGENTS.md"]
  const { text } = await run({ command: [...tries, "rm CLAUDE.md", "echo cruel > CLAUDE.md"].join("; ") })
  expect(text).toContain("It replaced CLAUDE.md")
  for (const path of ["AGENTS.md", "sub/AGENTS.md"]) expect(readFileSync(join(root, path), "utf8"), path).toBe("kind")
  expect(existsSync(join(root, "CLAUDE.md"))).toBe(false)
})

/** Looks again in real time: `expect.poll` would turn the test's own clock. */
async function comes(isThere: () => boolean): Promise<void> {
  for (const until = Date.now() + 15_000; !isThere() && Date.now() < until; ) await setTimeout(20)
  expect(isThere()).toBe(true)
}

test("the folder is looked through once to propose a command, once before it runs and once after", async () => {
  const root = scratch()
  const real = openFolder(root)
  let looks = 0
  const folder = new Proxy(real, {
    get(of, name) {
      const given: unknown = Reflect.get(of, name)
      if (typeof given !== "function") return given
      if (name === "list") looks++
      return given.bind(of)
    },
  })
  const tool = runCommand({ folder, sandbox: bubblewrap(fakeBubblewrap().program, []), environment: { PATH } })
  const context = { state: {}, signal: new AbortController().signal, callId: newId("call") } as unknown as CallContext
  const { preview, run } = tool as unknown as {
    preview(input: object, context: CallContext): Promise<Preview>
    run(input: object, context: CallContext): Promise<Answer>
  }
  const input = { command: "echo hi" }
  const agreed = await preview(input, context)
  expect(looks).toBe(1)
  // As the loop does it: whether it is still what was shown, and then it runs.
  const again = await preview(input, { ...context, agreed } as CallContext)
  expect([looks, again.revision]).toEqual([1, agreed.revision])
  expect((await run(input, { ...context, agreed } as CallContext)).status).toBe("ok")
  expect(looks).toBe(3)
})
