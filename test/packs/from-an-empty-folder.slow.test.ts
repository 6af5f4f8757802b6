import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { beforeAll, expect, inject, onTestFinished, test } from "vitest"
import { type Installed, installPackage, ownPath, withTools } from "../support/processes/installed-package.ts"

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "recipes", "write-a-pack.md"), "utf8")
const files = [...page.matchAll(/```ts file=(\S+)\n([\s\S]*?)```/g)].map(([, name = "", code = ""]) => ({ name, code }))
/** The commands of the page: one block installs, one starts the server, one runs a program against it. */
const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block)
const printed = /It prints\n\n```text\n([\s\S]*?)```/.exec(page)?.[1]

let installed: Installed
beforeAll(async () => {
  installed = await installPackage({ anew: false, typed: false })
}, 300_000)

/** Runs commands in a shell, and ends their processes with the test. */
function shell(commands: string, { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> }) {
  const ours = { PATH: withTools, npm_config_prefer_offline: "true", npm_config_loglevel: "error", ...env }
  const child = spawn("sh", ["-e", "-c", commands], {
    cwd,
    env: ours,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const output = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => void (output[name] += text))
  const ended = once(child, "close").then(([code]) => ({ code: code as number, ...output }))
  onTestFinished(async () => {
    if (child.exitCode === null) process.kill(-child.pid!, "SIGKILL")
    await ended
  })
  const prints = async (pattern: RegExp) => {
    for (;;) {
      const found = pattern.exec(output.stdout)
      if (found) return found
      if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${output.stdout}${output.stderr}`)
      await Promise.race([once(child.stdout, "data"), ended])
    }
  }
  return { ended, prints }
}

test("each command of docs/recipes/write-a-pack.md works in an empty folder, with the package as it is published", async () => {
  expect(blocks).toHaveLength(3)
  const [install = "", serve = "", use = ""] = blocks
  const home = mkdtempSync(join(tmpdir(), inject("testRun"), "home-"))
  const cwd = join(home, "books")
  mkdirSync(cwd)
  // npm's cache is the machine's; the rest of the home folder is new.
  const env = { HOME: home, npm_config_cache: installed.cache }
  const done = await shell(install.replace("install pawl", `install ${installed.tarball}`), { cwd, env }).ended
  expect(done).toMatchObject({ code: 0, stderr: "" })
  for (const { name, code } of files) writeFileSync(join(cwd, name), code)
  const server = shell(serve, { cwd, env: { ...env, PAWL_PORT: "0", PAWL_LOG: "off" } })
  const [, url = ""] = await server.prints(/listening on (\S+)/)
  const used = await shell(use.replace("http://127.0.0.1:7295", url), { cwd, env }).ended
  expect(used).toMatchObject({ code: 0, stdout: printed })
  expect(used.stderr).not.toContain("PAWL_URL")
}, 300_000)

const tooOld =
  /Error: Pawl needs Node 24 or newer; this is Node \S+ \(\S+\)\. Install it from https:\/\/nodejs\.org\.\]?\n/
const programs = ["pawl", "pawl/server"].map((name) => [name, `import ${JSON.stringify(name)}`] as const)

test.each(programs)("a program that imports %s on an older Node is informed which Node it needs", async (_, code) => {
  const ofAnotherAge = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.12.0" } })`
  const pretend = ["--import", `data:text/javascript,${encodeURIComponent(ofAnotherAge)}`]
  const words = ["--input-type=module", "--eval", code]
  const failed = await installed
    .run(process.execPath, [...pretend, ...words])
    .catch((error: { stderr: string }) => error)
  expect(failed.stderr).toMatch(tooOld)
  for (const node of olderNodes()) {
    const really = await installed.run(node, words).catch((error: { stderr: string }) => error)
    expect([node, really.stderr]).toEqual([node, expect.stringMatching(tooOld)])
    expect(really.stderr).not.toContain("SyntaxError")
  }
})

test("no published file has syntax that Node 20 cannot read", () => {
  const folder = join(installed.folder, "node_modules", "pawl", "dist")
  const scripts = readdirSync(folder).filter((name) => name.endsWith(".js"))
  expect(scripts.length).toBeGreaterThan(50)
  const newer = scripts.filter((name) => /^\s*(?:await )?using \w+ = /m.test(readFileSync(join(folder, name), "utf8")))
  expect(newer).toEqual([])
})

/** The installed Nodes that are older than ours, if any. */
function olderNodes(): string[] {
  const found = ownPath.split(delimiter).map((folder) => join(folder, "node"))
  return found.filter(
    (node) => existsSync(node) && Number(execFileSync(node, ["-p", "parseInt(process.versions.node)"])) < 24,
  )
}
