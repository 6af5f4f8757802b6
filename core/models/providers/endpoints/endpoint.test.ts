import { describe, expect, test } from "vitest"
import {
  splitQuery,
  toAzureEndpoint,
  toBaseUrl,
  toGeminiEndpoint,
  toLocalEndpoint,
  toOllamaEndpoint,
  toVersionedUrl,
  withQuery,
} from "./endpoint.ts"

describe("the address of LM Studio", () => {
  test.each([
    "http://127.0.0.1:1234",
    "http://127.0.0.1:1234/",
    "http://127.0.0.1:1234/v1",
    "http://127.0.0.1:1234/v1/",
    "127.0.0.1:1234",
  ])("may be written %s", (text) => {
    expect(toLocalEndpoint(text)).toBe("http://127.0.0.1:1234/v1")
  })

  test("may have a path before /v1", () => {
    expect(toLocalEndpoint("https://example.org/lm/")).toBe("https://example.org/lm/v1")
  })
})

test.each([
  ["127.0.0.1:11434", "http://127.0.0.1:11434/v1"],
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  ["ollama", "http://ollama:11434/v1"],
  ["http://ollama:8080/", "http://ollama:8080/v1"],
  ["https://ollama.example.org", "https://ollama.example.org/v1"],
  ["http://[::1]:11434/v1", "http://[::1]:11434/v1"],
])("OLLAMA_HOST %s means %s", (text, url) => {
  expect(toOllamaEndpoint(text)).toBe(url)
})

test.each([
  ["https://name.openai.azure.com/", "https://name.openai.azure.com/openai/v1"],
  ["https://name.openai.azure.com/openai", "https://name.openai.azure.com/openai/v1"],
  ["https://name.openai.azure.com/openai/v1/", "https://name.openai.azure.com/openai/v1"],
  ["https://gateway.example/azure?api-version=v1", "https://gateway.example/azure?api-version=v1"],
])("AZURE_OPENAI_ENDPOINT %s means %s", (text, url) => {
  expect(toAzureEndpoint(text)).toBe(url)
})

test.each([
  ["https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"],
  ["https://gateway.example/gemini/v1/", "https://gateway.example/gemini/v1"],
])("Gemini's address %s is used as %s", (text, url) => {
  expect(toGeminiEndpoint(text)).toBe(url)
})

test.each([
  ["https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1"],
  ["http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"],
  ["https://example.org/compatible", "https://example.org/compatible"],
])("a base address %s is used as %s", (text, url) => {
  expect(toBaseUrl(text)).toBe(url)
})

test.each([
  [
    toBaseUrl,
    "https://a.example/openai/deployments/gpt?api-version=1",
    "https://a.example/openai/deployments/gpt?api-version=1",
  ],
  [toBaseUrl, "https://a.example/?api-version=1&b=2", "https://a.example/v1?api-version=1&b=2"],
  [toBaseUrl, "https://a.example/v1/?api-version=1#top", "https://a.example/v1?api-version=1"],
  [toLocalEndpoint, "127.0.0.1:1234?key=a/", "http://127.0.0.1:1234/v1?key=a/"],
  [toOllamaEndpoint, "ollama?a=b", "http://ollama:11434/v1?a=b"],
  [toVersionedUrl, "https://a.example?a=/v1", "https://a.example/v1?a=/v1"],
] as const)("%o keeps the query of %s", (read, text, url) => {
  expect(read(text)).toBe(url)
})

test("a query is added to every address, next to the address's own", async () => {
  const seen: string[] = []
  const fetch = withQuery(
    async (input) => (seen.push(String(input)), new Response()),
    splitQuery("http://a/v1?x=1").query,
  )
  await fetch("http://a/v1/chat")
  await fetch("http://a/v1/chat?beta=true")
  expect(seen).toEqual(["http://a/v1/chat?x=1", "http://a/v1/chat?x=1&beta=true"])
  expect(splitQuery("http://a/v1")).toEqual({ base: "http://a/v1", query: "" })
})

test.each([
  ["https://api.anthropic.com", "https://api.anthropic.com/v1"],
  ["https://example.org/anthropic/", "https://example.org/anthropic/v1"],
  ["https://example.org/v1", "https://example.org/v1"],
])("Anthropic's address %s is used as %s", (text, url) => {
  expect(toVersionedUrl(text)).toBe(url)
})

test.each(["ftp://example.org", "not an address", "http://", "file:///etc/passwd"])("%s is not an address", (text) => {
  for (const read of [toLocalEndpoint, toOllamaEndpoint, toAzureEndpoint, toBaseUrl, toVersionedUrl])
    expect(read(text)).toBeUndefined()
})
