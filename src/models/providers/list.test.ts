import { expect, test } from "vitest"
import { type Provider, providers, type ReachableProvider } from "./list.ts"
import {
  connectTo,
  leastVariables,
  type ModelSettings,
  providerMeans,
  providerSecrets,
  settingVariables,
} from "./settings.ts"

const names = Object.keys(providers) as ReachableProvider[]

test("a provider's settings are named after it, and everybody who lists them goes by the list", () => {
  expect(leastVariables).toEqual([
    ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AZURE_OPENAI_API_KEY", "MISTRAL_API_KEY"],
    ...[
      "GROQ_API_KEY",
      "XAI_API_KEY",
      "DEEPSEEK_API_KEY",
      "OPENROUTER_API_KEY",
      "LM_STUDIO_ENDPOINT",
      "OLLAMA_HOST",
      "LLAMACPP_ENDPOINT",
      "VLLM_ENDPOINT",
    ],
  ])
  expect(settingVariables).toMatchObject({ deepseekApiKey: "DEEPSEEK_API_KEY", deepseekBaseUrl: "DEEPSEEK_BASE_URL" })
  expect(settingVariables).toMatchObject({ lmStudioApiKey: "LM_STUDIO_API_KEY", ollamaHost: "OLLAMA_HOST" })
  const keys = providerMeans.filter(({ isSecret }) => isSecret).map(({ variable }) => variable)
  expect(keys).toHaveLength(names.length)
  expect(keys.filter((variable) => !variable.endsWith("_API_KEY"))).toEqual([])
})

test.each(names)("%s says by its variable what is missing, and what is no address", (name) => {
  const { wants, apiKey, baseUrl }: Provider = providers[name]
  expect(connectTo(name, {})).toEqual({ need: `set ${(wants === "address" ? baseUrl : apiKey).variable}` })
  const settings: ModelSettings = { [apiKey.field]: "key", [baseUrl.field]: "ftp://nowhere" }
  expect(connectTo(name, settings)).toEqual({ need: `${baseUrl.variable} is not an http address` })
})

test("Azure has no address of its own", () => {
  expect(connectTo("azure", { azureOpenaiApiKey: "k" })).toEqual({ need: "set AZURE_OPENAI_ENDPOINT" })
})

test("a server of one's own is free, but not the machines that Ollama rents out", () => {
  const priced = (ollamaHost: string) => connectTo("ollama", { ollamaHost, ollamaApiKey: "k" })
  expect(priced("192.168.1.5")).toMatchObject({ listPrice: true })
  expect(priced("https://ollama.com")).toMatchObject({ listPrice: false })
})

test("every key is a secret, and no address is", () => {
  const all = Object.fromEntries(providerMeans.map(({ field }) => [field, `given ${field}`])) as ModelSettings
  expect(providerSecrets(all)).toEqual(names.map((name) => `given ${providers[name].apiKey.field}`))
})
