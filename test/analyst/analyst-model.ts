import type { ModelRequest } from "../../core/engine/model.ts"
import { calls, says, type Script } from "../../core/models/scripted/script.ts"
import { always, scripted, type ScriptedModel } from "../../core/models/scripted/model.ts"
import { WRITE_SQL } from "../../packs/analyst/tools/write-sql.ts"

/** Whether a request asks for a statement, as the tool does, and not for a reply, as the loop does. */
export const wantsSql = ({ tools }: ModelRequest) => tools.some(({ name }) => name === WRITE_SQL)

/** Asks the database for each message, writes these statements one after another, and repeats the result. */
export function analystModel(...statements: readonly (Script | ((request: ModelRequest) => Script))[]): ScriptedModel {
  const left = [...statements]
  return scripted(
    always((request) => {
      if (wantsSql(request)) {
        const next = left.shift() ?? says("There is no more SQL.")
        return typeof next === "function" ? next(request) : next
      }
      const last = request.history.at(-1)
      if (last?.role === "user") return calls("ask_database", { query: last.text })
      return says(last?.role === "tool" ? `Answer: ${last.results[0]?.text ?? ""}` : "Nothing.")
    }),
  )
}
