import type { Hono } from "hono"
import { fallbackOf } from "../../engine/fallback.ts"
import type { ModelAnswer } from "../../protocol/answers.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import { routes } from "../../protocol/routes/index.ts"
import { userOf } from "../auth/caller.ts"
import type { Env } from "../auth/credentials.ts"
import {
  chooseAndRememberModel,
  chooseModel,
  chooserOf,
  readLastChoice,
  defaultOf,
  toModelAnswer,
} from "../conversation/settings.ts"
import { findConversation } from "../conversation/find.ts"
import type { FoundModels, ConversationPorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { Tool } from "../../engine/definition/tool.ts"
import { failure } from "../../protocol/errors.ts"
import type { ChangedEndpoint, NewAccess, ProviderView } from "../../protocol/models/providers.ts"
import type { UsageAnswer } from "../../protocol/models/usage.ts"

/** The models of this server, and the model of a conversation. */
export function modelRoutes(app: Hono<Env>, ports: ModelRoutePorts): void {
  const { models, runtime } = ports

  serveRoute(app, routes.listModels, async (c, { query: { refresh, wait } }) => {
    const user = userOf(c)
    const options = { refresh: refresh === "true", waitMs: wait * 1000 }
    const found: FoundModels = (await models.look?.(user, options)) ?? { items: await models.list(user) }
    const { localServers, ...seen } = found
    const { scopes } = c.get("caller")
    const mayConnect = scopes.has("manage") && scopes.has("admin")
    const { usable, unavailable } = await readLastChoice(chooserOf(c.get("caller")), ports)
    const suggested = usable?.model ?? (await defaultOf(models, user))
    return {
      ...seen,
      default: suggested,
      // Programs use the default only.
      chosenDefault: await ports.chosenModels.read(user, "program"),
      ...(unavailable ? { unavailableChoice: unavailable } : {}),
      ...(localServers ? { localServers: { items: localServers, mayConnect } } : {}),
    }
  })

  serveRoute(app, routes.chooseDefaultModel, async (c, { body }) => {
    const { name, everywhere = false } = body
    const caller = c.get("caller")
    if (name === null) {
      await ports.chosenModels.setDefault(caller.person.id, null)
      return { default: await defaultOf(models, caller.person.id) }
    }
    if (!everywhere) return { default: (await chooseAndRememberModel(caller, ports, name)).model }
    const { model } = await chooseModel(caller, ports, name)
    await ports.chosenModels.setDefault(caller.person.id, model)
    return { default: model }
  })

  serveRoute(app, routes.readModel, async (c) => {
    const { id, model } = await findConversation(c, ports)
    return { ...(await toModelAnswer(models, { id, model, user: userOf(c) })), fallback: await readFallback(id) }
  })

  serveRoute(app, routes.chooseModel, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const chosen = await chooseAndRememberModel(c.get("caller"), ports, body.name)
    await runtime.submit(id, { type: "settings", ...chosen })
    const answer = await toModelAnswer(models, { id, model: chosen.model, user: userOf(c) })
    return { ...answer, fallback: await readFallback(id) }
  })

  async function readFallback(id: ConversationId): Promise<ModelAnswer["fallback"]> {
    const conversation = await ports.journal.load(id, true)
    const agent = ports.agents.orEmpty(conversation.agent)
    const from = conversation.fallback ? "conversation" : agent.fallback ? "agent" : "server"
    return { models: [...fallbackOf({ conversation, agent, ports })], from }
  }
}

const MAX_EXAMPLES = 6

/** The agents and their tools. */
export function agentRoutes(app: Hono<Env>, { agents }: ModelRoutePorts): void {
  serveRoute(app, routes.listAgents, () => {
    const items = agents.all.map(({ name, description, tools, maxIterations }) => {
      const examples = firstExamples(tools.visibleIn("auto"))
      return { name, description, tools: tools.names, maxIterations, examples }
    })
    return { items }
  })

  serveRoute(app, routes.listTools, () => {
    const items = agents.all.flatMap(({ name: agent, tools }) => {
      return tools.visibleIn("auto").map(({ effect, declaration, examples = [], ...tool }) => {
        const undoable = "inverse" in tool && tool.inverse !== false
        return { agent, ...declaration, effect, examples, ...(effect === "write" ? { undoable } : {}) }
      })
    })
    return { items }
  })
}

/** Requests for a new user: one for each tool first, preferring those that need no existing data, then more. */
function firstExamples(tools: readonly Pick<Tool, "name" | "examples">[]): string[] {
  const one = (names: RegExp) =>
    tools.flatMap(({ name, examples = [] }) => (names.test(name) ? examples.slice(0, 1) : []))
  const firsts = [...one(/^create_/).slice(0, MAX_EXAMPLES / 3), ...one(/^(list|find|search)_/), ...one(/./)]
  const chosen = [...new Set(firsts)].slice(0, MAX_EXAMPLES)
  const others = tools.flatMap(({ examples = [] }) => examples).filter((example) => !chosen.includes(example))
  return [...chosen, ...spread(others, MAX_EXAMPLES - chosen.length)]
}

/** Selects at most `most` items, evenly spaced, because neighbours are often alike. */
function spread<Item>(all: readonly Item[], most: number): Item[] {
  if (all.length <= most) return [...all]
  return Array.from({ length: most }, (_, at) => all[Math.floor(((at + 0.5) * all.length) / most)] as Item)
}

/** People's own keys and endpoints. */
export function providerRoutes(app: Hono<Env>, { providers }: ModelRoutePorts): void {
  serveRoute(app, routes.listProviders, async (c) => ({ items: await providers.list(userOf(c)) }))

  serveRoute(app, routes.readProvider, (c) => providers.find(userOf(c), c.req.param("name") ?? ""))

  serveRoute(app, routes.saveProvider, async (c, { body }) => {
    const name = c.req.param("name") ?? ""
    await providers.save(userOf(c), name, body, { isAdmin: c.get("caller").scopes.has("admin") })
    return providers.find(userOf(c), name)
  })

  serveRoute(app, routes.changeProvider, async (c, { body }) => {
    const name = c.req.param("name") ?? ""
    await providers.change(userOf(c), name, body, { isAdmin: c.get("caller").scopes.has("admin") })
    return providers.find(userOf(c), name)
  })

  serveRoute(app, routes.removeProvider, async (c) => {
    await providers.remove(userOf(c), c.req.param("name") ?? "")
    return null
  })
}

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
const MAX_DAYS = 366

export function usageRoutes(app: Hono<Env>, { usage, clock }: ModelRoutePorts): void {
  serveRoute(app, routes.readUsage, (c, { query }) => {
    const to = query.to ?? toDay(clock.now())
    const from = query.from ?? toDay(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS)
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
    if (days < 1) throw failure("bad_request", { problem: `from: ${from} is after ${to}.` })
    if (days > MAX_DAYS) throw failure("bad_request", { problem: `from: at most ${MAX_DAYS} days at a time.` })
    return usage.read(userOf(c), { from, to })
  })
}

const toDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The services of the model routes. */
export interface ModelRoutePorts extends ConversationPorts {
  /** Fallback models, if neither the conversation nor its agent names any. */
  readonly fallback?: readonly string[]
  readonly providers: Providers
  readonly usage: UsageRecords
}

/** Model providers and people's access to them. Keys are write-only. */
export interface Providers {
  list(user: UserId): Promise<ProviderView[]>
  /** Throws `not_found` if there is no such provider. */
  find(user: UserId, name: string): Promise<ProviderView>
  save(user: UserId, name: string, access: NewAccess, by: { readonly isAdmin: boolean }): Promise<void>
  /** Changes the person's own endpoint. */
  change(user: UserId, name: string, changed: ChangedEndpoint, by: { readonly isAdmin: boolean }): Promise<void>
  remove(user: UserId, name: string): Promise<void>
}

interface UsageRecords {
  read(user: UserId, days: { from: string; to: string }): Promise<UsageAnswer>
}
