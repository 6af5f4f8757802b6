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
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "DEEPSEEK_API_KEY",
    "LM_STUDIO_ENDPOINT",
    "OLLAMA_HOST",
  ])
  expect(settingVariables).toMatchObject({ deepseekApiKey: "DEEPSEEK_API_KEY", deepseekBaseUrl: "DEEPSEEK_BASE_URL" })
  expect(providerMeans.filter(({ isSecret }) => isSecret).map(({ variable }) => variable)).toEqual([
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "DEEPSEEK_API_KEY",
  ])
})

test.each(names)("%s says by its variable what is missing, and what is no address", (name) => {
  const { apiKey, baseUrl }: Provider = providers[name]
  expect(connectTo(name, {})).toEqual({ need: `set ${(apiKey ?? baseUrl).variable}` })
  const key = apiKey ? { [apiKey.field]: "key" } : {}
  const settings: ModelSettings = { ...key, [baseUrl.field]: "ftp://nowhere" }
  expect(connectTo(name, settings)).toEqual({ need: `${baseUrl.variable} is not an http address` })
})

test("every key is a secret, and no address is", () => {
  const all = Object.fromEntries(providerMeans.map(({ field }) => [field, `given ${field}`])) as ModelSettings
  expect(providerSecrets(all)).toEqual(["given openaiApiKey", "given anthropicApiKey", "given deepseekApiKey"])
})
