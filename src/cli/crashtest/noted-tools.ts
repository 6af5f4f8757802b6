import type { Agent } from "../../agent/definition/agent.ts"
import type { CallContext, Tool } from "../../agent/definition/tool.ts"
import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import type { Boundaries } from "./boundaries.ts"
import { noteLine, type NotedEffect } from "./life-files.ts"

/** What each tool was before: a pack that keeps its tools in its module has the same ones in the next life of this process. */
const unnoted = new WeakMap<Tool, Tool["run"]>()

/** Has each tool note that it runs, in a file that outlives the process. */
export function noteEffects(agents: readonly Agent[], file: string, boundaries: Boundaries): void {
  const seen = new Set<Tool>()
  for (const { tools } of agents) {
    for (const name of tools.names) {
      const tool = tools.find(name)
      if (!tool || seen.has(tool)) continue
      seen.add(tool)
      const run = unnoted.get(tool) ?? tool.run
      unnoted.set(tool, run)
      const noted = async (input: JsonObject, context: CallContext) => {
        const { effect, afterCrash } = tool
        const call = { call: context.callId, tool: name, input: canonicalJson(input), effect, afterCrash }
        noteLine(file, { ...call, phase: "begun" } satisfies NotedEffect)
        try {
          return await boundaries.run(call, () => run.call(tool, input, context))
        } finally {
          noteLine(file, { ...call, phase: "done" } satisfies NotedEffect)
        }
      }
      // In its place, because packs and agents hold on to it by several names.
      Object.defineProperty(tool, "run", { value: noted, configurable: true })
    }
  }
}
