import type { SharedV4Warning } from "@ai-sdk/provider"
import { type LeftOutPart, type ModelRequest, USUAL_OUTPUT_TOKENS } from "../../../engine/model.ts"
import type { ReplySettings, SettingName } from "../../../protocol/conversation/reply-settings.ts"
import { AppError } from "../../../protocol/errors.ts"
import type { Retriability } from "../errors/errors.ts"

type LeftOutSettings = LeftOutPart["settings"]

/** How adapters and providers refer to a setting. */
const mentions: Readonly<Record<SettingName, RegExp>> = {
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

/** The settings that the adapter left out or changed, because it knows its provider's models. */
export function leftByAdapter(warnings: readonly SharedV4Warning[], settings: ReplySettings = {}): LeftOutSettings {
  return warnings.flatMap((warning) => {
    if (warning.type !== "unsupported" && warning.type !== "compatibility") return []
    const name = namesIn(settings).find((each) => mentions[each].test(warning.feature))
    const because = (warning.details ?? "the model does not take it").slice(0, MAX_WORDS).toWellFormed()
    return name ? [{ name, because: because.replace(/\.$/, "") }] : []
  })
}

/** Whether a request was rejected because of its content. */
export const refusesRequest = (error: unknown): boolean =>
  error instanceof AppError && (error.details as Partial<Retriability>).refusesRequest === true

/**
 * The settings to leave out before repeating a rejected request: those that the error mentions, or all if it mentions
 * none. Empty if something else was wrong.
 */
export function refusedSettings(settings: ReplySettings = {}, error: unknown): LeftOutSettings {
  if (!(error instanceof AppError) || !refusesRequest(error)) return []
  const { problem } = error.details as { readonly problem?: string }
  const named = namesIn(settings).filter((name) => mentions[name].test(problem ?? ""))
  const because = `the provider refused it: ${(problem ?? "").slice(0, MAX_WORDS).toWellFormed()}`
  return (named.length > 0 ? named : namesIn(settings)).map((name) => ({ name, because }))
}

function withoutThese(settings: ReplySettings = {}, left: LeftOutSettings): ReplySettings {
  const names = new Set<string>(left.map(({ name }) => name))
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.has(name)))
}

/**
 * A request without rejected settings. A spending limit's bound always stays: if a setting had raised it, the default
 * applies again, so that a reply never costs more than was reserved.
 */
export function withoutRefused(request: ModelRequest, refused: LeftOutSettings): ModelRequest {
  const { maxOutputTokens: bound, settings } = request
  const isRefused = bound !== undefined && refused.some(({ name }) => name === "maxOutputTokens")
  const lowered = isRefused ? { maxOutputTokens: Math.min(bound, USUAL_OUTPUT_TOKENS) } : {}
  return { ...request, ...lowered, settings: withoutThese(settings, refused) }
}

/** Limited, because people choose the values. */
const MAX_REMEMBERED = 100

/** The settings that a model has rejected, by value, so that they are not sent again while this process runs. */
export class RememberedRefusals {
  readonly #because = new Map<string, string>()

  /** Called when a request without them was accepted; before that, something else may have been the cause. */
  add(settings: ReplySettings = {}, refused: LeftOutSettings): void {
    for (const { name, because } of refused)
      if (this.#because.size < MAX_REMEMBERED) this.#because.set(keyOf(name, settings), because)
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
