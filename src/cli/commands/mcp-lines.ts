import type { ChangedMcpServer, McpServerView, McpToolView, NewMcpServer } from "../../protocol/mcp-servers.ts"
import { type McpToolRule, mcpToolRules } from "../../protocol/ports/mcp.ts"
import { CommandError } from "../process/command.ts"

/** What the parts of `pawl mcp` read from their words, and what they print. */

export function toHeader(text: string): [string, string] {
  const at = text.indexOf(":")
  const [name, value] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()]
  if (name === "" || value === "") throw new CommandError('A header is written as "Name: value".')
  return [name, value]
}

export function toRule(text: string): McpToolRule {
  const rule = mcpToolRules.find((each) => each === text)
  if (!rule) throw new CommandError(`"${text}" is no rule. There are: ${mcpToolRules.join(", ")}.`)
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

export const told = (server: McpServerView): string => [serverLine(server), ...server.tools.map(toolLines)].join("\n")

export function serverLine({ name, by, address, agents, tools, signIn }: McpServerView): string {
  const whose = by === "operator" ? "the operator's" : "yours"
  const many = tools.length === 1 ? "one tool" : `${tools.length} tools`
  const todo = signIn && signIn !== "done" ? `. ${SIGN_IN[signIn]}: pawl mcp login ${name}` : ""
  return `${name} (${whose}, ${address}): ${many} for ${agents.join(", ")}${todo}`
}

const SIGN_IN = { needed: "Sign in", ended: "Sign in again", more: "It asks for more: sign in again" } as const

/** Of one that has changed, what it was and what it is: that is what somebody agrees to. */
export function toolLines({ tool, rule, again, state, now, before }: McpToolView): string {
  const agreed = rule === "ask" && again ? "ask, runs again after a crash" : rule
  const says = state === "agreed" ? agreed : `${state}, held back until you allow it`
  const words = [`  ${tool} [${says}] ${oneLine(now.description)}`]
  if (before) {
    words.push(`    before: ${oneLine(before.description)}`)
    if (JSON.stringify(before.inputSchema) !== JSON.stringify(now.inputSchema))
      words.push(
        `    its arguments were ${JSON.stringify(before.inputSchema)}`,
        `    and are now ${JSON.stringify(now.inputSchema)}`,
      )
  }
  return words.join("\n")
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").slice(0, 300)
