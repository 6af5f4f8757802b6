import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { type Answer, type CallContext, newId, type Preview } from "../../core/pack.ts"
import { isGone } from "../../test/support/processes/processes.ts"
import { fakeSandbox, open, PATH, scratch } from "../../test/support/files/commands.ts"
import { fileHandlers } from "./device-handlers.ts"
import { editFile } from "./edit-file.ts"
import { openFolder } from "./folder/local-folder.ts"
import { runCommand } from "./run-command.ts"
import { noSandbox } from "./sandbox/sandbox.ts"

test("a command that does not end in time is ended with all that it started", async () => {
  const { run } = open(noSandbox)
  // By itself it ends long after this test has been given up.
  const { status, text } = await run({ command: "trap '' TERM; sleep 300 & echo $!; sleep 300", seconds: 1 })
  expect([status, text]).toEqual(["error", expect.stringContaining("did not end within 1 s")])
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

test("one that left the group and holds the output open is not waited for, and is reported", async () => {
  const { run } = open(noSandbox)
  // As `setsid` does, which not every system has. It holds the output longer than this test is waited for.
  const leaving = `require("child_process").spawn("sh", ["-c", process.argv[1]], { detached: true, stdio: "inherit" }).unref()`
  const { status, text } = await run({
    command: `'${process.execPath}' -e '${leaving}' "echo \\$\\$; exec sleep 300"; echo done`,
    seconds: 200,
  })
  const [, pid] = /^(\d+)$/m.exec(text) ?? []
  try {
    expect([status, text]).toEqual(["ok", expect.stringMatching(/done[\s\S]*may still run/)])
  } finally {
    process.kill(Number(pid))
  }
  expect((await run({ command: "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end" })).text).toMatch(
    /end\n\[It ran/,
  )
})

test("its input is closed, its environment is the configured one, and its end is reported", async () => {
  const { run } = open(noSandbox)
  expect((await run({ command: "cat; env | grep -v -E '^(PATH|LANG|PWD|SHLVL|OLDPWD|_)='" })).text).toContain(
    "Exit code 1.",
  )
  expect(await run({ command: "echo out; echo err >&2; kill -9 $$" })).toMatchObject({
    status: "error",
    text: expect.stringMatching(/SIGKILL[\s\S]*out[\s\S]*on standard error\]\nerr/),
  })
  expect((await run({ command: "echo fine" })).text).toBe(`Exit code 0.\nfine\n[It ran ${noSandbox.description}.]`)
})

test("what a command in a sandbox makes, and is always asked about, is put aside", async () => {
  const { run, root } = open(fakeSandbox())
  const { text } = await run({
    command: "mkdir -p .github/workflows sub && touch ok sub/AGENTS.md .github/workflows/x.yml",
  })
  expect(text).toContain("It made .github, which is always asked about")
  expect(readdirSync(root).sort()).toEqual(["ok", expect.stringMatching(/^put-aside-/), "sub"])
  expect(readdirSync(join(root, "sub"))).toEqual([expect.stringMatching(/^put-aside-/)])
})

test("a folder that is too large to search completely is reported, and each command in it needs approval", async () => {
  const { look, root } = open(fakeSandbox())
  expect(await look({ command: "true" })).toMatchObject({ insists: false })
  mkdirSync(join(root, "d/".repeat(300)), { recursive: true })
  expect(await look({ command: "true" })).toMatchObject({
    insists: true,
    summary: expect.stringContaining("MAY change some of .git"),
  })
})

test("a command approved with a sandbox does not run without it, and the preview starts with the sandbox", async () => {
  const root = scratch()
  const held = open(fakeSandbox(), { root })
  const command = `touch ran; ${"x".repeat(5000)}`
  const agreed = await held.look({ command })
  expect(agreed.summary.slice(0, 400)).toContain("in a sandbox (bubblewrap)")
  const free = open(noSandbox, { root, approved: agreed })
  expect((await free.look({ command })).summary.slice(0, 400)).toContain("without a sandbox")
  await expect(free.run({ command })).rejects.toThrow("stale")
  await expect(open(fakeSandbox(), { root, approved: agreed }).run({ command, network: true })).rejects.toThrow("stale")
  expect(existsSync(join(root, "ran"))).toBe(false)
  await open(fakeSandbox(), { root, approved: agreed }).run({ command })
  expect(existsSync(join(root, "ran"))).toBe(true)
})

/** Looks again in real time: `expect.poll` would turn the test's own clock. */
async function comes(isThere: () => boolean): Promise<void> {
  for (const until = Date.now() + 60_000; !isThere() && Date.now() < until;) await setTimeout(20)
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
  const tool = runCommand({ folder, sandbox: fakeSandbox(), environment: { PATH } })
  const context = { state: {}, signal: new AbortController().signal, callId: newId("call") } as unknown as CallContext
  const { preview, run } = tool as unknown as {
    preview(input: object, context: CallContext): Promise<Preview>
    run(input: object, context: CallContext): Promise<Answer>
  }
  const input = { command: "echo hi" }
  const agreed = await preview(input, context)
  expect(looks).toBe(1)
  // As the loop does it: whether it is still what was shown, and then it runs.
  const again = await preview(input, { ...context, approved: agreed } as CallContext)
  expect([looks, again.revision]).toEqual([1, agreed.revision])
  expect((await run(input, { ...context, approved: agreed } as CallContext)).status).toBe("ok")
  expect(looks).toBe(3)
})

test("colours of a command are dropped, and its words stay", async () => {
  const { run } = open(noSandbox)
  const { text } = await run({
    command: "printf '\\033[1;31mred\\033[0m \\033]8;;http://x\\007link\\033]8;;\\007 [31m ä\\n'",
  })
  expect(text).toContain("\nred link [31m ä\n")
})

test("a command outside of the sandbox says so, is always asked about, and is none of what was agreed to within", async () => {
  const root = scratch()
  const held = fakeSandbox()
  const inside = await open(held, { root }).look({ command: "touch ran" })
  const outside = await open(held, { root }).look({ command: "touch ran", outside_sandbox: true })
  expect(inside).toMatchObject({ insists: false, summary: expect.stringContaining("in a sandbox") })
  expect(outside).toMatchObject({
    insists: true,
    summary: expect.stringMatching(/OUTSIDE the sandbox.*whatever you can/),
  })
  const { run } = open(held, { root, approved: inside })
  await expect(run({ command: "touch ran", outside_sandbox: true })).rejects.toThrow("stale")
  expect(existsSync(join(root, "ran"))).toBe(false)
  const { text } = await open(held, { root, approved: outside }).run({ command: "touch ran", outside_sandbox: true })
  expect(text).toContain("It ran OUTSIDE the sandbox")
  expect(existsSync(join(root, "ran"))).toBe(true)
})

test("a secret of ours stands in no output, where it comes in pieces or is cut neither, nor does a device tell one", async () => {
  const key = "sk-0123456789-abcdefghij"
  using folder = openFolder(scratch())
  const tool = runCommand({ folder, sandbox: noSandbox, environment: { PATH }, secrets: [key] })
  const context = { state: {}, signal: new AbortController().signal, callId: newId("call") } as unknown as CallContext
  const fill = (count: number) => `head -c ${count} /dev/zero | tr '\\0' x`
  const halves = `printf ${key.slice(0, 9)}; sleep 0.2; printf '${key.slice(9)}\\n'`
  // The beginning that is kept ends in the middle of it.
  const cut = `${fill(19_990)}; printf ${key}; ${fill(60_000)}`
  for (const command of [halves, cut, `${halves} >&2`.replace("; sleep", " >&2; sleep")]) {
    const { text } = (await tool.run({ command }, context)) as Answer
    expect(text).toContain(command === cut ? "bytes left out" : "[hidden]")
    expect(text).not.toContain("sk-0")
  }
  const { run_command: run } = fileHandlers([tool], [key])
  const told = await run?.({ command: `echo ${key.toUpperCase()}; echo ${key}` }, context)
  expect(JSON.stringify(told)).toContain("[hidden]")
  expect(JSON.stringify(told)).not.toContain(key)
})

test("nor does a device show one in what a change would do to a file", async () => {
  const key = "sk-0123456789-abcdefghij"
  const root = scratch()
  writeFileSync(join(root, ".env"), `OPENAI_API_KEY=${key}\nDEBUG=0\n`)
  using folder = openFolder(root)
  const edit = editFile({ folder, undoBytes: { store() {}, get: () => undefined }, plans: new Map() })
  const { preview_change: look } = fileHandlers([edit], [key])
  const input = { path: ".env", old_text: "DEBUG=0", new_text: "DEBUG=1" }
  const told = JSON.stringify(await look?.({ tool: "edit_file", input }, { signal: new AbortController().signal }))
  expect(told).toContain("OPENAI_API_KEY=[hidden]\\nDEBUG=1")
  expect(told).not.toContain(key)
})

test("what it would run is on its proposal, for a grant covers a command line", async () => {
  const { look } = open(fakeSandbox())
  expect((await look({ command: "npm test" })).commandLine).toBe("npm test")
})
