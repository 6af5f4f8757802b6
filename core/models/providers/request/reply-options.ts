import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from "@ai-sdk/provider"
import type { LeftOutPart, ModelRequest } from "../../../engine/model.ts"
import type { ReplySettings, SettingName } from "../../../protocol/conversation/reply-settings.ts"
import { own } from "../../../shared/text/json.ts"
import { type ChatReasoning, chatReasoning } from "./chat-reasoning.ts"
import type { AdapterSettings, SettingsTarget, SettingsConversion } from "../settings-target.ts"
import { thinkingOptions } from "./thinking-options.ts"

export interface ReplyOptions {
  readonly options: AdapterSettings
  readonly leftOut: LeftOutPart["settings"]
}

/** Converts settings for an adapter. Leaves out what the provider or model does not support. */
export function toReplyOptions(request: ModelRequest, target: SettingsTarget): ReplyOptions {
  const { settings = {} } = request
  const leftOut: { name: SettingName; because: string }[] = []
  const leave = (name: SettingName, because: string) => {
    if (settings[name] !== undefined) leftOut.push({ name, because })
    return undefined
  }
  const most = smaller(request.maxOutputTokens, settings.maxOutputTokens)
  const conversion: SettingsConversion = { request, target, settings, most, leave }
  const options = {
    ...plainOptions(settings, most),
    ...thinkingOptions(conversion),
  }
  const { providerOptions, ...rest } = options
  const merged = mergeOptions(providerOptions, callsOption(conversion))
  return { options: merged ? { ...rest, providerOptions: merged } : rest, leftOut }
}

const smaller = (one: number | undefined, other: number | undefined) =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other)

function plainOptions({ temperature, stop }: ReplySettings, most: number | undefined): AdapterSettings {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(most === undefined ? {} : { maxOutputTokens: most }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
  }
}

const ONE_AT_A_TIME = "the provider does not support one call at a time"

function callsOption({ request, target, settings, leave }: SettingsConversion): SharedV4ProviderOptions | undefined {
  // All providers allow several calls by default.
  if (settings.parallelCalls !== false || request.tools.length === 0) return undefined
  const { dialect, provider } = target
  if (dialect === "responses") return { openai: { parallelToolCalls: false } }
  if (dialect === "messages") return { anthropic: { disableParallelToolUse: true } }
  const isUnsupported = dialect !== "chat" || own<ChatReasoning>(chatReasoning, provider)?.noParallel
  return isUnsupported ? leave("parallelCalls", ONE_AT_A_TIME) : { [provider]: { parallel_tool_calls: false } }
}

/** Merges options, per adapter. */
export function mergeOptions(
  ...all: readonly (SharedV4ProviderOptions | undefined)[]
): SharedV4ProviderOptions | undefined {
  const given = all.filter((each) => each !== undefined)
  if (given.length < 2) return given[0]
  const merged: Record<string, SharedV4ProviderOptions[string]> = {}
  for (const options of given)
    for (const [adapter, fields] of Object.entries(options)) merged[adapter] = { ...merged[adapter], ...fields }
  return merged
}

/** Requests a schema if the provider supports one next to tools. Not strict, because strict schemas have more rules. */
export function formatOf(
  { answerSchema }: ModelRequest,
  { dialect }: SettingsTarget,
): Partial<LanguageModelV4CallOptions> {
  if (!answerSchema || dialect !== "responses" || answerSchema.type !== "object") return {}
  return { responseFormat: { type: "json", name: "answer", schema: answerSchema } }
}
