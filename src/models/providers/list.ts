import { type Connect, connectAnthropic, connectCompatible, connectOpenai, connectOwnServer } from "./connect.ts"
import { toLocalEndpoint, toOllamaEndpoint } from "./endpoint.ts"

const OPENAI_SAYS = "Any endpoint that speaks OpenAI's chat completions, such as OpenRouter or vLLM."
const ANTHROPIC_SAYS = "Another address that speaks Anthropic's messages."
const LM_STUDIO = ["lmStudioEndpoint", "LM_STUDIO_ENDPOINT", "LM Studio, such as `http://127.0.0.1:1234`."] as const
const OLLAMA = ["ollamaHost", "OLLAMA_HOST", "Ollama, as it reads this itself: `127.0.0.1:11434` or a URL."] as const

/**
 * Every provider, a line each: settings, their documents, what people can store keys for and what the offline model
 * recommends follow from it. One more that speaks OpenAI's chat completions is `acme: compatible("acme", "Acme", "https://…/v1")`.
 */
export const providers = {
  openai: { ...hosted("openai", "OpenAI", connectOpenai, OPENAI_SAYS), isKeyOptional: true },
  anthropic: { ...hosted("anthropic", "Anthropic", connectAnthropic, ANTHROPIC_SAYS), contextTokens: 200_000 },
  deepseek: compatible("deepseek", "DeepSeek", "https://api.deepseek.com/v1"),
  lmstudio: ownServer("LM Studio", LM_STUDIO, connectOwnServer("lmstudio", toLocalEndpoint)),
  ollama: ownServer("Ollama", OLLAMA, connectOwnServer("ollama", toOllamaEndpoint)),
} satisfies Readonly<Record<string, Provider>>

export type ReachableProvider = keyof typeof providers
export type ProviderName = ReachableProvider | "offline"

export interface Provider {
  /** As people call it. */
  readonly label: string
  /** Null for one that wants none. */
  readonly apiKey: Means | null
  readonly baseUrl: Means
  /** At an address other than the provider's own it is reached without a key. */
  readonly isKeyOptional?: boolean
  /** What is assumed of a model that we know only by `provider/id`. A server that can read less says so itself. */
  readonly contextTokens: number
  readonly connect: Connect
}

/** One thing that is set for a provider: the name of the setting, the variable it comes from, and what it is for. */
export interface Means<Field extends string = string, Variable extends string = string> {
  readonly field: Field
  readonly variable: Variable
  readonly says: string
  /** It is never printed. */
  readonly isSecret?: boolean
}

/** One that is reached with a key, at its own address unless another is given. Its settings are named after it. */
function hosted<const Name extends string>(name: Name, label: string, connect: Connect, says: string) {
  const upper = name.toUpperCase() as Uppercase<Name>
  return {
    label,
    apiKey: { field: `${name}ApiKey`, variable: `${upper}_API_KEY`, says: `A key for ${label}.`, isSecret: true },
    baseUrl: { field: `${name}BaseUrl`, variable: `${upper}_BASE_URL`, says },
    contextTokens: 128_000 as number,
    connect,
  } as const
}

function compatible<const Name extends string>(name: Name, label: string, address: string) {
  return hosted(name, label, connectCompatible(name, address), `Another address that speaks as ${label} does.`)
}

function ownServer<const Field extends string, const Variable extends string>(
  label: string,
  [field, variable, says]: readonly [Field, Variable, string],
  connect: Connect,
) {
  return { label, apiKey: null, baseUrl: { field, variable, says }, contextTokens: 32_768, connect } as const
}
