import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { CrashScenario } from "./scenario.ts"

/** The write at which a process is killed, counted from 1, and whether that write still reaches the disk. */
export interface CrashBoundary {
  readonly at: number
  readonly when: "before" | "after"
}

/** The name of a write that is not in a journal, by a tool that uses the store. */
export const OWN_WRITE = "a tool's own write"

/** The end of the name of a write that is recorded with its call id in one commit, so that a second attempt has no effect. */
export const ONCE = ": applyOnce"

/** The orders for a process that plays the scenario, from the start or from where another was killed. */
export interface LifeOrders {
  readonly folder: string
  readonly scenario: CrashScenario
  /** Ids of the messages, the same in every run, so that a repeated message is recognized. */
  readonly messageIds: readonly string[]
  readonly dies?: CrashBoundary | undefined
}

/** The report of a process; a killed one sends none. */
export interface LifeEnd {
  /** Why it did not finish. */
  readonly failure?: string
}

/** A tool call, identified in the same way in every process. */
export interface NotedCall {
  readonly call: string
  readonly tool: string
  readonly input: string
  readonly effect: "read" | "write"
  readonly afterCrash: string
}

/**
 * The records of a run, which survive a kill because the system has them. `touched`: the call had a lasting effect, or
 * was about to. `unchanged`: its commit had no effect because its condition failed, such as a call whose id existed
 * already.
 */
export interface NotedEffect extends NotedCall {
  readonly phase: "begun" | "touched" | "unchanged" | "done"
  /** For `touched` and `unchanged`: the name of the effect. */
  readonly what?: string
}

export interface LifeOutcome {
  readonly transcript: readonly TranscriptLine[]
  readonly status: string
  /** Why the run proves nothing, although it finished. */
  readonly shortfall?: string
}

export interface TranscriptLine {
  readonly who: string
  readonly text: string
  /** A result that a person decided about after a crash. */
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
