import { failure } from "../../protocol/errors.ts"
import type { Embedder } from "../../protocol/workspace.ts"
import type { Log } from "../../shared/log.ts"
import { toBaseUrl } from "../providers/endpoints/endpoint.ts"
import { type ModelSettings, providerSecrets, withoutBlanks } from "../providers/settings.ts"
import { OpenaiEmbedder, type OpenaiEmbedderOptions } from "./openai.ts"

export type OpenedEmbedder = Embedder & { close?(): Promise<void> }

/** Creates an embedder that runs on this machine. `@pawl/core` has none; the command uses `labs/minilm`. */
export type CreateLocalEmbedder = (options: { readonly log?: Log | undefined }) => OpenedEmbedder

type Options = Pick<OpenaiEmbedderOptions, "fetch" | "clock" | "retry"> & {
  /** Whether the operator's keys serve all people. If not, no notes are sent to a provider. */
  readonly sharedKeys?: boolean
  readonly log?: Log
  readonly local?: CreateLocalEmbedder | undefined
}

/** OpenAI's embedder if there is a key for it, and otherwise the local one. Undefined if there is neither. */
export function createEmbedder(settings: ModelSettings, options: Options = {}): OpenedEmbedder | undefined {
  const { openaiApiKey, openaiBaseUrl, idleSeconds } = withoutBlanks(settings)
  const baseUrl = toBaseUrl(openaiBaseUrl ?? "https://api.openai.com/v1")
  const { sharedKeys = true, local, log, ...rest } = options
  if (!sharedKeys || openaiApiKey === undefined || baseUrl === undefined) return local?.({ log })
  return new OpenaiEmbedder({
    ...rest,
    apiKey: openaiApiKey,
    baseUrl,
    secrets: providerSecrets(settings),
    ...(idleSeconds === undefined ? {} : { idleMs: idleSeconds * 1000 }),
  })
}

/** Stands in for an embedder, so that every search uses words only. */
export const noEmbedder: OpenedEmbedder = {
  name: "none",
  dimensions: 0,
  async embed() {
    throw failure("provider_error", {
      provider: "Search by meaning",
      problem: "it needs an embedder: set OPENAI_API_KEY",
    })
  },
}
