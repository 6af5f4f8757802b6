import type { InverseCall } from "../../protocol/proposals/audit.ts"
import { mendText } from "../../protocol/text/text.ts"
import type { Effect } from "../conversation-writes.ts"
import { boundedDiff, toObject } from "./result.ts"
import type { Work } from "../record.ts"
import type { Answer, Tool } from "../definition/tool.ts"

/**
 * What a write has changed and how it is taken back, as its tool tells now: recorded with its result, so that a later
 * version of the tool cannot change it. A tool is other people's code: what it gets wrong here only makes the write one
 * that cannot be undone, for it was done all the same.
 */
export function effectOf({ ports }: Work, tool: Tool, { input, answer }: { input: unknown; answer: Answer }): Effect {
  if (answer.status !== "ok") return {}
  const change = toObject(answer.change)
  const inverse = inverseOf()
  return {
    ...(change
      ? { change: boundedDiff({ before: change.before ?? null, after: change.after ?? null }, ports.secrets) }
      : {}),
    ...(inverse ? { inverse } : {}),
  }

  function inverseOf(): InverseCall | undefined {
    if (tool.effect !== "write" || tool.inverse === false) return undefined
    try {
      const call = tool.inverse(input, answer)
      const given = toObject(call.input)
      if (typeof call.tool === "string" && given) return { tool: mendText(call.tool), input: given }
      throw new TypeError(`${tool.name}: its inverse is no call`)
    } catch (error) {
      ports.log.warn("inverse_failed", { tool: tool.name, error })
      return undefined
    }
  }
}
