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
  modelAnswer,
} from "../conversation/settings.ts"
import { findConversation } from "../conversation/find.ts"
import type { SeenModels, ConversationPorts } from "../conversation/ports.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { Tool } from "../../engine/definition/tool.ts"
import { failure } from "../../protocol/errors.ts"
import type { ChangedEndpoint, NewAccess, ProviderView } from "../../protocol/models/providers.ts"
import type { UsageAnswer } from "../../protocol/models/usage.ts"

/** The models of this server, and which of them a conversation has. */
export function modelRoutes(app: Hono<Env>, ports: ModelRoutePorts): void {
  const { models, runtime } = ports

  serveRoute(app, routes.listModels, async (c, { query: { refresh, wait } }) => {
    const user = userOf(c)
    const look = { refresh: refresh === "true", waitMs: wait * 1000 }
    const found: SeenModels = (await models.look?.(user, look)) ?? { items: await models.list(user) }
    const { localServers, ...seen } = found
    const { scopes } = c.get("caller")
    const mayConnect = scopes.has("manage") && scopes.has("admin")
    const { usable, unavailable } = await readLastChoice(chooserOf(c.get("caller")), ports)
    const suggested = usable?.model ?? (await defaultOf(models, user))
    return {
      ...seen,
      default: suggested,
      // Programs use the default alone.
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
    return { ...(await modelAnswer(models, { id, model, user: userOf(c) })), fallback: await readFallback(id) }
  })

  serveRoute(app, routes.chooseModel, async (c, { body }) => {
    const { id } = await findConversation(c, ports)
    const chosen = await chooseAndRememberModel(c.get("caller"), ports, body.name)
    await runtime.submit(id, { type: "settings", ...chosen })
    const answer = await modelAnswer(models, { id, model: chosen.model, user: userOf(c) })
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

/** Which agents there are, and what they can do. */
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

/** Keys and addresses that people bring for themselves. */
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
const USUAL_DAYS = 30
const MAX_DAYS = 366

/** What models have cost. */
export function usageRoutes(app: Hono<Env>, { usage, clock }: ModelRoutePorts): void {
  serveRoute(app, routes.readUsage, (c, { query }) => {
    const to = query.to ?? toDay(clock.now())
    const from = query.from ?? toDay(Date.parse(to) - (USUAL_DAYS - 1) * DAY_MS)
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
    if (days < 1) throw failure("bad_request", { problem: `from: ${from} is after ${to}.` })
    if (days > MAX_DAYS) throw failure("bad_request", { problem: `from: at most ${MAX_DAYS} days at a time.` })
    return usage.read(userOf(c), { from, to })
  })
}

const toDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Beside the conversations that choose a model: who provides them, and what they have cost. */
export interface ModelRoutePorts extends ConversationPorts {
  /** Who answers where a conversation's model cannot, if neither it nor its agent says who does. */
  readonly fallback?: readonly string[]
  readonly providers: Providers
  readonly usage: UsageRecords
}

/** The providers of models, and what people have brought for them. A key goes in and never comes out. */
export interface Providers {
  list(user: UserId): Promise<ProviderView[]>
  /** Throws `not_found` for a provider that there is not. */
  find(user: UserId, name: string): Promise<ProviderView>
  save(user: UserId, name: string, access: NewAccess, by: { readonly isAdmin: boolean }): Promise<void>
  /** An endpoint of the person's own. */
  change(user: UserId, name: string, changed: ChangedEndpoint, by: { readonly isAdmin: boolean }): Promise<void>
  remove(user: UserId, name: string): Promise<void>
}

/** What people's model calls have used. */
export interface UsageRecords {
  read(user: UserId, days: { from: string; to: string }): Promise<UsageAnswer>
}
