import type { SharedV4Warning } from "@ai-sdk/provider"
import { type LeftOutPart, type ModelRequest, USUAL_OUTPUT_TOKENS } from "../../../engine/model.ts"
import type { ReplySettings, SettingName } from "../../../protocol/conversation/reply-settings.ts"
import { AppError } from "../../../protocol/errors.ts"
import type { Retriability } from "../errors/errors.ts"

type LeftOutSettings = LeftOutPart["settings"]

/** By which words adapters and providers speak of a setting. */
const spokenOf: Readonly<Record<SettingName, RegExp>> = {
  effort: /reasoning|effort|thinking/i,
  thinking: /reasoning|thinking/i,
  thinkingTokens: /thinking|budget/i,
  temperature: /temperature/i,
  maxOutputTokens: /max_?(?:completion_?|output_?)?tokens/i,
  stop: /stop/i,
  parallelCalls: /parallel/i,
}

const MAX_WORDS = 200

const namesIn = (settings: ReplySettings): SettingName[] => Object.keys(settings) as SettingName[]

/** What the adapter has left out or changed of these by itself: it knows the models of its provider. */
export function leftByAdapter(warnings: readonly SharedV4Warning[], settings: ReplySettings = {}): LeftOutSettings {
  return warnings.flatMap((warning) => {
    if (warning.type !== "unsupported" && warning.type !== "compatibility") return []
    const name = namesIn(settings).find((each) => spokenOf[each].test(warning.feature))
    const because = (warning.details ?? "the model does not take it").slice(0, MAX_WORDS).toWellFormed()
    return name ? [{ name, because: because.replace(/\.$/, "") }] : []
  })
}

/** Whether a request was refused for what it holds. */
export const refusesRequest = (error: unknown): boolean =>
  error instanceof AppError && (error.details as Partial<Retriability>).refusesRequest === true

/**
 * The settings without which a request is worth sending again that its provider has refused: those that its sentence
 * speaks of, or all where it names none. None where something else was wrong.
 */
export function refusedSettings(settings: ReplySettings = {}, error: unknown): LeftOutSettings {
  if (!(error instanceof AppError) || !refusesRequest(error)) return []
  const { problem } = error.details as { readonly problem?: string }
  const named = namesIn(settings).filter((name) => spokenOf[name].test(problem ?? ""))
  const because = `the provider refused it: ${(problem ?? "").slice(0, MAX_WORDS).toWellFormed()}`
  return (named.length > 0 ? named : namesIn(settings)).map((name) => ({ name, because }))
}

function withoutThese(settings: ReplySettings = {}, left: LeftOutSettings): ReplySettings {
  const names = new Set<string>(left.map(({ name }) => name))
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.has(name)))
}

/**
 * A request without the settings that were refused. The bound of a ceiling is never left out: one that a setting had raised
 * is the usual one again, and none becomes more than what was set aside.
 */
export function withoutRefused(request: ModelRequest, refused: LeftOutSettings): ModelRequest {
  const { maxOutputTokens: bound, settings } = request
  const isRefused = bound !== undefined && refused.some(({ name }) => name === "maxOutputTokens")
  const lowered = isRefused ? { maxOutputTokens: Math.min(bound, USUAL_OUTPUT_TOKENS) } : {}
  return { ...request, ...lowered, settings: withoutThese(settings, refused) }
}

/** So many are remembered: values are anybody's choice. */
const MOST_REMEMBERED = 100

/** What one model was seen to refuse, value by value, so that it is not asked for the same again while this process lives. */
export class RememberedRefusals {
  readonly #because = new Map<string, string>()

  /** Once a request has been taken without them: before that it may have been something else. */
  add(settings: ReplySettings = {}, refused: LeftOutSettings): void {
    for (const { name, because } of refused)
      if (this.#because.size < MOST_REMEMBERED) this.#because.set(keyOf(name, settings), because)
  }

  in(settings: ReplySettings = {}): LeftOutSettings {
    if (this.#because.size === 0) return []
    return namesIn(settings).flatMap((name) => {
      const because = this.#because.get(keyOf(name, settings))
      return because === undefined ? [] : [{ name, because }]
    })
  }
}

const keyOf = (name: SettingName, settings: ReplySettings): string => `${name} ${JSON.stringify(settings[name])}`
