import {
  type ChangedMcpServer,
  type McpServerView,
  type McpToolView,
  type NewMcpServer,
  type McpToolRule,
  mcpToolRules,
} from "../../../core/protocol/mcp-servers.ts"
import { UsageError } from "../process/command.ts"
import { mcpText } from "../../strings/mcp.ts"

export function toHeader(text: string): [string, string] {
  const at = text.indexOf(":")
  const [name, value] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()]
  if (name === "" || value === "") throw new UsageError(mcpText.badHeader)
  return [name, value]
}

export function toRule(text: string): McpToolRule {
  const rule = mcpToolRules.find((each) => each === text)
  if (!rule) throw new UsageError(mcpText.badRule(text, mcpToolRules.join(", ")))
  return rule
}

export const mcpFlags = {
  server: { type: "string" },
  token: { type: "string" },
  header: { type: "string", multiple: true },
  "no-header": { type: "string", multiple: true },
  agent: { type: "string", multiple: true },
  public: { type: "boolean" },
  private: { type: "boolean" },
  name: { type: "string" },
  url: { type: "string" },
  folder: { type: "string" },
  network: { type: "boolean" },
  "client-id": { type: "string" },
  "client-secret": { type: "string" },
  scope: { type: "string" },
  again: { type: "boolean" },
  "not-again": { type: "boolean" },
} as const

export interface McpFlags {
  readonly header?: string[]
  readonly "no-header"?: string[]
  readonly agent?: string[]
  readonly public?: boolean
  readonly private?: boolean
  readonly name?: string
  readonly url?: string
  readonly folder?: string
  readonly network?: boolean
  readonly "client-id"?: string
  readonly "client-secret"?: string
  readonly scope?: string
  readonly again?: boolean
  readonly "not-again"?: boolean
}

export function toNew(
  name: string,
  url: string,
  flags: McpFlags,
): Omit<NewMcpServer, "agents"> & { agents?: string[] } {
  const { headers = {}, agents, oauth, data = "private" } = toChange(flags)
  const given = { name, url, headers: headers as Record<string, string>, data }
  return { ...given, ...(agents ? { agents } : {}), ...(oauth ? { oauth } : {}) }
}

export function toChange(flags: McpFlags): ChangedMcpServer {
  const { header = [], "no-header": without = [], agent, name, url, scope } = flags
  const { "client-id": clientId, "client-secret": clientSecret } = flags
  const headers = {
    ...Object.fromEntries(without.map((each) => [each, null])),
    ...Object.fromEntries(header.map(toHeader)),
  }
  const oauth = {
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(scope === undefined ? {} : { scope }),
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(url === undefined ? {} : { url }),
    ...(agent ? { agents: agent } : {}),
    ...(flags.public ? { data: "public" as const } : flags.private ? { data: "private" as const } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(Object.keys(oauth).length > 0 ? { oauth } : {}),
  }
}

/** Throws if no option changes anything. */
export function toSomeChange(flags: McpFlags): ChangedMcpServer {
  const change = toChange(flags)
  if (Object.keys(change).length > 0) return change
  throw new UsageError(mcpText.nothingToChange)
}

export const serverText = (server: McpServerView): string =>
  [serverLine(server), ...server.tools.map(toolLines)].join("\n")

export function serverLine({ name, by, address, agents, tools, signIn }: McpServerView): string {
  const todo = signIn && signIn !== "done" ? mcpText.signInHow(mcpText.signIn[signIn], name) : ""
  return `${mcpText.server(name, by === "operator", address)}${mcpText.tools(tools.length, agents.join(", "))}${todo}`
}

/** For a changed tool the old and the new definition, because the person approves the change. */
export function toolLines({ tool, rule, again, state, now, before }: McpToolView): string {
  const agreed = rule === "ask" && again ? mcpText.runsAgain : rule
  const says = state === "agreed" ? agreed : mcpText.heldBack(state)
  const words = [mcpText.tool(tool, says, oneLine(now.description))]
  if (before) {
    words.push(mcpText.toolBefore(oneLine(before.description)))
    if (JSON.stringify(before.inputSchema) !== JSON.stringify(now.inputSchema))
      words.push(
        mcpText.argumentsBefore(JSON.stringify(before.inputSchema)),
        mcpText.argumentsNow(JSON.stringify(now.inputSchema)),
      )
  }
  return words.join("\n")
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").slice(0, 300)
