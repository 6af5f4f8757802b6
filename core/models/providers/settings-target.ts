import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { ModelRequest } from "../../engine/model.ts"
import type { ReplySettings, SettingName } from "../../protocol/conversation/reply-settings.ts"

/**
 * The wire format of a server, which determines how settings are sent: Responses, Messages, Gemini's own, chat
 * completions, and Bedrock's Converse for Claude models.
 */
export type Dialect = "responses" | "messages" | "gemini" | "chat" | "converse"

/** The model, as far as settings depend on it. */
export interface SettingsTarget {
  /** Our name of the model, and its provider's. */
  readonly name: string
  readonly provider: string
  /**
   * Undefined for an adapter of a program, and for most Bedrock models: they get the settings that every adapter
   * understands.
   */
  readonly dialect?: Dialect | undefined
  /** Whether the model reasons; undefined if unknown. */
  readonly reasons?: boolean | undefined
}

/** The settings that every adapter accepts. */
export type AdapterSettings = Pick<
  LanguageModelV4CallOptions,
  "reasoning" | "temperature" | "maxOutputTokens" | "stopSequences" | "providerOptions"
>

/** A request whose settings are being converted. */
export interface SettingsConversion {
  /** The maximum reply, including reasoning. */
  readonly most: number | undefined
  readonly request: ModelRequest
  readonly target: SettingsTarget
  readonly settings: ReplySettings
  readonly leave: (name: SettingName, because: string) => undefined
}
