import type { SharedV4ProviderOptions } from "@ai-sdk/provider"
import { own } from "../../../shared/text/json.ts"
import { type ChatWords, chatWords } from "./chat-words.ts"
import { LEAST_THINKING, LEAST_WORDS } from "./messages-body.ts"
import type { AdapterSettings, SettingsReader, Translating } from "../settings-reader.ts"

const NO_THINKING = "the model is not known to think"
const NO_BUDGET = "it does not count what it thinks with; effort says how much"

const THINKING = ["effort", "thinking", "thinkingTokens"] as const

/** How the model is to think, in the words of its adapter. */
export function thinkingOptions(translating: Translating): AdapterSettings {
  const { reader, settings, most, leave } = translating
  const { effort, thinking, thinkingTokens } = settings
  if (THINKING.every((name) => settings[name] === undefined)) return {}
  const isOff = thinking === false || effort === "none"
  const why = isOff ? undefined : whyNoThinking(reader, most)
  if (why !== undefined) {
    for (const name of THINKING) leave(name, why)
    return {}
  }
  if (reader.dialect === "chat") return inChat(translating, isOff)
  if (isOff) return { reasoning: "none" }
  const providerOptions = budgetOption(reader, thinkingTokens)
  const isCounted = thinkingTokens !== undefined && reader.dialect !== undefined && reader.dialect !== "responses"
  if (thinkingTokens !== undefined && !isCounted) leave("thinkingTokens", NO_BUDGET)
  // A budget stands in place of an effort that nobody has named.
  const reasoning = effort ?? (isCounted ? undefined : thinking || thinkingTokens ? ("medium" as const) : undefined)
  return { ...(reasoning ? { reasoning } : {}), ...(providerOptions ? { providerOptions } : {}) }
}

function whyNoThinking(reader: SettingsReader, most: number | undefined): string | undefined {
  if (reader.reasons === false) return NO_THINKING
  const isClaude = reader.dialect === "messages" || reader.dialect === "converse"
  const isTight = isClaude && most !== undefined && most < LEAST_THINKING + LEAST_WORDS
  return isTight ? `maxOutputTokens is ${most}, which leaves no room to think in` : undefined
}

function budgetOption({ dialect }: SettingsReader, tokens: number | undefined): SharedV4ProviderOptions | undefined {
  if (dialect === "gemini") {
    // What Gemini thinks is told only where it is asked for.
    const budget = tokens === undefined ? {} : { thinkingBudget: tokens }
    return { google: { thinkingConfig: { includeThoughts: true, ...budget } } }
  }
  if (tokens === undefined) return undefined
  if (dialect === "converse") return { bedrock: { reasoningConfig: { type: "enabled", budgetTokens: tokens } } }
  if (dialect !== "messages") return undefined
  return { anthropic: { thinking: { type: "enabled", budgetTokens: tokens } } }
}

function inChat({ reader, settings, leave }: Translating, isOff: boolean): AdapterSettings {
  const { effort, thinking, thinkingTokens } = settings
  const words = own<ChatWords>(chatWords, reader.provider) ?? {}
  const wished = isOff ? false : (thinking ?? (thinkingTokens === undefined ? undefined : true))
  const said = wished === undefined ? undefined : words.thinking?.(wished)
  const budget = thinkingTokens === undefined || isOff ? undefined : words.budget?.(thinkingTokens)
  if (thinkingTokens !== undefined && !budget && !isOff) leave("thinkingTokens", NO_BUDGET)
  if (budget) leave("effort", "thinkingTokens says how much")
  const nearest = effort === undefined || effort === "none" ? undefined : (words.effort?.(effort) ?? effort)
  const wanted = isOff ? (said ? undefined : "none") : budget ? undefined : nearest
  if (!said && !budget && wished && effort === undefined) leave("thinking", "the provider has no setting for thinking")
  const extra = budget ?? said
  return {
    ...(wanted === undefined ? {} : { reasoning: wanted }),
    ...(extra ? { providerOptions: { [reader.provider]: extra } as SharedV4ProviderOptions } : {}),
  }
}
