import type { JoinedTool } from "../agent/definition/joined-tools.ts"
import type { Schema } from "../agent/definition/schema.ts"
import { type Answer, type CallContext, defineTool, type Preview, type Tool } from "../agent/definition/tool.ts"
import type { JsonObject } from "../protocol/schema.ts"

/** What a tool that has joined is called with. All that it needs to be shown is on record; this is for its calls. */
export interface JoinedCalls {
  call(joined: JoinedTool, input: JsonObject, context: CallContext): Promise<Answer>
  /** Reads a stranger's JSON schema, and refuses one with which an argument could keep us busy. */
  readSchema(json: JsonObject): Promise<Schema<unknown>>
}

const MAX_OUTPUT = 30_000

/**
 * A tool of somebody else's server as one of ours. A write is always shown as the worst that it could be: what its server
 * says of it is what somebody says who may gain from being believed.
 */
export function createJoinedTool(joined: JoinedTool, calls: JoinedCalls): Tool {
  const { name, description, inputSchema, brings, timeoutSeconds, server, tool, hash } = joined
  const common = {
    ...{ name, description, brings, timeoutSeconds },
    reaches: "outside" as const,
    maxOutput: MAX_OUTPUT,
    input: schemaOf(inputSchema, calls),
    run: (input: JsonObject, context: CallContext) => calls.call(joined, input, context),
  }
  const words = `Use the tool "${tool}" of the MCP server "${serverOf(name)}"`
  if (joined.effect === "read")
    return defineTool<JsonObject>({ ...common, effect: "read", afterCrash: joined.afterCrash, sending: () => words })
  return defineTool<JsonObject>({
    ...common,
    effect: "write",
    afterCrash: joined.afterCrash,
    inverse: false,
    preview: (): Preview => ({
      summary: words,
      action: "destructive_update",
      // What was agreed to is this definition of it: with another one the proposal is stale.
      target: `mcp ${server} ${tool}`,
      revision: hash,
    }),
  })
}

const serverOf = (name: string): string => name.split("__", 1)[0] ?? ""

function schemaOf(json: JsonObject, calls: JoinedCalls): Schema<JsonObject> {
  return {
    "~standard": {
      validate: async (value) => {
        const schema = (await calls.readSchema(json)) as Schema<JsonObject>
        return schema["~standard"].validate(value)
      },
      jsonSchema: { input: () => json },
    },
  }
}
