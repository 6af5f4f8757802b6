import { AsyncLocalStorage } from "node:async_hooks"
import type { Engine } from "../../core/store/engine/engine.ts"
import type { Operation, Statements } from "../../core/store/engine/operations.ts"
import {
  type CrashBoundary,
  type LifeFiles,
  type NotedCall,
  type NotedEffect,
  ONCE,
  OWN_WRITE,
  noteLine,
} from "./life-files.ts"

/**
 * Counts the positions of one run of the scenario at which the process can be killed, and ends it at one of them with
 * SIGKILL: nothing is reported, closed or flushed, as when the machine runs out of memory. Positions are the commits of
 * the journal and its inbox, and every lasting effect of a tool: in the store, in files, at another server.
 */
export class Boundaries {
  readonly #dies: CrashBoundary | undefined
  readonly #files: LifeFiles
  #count = 0

  constructor(files: LifeFiles, dies: CrashBoundary | undefined) {
    this.#files = files
    this.#dies = dies
  }

  /** Called right before a lasting effect. Returns a function to call right after it. */
  reach(what: string, by?: NotedCall): () => void {
    const mine = ++this.#count
    uncounted(() => noteLine(this.#files.writes, what))
    if (this.#dies?.at === mine && this.#dies.when === "before") die()
    // From here on the effect may have happened, also if this process ends.
    if (by) this.#note(by, "touched", what)
    return () => {
      if (this.#dies?.at === mine) die()
    }
  }

  #note(call: NotedCall, phase: NotedEffect["phase"], what: string): void {
    uncounted(() => noteLine(this.#files.effects, { ...call, phase, what } satisfies NotedEffect))
  }

  /** Runs a tool, so that its effects are attributed to the call. */
  run<Made>(call: NotedCall, make: () => Made): Made {
    return runAs({ call, reach: (what) => this.reach(what, call) }, make)
  }

  /** Commits of the engine are positions, except those without a call or a journal, such as heartbeats. */
  watch(engine: Engine): void {
    const change = engine.change.bind(engine) as (operation: Operation) => Promise<unknown>
    engine.change = (async (operation: Operation) => {
      const call = runningCall()?.call
      if (operation.type === "statements" && !call) return change(operation)
      const by = operation.type === "statements" ? call : undefined
      const what = describe(operation, by)
      const reached = this.reach(what, by)
      const done = await uncounted(() => change(operation))
      if (by && (done as { readonly ok?: boolean }).ok === false) this.#note(by, "unchanged", what)
      reached()
      return done
    }) as Engine["change"]
  }
}

/** The description of a position in the table. */
function describe(operation: Operation, by: NotedCall | undefined): string {
  if (operation.type === "inbox") return "inbox"
  if (operation.type === "statements") return by && recordsCall(operation) ? `${by.tool}${ONCE}` : OWN_WRITE
  return operation.events.map(([, type]) => type).join(" + ") || "lease"
}

/** The commit contains the call id, on which a second one fails as a whole: `applyOnce`, and writes to the workspace. */
const recordsCall = ({ statements }: Statements): boolean =>
  statements.some(({ sql, mustChange }) => mustChange && /^\s*INSERT INTO applied_call\b/.test(sql))

/** Never returns: the signal ends the process before any further code. */
function die(): never {
  process.kill(process.pid, "SIGKILL")
  throw new Error("This process should have been killed.")
}

/** A running tool call. */
interface RunningCall {
  readonly call: NotedCall
  /** Called right before a lasting effect. Returns a function to call right after it. */
  reach(what: string): () => void
}

const working = new AsyncLocalStorage<RunningCall | undefined>()

/** The tool call that the current code runs for. */
export const runningCall = (): RunningCall | undefined => working.getStore()

export const runAs = <Made>(call: RunningCall, make: () => Made): Made => working.run(call, make)

/** Runs code whose effects are part of an effect that is already counted. */
export const uncounted = <Made>(make: () => Made): Made => working.run(undefined, make)
