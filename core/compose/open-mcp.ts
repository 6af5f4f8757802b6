import type { Clock } from "../shared/time/clock.ts"
import type { ToolJoining } from "../engine/definition/joined-tools.ts"
import type { Log } from "../shared/log.ts"
import { createJoinedTool } from "../tools/mcp/call-tool.ts"
import type { McpTools } from "../tools/mcp/mcp-tools.ts"
import { ServerList } from "../tools/mcp/server-list.ts"
import { PersonServers, type PersonServersPorts } from "../tools/mcp/person-servers.ts"
import { answerSchema } from "../tools/json-schema/answer-schema.ts"
import { guardedFetch } from "../models/network/guarded-fetch.ts"
import type { OutboundPolicy } from "../models/network/outbound-policy.ts"
import { proxiedFetch } from "../models/network/proxied-fetch.ts"
import type { MessageFiles } from "../engine/stored-files.ts"
import type { McpSignIns } from "../engine/mcp.ts"
import { type ServerSettings, SettingsError } from "./settings.ts"

interface McpParts extends Pick<PersonServersPorts, "pins" | "records" | "agents"> {
  readonly messageFiles: MessageFiles
  readonly signIns: McpSignIns
  readonly reach: OutboundPolicy
  readonly clock: Clock
  readonly log: Log
}

/** MCP servers for the agents of this server. The protocol's code is loaded with the first call. */
export class Mcp implements ToolJoining, AsyncDisposable {
  readonly #settings: ServerSettings
  readonly #parts: McpParts
  readonly #named: ServerList
  /** People's own servers and decisions. */
  readonly servers: PersonServers
  #tools: Promise<McpTools> | undefined

  constructor(settings: ServerSettings, parts: McpParts) {
    this.#settings = settings
    this.#parts = parts
    const { records, pins, signIns, agents, clock } = parts
    requireAgents(settings, agents)
    this.#named = new ServerList(settings.mcp, records, clock)
    this.servers = new PersonServers({
      records,
      pins,
      signIns,
      agents,
      named: this.#named,
      tools: () => this.#loaded(),
    })
  }

  get isNone(): boolean {
    return this.#named.isNone
  }

  async toolsFor(query: Parameters<ToolJoining["toolsFor"]>[0]) {
    const servers = await this.#named.of(query.user)
    if (servers.every(({ agents }) => !agents.includes(query.agent))) return []
    return (await this.#loaded()).toolsFor(query)
  }

  toTool(...[joined, user]: Parameters<ToolJoining["toTool"]>) {
    return createJoinedTool(joined, user, {
      call: async (...query) => (await this.#loaded()).call(...query),
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
      options: {
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

/** The tools of a server for an unknown agent would never be available. */
function requireAgents({ mcp }: ServerSettings, names: readonly string[]): void {
  for (const { name, agents } of mcp) {
    const unknown = agents.find((agent) => !names.includes(agent))
    if (unknown !== undefined)
      throw new SettingsError(
        `PAWL_MCP, ${name}: there is no agent "${unknown.slice(0, 64)}". There are: ${names.join(", ")}.`,
      )
  }
}
