import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type CrashBoundary, lifeFiles, type LifeOutcome, type NotedEffect, readLines } from "./life-files.ts"
import type { LifeProcesses } from "./life-process.ts"
import type { CrashScenario } from "./scenario.ts"
import { crashtestText } from "../../apps/strings/tests.ts"

/** The outcome of a scenario, in one process or in two. */
export interface Played {
  readonly outcome: LifeOutcome | undefined
  readonly effects: readonly NotedEffect[]
  readonly problems: readonly string[]
  /** The writes of the first run. */
  readonly writes: readonly string[]
  /** The first process was killed as ordered. */
  readonly died: boolean
  /** The error of the last process if it did not finish. */
  readonly failure: string | undefined
}

export interface Playing {
  readonly scenario: CrashScenario
  readonly messageIds: readonly string[]
  readonly processes: LifeProcesses
}

/** Plays a scenario in a throwaway store: completely, or killed at a write and continued by a new process. */
export async function play({ scenario, messageIds, processes }: Playing, dies?: CrashBoundary): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-crashtest-"))
  try {
    const files = lifeFiles(folder)
    mkdirSync(files.data)
    let life = processes.take()
    let end = await life.play({ folder, scenario, messageIds, dies })
    const writes = readLines<string>(files.writes)
    const { died } = end
    if (died) {
      life = processes.replace(life)
      end = await life.play({ folder, scenario, messageIds })
    }
    const failure = end.died ? crashtestText.processKilled : end.failure
    if (failure === undefined) processes.giveBack(life)
    else processes.drop(life)
    const outcome = existsSync(files.outcome)
      ? (JSON.parse(readFileSync(files.outcome, "utf8")) as LifeOutcome)
      : undefined
    const [effects, problems] = [readLines<NotedEffect>(files.effects), readLines<string>(files.problems)]
    return { outcome, effects, problems, writes, died, failure }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
