import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { ModelRequest } from "../../engine/model.ts"
import type { ReplySettings, SettingName } from "../../protocol/conversation/reply-settings.ts"

/**
 * What a server speaks, which decides by which words settings reach it: Responses, Messages, Gemini's own, chat completions,
 * and Bedrock's Converse, of those of its models that are Claude's.
 */
export type Dialect = "responses" | "messages" | "gemini" | "chat" | "converse"

/** Who is asked, as far as settings depend on it. */
export interface SettingsReader {
  /** Our name of the model, and its provider's. */
  readonly name: string
  readonly provider: string
  /** Undefined for an adapter that a program has brought, and for most models of Bedrock: they get what every adapter understands. */
  readonly dialect?: Dialect | undefined
  /** Known to think, or not to; undefined where it is not known. */
  readonly reasons?: boolean | undefined
}

/** What every adapter takes of them. */
export type AdapterSettings = Pick<
  LanguageModelV4CallOptions,
  "reasoning" | "temperature" | "maxOutputTokens" | "stopSequences" | "providerOptions"
>

/** One request whose settings are put into the words of its reader. */
export interface Translating {
  /** The longest reply, thinking included. */
  readonly most: number | undefined
  readonly request: ModelRequest
  readonly reader: SettingsReader
  readonly settings: ReplySettings
  readonly leave: (name: SettingName, because: string) => undefined
}
