import type { Agent } from "../../agent/definition/agent.ts"
import type { CallContext, Tool } from "../../agent/definition/tool.ts"
import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { noteLine, type NotedEffect } from "./life-files.ts"

/** Has each tool note that it runs, in a file that outlives the process. Says whether one runs now. */
export function noteEffects(agents: readonly Agent[], file: string): () => boolean {
  let running = 0
  const seen = new Set<Tool>()
  for (const { tools } of agents) {
    for (const name of tools.names) {
      const tool = tools.find(name)
      if (!tool || seen.has(tool)) continue
      seen.add(tool)
      const run = tool.run.bind(tool)
      const noted = async (input: JsonObject, context: CallContext) => {
        const { effect, afterCrash } = tool
        const call = { call: context.callId, tool: name, input: canonicalJson(input), effect, afterCrash }
        running++
        noteLine(file, { ...call, phase: "begun" } satisfies NotedEffect)
        try {
          return await run(input, context)
        } finally {
          noteLine(file, { ...call, phase: "done" } satisfies NotedEffect)
          running--
        }
      }
      // In its place, because packs and agents hold on to it by several names.
      Object.defineProperty(tool, "run", { value: noted })
    }
  }
  return () => running > 0
}
