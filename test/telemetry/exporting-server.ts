import { type AgentDefinition, defineAgent } from "../../core/engine/definition/agent.ts"
import type { Model } from "../../core/engine/model.ts"
import { composeServer, type ComposedServer } from "../../core/compose/compose-server.ts"
import type { Replacements } from "../../core/compose/replacements.ts"
import { settingsIn } from "../../core/compose/settings.ts"
import { type ConversationId, newId, type RunId } from "../../core/protocol/ids.ts"
import type { TelemetrySettings } from "../../core/telemetry/settings.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

export interface ExportingServer extends Replacements {
  readonly model: Model
  readonly tools?: AgentDefinition["tools"]
  readonly receiver: string
  readonly telemetry?: Partial<TelemetrySettings>
  readonly databaseUrl?: string
}

export const tellingTo = (url: string): TelemetrySettings => ({
  url: `${url}/v1/traces`,
  protocol: "http/json",
  headers: {},
  timeoutMs: 10_000,
  serviceName: "pawl",
  resource: {},
  share: 1,
  content: false,
})

/** Opens a whole server with one agent, `test`, whose runs are exported to a receiver. */
export function openExporting({ tools = [], receiver, telemetry = {}, databaseUrl, ...replaced }: ExportingServer) {
  const settings = {
    ...settingsIn(dataFolder()),
    durability: "normal" as const,
    ...(databaseUrl ? { databaseUrl } : {}),
  }
  const agent = defineAgent({ name: "test", description: "For tests.", instructions: "Be exact.", tools })
  const told = { ...tellingTo(receiver), ...telemetry }
  return composeServer({ ...settings, telemetry: told }, { agents: () => [agent], ...replaced })
}

/** Sends a message in a new conversation, and waits until the run is idle. */
export async function ask({ runtime, store }: ComposedServer, text: string): Promise<ConversationId> {
  const { id: user } = await store.people.ensure("ada", Date.now())
  const message = { type: "message", id: newId("msg", user), text, when: "queue" } as const
  const { id } = await runtime.begin({ user, agent: "test" }, message)
  await runtime.rest(id)
  return id
}

/** Decides all pending proposals. */
export async function decide({ runtime, store }: ComposedServer, id: ConversationId, decision: "commit" | "reject") {
  const { proposals, user } = await store.journal.load(id, true)
  for (const [proposalId] of proposals) await runtime.submit(id, { type: "decide", proposalId, decision, by: user })
  await runtime.rest(id)
}

export async function runOf({ store }: ComposedServer, id: ConversationId): Promise<RunId> {
  return (await store.journal.load(id, true)).run?.id as RunId
}
