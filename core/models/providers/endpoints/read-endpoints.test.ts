import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { EndpointFault, readEndpoints } from "./read-endpoints.ts"

const CANARY = "canary-5d1f8b3e9a7c2046"
const acme = { name: "acme", kind: "openai", baseUrl: "https://models.acme.example/v1" }
const read = (entries: unknown, environment = {}) => readEndpoints(JSON.stringify(entries), environment)

describe("the operator's endpoints", () => {
  test("need a name, a kind and an address", () => {
    expect(read([acme])).toEqual([{ ...acme, headers: {}, models: [], missing: [], secrets: [] }])
  })

  test("take their key and parts of their headers from the environment, and all of it is secret", () => {
    const headers = { Authorization: "Token ${ACME_TOKEN}", "X-Tenant": "tenant-seven", "X-Title": "Pawl" }
    const [endpoint] = read([{ ...acme, kind: "anthropic", apiKeyEnv: "ACME_KEY", headers }], {
      ACME_KEY: ` ${CANARY} `,
      ACME_TOKEN: "t0ken-of-acme",
    })
    expect(endpoint).toMatchObject({
      apiKey: CANARY,
      headers: { authorization: "Token t0ken-of-acme", "x-tenant": "tenant-seven", "x-title": "Pawl" },
      missing: [],
    })
    // A title is no secret: hidden, it would take the name of the program out of every line of the log.
    expect(endpoint?.secrets).toEqual([CANARY, "t0ken-of-acme", "Token t0ken-of-acme", "tenant-seven"])
  })

  test("treat no short text as secret, which would be hidden everywhere", () => {
    const headers = { "Cache-Enabled": "true", "X-Env": "${ACME_ENV}", Authorization: "Bearer ${ACME_KEY}" }
    expect(read([{ ...acme, headers }], { ACME_ENV: "staging" })[0]?.secrets).toEqual([])
  })

  test("report missing variables without an error", () => {
    const headers = { "x-a": "${ACME_A}-${ACME_B}" }
    const [endpoint] = read([{ ...acme, apiKeyEnv: "ACME_KEY", headers }], { ACME_B: "b", ACME_A: " " })
    expect(endpoint?.missing).toEqual(["ACME_KEY", "ACME_A"])
  })

  test("list their models, with known facts", () => {
    const price = { input: 1, output: 2 }
    const can = (source: string) => ({ tools: source, images: source, files: source, reasoning: source })
    const known = { id: "org/large", alias: "large", contextTokens: 64_000, features: ["tools", "reasoning"], price }
    expect(read([{ ...acme, models: [known, { id: "small" }] }])[0]?.models).toEqual([
      {
        ...{ ...known, name: "acme/org/large", provider: "acme", aliases: ["large"], alias: undefined },
        sources: { contextTokens: "operator", price: "operator", ...can("operator") },
      },
      {
        ...{ id: "small", name: "acme/small", provider: "acme", aliases: [] },
        ...{ features: ["tools"], contextTokens: 128_000, price: null },
        sources: { contextTokens: "assumed", ...can("assumed") },
      },
    ])
  })

  test("stand in docs/reference/models.md as they are read here", () => {
    const [, example = ""] = /```json\n(\[[^`]*\])\n```/.exec(readFileSync("docs/reference/models.md", "utf8")) ?? []
    const endpoints = readEndpoints(example, {})
    expect(endpoints.map(({ name, kind }) => [name, kind])).toEqual([
      ["gateway", "openai"],
      ["claude-proxy", "anthropic"],
    ])
    expect(endpoints.map(({ missing }) => missing)).toEqual([["GATEWAY_KEY", "GATEWAY_TEAM"], ["PROXY_TOKEN"]])
  })
})

describe("an error in them names its entry and quotes no secret", () => {
  const model = (...models: object[]) => [{ ...acme, models }]
  test.each<[what: string, entries: unknown, says: string]>([
    ["no list", { acme }, "it must be a list"],
    ["no object", [acme, "x"], "entry 2: it must be an object"],
    ["no kind", [{ ...acme, kind: "gemini" }], 'entry 1 ("acme"): kind: must be one of openai, anthropic'],
    ["a key in the file", [{ ...acme, apiKey: CANARY }], "keys do not stand in this file"],
    ["a key for its variable", [{ ...acme, apiKeyEnv: `${CANARY}!` }], "apiKeyEnv: must be the name of a variable"],
    ["a setting as a key", [{ ...acme, apiKeyEnv: "PAWL_TOKEN" }], "none of Pawl's own settings"],
    ["our own secret as a key", [{ ...acme, apiKeyEnv: "MASTER_ENCRYPTION_KEY" }], "none of Pawl's own settings"],
    ["a key of small letters in place of a name", [{ ...acme, apiKeyEnv: "gsk_abc123" }], "in capitals"],
    ["a word of its own", [{ ...acme, header: {} }], "there is no header here, only name, kind"],
    ["no address", [{ ...acme, baseUrl: "models.example" }], "baseUrl: must be an address"],
    ["a password in it", [{ ...acme, baseUrl: `https://a:${CANARY}@m.example` }], "baseUrl: must hold no password"],
    ["large letters", [{ ...acme, name: "Acme" }], 'entry 1 ("Acme"): name: must be'],
    ["a provider's name", [{ ...acme, name: "groq" }], "the name groq is taken already: it is Pawl's own"],
    ["the offline model's", [{ ...acme, name: "offline" }], "the name offline is taken"],
    ["that of a model we list", [{ ...acme, name: "qwen" }], "the name qwen is taken"],
    ["one name twice", [acme, acme], 'entry 2 ("acme"): the name acme is taken already: it is here twice'],
    ["one model twice", model({ id: "m" }, { id: "M" }), "the model M is taken already: it is here twice"],
    [
      "an alias of ours",
      model({ id: "m", alias: "DeepSeek" }),
      "the alias DeepSeek is taken already: it is Pawl's own",
    ],
    [
      "an alias of another",
      [...model({ id: "m", alias: "mine" }), { ...acme, name: "beta", models: [{ id: "m", alias: "mine" }] }],
      'entry 2 ("beta"): the alias mine is taken already: it is acme',
    ],
    ["a strange feature", model({ id: "m", features: ["flight"] }), "models[0].features[0]: must be one of"],
    [
      "a price below nothing",
      model({ id: "m", price: { input: -1, output: 0 } }),
      "models[0].price.input: must be at least 0",
    ],
    ["a header of two lines", [{ ...acme, headers: { "x-a": `${CANARY}\nx-b: 1` } }], "headers.x-a: must be plain"],
    ["no name of a header", [{ ...acme, headers: { "x a": "1" } }], "headers.…: is not a valid header name"],
    [
      "a key in one",
      [{ ...acme, headers: { [`Authorization: Bearer ${CANARY}`]: "1" } }],
      "headers.…: is not a valid header name",
    ],
    ["a header that is ours to set", [{ ...acme, headers: { Host: "x" } }], "headers.Host: cannot be set"],
    ["an open brace", [{ ...acme, headers: { "x-a": "${ACME" } }], "headers.x-a: ${…} must hold the name"],
    [
      "a setting in a header",
      [{ ...acme, headers: { "x-a": "${PAWL_TOKEN}" } }],
      "${…} must hold the name of a variable",
    ],
    [
      "a key twice",
      [{ ...acme, apiKeyEnv: "K", headers: { Authorization: CANARY } }],
      "headers.authorization: is what apiKeyEnv sends",
    ],
    ["a strange quirk", [{ ...acme, quirks: { sings: true } }], 'quirks: has the unknown field "sings"'],
  ])("%s", (_what, entries, says) => {
    expect(() => read(entries)).toThrow(EndpointFault)
    expect(() => read(entries)).toThrow(says)
    expect(() => read(entries)).not.toThrow(CANARY.slice(0, 8))
  })

  test.each([`[{"name": ${CANARY}}]`, `[{"name": "a" "${CANARY}"}]`, ""])("text that is not JSON", (text) => {
    expect(() => readEndpoints(text, {})).toThrow(/^it is not valid JSON( \(line \d+, column \d+\))?$/)
  })

  test("a variable that no header can carry", () => {
    const entry = { ...acme, headers: { "x-a": "${ACME_A}" } }
    expect(() => read([entry], { ACME_A: `${CANARY}\r\nx: 1` })).toThrow(
      /^entry 1 \("acme"\): headers\.x-a: ACME_A holds what no header can carry$/,
    )
  })
})
