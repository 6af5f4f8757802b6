import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, onTestFinished, test } from "vitest"
import { PATH, scratch } from "../../../test/support/files/commands.ts"
import { isGone } from "../../../test/support/processes/processes.ts"
import { runProcess } from "./run-process.ts"

const life = join(import.meta.dirname, "../../../test/support/lives/command-life.ts")

test("of a program with very long output only the start and the end are stored", async () => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  const cwd = scratch()
  let held = Number.NaN
  const before = process.memoryUsage().arrayBuffers
  const { output } = await runProcess({
    program: "/bin/sh",
    // It waits until the test has measured, after all output was written.
    arguments: [
      "-c",
      "echo begin; head -c 60000000 /dev/zero; echo end; touch said; while [ ! -e seen ]; do sleep 0.05; done",
    ],
    cwd,
    environment: { PATH },
    seconds: 60,
    signal: new AbortController().signal,
    whyTooMuch() {
      if (!existsSync(join(cwd, "said"))) return undefined
      collect()
      held = process.memoryUsage().arrayBuffers - before
      writeFileSync(join(cwd, "seen"), "")
      return undefined
    },
  })
  expect(output).toMatch(/^begin\n[^]*bytes left out[^]*end\n$/)
  expect(held).toBeLessThan(20_000_000)
})

test("a program and its child processes end when its parent is killed", async () => {
  const folder = scratch()
  const parent = spawn(process.execPath, [life, folder], { stdio: ["ignore", "ignore", "inherit"] })
  onTestFinished(() => void parent.kill("SIGKILL"))
  const pids = () => (existsSync(join(folder, "pids")) ? readFileSync(join(folder, "pids"), "utf8") : "")
  await expect.poll(pids, { timeout: 30_000 }).toMatch(/^\d+ \d+\n$/)
  await expect.poll(() => existsSync(join(folder, "known")), { timeout: 30_000 }).toBe(true)
  const begun = pids().trim().split(" ").map(Number)
  onTestFinished(() => void begun.map((pid) => isGone(pid) || process.kill(pid, "SIGKILL")))
  expect(begun.map(isGone)).toEqual([false, false])
  parent.kill("SIGKILL")
  await once(parent, "close")
  await expect.poll(() => begun.map(isGone), { timeout: 30_000 }).toEqual([true, true])
})
