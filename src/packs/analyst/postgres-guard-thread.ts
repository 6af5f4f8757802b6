import { loadModule, parseSync, SqlError } from "libpg-query"
import { parentPort } from "node:worker_threads"
import { problemOfTree } from "./postgres-rules.ts"

/** What a text was found to be. `broken`: the grammar has failed in a way after which nothing it says can be trusted. */
export type Verdict = { readonly problem: string | undefined; readonly broken: boolean }

await loadModule()
parentPort?.on("message", (sql: string) => parentPort?.postMessage(judge(sql)))

/**
 * A text that is nested too deep throws out of the middle of the grammar and leaves its memory in disorder: after about a
 * hundred of these it answers nonsense. So whoever asked throws this thread away.
 */
function judge(sql: string): Verdict {
  try {
    return { problem: problemOfTree(parseSync(sql)), broken: false }
  } catch (error) {
    if (error instanceof SqlError) return { problem: error.message.slice(0, 500), broken: false }
    return { problem: "it is nested too deep to be looked through", broken: true }
  }
}
