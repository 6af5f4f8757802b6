import { expect, test } from "vitest"
import { ModelRegistry } from "../registry.ts"
import { collect } from "./server.fixture.ts"
import { type Provider, providers, type ReachableProvider } from "./list.ts"
import { connectTo, type ModelSettings, allProviderSettings, providerSecrets, settingVariables } from "./settings.ts"

const names = Object.keys(providers) as ReachableProvider[]

test("a provider's settings are named after it, and all lists of them are derived from one", () => {
  expect(settingVariables).toMatchObject({ deepseekApiKey: "DEEPSEEK_API_KEY", deepseekBaseUrl: "DEEPSEEK_BASE_URL" })
  expect(settingVariables).toMatchObject({ lmStudioApiKey: "LM_STUDIO_API_KEY", ollamaHost: "OLLAMA_HOST" })
  const keys = allProviderSettings.filter(({ isSecret }) => isSecret).map(({ variable }) => variable)
  expect(keys.filter((variable) => !variable.endsWith("_API_KEY"))).toEqual([
    ...["AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_PRIVATE_KEY"],
  ])
})

test.each(names)("%s names the variable that is missing or no address", (name) => {
  const { wants, apiKey, baseUrl }: Provider = providers[name]
  const least = `set ${(wants === "address" ? baseUrl : apiKey).variable}`
  expect(connectTo(name, {})).toEqual({ need: wants === "several" ? expect.stringMatching(`^${least}, or `) : least })
  const settings: ModelSettings = { [apiKey.field]: "key", [baseUrl.field]: "ftp://nowhere" }
  expect(connectTo(name, settings)).toEqual({ need: `${baseUrl.variable} is not an http address` })
})

test("Azure needs an address or the name of a resource", () => {
  const withName = (azureResourceName: string) => connectTo("azure", { azureOpenaiApiKey: "k", azureResourceName })
  const need = "set AZURE_OPENAI_ENDPOINT, or AZURE_RESOURCE_NAME"
  expect(connectTo("azure", { azureOpenaiApiKey: "k" })).toEqual({ need })
  expect(withName("my-resource")).toHaveProperty("open")
  for (const name of ["evil.example/", "a.b", "-a", "a b"]) {
    expect(withName(name)).toEqual({ need: expect.stringContaining("AZURE_RESOURCE_NAME must be the name") })
  }
})

test("the name of Azure's resource leads to its address", async () => {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.push(String(input))
    return Response.json({}, { status: 400 })
  }
  const models = new ModelRegistry({ azureOpenaiApiKey: "k", azureResourceName: "my-resource" }, { fetch })
  await collect(await models.get("azure/gpt")).catch(() => {})
  expect(asked).toEqual(["https://my-resource.openai.azure.com/openai/v1/responses"])
})

test("self-hosted servers are free, but not Ollama's hosted models", () => {
  const priced = (ollamaHost: string) => connectTo("ollama", { ollamaHost, ollamaApiKey: "k" })
  expect(priced("192.168.1.5")).toMatchObject({ listPrice: true })
  expect(priced("https://ollama.com")).toMatchObject({ listPrice: false })
})

test("every key is a secret, and no address is", () => {
  const all = Object.fromEntries(allProviderSettings.map(({ field }) => [field, `given ${field}`])) as ModelSettings
  const secret = allProviderSettings.filter(({ isSecret }) => isSecret).map(({ field }) => `given ${field}`)
  expect(providerSecrets(all)).toEqual(secret)
  expect(secret).toEqual(expect.arrayContaining(names.map((name) => `given ${providers[name].apiKey.field}`)))
})
