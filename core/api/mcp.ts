import { resolve } from "node:path"
import type { Mcp } from "../compose/open-mcp.ts"
import { settingsIn } from "../compose/settings.ts"
import type { Agent as InternalAgent } from "../engine/definition/agent.ts"
import { failure } from "../protocol/errors.ts"
import type { McpToolRule } from "../protocol/mcp-servers.ts"
import type { UserId } from "../protocol/ids.ts"
import type { Log } from "../shared/log.ts"
import type { Store } from "../store/store.ts"
import { type Parts, untilClosed } from "./parts.ts"

interface AnyMcpServer {
  /** A lower-case letter, then up to 23 lower-case letters and digits. Its tools are named `name__tool`. */
  readonly name: string
  /** The agents that get its tools. Default: all. */
  readonly agents?: readonly string[]
  /**
   * For each tool, and `*` for all others: `ask` before each call (default), `read` runs without approval, and `off`
   * hides the tool from models.
   */
  readonly tools?: Readonly<Record<string, McpToolRule>>
  /** Tools that may run again after a crash, if the server also declares that this changes nothing. */
  readonly idempotent?: readonly string[]
  /** `public` if its results are public. Default: they count as the user's private data. */
  readonly data?: "private" | "public"
  /** The time limit of a call. Default: 60. */
  readonly timeoutSeconds?: number
  /** The time limit of a call that is a task on the server. Default: 3600. */
  readonly taskSeconds?: number
}

/** An MCP server over HTTP. */
export interface McpHttpServer extends AnyMcpServer {
  readonly url: string
  /** Keys in them are hidden in results. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * An MCP server that is a program on this machine. It runs in a sandbox (bubblewrap), where it sees only the folders that
 * are named here.
 */
export interface McpProgram extends AnyMcpServer {
  /** In the sandbox a program outside the folders of the system, such as `/usr`, must be in `reads`. */
  readonly command: string
  readonly args?: readonly string[]
  /** Its environment. `PATH` is `/usr/local/bin:/usr/bin:/bin` if it is not set here. Keys are hidden in results. */
  readonly env?: Readonly<Record<string, string>>
  /** The only folder that it can change. Default: an empty one in `http.dataFolder`. */
  readonly folder?: string
  /** Folders and files that it can read. */
  readonly reads?: readonly string[]
  /** Whether it may use the network. Default: false. */
  readonly network?: boolean
  /** `false` starts it without a sandbox, with the rights of this process. */
  readonly sandbox?: boolean
}

/** An MCP server whose tools agents can use. Each call is a proposal, unless `tools` says otherwise. */
export type McpServerOptions = McpHttpServer | McpProgram

/** A tool of an MCP server: its rule, and its definition. */
export interface McpTool {
  readonly tool: string
  readonly rule: McpToolRule
  /** Models are not offered `new` and `changed` tools until `agree` accepts the definition. */
  readonly state: "agreed" | "new" | "changed"
  readonly now: McpDefinition
  /** For a changed tool: the accepted definition. */
  readonly before?: McpDefinition | undefined
}

/** The description and the arguments of a tool, as its server defines them. */
export interface McpDefinition {
  readonly hash: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

/** The MCP servers in `mcp` of the options. */
export interface McpServers {
  /**
   * Connects to a server and returns its tools. Throws `mcp_server_failed` if that is not possible. The first list of
   * tools is accepted; runs connect by themselves, and work without a server that fails.
   */
  tools(server: string): Promise<readonly McpTool[]>
  /** Accepts the definition of a tool that its server has added or changed. */
  agree(server: string, tool: string, hash: string): Promise<void>
}

interface McpParts {
  readonly agents: readonly InternalAgent[]
  readonly dataFolder: string | undefined
  readonly store: Store
  readonly log: Log
}

/** Prepares the servers, and connects to none: a run or `tools` does that. Its code is loaded only if there are some. */
export async function openMcp(
  servers: readonly McpServerOptions[],
  { agents, dataFolder, store, log }: McpParts,
): Promise<Mcp> {
  const [{ Mcp }, { OutboundPolicy }, { readServer, ServersFault }] = await Promise.all([
    import("../compose/open-mcp.ts"),
    import("../models/network/outbound-policy.ts"),
    import("../tools/mcp/server-list.ts"),
  ])
  const names = agents.map(({ name }) => name)
  const read = ({ name, ...entry }: McpServerOptions) => {
    const unknown = entry.agents?.find((agent) => !names.includes(agent))
    if (unknown !== undefined)
      throw new TypeError(`mcp: "${name}" names the agent "${unknown}". There are: ${names.join(", ")}.`)
    if (servers.filter((each) => each.name === name).length > 1)
      throw new TypeError(`mcp: two are called "${name}"; rename one.`)
    try {
      return readServer(name, { agents: names, ...entry })
    } catch (error) {
      throw error instanceof ServersFault ? new TypeError(`mcp: ${error.message}.`, { cause: error }) : error
    }
  }
  const settings = { ...settingsIn(resolve(dataFolder ?? ".pawl")), mcp: servers.map(read) }
  const { mcpPins: pins, ownMcpServers: records, mcpSignIns: signIns, messageFiles, clock } = store
  const reach = new OutboundPolicy(false)
  return new Mcp(settings, { pins, records, signIns, messageFiles, agents: names, reach, clock, log })
}

/** The servers for the program itself, with the sign-ins of the owner. */
export function openMcpServers(parts: Parts, mcp: Mcp | undefined, owner: () => Promise<{ id: UserId }>): McpServers {
  const servers = () => {
    if (!mcp) throw failure("not_found")
    return mcp.servers
  }
  return untilClosed<McpServers>(parts, {
    tools: async (name) => (await servers().look((await owner()).id, name, parts.closing)).tools,
    async agree(name, tool, hash) {
      await servers().decide((await owner()).id, name, { tool, hash, isAdmin: true })
    },
  })
}
