import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CommandError } from "../process/command.ts"
import {
  type CrashBoundary,
  lifeFiles,
  type LifeOrders,
  type LifeOutcome,
  type NotedEffect,
  readLines,
} from "./life-files.ts"
import type { CrashScenario } from "./scenario.ts"

/** A life that takes longer hangs. */
const PATIENCE_MS = 120_000

/** How a scenario went, in one life or in two. */
export interface Played {
  readonly outcome: LifeOutcome | undefined
  readonly effects: readonly NotedEffect[]
  readonly problems: readonly string[]
  /** What each write of the first life was. */
  readonly writes: readonly string[]
  /** The first life was killed where it was to be. */
  readonly died: boolean
  /** What the last process said where it did not come to the end. */
  readonly failure: string | undefined
}

export interface Playing {
  readonly scenario: CrashScenario
  readonly messageIds: readonly string[]
}

/** Plays a scenario in a throwaway store: whole, or killed at a write and gone on with by a new process. */
export async function play({ scenario, messageIds }: Playing, dies?: CrashBoundary): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-crashtest-"))
  try {
    mkdirSync(lifeFiles(folder).data)
    const files = lifeFiles(folder)
    const first = await live({ folder, scenario, messageIds, dies })
    const writes = readLines<string>(files.writes)
    const died = first.signal === "SIGKILL"
    const last = died ? await live({ folder, scenario, messageIds }) : first
    const outcome = existsSync(files.outcome)
      ? (JSON.parse(readFileSync(files.outcome, "utf8")) as LifeOutcome)
      : undefined
    const failure = last.code === 0 ? undefined : last.said || `it ended with ${last.code ?? last.signal}`
    const [effects, problems] = [readLines<NotedEffect>(files.effects), readLines<string>(files.problems)]
    return { outcome, effects, problems, writes, died, failure }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One process of this very program, with the same settings and packs. */
async function live(orders: LifeOrders) {
  const { orders: file } = lifeFiles(orders.folder)
  writeFileSync(file, JSON.stringify(orders))
  const [, program] = process.argv
  if (program === undefined) throw new CommandError("It is not known by which file this program was started.")
  const child = spawn(process.execPath, [...process.execArgv, program, "crashtest", "--life", file], {
    stdio: ["ignore", "ignore", "pipe"],
    timeout: PATIENCE_MS,
    killSignal: "SIGTERM",
  })
  let said = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-2000)))
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  return { code, signal, said: said.trim() }
}
