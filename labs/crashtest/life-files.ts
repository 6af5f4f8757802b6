import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { CrashScenario } from "./scenario.ts"

/** At which write of a life it is killed, counted from 1, and whether that write still reaches the disk. */
export interface CrashBoundary {
  readonly at: number
  readonly when: "before" | "after"
}

/** What a write is called that is none of a journal: some tool keeps something in the store. */
export const OWN_WRITE = "a tool's own write"

/** What one process is told that plays the scenario, from its beginning or from where another was killed. */
export interface LifeOrders {
  readonly folder: string
  readonly scenario: CrashScenario
  /** Of each message, the same in every life: whoever sends it again means the same. */
  readonly messageIds: readonly string[]
  readonly dies?: CrashBoundary | undefined
}

/** What a process says of a life that it was told to play; one that is killed says nothing. */
export interface LifeEnd {
  /** Why it did not come to the end. */
  readonly failure?: string
}

/** A call of a tool, as it is known in every life. */
export interface NotedCall {
  readonly call: string
  readonly tool: string
  readonly input: string
  readonly effect: "read" | "write"
  readonly afterCrash: string
}

/**
 * What a life leaves: lines that are on record when its process is killed, since the system has them. `touched`: the call has
 * done something that stays, or was about to. `unchanged`: its commit had no effect after all, because what it requires was
 * not so: a call whose id was on record already.
 */
export interface NotedEffect extends NotedCall {
  readonly phase: "begun" | "touched" | "unchanged" | "done"
}

export interface LifeOutcome {
  readonly transcript: readonly TranscriptLine[]
  readonly status: string
  /** Why nothing can be learnt from it, though it came to its end. */
  readonly shortfall?: string
}

export interface TranscriptLine {
  readonly who: string
  readonly text: string
  /** It is a result that a person had to decide about after a crash. */
  readonly wasInDoubt?: true
}

export type LifeFiles = ReturnType<typeof lifeFiles>

/** The files of a throwaway folder. */
export const lifeFiles = (folder: string) => ({
  data: join(folder, "data"),
  writes: join(folder, "writes.jsonl"),
  effects: join(folder, "effects.jsonl"),
  problems: join(folder, "problems.jsonl"),
  outcome: join(folder, "outcome.json"),
})

export const noteLine = (file: string, line: unknown): void => appendFileSync(file, `${JSON.stringify(line)}\n`)

export function readLines<Line>(file: string): Line[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, "utf8").split("\n")
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Line)
}
