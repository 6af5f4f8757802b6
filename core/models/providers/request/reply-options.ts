import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from "@ai-sdk/provider"
import type { LeftOutPart, ModelRequest } from "../../../engine/model.ts"
import type { ReplySettings, SettingName } from "../../../protocol/conversation/reply-settings.ts"
import { own } from "../../../shared/text/json.ts"
import { type ChatWords, chatWords } from "./chat-words.ts"
import type { AdapterSettings, SettingsReader, Translating } from "../settings-reader.ts"
import { thinkingOptions } from "./thinking-options.ts"

export interface ReplyOptions {
  readonly options: AdapterSettings
  readonly leftOut: LeftOutPart["settings"]
}

/** Settings in the words of an adapter. What a provider or model does not know is left out before anything is sent. */
export function toReplyOptions(request: ModelRequest, reader: SettingsReader): ReplyOptions {
  const { settings = {} } = request
  const leftOut: { name: SettingName; because: string }[] = []
  const leave = (name: SettingName, because: string) => {
    if (settings[name] !== undefined) leftOut.push({ name, because })
    return undefined
  }
  const most = smaller(request.maxOutputTokens, settings.maxOutputTokens)
  const translating: Translating = { request, reader, settings, most, leave }
  const options = {
    ...plain(settings, most),
    ...thinkingOptions(translating),
  }
  const { providerOptions, ...rest } = options
  const merged = mergeOptions(providerOptions, callsOption(translating))
  return { options: merged ? { ...rest, providerOptions: merged } : rest, leftOut }
}

const smaller = (one: number | undefined, other: number | undefined) =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other)

function plain({ temperature, stop }: ReplySettings, most: number | undefined): AdapterSettings {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(most === undefined ? {} : { maxOutputTokens: most }),
    ...(stop === undefined ? {} : { stopSequences: [...stop] }),
  }
}

const ONE_AT_A_TIME = "the provider does not support one call at a time"

function callsOption({ request, reader, settings, leave }: Translating): SharedV4ProviderOptions | undefined {
  // Several at a time is what all of them do unasked.
  if (settings.parallelCalls !== false || request.tools.length === 0) return undefined
  const { dialect, provider } = reader
  if (dialect === "responses") return { openai: { parallelToolCalls: false } }
  if (dialect === "messages") return { anthropic: { disableParallelToolUse: true } }
  const isDeaf = dialect !== "chat" || own<ChatWords>(chatWords, provider)?.noParallel
  return isDeaf ? leave("parallelCalls", ONE_AT_A_TIME) : { [provider]: { parallel_tool_calls: false } }
}

/** Options of the same adapter side by side. */
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

/** Where a provider holds a model to a schema beside its tools it is asked to, loosely: its own rules for schemas are stricter. */
export function formatOf(
  { answerSchema }: ModelRequest,
  { dialect }: SettingsReader,
): Partial<LanguageModelV4CallOptions> {
  if (!answerSchema || dialect !== "responses" || answerSchema.type !== "object") return {}
  return { responseFormat: { type: "json", name: "answer", schema: answerSchema } }
}
