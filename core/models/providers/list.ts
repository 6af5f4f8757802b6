import { bedrockSettings, connectBedrock } from "./clouds/bedrock.ts"
import { connectAnthropic, connectAzure, connectGoogle, connectOpenai } from "./connect.ts"
import { type Connect, connectCompatible, connectOwnServer } from "./connect.ts"
import { toBaseUrl, toLocalEndpoint, toOllamaEndpoint } from "./endpoints/endpoint.ts"
import type { Quirks } from "./quirks.ts"
import { connectVertex, vertexSettings } from "./clouds/vertex.ts"

const OPENAI_SAYS = "Any endpoint that speaks OpenAI's chat completions."
const ANTHROPIC_SAYS = "Another address that speaks Anthropic's messages."
const AZURE_KEY_SAYS = "A key for Azure OpenAI."
const AZURE_SAYS = "Your resource, such as `https://name.openai.azure.com`; its deployments go by `azure/deployment`."
const AZURE_NAME_SAYS = "The name of your resource, in place of its address."
const BEDROCK_SAYS = "A key for Amazon Bedrock, in place of the keys of an account."
const BEDROCK_URL_SAYS = "Another address that speaks as Amazon Bedrock does."
const VERTEX_SAYS = "A key for Google Vertex in its express mode, in place of a service account."
const VERTEX_URL_SAYS = "Another address that speaks as Google Vertex does."
const LM_STUDIO = ["lmStudio", "LM_STUDIO", "LM Studio, such as `http://127.0.0.1:1234`."] as const
const LLAMA_CPP = ["llamacpp", "LLAMACPP", "The server of llama.cpp, such as `http://127.0.0.1:8080`."] as const
const VLLM = ["vllm", "VLLM", "vLLM, such as `http://127.0.0.1:8000`."] as const
const OLLAMA_SAYS = "Ollama, as it reads this itself: `127.0.0.1:11434` or a URL."

/** Rejects unknown fields, other formats of ids, and a user message directly after a tool result. */
const MISTRAL: Quirks = { countsUnasked: true, forgetsThinking: true, shortCallIds: true, answersResults: true }
/** Rejects reasoning under the common name; some models send it inside their text. */
const GROQ: Quirks = { forgetsThinking: true, thinksInTags: true }

const GEMINI = hosted("gemini", "Google Gemini", connectGoogle, "Another address that speaks as Gemini does.")

/**
 * All providers as data: settings, their documentation, stored keys and the advice of the offline model are derived
 * from it. A new provider with OpenAI's chat completions is `acme: compatible("acme", "Acme", "https://…/v1")`.
 */
export const providers = {
  openai: { ...hosted("openai", "OpenAI", connectOpenai, OPENAI_SAYS), wants: "either" },
  anthropic: { ...hosted("anthropic", "Anthropic", connectAnthropic, ANTHROPIC_SAYS), contextTokens: 200_000 },
  google: {
    ...GEMINI,
    apiKey: { ...GEMINI.apiKey, also: "GOOGLE_GENERATIVE_AI_API_KEY" },
    contextTokens: 1_000_000,
    idsInPath: true,
  },
  azure: {
    label: "Azure OpenAI",
    wants: "both",
    apiKey: { field: "azureOpenaiApiKey", variable: "AZURE_OPENAI_API_KEY", says: AZURE_KEY_SAYS, isSecret: true },
    baseUrl: {
      field: "azureOpenaiEndpoint",
      variable: "AZURE_OPENAI_ENDPOINT",
      says: AZURE_SAYS,
      toAddress: toBaseUrl,
    },
    more: {
      resourceName: { field: "azureResourceName", variable: "AZURE_RESOURCE_NAME", says: AZURE_NAME_SAYS },
    },
    contextTokens: 128_000,
    connect: connectAzure,
  },
  bedrock: {
    label: "Amazon Bedrock",
    wants: "several",
    apiKey: { field: "bedrockApiKey", variable: "AWS_BEARER_TOKEN_BEDROCK", says: BEDROCK_SAYS, isSecret: true },
    baseUrl: {
      field: "bedrockBaseUrl",
      variable: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
      says: BEDROCK_URL_SAYS,
      toAddress: toBaseUrl,
    },
    more: bedrockSettings,
    contextTokens: 128_000,
    idsInPath: true,
    connect: connectBedrock,
  },
  vertex: {
    label: "Google Vertex",
    wants: "several",
    apiKey: { field: "vertexApiKey", variable: "GOOGLE_VERTEX_API_KEY", says: VERTEX_SAYS, isSecret: true },
    baseUrl: {
      field: "vertexBaseUrl",
      variable: "GOOGLE_VERTEX_BASE_URL",
      says: VERTEX_URL_SAYS,
      toAddress: toBaseUrl,
    },
    more: vertexSettings,
    contextTokens: 200_000,
    idsInPath: true,
    connect: connectVertex,
  },
  mistral: compatible("mistral", "Mistral", "https://api.mistral.ai/v1", MISTRAL),
  groq: compatible("groq", "Groq", "https://api.groq.com/openai/v1", GROQ),
  xai: compatible("xai", "xAI", "https://api.x.ai/v1"),
  deepseek: compatible("deepseek", "DeepSeek", "https://api.deepseek.com/v1"),
  openrouter: compatible("openrouter", "OpenRouter", "https://openrouter.ai/api/v1"),
  lmstudio: ownServer("LM Studio", LM_STUDIO, connectOwnServer("lmstudio", toLocalEndpoint)),
  ollama: {
    ...ownServer("Ollama", ["ollama", "OLLAMA", ""], connectOwnServer("ollama", toOllamaEndpoint)),
    baseUrl: { field: "ollamaHost", variable: "OLLAMA_HOST", says: OLLAMA_SAYS, toAddress: toOllamaEndpoint },
  },
  llamacpp: ownServer("llama.cpp", LLAMA_CPP, connectOwnServer("llamacpp", toLocalEndpoint)),
  vllm: ownServer("vLLM", VLLM, connectOwnServer("vllm", toLocalEndpoint)),
} as const satisfies Readonly<Record<string, Provider>>

export type ReachableProvider = keyof typeof providers
export type ProviderName = ReachableProvider | "offline"

export interface Provider {
  /** The display name. */
  readonly label: string
  /** The minimum for access; `either`: it needs no key at a custom address. `several`: a key, or several of `more`. */
  readonly wants: "key" | "address" | "either" | "both" | "several"
  readonly apiKey: ProviderSetting
  readonly baseUrl: ProviderSetting
  /** Further fields, by name. */
  readonly more?: Readonly<Record<string, ProviderSetting>>
  /** The assumed window of a model that is known only as `provider/id`. A smaller one is reported by the server. */
  readonly contextTokens: number
  /** Model ids are part of the path, so they must be checked. */
  readonly idsInPath?: true
  readonly connect: Connect
}

/** A setting of a provider: its name, its environment variable and its description. */
export interface ProviderSetting<Field extends string = string, Variable extends string = string> {
  readonly field: Field
  readonly variable: Variable
  /** A second name of the variable, from other programs. */
  readonly also?: string
  readonly says: string
  /** Never shown. */
  readonly isSecret?: boolean
  /** Normalizes an address; undefined if it is invalid. */
  readonly toAddress?: (text: string) => string | undefined
  /** Many machines have this variable for other programs, so it is used only with this setting. */
  readonly onlyWith?: "PAWL_BEDROCK"
}

/** All settings of a provider, by name. */
export const settingsOfProvider = ({ apiKey, baseUrl, more }: Provider): Readonly<Record<string, ProviderSetting>> => {
  return { apiKey, baseUrl, ...more }
}

/** A hosted provider with a key, at its own address by default. Its settings are named after it. */
function hosted<const Name extends string>(name: Name, label: string, connect: Connect, says: string) {
  const upper = name.toUpperCase() as Uppercase<Name>
  return {
    label,
    wants: "key",
    apiKey: { field: `${name}ApiKey`, variable: `${upper}_API_KEY`, says: `A key for ${label}.`, isSecret: true },
    baseUrl: { field: `${name}BaseUrl`, variable: `${upper}_BASE_URL`, says, toAddress: toBaseUrl },
    contextTokens: 128_000 as number,
    connect,
  } as const
}

function compatible<const Name extends string>(name: Name, label: string, address: string, quirks?: Quirks) {
  const says = `Another address that speaks as ${label} does.`
  return hosted(name, label, connectCompatible(name, address, quirks), says)
}

/** A self-hosted server, which rarely needs a key. */
function ownServer<const Field extends string, const Variable extends string>(
  label: string,
  [field, variable, says]: readonly [Field, Variable, string],
  connect: Connect,
) {
  const key = `A key for ${label}, where it wants one.`
  return {
    label,
    wants: "address",
    apiKey: { field: `${field}ApiKey`, variable: `${variable}_API_KEY`, says: key, isSecret: true },
    baseUrl: { field: `${field}Endpoint`, variable: `${variable}_ENDPOINT`, says, toAddress: toLocalEndpoint },
    contextTokens: 32_768 as number,
    connect,
  } as const
}
