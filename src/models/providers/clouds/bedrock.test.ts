import { createHash, createHmac } from "node:crypto"
import type { ServerResponse } from "node:http"
import { afterEach, describe, expect, test, vi } from "vitest"
import type { HistoryMessage, ModelRequest } from "../../../agent/model.ts"
import type { CallId } from "../../../protocol/ids.ts"
import { ModelRegistry } from "../../registry.ts"
import { converseException, converseStream, converseUsage } from "../stream/event-frames.fixture.ts"
import { anyRequest, collect, ProviderServer, type Received } from "../server.fixture.ts"
import type { ModelSettings } from "../settings.ts"

const ID = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
const KEYS = { awsAccessKeyId: "AKIDEXAMPLE", awsSecretAccessKey: "wJalrXUtnFEMI/K7MDENG", awsRegion: "eu-central-1" }

const modelAt = (url: string, settings: ModelSettings = { bedrockApiKey: "bedrock-key" }) =>
  new ModelRegistry({ ...settings, bedrockBaseUrl: url }, { retry: { retries: 0 } }).get(`bedrock/${ID}`)

const frames = (response: ServerResponse, ...bytes: readonly Buffer[]) =>
  response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" }).end(Buffer.concat(bytes))

const text = (words: string) => ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: words } }] as const
const said = converseStream(text("Hi"), ["contentBlockStop", { contentBlockIndex: 0 }])
const whole = Buffer.concat([said, converseStream(["messageStop", { stopReason: "end_turn" }], converseUsage)])

async function readingOf(...bytes: readonly Buffer[]) {
  await using server = await ProviderServer.open((response) => frames(response, ...bytes))
  return await collect(await modelAt(server.url))
}

afterEach(() => void vi.unstubAllEnvs())

describe("a reply of Bedrock", () => {
  test("has signed thinking, words and calls at once, and what they took", async () => {
    const begun = (index: number, name: string) => ({
      contentBlockIndex: index,
      start: { toolUse: { toolUseId: `tooluse_${index}`, name } },
    })
    const input = (index: number, json: string) => ({ contentBlockIndex: index, delta: { toolUse: { input: json } } })
    const parts = await readingOf(
      converseStream(
        ["messageStart", { role: "assistant" }],
        ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "Hm." } } }],
        ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { signature: "signed" } } }],
        ["contentBlockStop", { contentBlockIndex: 0 }],
        ["contentBlockDelta", { contentBlockIndex: 1, delta: { text: "I look." } }],
        ["contentBlockStop", { contentBlockIndex: 1 }],
        ["contentBlockStart", begun(2, "find")],
        ["contentBlockDelta", input(2, '{"q":')],
        ["contentBlockDelta", input(2, '"a"}')],
        ["contentBlockStop", { contentBlockIndex: 2 }],
        ["contentBlockStart", begun(3, "list")],
        ["contentBlockStop", { contentBlockIndex: 3 }],
        ["messageStop", { stopReason: "tool_use" }],
        converseUsage,
      ),
    )
    expect(parts).toMatchObject([
      { type: "reasoning", text: "Hm.", metadata: { bedrock: { signature: "signed" } } },
      { type: "text", text: "I look." },
      { type: "call", name: "find", input: '{"q":"a"}' },
      { type: "call", name: "list", input: "{}" },
      { type: "finish", finish: "calls", usage: { inputTokens: 12, outputTokens: 7 } },
    ])
  })

  test.each([
    ["end_turn", "stop"],
    ["max_tokens", "limit"],
    ["guardrail_intervened", "refused"],
  ])("that ends with %s is %s", async (stopReason, finish) => {
    const parts = await readingOf(said, converseStream(["messageStop", { stopReason }]))
    expect(parts.at(-1)).toMatchObject({ type: "finish", finish })
  })

  test.each([
    ["throttlingException", "rate_limited"],
    ["serviceUnavailableException", "overloaded"],
    ["internalServerException", "provider_error"],
    ["modelStreamErrorException", "provider_error"],
  ])("may end with %s in the middle, which is tried again as %s", async (type, code) => {
    const reading = readingOf(said, converseException(type, "Try later."))
    await expect(reading).rejects.toMatchObject({ code, details: { retriable: true } })
    await expect(reading).rejects.toThrow("Try later.")
  })

  test("that was cut is no answer, and worth asking for again", async () => {
    for (const at of [said.length, said.length + 2, whole.length - converseStream(converseUsage).length - 1]) {
      const reading = readingOf(whole.subarray(0, at))
      await expect(reading).rejects.toMatchObject({ code: "provider_error", details: { retriable: true } })
    }
  })

  test("with a sum that is wrong is no answer", async () => {
    const bent = Buffer.from(whole)
    bent[said.length - 6]! ^= 1
    await expect(readingOf(bent)).rejects.toMatchObject({ code: "provider_error" })
  })

  test("that is a web page is told as such", async () => {
    await using server = await ProviderServer.open((response) => response.end("<html>Sign in</html>"))
    await expect(collect(await modelAt(server.url))).rejects.toThrow("a web page where a stream was asked for")
  })

  test.each([
    [429, "Too many requests, please wait before trying again.", "rate_limited"],
    [400, "Input is too long for requested model.", "context_overflow"],
    [403, "The security token included in the request is expired", "auth"],
    [503, "Bedrock is unable to process your request.", "overloaded"],
  ])("refused with %i and “%s” is %s", async (status, message, code) => {
    await using server = await ProviderServer.open((response) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message })),
    )
    await expect(collect(await modelAt(server.url))).rejects.toMatchObject({ code })
  })
})

describe("what is sent to Bedrock", () => {
  const history: HistoryMessage[] = [
    { role: "user", text: "Both." },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "Hm.", model: `bedrock/${ID}`, metadata: { bedrock: { signature: "signed" } } },
        ...["call_1", "call_2"].map((id) => ({ type: "call", id: id as CallId, name: "find", input: {} }) as const),
      ],
    },
    {
      role: "tool",
      results: [
        { callId: "call_1" as CallId, name: "find", status: "ok", text: "" },
        { callId: "call_2" as CallId, name: "find", status: "denied", text: "Not allowed." },
      ],
    },
    { role: "user", text: "Go on." },
  ]
  const tools = [{ name: "find", description: "d", inputSchema: { type: "object", properties: {} } }]
  const sent = async (request: ModelRequest, settings?: ModelSettings): Promise<Received> => {
    await using server = await ProviderServer.open((response) => frames(response, whole))
    await collect(await modelAt(server.url, settings), request)
    return server.received[0] as Received
  }

  test("is each call with its result in one turn, none of them blank, and its own thinking", async () => {
    const { path, headers, body } = await sent({ ...anyRequest, history, tools })
    expect(path).toBe(`/model/${encodeURIComponent(ID)}/converse-stream`)
    expect(headers.authorization).toBe("Bearer bedrock-key")
    expect(body.system).toEqual([{ text: "Be brief." }])
    expect(body.messages).toEqual([
      { role: "user", content: [{ text: "Both." }] },
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Hm.", signature: "signed" } } },
          { toolUse: { toolUseId: "call_1", name: "find", input: {} } },
          { toolUse: { toolUseId: "call_2", name: "find", input: {} } },
        ],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "call_1", content: [{ text: "It returned nothing." }] } },
          { toolResult: { toolUseId: "call_2", content: [{ text: "Not allowed." }] } },
          { text: "Go on." },
        ],
      },
    ])
  })

  test("are tools and the whole history also where nothing is to be called, which is said in words", async () => {
    const { body } = await sent({ ...anyRequest, history, tools, toolChoice: "none" })
    expect(body.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: "find" } }], toolChoice: { auto: {} } })
    expect(body.messages[2].content).toHaveLength(3)
    expect(body.system[0].text).toMatch(/^Be brief\.\n\nCall no tool now/)
  })

  test("is signed with the keys of an account, as Amazon reads a signature", async () => {
    const { path, headers, body } = await sent(anyRequest, { ...KEYS, awsSessionToken: "for-an-hour" })
    const { authorization = "" } = headers
    const [, date, names = "", signature] =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/.exec(
        authorization,
      ) ?? []
    expect(names.split(";")).toEqual(expect.arrayContaining(["host", "x-amz-date", "x-amz-security-token"]))
    expect(headers["x-amz-security-token"]).toBe("for-an-hour")
    const canonical = [
      ...["POST", path.split("/").map(encodeURIComponent).join("/"), ""],
      ...names.split(";").map((name) => `${name}:${String(headers[name]).trim()}`),
      ...["", names, createHash("sha256").update(JSON.stringify(body)).digest("hex")],
    ].join("\n")
    const scope = `${date}/eu-central-1/bedrock/aws4_request`
    const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash(canonical)].join("\n")
    const key = [String(date), "eu-central-1", "bedrock", "aws4_request"].reduce<Buffer | string>(
      (secret, word) => createHmac("sha256", secret).update(word).digest(),
      `AWS4${KEYS.awsSecretAccessKey}`,
    )
    expect(createHmac("sha256", key).update(toSign).digest("hex")).toBe(signature)
    expect(JSON.stringify(headers)).not.toContain(KEYS.awsSecretAccessKey)
  })

  test("is never what the environment holds for somebody else", async () => {
    vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "the-operators")
    vi.stubEnv("AWS_SESSION_TOKEN", "the-operators")
    vi.stubEnv("AWS_REGION", "us-east-1")
    const { headers } = await sent(anyRequest, KEYS)
    expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\//)
    expect(JSON.stringify(headers)).not.toContain("the-operators")
  })
})

test("Bedrock is asked in its region; keys of an account make nobody choose a model", async () => {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.push(new URL(String(input)).host)
    return Response.json({ message: "no" }, { status: 400 })
  }
  for (const awsRegion of ["eu-west-1", "cn-north-1"]) {
    await collect(await new ModelRegistry({ ...KEYS, awsRegion }, { fetch }).get("bedrock/m")).catch(() => {})
  }
  expect(asked).toEqual(["bedrock-runtime.eu-west-1.amazonaws.com", "bedrock-runtime.cn-north-1.amazonaws.com.cn"])
  expect(new ModelRegistry(KEYS).defaultName()).toBe("offline")
  const named = new ModelRegistry({ bedrockApiKey: "k", awsRegion: "eu-west-1" })
  expect(() => named.defaultName()).toThrow("bedrock/<model>")
})

test.each([
  [{ awsAccessKeyId: "a" }, "set AWS_SECRET_ACCESS_KEY"],
  [{ awsAccessKeyId: "a", awsSecretAccessKey: "s" }, "set AWS_REGION"],
  [{ bedrockApiKey: "k" }, "set AWS_REGION"],
  [{ bedrockApiKey: "k", awsRegion: "evil.example/x" }, "AWS_REGION must be one such as eu-central-1"],
  [{ ...KEYS, bedrockBaseUrl: "https://a.example/?b=c" }, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME must be"],
])("%j is not enough for Bedrock: %s", (settings: ModelSettings, need) => {
  expect(new ModelRegistry(settings).needOf("bedrock")).toContain(need)
})

const hash = (words: string): string => createHash("sha256").update(words).digest("hex")
