import { execFile } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { programOf } from "../../../test/support/processes/processes.ts"

const run = promisify(execFile)
const NOT_LINUX = "only Linux shows a process's environment to others"

function isWritable(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"))
    return true
  } catch {
    return false
  }
}

test("the environment that a process was started with no longer shows its secrets after they were read", async ({
  skip,
}) => {
  skip(process.platform !== "linux", NOT_LINUX)
  skip(!isWritable("/proc/self/mem"), "this system lets no process write to its own memory that way")
  const program = programOf(`
    import { execFileSync } from "node:child_process"
    import { forgetSecrets } from ${JSON.stringify(new URL("forget-secrets.ts", import.meta.url).href)}
    const look = () => execFileSync("/bin/sh", ["-c", "tr '\\\\0' '\\\\n' < /proc/$PPID/environ; tr '\\\\0' '\\\\n' < /proc/$PPID/cmdline"], { env: { PATH: process.env.PATH } }).toString()
    const before = look()
    forgetSecrets([process.env.SOME_KEY, "hidden-in-a-url"])
    console.log(JSON.stringify({ before, after: look(), kept: process.env.OTHER }))
  `)
  const env = {
    PATH: process.env.PATH,
    SOME_KEY: "sk-very-secret",
    TWICE: "sk-very-secret sk-very-secret",
    DATABASE_URL: "postgres://ada:hidden-in-a-url@host/db",
    OTHER: "not a secret",
  }
  const words = [program.pathname, "--token", "sk-very-secret"]
  const { stdout } = await run(process.execPath, words, { env })
  const { before, after, kept } = JSON.parse(stdout) as Record<string, string>
  expect(before?.match(/sk-very-secret/g)).toHaveLength(4)
  expect(after).not.toMatch(/sk-very-secret|hidden-in-a-url/)
  expect(after).toContain("DATABASE_URL=postgres://ada:***************@host/db")
  expect(after).toContain("OTHER=not a secret")
  expect(kept).toBe("not a secret")
})
