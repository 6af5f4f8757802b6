import type { Log } from "../../shared/log.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import { toBaseUrl } from "../providers/endpoints/endpoint.ts"
import { LocalEmbedder } from "./local.ts"
import { OpenaiEmbedder, type OpenaiEmbedderOptions } from "./openai.ts"
import { type ModelSettings, providerSecrets, withoutBlanks } from "../providers/settings.ts"

type Options = Pick<OpenaiEmbedderOptions, "fetch" | "clock" | "retry"> & {
  /** Whether the operator's keys serve all people. If not, no notes are sent to a provider. */
  readonly sharedKeys?: boolean
  readonly log?: Log
}

/** OpenAI's embedder if there is a key for it, and otherwise the local one. */
export function createEmbedder(settings: ModelSettings, options: Options = {}): Embedder & { close?(): Promise<void> } {
  const { openaiApiKey, openaiBaseUrl, idleSeconds } = withoutBlanks(settings)
  const baseUrl = toBaseUrl(openaiBaseUrl ?? "https://api.openai.com/v1")
  const { sharedKeys = true, ...rest } = options
  if (!sharedKeys || openaiApiKey === undefined || baseUrl === undefined) return new LocalEmbedder(rest)
  return new OpenaiEmbedder({
    ...rest,
    apiKey: openaiApiKey,
    baseUrl,
    secrets: providerSecrets(settings),
    ...(idleSeconds === undefined ? {} : { idleMs: idleSeconds * 1000 }),
  })
}
