import type { Embedder } from "../protocol/workspace-port.ts"
import { toBaseUrl } from "./endpoint.ts"
import { LocalEmbedder } from "./local-embedder.ts"
import { OpenaiEmbedder, type OpenaiEmbedderOptions } from "./openai-embedder.ts"
import { type ModelSettings, secretsOf, withoutBlanks } from "./settings.ts"

type Options = Pick<OpenaiEmbedderOptions, "fetch" | "clock" | "retry"> & {
  /** Whether the operator's keys serve everybody; without, nobody's notes are sent anywhere on them. */
  readonly sharedKeys?: boolean
  /** The one that ships with us, where somebody else uses it too: it is read into memory once then. */
  readonly local?: LocalEmbedder
}

/** The embedder of these settings (MODEL-06): OpenAI's where there is a key for it, else the one that ships with us. */
export function createEmbedder(settings: ModelSettings, options: Options = {}): Embedder {
  const { openaiApiKey, openaiBaseUrl, idleSeconds } = withoutBlanks(settings)
  const baseUrl = toBaseUrl(openaiBaseUrl ?? "https://api.openai.com/v1")
  const { sharedKeys = true, local, ...rest } = options
  if (!sharedKeys || openaiApiKey === undefined || baseUrl === undefined) return local ?? new LocalEmbedder(rest)
  return new OpenaiEmbedder({
    ...rest,
    apiKey: openaiApiKey,
    baseUrl,
    secrets: secretsOf(settings),
    ...(idleSeconds === undefined ? {} : { idleMs: idleSeconds * 1000 }),
  })
}
