import type { RouterDecision } from "../../protocol/conversation/stages.ts"
import { mendText } from "../../shared/text/text.ts"
import { monotonicOf } from "../../shared/time/clock.ts"
import { type Agent, MORE_TOOLS, type Routed, type Router } from "../definition/agent.ts"
import { isLastToCall } from "../declared-tools.ts"
import { record, type Work } from "../record.ts"
import { ROUTING } from "../definition/stages.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"

/** A route that takes longer is not worth waiting for. */
const SECONDS = 1
const MAX_REASON = 500

/**
 * Decides once for each message which tools the model is offered. It is recorded before the model is asked, so that it
 * is not decided again after a crash. Any error counts as "unsure".
 */
export async function route(work: Work): Promise<void> {
  const { conversation, agent } = work
  const begun = monotonicOf(work.ports.clock)
  const { decision: before, pending } = conversation.routing
  const asked = agent.route && pending ? await ask(work, agent.route) : (before ?? UNSURE)
  const decision = toDecision(agent, asked)
  const ms = Math.round(monotonicOf(work.ports.clock) - begun)
  // A message that joins a run does not remove the tools that its first message needs.
  const detail = { ...(before ? both(agent, before, decision) : decision), ms }
  const tools = isLastToCall(conversation) ? toolsOf(agent, undefined) : detail.tools
  await record(work, [{ type: "step", step: ROUTING, detail: { ...detail, tools } }])
}

async function ask({ conversation, agent, ports, signal }: Work, router: Router): Promise<Routed> {
  const { history } = conversation
  const last = history.findLastIndex(({ role }) => role !== "user")
  const words = history.slice(last + 1).flatMap((turn) => (turn.role === "user" && !turn.isNote ? [turn.text] : []))
  const routing = { words: words.join("\n\n"), history: history.slice(0, last + 1), profiles: agent.profiles ?? [] }
  const bounds = { clock: ports.clock, seconds: SECONDS, signal, graceMs: 0 }
  const ended = await withTimeLimit<Routed>(bounds, (inner) => router(routing, inner()))
  if (ended.type === "returned") return ended.value
  if (ended.type === "threw") {
    ports.log.warn("route_failed", { conversation: conversation.id, error: ended.error })
    return { ...UNSURE, reason: "The router failed." }
  }
  ended.rest.catch(() => {}) // The result comes too late. A shutdown decides nothing about this message; the next writer does.
  if (signal.reason === "shutdown") throw signal.reason
  return { ...UNSURE, reason: "The router took too long." }
}

const UNSURE: Routed = { profiles: [], reason: "Nothing was decided.", scores: {}, by: "unsure" }

/** A router is third-party code: unknown names and invalid numbers are dropped. */
function toDecision(agent: Agent, routed: Routed): RouterDecision {
  const { profiles, reason, scores, by } = (routed ?? UNSURE) as Partial<Routed>
  const known = new Set(agent.profiles?.map(({ name }) => name))
  const names = Array.isArray(profiles) ? [...new Set(profiles)].filter((name) => known.has(name)) : []
  const sure = names.length > 0 && (by === "rules" || by === "embedder")
  const numbers = Object.entries(scores ?? {}).filter(([name, score]) => known.has(name) && Number.isFinite(score))
  return {
    profiles: sure ? names : [],
    tools: toolsOf(agent, sure ? names : undefined),
    reason: mendText(String(reason ?? "").slice(0, MAX_REASON)),
    scores: Object.fromEntries(numbers),
    by: sure ? by : "unsure",
  }
}

/** The tools of these profiles, and those in no profile. */
function toolsOf({ profiles = [], tools }: Agent, chosen: readonly string[] | undefined): string[] {
  const all = tools.names.filter((name) => name !== MORE_TOOLS)
  if (!chosen) return all
  const isIn = (name: string, among: typeof profiles) => among.some((profile) => profile.tools.includes(name))
  const fitting = profiles.filter(({ name }) => chosen.includes(name))
  return all.filter((name) => isIn(name, fitting) || !isIn(name, profiles))
}

function both(agent: Agent, first: RouterDecision, second: RouterDecision): RouterDecision {
  if (first.by === "unsure" || second.by === "unsure") {
    const reason = second.by === "unsure" ? second.reason : first.reason
    return { ...second, profiles: [], tools: toolsOf(agent, undefined), reason, by: "unsure" }
  }
  const profiles = [...new Set([...first.profiles, ...second.profiles])]
  return { ...second, profiles, tools: toolsOf(agent, profiles), scores: { ...first.scores, ...second.scores } }
}
