import { createHash } from "node:crypto"
import type { McpServer as EditorServer } from "@agentclientprotocol/sdk"
import { sentSecrets } from "../../mcp/definition/sent-secrets.ts"
import type { HttpTarget, McpServer, ProgramTarget } from "../../mcp/definition/server.ts"

const MAX_SERVERS = 50
const TIMEOUT_SECONDS = 60
const TASK_SECONDS = 3600

interface EditorServers {
  readonly used: readonly McpServer[]
  /** In sentences, for the person. */
  readonly unused: readonly string[]
}

/**
 * The MCP servers that an editor brings, as ours. Their person has set them up in it, on this machine: they are started as the
 * editor itself would start them. What their tools do is asked about like everything else.
 */
export function toServers(
  given: readonly EditorServer[],
  { dir, agent, others }: { readonly dir: string; readonly agent: string; readonly others: readonly McpServer[] },
): EditorServers {
  const [used, unused]: [McpServer[], string[]] = [[], []]
  for (const server of given) {
    const target = toTarget(server, dir)
    if (!target) unused.push(`The MCP server ${server.name} of this editor is not used: it speaks over SSE alone.`)
    else if (used.length >= MAX_SERVERS)
      unused.push(`The MCP server ${server.name} of this editor is not used: there are more than ${MAX_SERVERS}.`)
    else used.push(toServer({ name: newName(server.name, [...others, ...used]), target, agent }))
  }
  return { used, unused }
}

function toServer({ name, target, agent }: Pick<McpServer, "name" | "target"> & { agent: string }): McpServer {
  // Another command or address is another server, and what was agreed to of the one before says nothing of it.
  const hash = createHash("sha256")
    .update(JSON.stringify([name, target]))
    .digest("hex")
    .slice(0, 32)
  const words = Object.values(target.kind === "http" ? target.headers : target.environment)
  return {
    ...{ key: `editor:${hash}`, version: hash, name, isPersons: false, target, agents: [agent] },
    ...{ rules: {}, idempotent: [], isPublic: false, timeoutSeconds: TIMEOUT_SECONDS, taskSeconds: TASK_SECONDS },
    secrets: sentSecrets(words),
  }
}

function toTarget(server: EditorServer, dir: string): ProgramTarget | HttpTarget | undefined {
  const named = (entries: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(entries.map(({ name, value }) => [name, value]))
  if (!("type" in server)) {
    const command = [server.command, ...server.args]
    return { kind: "program", command, environment: named(server.env), folder: dir, network: true, sandbox: false }
  }
  return server.type === "http" ? { kind: "http", url: server.url, headers: named(server.headers) } : undefined
}

/** As it stands before the names of its tools: small letters and digits, and none twice. */
function newName(name: string, taken: readonly McpServer[]): string {
  const letters = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")
  const plain = (/^[a-z]/.test(letters) ? letters : `mcp${letters}`).slice(0, 20)
  const isTaken = (wanted: string) => taken.some((server) => server.name === wanted)
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? plain : `${plain}${number}`
    if (!isTaken(wanted)) return wanted
  }
}
