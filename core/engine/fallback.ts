import { AppError, codeOf, hasCode } from "../protocol/errors.ts"
import type { NewEvent } from "../protocol/events.ts"
import type { RunError } from "../protocol/conversation/conversation.ts"
import { troubleWords } from "../protocol/models/fallback-words.ts"
import { HISTORY_SHARE, type Model } from "./model.ts"
import type { Ports } from "./ports.ts"
import type { Work } from "./record.ts"

type Fallback = Extract<NewEvent, { type: "fallback" }>
type Parts = Pick<Work, "conversation" | "agent" | "ports">

/** How long a failed model is not asked by later runs: what its provider requested, within these bounds. */
const SPARED_MS = { least: 5 * 60_000, most: 60 * 60_000 }

/** Errors of the model, not of the request: outage, overload, a spent quota, or no access. */
const MOVES_ON: ReadonlySet<string> = new Set([
  ...["rate_limited", "overloaded", "quota_spent", "model_silent"],
  ...["auth", "not_configured", "unknown_model"],
])

/** The model to ask: the chosen one, or the fallback that the run uses. */
export function currentModel({ conversation: { model, run, user }, ports }: Pick<Parts, "conversation" | "ports">) {
  return ports.models.get(run?.fallback?.model ?? model, user)
}

/** The fallback models in order: the conversation's, else its agent's, else the server's. */
export function fallbackOf({
  conversation,
  agent,
  ports,
}: Omit<Parts, "ports"> & { readonly ports: Pick<Ports, "fallback"> }): readonly string[] {
  return conversation.fallback ?? agent.fallback ?? ports.fallback ?? []
}

/** Throws the chosen model's error if no other model of its list can be used either. */
export async function requireModel(parts: Parts): Promise<void> {
  const { conversation, ports } = parts
  try {
    await ports.models.get(conversation.model, conversation.user)
  } catch (error) {
    if (!hasCode(error, "not_configured") && !hasCode(error, "unknown_model")) throw error
    const looked = await look(parts, new Set(), conversation.tokens)
    if (!looked.some((each) => "model" in each)) throw error
  }
}

/**
 * The event by which a run changes to the next model of its list, after one failed without visible output. Returns
 * undefined if no model is left or another one would not help. It is recorded before that model is asked, so that a run
 * continues with it after a crash. No model is asked twice in a run, so the list ends. The next model must have room
 * for the history, unless that is about to be shortened.
 */
export async function fallBack(
  work: Work,
  from: string,
  error: unknown,
  tokens = work.conversation.tokens,
): Promise<Fallback | undefined> {
  const { conversation, ports } = work
  const { run } = conversation
  if (!run || run.shown !== undefined || !(error instanceof AppError) || !movesOn(error, run.fallback)) return undefined
  const tried = new Set([from, ...(run.fallback?.failed ?? []).map(({ model }) => model)])
  const { retryAfterMs = 0 } = error.details as { retryAfterMs?: number }
  const spared = Math.min(Math.max(retryAfterMs, SPARED_MS.least), SPARED_MS.most)
  const failed = { from, because: error.code, message: error.message, until: ports.clock.now() + spared }
  return toEvent(failed, choose(work, await look(work, tried, tokens), "or spared"))
}

/** The same before the first request of a run, for a model that failed in a recent run. */
export async function spare(
  work: Work,
  { name: from }: Model,
  tokens = work.conversation.tokens,
): Promise<Fallback | undefined> {
  const { conversation, ports } = work
  const known = conversation.spared.get(from)
  if (!conversation.run || conversation.run.fallback || !known || known.until <= ports.clock.now()) return undefined
  const { because, message, until } = known
  const chosen = choose(work, await look(work, new Set([from]), tokens), "not spared")
  return toEvent({ from, because, message, until, earlier: true }, chosen)
}

/** The error of a run whose models all failed: the first model's error with those of the others. */
export function failureOfAll({ conversation }: Parts, model: string, last: RunError): RunError {
  const [first, ...others] = conversation.run?.fallback?.failed ?? []
  if (!first) return last
  const rest = [...others, { model, because: last.code }]
  const asked = rest.map((each) => `${each.model}, which ${troubleWords(each.because)}`).join("; ")
  return { code: first.because, message: `${first.message} Asked in its place: ${asked}.` }
}

/**
 * A cost limit or a refusal of the chosen model ends the run. For the models after it, only errors of the request do.
 */
function movesOn({ code, details }: AppError, fallback: unknown): boolean {
  if (MOVES_ON.has(code)) return true
  if (fallback !== undefined) return code !== "refused" && code !== "store_unavailable" && code !== "lease_lost"
  return code === "provider_error" && (details as { retriable?: unknown }).retriable === true
}

type Looked = { readonly model: Model } | { readonly name: string; readonly because: string }

/** The models of the list that were not tried, in order, each with the reason if it cannot be used. */
async function look(parts: Parts, tried: ReadonlySet<string>, tokens: number): Promise<Looked[]> {
  const { conversation, ports } = parts
  const looked: Looked[] = []
  for (const name of [conversation.model, ...fallbackOf(parts)]) {
    if (name !== null && tried.has(name)) continue
    try {
      const model = await ports.models.get(name, conversation.user)
      // History that is cut for a smaller model stays cut when the larger one works again.
      if (tried.has(model.name)) continue
      const fits = tokens <= model.contextTokens * HISTORY_SHARE
      looked.push(fits ? { model } : { name: model.name, because: "context_overflow" })
    } catch (error) {
      if (hasCode(error, "store_unavailable")) throw error
      looked.push({ name: name ?? "the default model", because: codeOf(error) ?? "provider_error" })
    }
  }
  return looked
}

interface ChosenModel {
  readonly model: Model
  readonly passed: NonNullable<Fallback["passed"]>
}

function choose(
  { conversation, ports }: Work,
  looked: readonly Looked[],
  which: "not spared" | "or spared",
): ChosenModel | undefined {
  const now = ports.clock.now()
  const isSpared = ({ name }: Model) => (conversation.spared.get(name)?.until ?? 0) > now
  const fresh = looked.findIndex((each) => "model" in each && !isSpared(each.model))
  const at = fresh < 0 && which === "or spared" ? looked.findIndex((each) => "model" in each) : fresh
  const chosen = looked[at]
  if (!chosen || !("model" in chosen)) return undefined
  const passed = looked.slice(0, at).flatMap((each) => {
    if (!("model" in each)) return [{ model: each.name, because: each.because }]
    return [{ model: each.model.name, because: conversation.spared.get(each.model.name)?.because ?? "" }]
  })
  return { model: chosen.model, passed }
}

function toEvent(failed: Omit<Fallback, "type" | "to" | "passed">, chosen: ChosenModel | undefined) {
  if (!chosen) return undefined
  const { model, passed } = chosen
  return { type: "fallback", ...failed, to: model.name, ...(passed.length > 0 ? { passed } : {}) } as const
}
