import { own } from "../shared/text/json.ts"
import { cloudPrices } from "./providers/clouds/cloud-prices.ts"
import { type Provider, providers } from "./providers/list.ts"
import { catalogue, type ModelEntry } from "./providers/model-catalogue.ts"

export const OFFLINE = "offline"

/** The order in which usable providers are preferred. A provider or endpoint that is not in it comes first: the user named it. */
const PREFERRED = [
  ...[
    "anthropic",
    "openai",
    "google",
    "xai",
    "mistral",
    "deepseek",
    "bedrock",
    "vertex",
    "openrouter",
    "groq",
    "azure",
  ],
  ...["lmstudio", "ollama", "llamacpp", "vllm"],
]

/** Which of the models that an endpoint lists is preferred: the first family that its id matches. */
const FAMILIES = [
  ...[
    "claude-opus",
    "claude-sonnet",
    "claude",
    "gpt-5",
    "gemini",
    "grok",
    "mistral-large",
    "deepseek",
    "qwen3",
    "qwen",
  ],
  ...["gpt-oss", "gpt-4", "glm", "kimi", "llama", "mistral", "gemma", "phi"],
]

/** Ids of models that are small, or made for something other than a conversation. */
const MINOR = /mini|nano|lite|small|tiny|embed|guard|whisper|tts|audio|image|vision|ocr|moderation|preview|search|:free/

/** A provider that can be reached with these settings. */
export interface UsableProvider {
  readonly name: string
  /** The person stored the key or address. */
  readonly isOwn: boolean
}

/** The usable providers in the order of preference: the person's own first. */
export function byPreference(usable: readonly UsableProvider[]): UsableProvider[] {
  const rank = ({ name, isOwn }: UsableProvider) => (isOwn ? 0 : 1) * 100 + PREFERRED.indexOf(name)
  return usable.toSorted((one, other) => rank(one) - rank(other))
}

/** The best of a provider's models that need no request to be known; undefined if there is none. */
export function bestKnown(provider: string): string | undefined {
  const inCatalogue = catalogue.find((entry) => entry.provider === provider)?.name
  return inCatalogue ?? Object.keys(cloudPrices).find((name) => name.startsWith(`${provider}/`))
}

/** The best of the models that an endpoint lists; undefined if it lists none that takes tools. */
export function bestListed(entries: readonly ModelEntry[]): string | undefined {
  const usable = entries.filter(({ features, sources }) => features.includes("tools") || sources.tools !== "endpoint")
  const [best] = usable.toSorted((one, other) => {
    const [left, right] = [rankOf(one), rankOf(other)]
    const differs = left.findIndex((rank, at) => rank !== right[at])
    // Prefer the newest version of a family, which has the highest number in its name.
    if (differs < 0) return other.id.localeCompare(one.id, "en", { numeric: true })
    return (left[differs] ?? 0) - (right[differs] ?? 0)
  })
  return best?.name
}

/** Lower is better, the first number first. */
function rankOf({ id, provider, sources }: ModelEntry): number[] {
  const name = id.toLowerCase()
  const family = FAMILIES.findIndex((each) => name.includes(each))
  // A local model with a known window is loaded; another one takes minutes to load, or does not fit.
  const isCold = own<Provider>(providers, provider)?.wants === "address" && sources.contextTokens !== "endpoint"
  return [sources.tools === "endpoint" ? 0 : 1, isCold ? 1 : 0, MINOR.test(name) ? 1 : 0, family < 0 ? 99 : family]
}
