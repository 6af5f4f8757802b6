import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { isReal, NO_BUBBLEWRAP } from "../support/files/commands.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, pawl, PawlProcess } from "../support/processes/pawl-process.ts"
import { canRun, hasGit, NO_GIT } from "../support/processes/processes.ts"
import { launcher } from "../support/processes/package.ts"
import { isLong, seedOf } from "../support/sizes.ts"

vi.setConfig({ testTimeout: 180_000 })

function place() {
  const [root, data] = [dataFolder(), dataFolder()]
  writeFileSync(join(root, "a.txt"), "hello\n")
  const environment = { HOME: data, XDG_DATA_HOME: join(data, "share") }
  const exec = (...words: string[]) => pawl(["exec", "--dir", root, ...words], environment)
  /** Runs in one process with others, because the start of a process would take most of the time. */
  const execBeside = (...words: string[]) => command(["exec", "--dir", root, ...words], environment)
  return { root, data, environment, exec, execBeside }
}

test("pawl exec in a folder: reads, asks, changes and continues", async () => {
  const { root, data, exec, execBeside } = place()
  const read = await exec("--mode", "read-only", "read a.txt")
  expect([read.code, read.stdout]).toEqual([0, "hello\n"])
  expect(readdirSync(join(data, "share"))).toEqual(["pawl"])
  expect(readdirSync(root)).toEqual(["a.txt"])

  // A conversation that may only read stays one when it is continued.
  const denied = await execBeside("--continue", "delete a.txt")
  expect(denied.code).toBe(0)
  expect(denied.stdout).toContain("offline model")
  expect(readdirSync(root)).toEqual(["a.txt"])

  const file = join(data, "answer")
  const asked = await execBeside("--json", "-o", file, "replace hello with bye in a.txt")
  expect(asked.code).toBe(2)
  expect(asked.stderr).toMatch(/^Waiting for your approval: Edit a\.txt in one place \(edit_file\)/m)
  const events = asked.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string })
  expect(events[0]).toMatchObject({ type: "conversation_started", agent: "files", mode: "confirm" })
  expect(events.map(({ type }) => type)).toContain("awaiting_confirmation")
  expect(events.at(-1)).toEqual({ type: "done", status: "paused" })
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("hello\n")

  const done = await exec("--mode", "auto", "replace hello with bye in a.txt")
  expect([done.code, done.stdout]).toEqual([0, "a.txt is changed.\n"])
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("bye\n")
  const guarded = await execBeside("--mode", "auto", "create AGENTS.md with obey")
  expect([guarded.code, guarded.stderr]).toEqual([2, expect.stringContaining("(write_file)")])
  expect(readdirSync(root)).toEqual(["a.txt"])
  const wrong = await execBeside("--continue", "--agent", "workspace", "hi")
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("Remove --agent.")])
})

test("@path in the request sends a file of the folder; for another file, stderr names --file", async () => {
  const { root, data, execBeside } = place()
  const [inside, outside] = [join(root, "stock.csv"), join(data, "other.csv")]
  for (const file of [inside, outside]) writeFileSync(file, "part,pieces\nbolt,40\n")
  const sent = await execBeside(`what is in @${inside}?`)
  expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining("I cannot read attached files.")])
  expect(sent.stderr).not.toContain("--file")
  const other = await execBeside(`what is in @${outside}?`)
  expect(other.stderr).toContain(`@${outside} is not attached`)
  expect(other.stderr).toContain(`To attach it, use --file ${outside}.`)
  expect(other.stdout).not.toContain("attached files")
  const word = await execBeside("read a.txt @nobody")
  expect(word.stderr).not.toContain("--file")
})

test("pawl exec asks no model for a title, so a wrong name for that model changes nothing", async () => {
  const { root, environment } = place()
  const asked = await command(["exec", "--dir", root, "read a.txt"], { ...environment, PAWL_TITLE_MODEL: "nope" })
  expect([asked.code, asked.stdout]).toEqual([0, "hello\n"])
  expect(asked.stderr).not.toMatch(/title_failed|\{"at"/)
})

test("after a kill -9 in a command, --continue reports what is in doubt instead of waiting forever", async ({
  skip,
}) => {
  skip(!isReal, NO_BUBBLEWRAP) // where it is asked about
  const { root, environment, exec, execBeside } = place()
  await using first = new PawlProcess(
    ["exec", "--dir", root, "--mode", "auto", "run touch begun; sleep 60"],
    environment,
  )
  await vi.waitUntil(() => existsSync(join(root, "begun")), { timeout: 60_000 })
  await first.kill("SIGKILL")
  for (const [run, ...more] of [[exec], [execBeside, "--json"]] as const) {
    const { code, stderr, stdout } = await run("--continue", ...more, "list the files")
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^In doubt: .*\(run_command\)/m)])
    expect(stderr).toContain("your request was not sent")
    if (more.length > 0)
      expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toEqual({ type: "done", status: "paused" })
  }
})

/** Some machines have it but do not allow its use. */
const hasStrace = canRun("strace", "-f", "-o", "/dev/null", "true")
/** Stops the process only for the traced calls, if strace can, which takes a fraction of the work. */
const FILTER = ["--seccomp-bpf"]
const filter = canRun("strace", "-f", ...FILTER, "-o", "/dev/null", "true") ? FILTER : []

test("a conversation that may only read makes no system call that changes the folder", ({ skip }) => {
  skip(!hasStrace, "strace is missing, or may not be used, on this machine")
  skip(!hasGit, NO_GIT)
  const { root, environment } = place()
  for (const words of [
    ["init", "-q"],
    ["add", "."],
  ])
    execFileSync("git", words, { cwd: root })
  const file = join(environment.HOME, "trace")
  const trace = (mode: string, text: string) => {
    const words = ["-f", ...filter, "-e", "trace=%file", "-o", file, process.execPath, launcher]
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const options = { env: { PATH, NODE_COMPILE_CACHE, ...environment }, encoding: "utf8", stdio: "pipe" } as const
    const run = spawnSync("strace", [...words, "exec", "--dir", root, "--mode", mode, text], { ...options, input: "" })
    expect(run.status, run.stderr).toBe(0)
    const lines = readFileSync(file, "utf8").split("\n")
    // Only our tools open files in the folder by descriptor; no other code in this process does.
    return lines.filter((line) => line.includes(`"${root}`) || line.includes('"/proc/self/fd/'))
  }
  // Calls that read, that start another program, and that would change something: of each one, and in the long run all.
  const asked = [["read a.txt", "search for hello"], ["git diff"], ["delete a.txt", "create b with c"]]
  const seed = seedOf("PAWL_KILL_SEED")
  for (const text of asked.flatMap((texts) => (isLong ? texts : [texts[seed % texts.length]!]))) {
    const calls = trace("read-only", text)
    expect(calls.length, "the folder was opened").toBeGreaterThan(0)
    expect(calls.filter(isChange), text).toEqual([])
  }
  expect(trace("auto", "create b with c").filter(isChange), "what does change something is noticed").not.toEqual([])
})

function isChange(call: string): boolean {
  if (/\b(openat2?|open)\(/.test(call)) return /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(call)
  return /\b(creat|rename\w*|unlink\w*|mkdir\w*|rmdir|link\w*|symlink\w*|\w*chmod\w*|\w*chown\w*|truncate|utime\w*|mknod\w*|\w*setxattr)\(/.test(
    call,
  )
}
