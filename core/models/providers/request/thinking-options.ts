import type { SharedV4ProviderOptions } from "@ai-sdk/provider"
import { own } from "../../../shared/text/json.ts"
import { type ChatReasoning, chatReasoning } from "./chat-reasoning.ts"
import { MIN_THINKING_TOKENS, MIN_TEXT_TOKENS } from "./messages-body.ts"
import type { AdapterSettings, SettingsTarget, SettingsConversion } from "../settings-target.ts"

const NO_THINKING = "the model is not known to think"
const NO_BUDGET = "it does not count what it thinks with; effort says how much"

const THINKING = ["effort", "thinking", "thinkingTokens"] as const

/** The reasoning options for an adapter. */
export function thinkingOptions(conversion: SettingsConversion): AdapterSettings {
  const { target, settings, most, leave } = conversion
  const { effort, thinking, thinkingTokens } = settings
  if (THINKING.every((name) => settings[name] === undefined)) return {}
  const isOff = thinking === false || effort === "none"
  const problem = isOff ? undefined : problemWithThinking(target, most)
  if (problem !== undefined) {
    for (const name of THINKING) leave(name, problem)
    return {}
  }
  if (target.dialect === "chat") return chatOptions(conversion, isOff)
  if (isOff) return { reasoning: "none" }
  const providerOptions = budgetOption(target, thinkingTokens)
  const isCounted = thinkingTokens !== undefined && target.dialect !== undefined && target.dialect !== "responses"
  if (thinkingTokens !== undefined && !isCounted) leave("thinkingTokens", NO_BUDGET)
  // A budget replaces an unset effort.
  const reasoning = effort ?? (isCounted ? undefined : thinking || thinkingTokens ? ("medium" as const) : undefined)
  return { ...(reasoning ? { reasoning } : {}), ...(providerOptions ? { providerOptions } : {}) }
}

function problemWithThinking(target: SettingsTarget, most: number | undefined): string | undefined {
  if (target.reasons === false) return NO_THINKING
  const isClaude = target.dialect === "messages" || target.dialect === "converse"
  const hasNoRoom = isClaude && most !== undefined && most < MIN_THINKING_TOKENS + MIN_TEXT_TOKENS
  return hasNoRoom ? `maxOutputTokens is ${most}, which leaves no room to think in` : undefined
}

function budgetOption({ dialect }: SettingsTarget, tokens: number | undefined): SharedV4ProviderOptions | undefined {
  if (dialect === "gemini") {
    // Gemini returns its reasoning only if asked.
    const budget = tokens === undefined ? {} : { thinkingBudget: tokens }
    return { google: { thinkingConfig: { includeThoughts: true, ...budget } } }
  }
  if (tokens === undefined) return undefined
  if (dialect === "converse") return { bedrock: { reasoningConfig: { type: "enabled", budgetTokens: tokens } } }
  if (dialect !== "messages") return undefined
  return { anthropic: { thinking: { type: "enabled", budgetTokens: tokens } } }
}

function chatOptions({ target, settings, leave }: SettingsConversion, isOff: boolean): AdapterSettings {
  const { effort, thinking, thinkingTokens } = settings
  const reasoningFormat = own<ChatReasoning>(chatReasoning, target.provider) ?? {}
  const wished = isOff ? false : (thinking ?? (thinkingTokens === undefined ? undefined : true))
  const thinkingField = wished === undefined ? undefined : reasoningFormat.thinking?.(wished)
  const budget = thinkingTokens === undefined || isOff ? undefined : reasoningFormat.budget?.(thinkingTokens)
  if (thinkingTokens !== undefined && !budget && !isOff) leave("thinkingTokens", NO_BUDGET)
  if (budget) leave("effort", "thinkingTokens says how much")
  const nearest = effort === undefined || effort === "none" ? undefined : (reasoningFormat.effort?.(effort) ?? effort)
  const wanted = isOff ? (thinkingField ? undefined : "none") : budget ? undefined : nearest
  if (!thinkingField && !budget && wished && effort === undefined)
    leave("thinking", "the provider has no setting for thinking")
  const extra = budget ?? thinkingField
  return {
    ...(wanted === undefined ? {} : { reasoning: wanted }),
    ...(extra ? { providerOptions: { [target.provider]: extra } as SharedV4ProviderOptions } : {}),
  }
}
