import type { Clock } from "../shared/time/clock.ts"
import type { ToolJoining } from "../engine/definition/joined-tools.ts"
import type { Log } from "../shared/log.ts"
import { createJoinedTool } from "../tools/mcp/call-tool.ts"
import type { McpTools } from "../tools/mcp/mcp-tools.ts"
import { NamedServers } from "../tools/mcp/named-servers.ts"
import { OwnServers, type OwnServersPorts } from "../tools/mcp/own-servers.ts"
import { answerSchema } from "../tools/json-schema/answer-schema.ts"
import { guardedFetch } from "../models/network/guarded-fetch.ts"
import type { OutboundPolicy } from "../models/network/outbound-policy.ts"
import { proxiedFetch } from "../models/network/proxied-fetch.ts"
import type { MessageFiles } from "../engine/stored-files.ts"
import type { McpSignIns } from "../engine/mcp.ts"
import { type ServerSettings, SettingsError } from "./settings.ts"

export interface McpParts extends Pick<OwnServersPorts, "pins" | "records" | "agents"> {
  readonly messageFiles: MessageFiles
  readonly signIns: McpSignIns
  readonly reach: OutboundPolicy
  readonly clock: Clock
  readonly log: Log
}

/** MCP servers for the agents of this server. What it takes to speak with them is loaded by the first that somebody uses. */
export class Mcp implements ToolJoining, AsyncDisposable {
  readonly #settings: ServerSettings
  readonly #parts: McpParts
  readonly #named: NamedServers
  /** What people name and decide. */
  readonly servers: OwnServers
  #tools: Promise<McpTools> | undefined

  constructor(settings: ServerSettings, parts: McpParts) {
    this.#settings = settings
    this.#parts = parts
    const { records, pins, signIns, agents, clock } = parts
    requireAgents(settings, agents)
    this.#named = new NamedServers(settings.mcp, records, clock)
    this.servers = new OwnServers({ records, pins, signIns, agents, named: this.#named, tools: () => this.#loaded() })
  }

  get isNone(): boolean {
    return this.#named.isNone
  }

  async toolsFor(asked: Parameters<ToolJoining["toolsFor"]>[0]) {
    const servers = await this.#named.of(asked.user)
    if (servers.every(({ agents }) => !agents.includes(asked.agent))) return []
    return (await this.#loaded()).toolsFor(asked)
  }

  toTool(...[joined, user]: Parameters<ToolJoining["toTool"]>) {
    return createJoinedTool(joined, user, {
      call: async (...asked) => (await this.#loaded()).call(...asked),
      readSchema: answerSchema,
    })
  }

  #loaded(): Promise<McpTools> {
    return (this.#tools ??= this.#load())
  }

  async #load(): Promise<McpTools> {
    const [{ McpTools }, { launchProgram }, { resultFiles }] = await Promise.all([
      import("../tools/mcp/mcp-tools.ts"),
      import("./launch-program.ts"),
      import("./file-contents.ts"),
    ])
    const { reach, pins, signIns, clock, log, messageFiles } = this.#parts
    const { bytesOfFiles } = this.#settings
    return new McpTools({
      ways: {
        guardedFetch: guardedFetch(reach),
        operatorFetch: proxiedFetch(this.#settings.proxy ?? {}),
        launch: (name, target) => launchProgram(this.#settings, name, target),
      },
      files: resultFiles({ messageFiles, bytesOfFiles }, log),
      serversOf: (user) => this.#named.of(user),
      ...{ pins, signIns, clock, log },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#tools)?.[Symbol.asyncDispose]()
  }
}

/** Where somebody has named an agent that there is not, its tools would never be seen. */
function requireAgents({ mcp }: ServerSettings, names: readonly string[]): void {
  for (const { name, agents } of mcp) {
    const unknown = agents.find((agent) => !names.includes(agent))
    if (unknown !== undefined)
      throw new SettingsError(
        `PAWL_MCP, ${name}: there is no agent "${unknown.slice(0, 64)}". There are: ${names.join(", ")}.`,
      )
  }
}
