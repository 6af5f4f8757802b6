import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { expect } from "vitest"
import type { ChangeLife } from "../lives/change-life.ts"
import type { CsvLife } from "../lives/csv-life.ts"
import { lifeNamed } from "./package.ts"

/** Runs a server that kills itself at the given point. Returns its whole output. */
export async function killedLife(name: "change-life" | "csv-life", life: ChangeLife | CsvLife): Promise<string> {
  const script = lifeNamed(name)
  const child = spawn(process.execPath, [script, JSON.stringify(life)], { stdio: ["ignore", "pipe", "inherit"] })
  // Waits for the end of its output, because its exit may come before the last output is read.
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, "close")])
  expect(signal, said).toBe("SIGKILL")
  return said
}

/** Kills a server in the middle of a change; returns the proposal that it was applying. */
export async function killedChange(life: ChangeLife): Promise<string> {
  const said = await killedLife("change-life", life)
  expect(said).toMatch(/^\S+\n$/)
  return said.trim()
}
