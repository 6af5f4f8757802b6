import { loadModule, parseSync, SqlError } from "libpg-query"
import { parentPort } from "node:worker_threads"
import { planOf, type PostgresPlan } from "./plan.ts"
import { needsNoCursor, problemOfTree } from "./rules.ts"

/** The verdict about a text. `broken`: the parser failed in a way that makes its later results unreliable. */
export interface Verdict {
  readonly problem: string | undefined
  readonly broken: boolean
  /** It only reads, but a cursor does not support it. */
  readonly direct?: boolean
  /** The plan of a statement that changes rows, if requested and the statement has no problem. */
  readonly plan?: PostgresPlan
}

/** A text, and whether it may change rows. */
export interface GuardJob {
  readonly sql: string
  readonly change: boolean
}

await loadModule()
parentPort?.on("message", (question: GuardJob) => parentPort?.postMessage(judge(question)))

/**
 * A text that is nested too deeply throws from the middle of the parser and corrupts its memory: after about a hundred
 * such texts its results are wrong. So the caller replaces this thread.
 */
function judge({ sql, change }: GuardJob): Verdict {
  try {
    if (!change) {
      const tree: unknown = parseSync(sql)
      return { problem: problemOfTree(tree), broken: false, direct: needsNoCursor(tree) }
    }
    const planned = planOf(parseSync(sql), sql)
    if (typeof planned === "string") return { problem: planned, broken: false }
    return { problem: undefined, broken: false, plan: planned }
  } catch (error) {
    if (error instanceof SqlError) return { problem: error.message.slice(0, 500), broken: false }
    return { problem: "it is nested too deep to be looked through", broken: true }
  }
}
