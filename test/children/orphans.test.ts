import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, onTestFinished, test } from "vitest"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { isGone, programOf } from "../support/processes/processes.ts"

const life = join(import.meta.dirname, "../support/lives/orphan-life.ts")
const sqliteChild = new URL("../../packs/analyst/sqlite/sqlite-child.ts", import.meta.url).href

test.each(["SIGKILL", "SIGTERM"] as const)(
  "a child in the middle of an endless query is gone when its parent has died of %s",
  async (how) => {
    const path = join(dataFolder(), "x.db")
    const db = new DatabaseSync(path)
    db.exec("CREATE TABLE t (a)")
    db.close()
    const script = programOf(`
      import { renameSync, writeFileSync } from "node:fs"
      const at = (name) => new URL(name, import.meta.url)
      // Before the query, which leaves it no time to say anything.
      process.on("message", () => {
        writeFileSync(at("pid.new"), String(process.pid))
        renameSync(at("pid.new"), at("pid"))
      })
      await import(${JSON.stringify(sqliteChild)})`)
    const pidFile = fileURLToPath(new URL("pid", script))
    const parent = spawn(process.execPath, [life, path, script.href], { stdio: ["ignore", "ignore", "inherit"] })
    await expect.poll(() => existsSync(pidFile)).toBe(true)
    const pid = Number(readFileSync(pidFile, "utf8"))
    onTestFinished(() => void (isGone(pid) || process.kill(pid, "SIGKILL")))
    expect([isGone(pid), parent.exitCode]).toEqual([false, null])
    parent.kill(how)
    await once(parent, "exit")
    await expect.poll(() => isGone(pid), { timeout: 60_000 }).toBe(true)
  },
)
