import { own } from "../../../core/shared/text/json.ts"
import { type Command, UsageError } from "../process/command.ts"
import type { McpPart } from "./mcp-servers.ts"
import { mcpText } from "../../strings/mcp.ts"
import { similarName } from "../../../core/engine/calls/read-input.ts"

/** Subcommands by the first word; without one, `pawl mcp` serves. */
const parts: Readonly<Record<string, () => Promise<Pick<Command, "run">>>> = {
  serve: () => import("./mcp-serve.ts"),
  list: () => partOf("list"),
  add: () => partOf("add"),
  change: () => partOf("change"),
  login: () => partOf("login"),
  logout: () => partOf("logout"),
  remove: () => partOf("remove"),
  tools: () => partOf("tools"),
  allow: () => partOf("allow"),
}

async function partOf(name: McpPart): Promise<Pick<Command, "run">> {
  const { runPart } = await import("./mcp-servers.ts")
  return { run: (words) => runPart(name, words) }
}

export const help = mcpText.help

export async function run([first, ...rest]: readonly string[]): Promise<number> {
  if (first === undefined || first.startsWith("-"))
    return (await import("./mcp-serve.ts")).run(first === undefined ? [] : [first, ...rest])
  const part = own(parts, first)
  if (!part) throw new UsageError(mcpText.unknownAction(first, similarName(first, Object.keys(parts))))
  return (await part()).run(rest)
}
