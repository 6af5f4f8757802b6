import { AppError, codeOf, hasCode } from "../protocol/errors.ts"
import type { NewEvent } from "../protocol/events.ts"
import type { RunError } from "../protocol/conversation/conversation.ts"
import { troubleWords } from "../protocol/models/fallback-words.ts"
import { HISTORY_SHARE, type Model } from "./model.ts"
import type { Ports } from "./ports.ts"
import type { Work } from "./record.ts"

type Fallback = Extract<NewEvent, { type: "fallback" }>
type Parts = Pick<Work, "conversation" | "agent" | "ports">

/** A model that could not answer is asked again by a later run, after what its provider asked for within these bounds. */
const SPARED_MS = { least: 5 * 60_000, most: 60 * 60_000 }

/** What is wrong with the model and not with the question: outage, overload, a spent quota, or no way to use it. */
const MOVES_ON: ReadonlySet<string> = new Set([
  ...["rate_limited", "overloaded", "quota_spent", "model_silent"],
  ...["auth", "not_configured", "unknown_model"],
])

/** The model that is asked now: the chosen one, or the one that the run has gone over to. */
export function currentModel({ conversation: { model, run, user }, ports }: Pick<Parts, "conversation" | "ports">) {
  return ports.models.get(run?.fallback?.model ?? model, user)
}

/** Who answers where the chosen one cannot, in order: as the conversation says, else its agent, else the server. */
export function fallbackOf({
  conversation,
  agent,
  ports,
}: Omit<Parts, "ports"> & { readonly ports: Pick<Ports, "fallback"> }): readonly string[] {
  return conversation.fallback ?? agent.fallback ?? ports.fallback ?? []
}

/** Throws what is wrong with the chosen model where no other of its list can be used either. */
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
 * The event by which a run goes over to the next model of its list, after one has failed of which nothing was seen. Undefined
 * where there is none left, or where another one would help nothing. Recorded before that one is asked: a crash in between
 * goes on with it, and since none is asked twice in a run the list has an end. It can read so many tokens: the history,
 * unless that is about to become shorter.
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

/** The same before the first question of a run, for a model that failed in a run before it and is not asked so soon again. */
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

/** How a run ends whose models could not answer: with what was wrong with the first one, and what with the others. */
export function failureOfAll({ conversation }: Parts, model: string, last: RunError): RunError {
  const [first, ...others] = conversation.run?.fallback?.failed ?? []
  if (!first) return last
  const rest = [...others, { model, because: last.code }]
  const asked = rest.map((each) => `${each.model}, which ${troubleWords(each.because)}`).join("; ")
  return { code: first.because, message: `${first.message} Asked in its place: ${asked}.` }
}

/** A ceiling or a refusal of the chosen one stands; of those after it, only what the question itself is refused for. */
function movesOn({ code, details }: AppError, fallback: unknown): boolean {
  if (MOVES_ON.has(code)) return true
  if (fallback !== undefined) return code !== "refused" && code !== "store_unavailable" && code !== "lease_lost"
  return code === "provider_error" && (details as { retriable?: unknown }).retriable === true
}

type Looked = { readonly model: Model } | { readonly name: string; readonly because: string }

/** What there is of the list beside those that were tried, in order: models, and what cannot be asked with the reason. */
async function look(parts: Parts, tried: ReadonlySet<string>, tokens: number): Promise<Looked[]> {
  const { conversation, ports } = parts
  const looked: Looked[] = []
  for (const name of [conversation.model, ...fallbackOf(parts)]) {
    if (name !== null && tried.has(name)) continue
    try {
      const model = await ports.models.get(name, conversation.user)
      // A history that was cut for a smaller model would stay cut when the larger one is back.
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
