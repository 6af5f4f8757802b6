import { loadModule, parseSync, SqlError } from "libpg-query"
import { parentPort } from "node:worker_threads"
import { planOf, type PostgresPlan } from "./plan.ts"
import { needsNoCursor, problemOfTree } from "./rules.ts"

/** What a text was found to be. `broken`: the grammar has failed in a way after which nothing it says can be trusted. */
export interface Verdict {
  readonly problem: string | undefined
  readonly broken: boolean
  /** It reads, but cannot stand behind a cursor. */
  readonly direct?: boolean
  /** Of a statement that changes rows, where that was asked for and nothing is wrong with it. */
  readonly plan?: PostgresPlan
}

/** A text, and whether it is to read or to change. */
export interface GuardJob {
  readonly sql: string
  readonly change: boolean
}

await loadModule()
parentPort?.on("message", (question: GuardJob) => parentPort?.postMessage(judge(question)))

/**
 * A text that is nested too deep throws out of the middle of the grammar and leaves its memory in disorder: after about a
 * hundred of these it answers nonsense. So whoever asked throws this thread away.
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
