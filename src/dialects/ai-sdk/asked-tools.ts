import { ClientTool } from "../../protocol/conversation/client-tools.ts"
import { failure } from "../../protocol/errors.ts"
import type { JsonObject } from "../../protocol/schema.ts"

const MAX_TOOLS = 64
/** Of all that is told about them. */
const MAX_CHARACTERS = 100_000

/** The tools of a page, by their names as the AI SDK has them: `{show_map: {description, inputSchema}}`. */
export function readUiTools(tools: JsonObject): ClientTool[] {
  const named = Object.entries(tools)
  if (named.length > MAX_TOOLS) throw problem(`at most ${MAX_TOOLS} are taken`)
  if (JSON.stringify(tools).length > MAX_CHARACTERS) throw problem(`more than ${MAX_CHARACTERS} characters`)
  return named.map(([name, tool]) => {
    const { description = "", inputSchema = { type: "object", properties: {} } } = Object(tool) as Partial<ClientTool>
    const { data } = typeof tool === "object" ? ClientTool.safeParse({ name, description, inputSchema }) : {}
    if (!data)
      throw problem(
        `"${name.slice(0, 60)}" needs a name of up to 57 letters, digits, _ and -, and {description, inputSchema}`,
      )
    return data
  })
}

const problem = (text: string) => failure("bad_request", { problem: `tools: ${text}.` })
