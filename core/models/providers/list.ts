import { bedrockMeans, connectBedrock } from "./clouds/bedrock.ts"
import { connectAnthropic, connectAzure, connectGoogle, connectOpenai } from "./connect.ts"
import { type Connect, connectCompatible, connectOwnServer } from "./connect.ts"
import { toBaseUrl, toLocalEndpoint, toOllamaEndpoint } from "./endpoints/endpoint.ts"
import type { Quirks } from "./quirks.ts"
import { connectVertex, vertexMeans } from "./clouds/vertex.ts"

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

/** Refuses fields that it does not know, ids of another form, and a person who speaks right after a tool. */
const MISTRAL: Quirks = { countsUnasked: true, forgetsThinking: true, shortCallIds: true, answersResults: true }
/** Refuses thinking under the name by which everybody else takes it; that of some models it sends with their words. */
const GROQ: Quirks = { forgetsThinking: true, thinksInTags: true }

const GEMINI = hosted("gemini", "Google Gemini", connectGoogle, "Another address that speaks as Gemini does.")

/**
 * Every provider, a line each: settings, their documents, what people can store keys for and what the offline model
 * recommends follow from it. One more that speaks OpenAI's chat completions is `acme: compatible("acme", "Acme", "https://…/v1")`.
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
    more: bedrockMeans,
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
    more: vertexMeans,
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
  /** As people call it. */
  readonly label: string
  /**
   * What it takes at least to reach it; `either`: at an address other than its own it is reached without a key. `several`:
   * a key, or in its place several of `more`.
   */
  readonly wants: "key" | "address" | "either" | "both" | "several"
  readonly apiKey: Means
  readonly baseUrl: Means
  /** What else can be set for it, each by the name under which a program or a person gives it. */
  readonly more?: Readonly<Record<string, Means>>
  /** What is assumed of a model that we know only by `provider/id`. A server that can read less says so itself. */
  readonly contextTokens: number
  /** Its models are named in the path of each request, so that an id must not be able to lead it elsewhere. */
  readonly idsInPath?: true
  readonly connect: Connect
}

/** One thing that is set for a provider: the name of the setting, the variable it comes from, and what it is for. */
export interface Means<Field extends string = string, Variable extends string = string> {
  readonly field: Field
  readonly variable: Variable
  /** Another name of the variable, by which other programs know it. */
  readonly also?: string
  readonly says: string
  /** It is never printed. */
  readonly isSecret?: boolean
  /** Reads an address; undefined for a text that is none. */
  readonly toAddress?: (text: string) => string | undefined
  /** Many machines carry it for other programs: of the environment it serves only where this setting is on. */
  readonly onlyWith?: "PAWL_BEDROCK"
}

/** All that can be set for a provider, by name. */
export const meansOf = ({ apiKey, baseUrl, more }: Provider): Readonly<Record<string, Means>> => {
  return { apiKey, baseUrl, ...more }
}

/** One that is reached with a key, at its own address unless another is given. Its settings are named after it. */
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

/** A server on a machine of somebody's own, which seldom wants a key. */
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
