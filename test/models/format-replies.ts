import { converseStream, converseUsage } from "../../core/models/providers/stream/event-frames.fixture.ts"
import { sse } from "../../core/models/providers/server.fixture.ts"
import type { ModelSettings } from "../../core/models/providers/settings.ts"

/** A reply as its provider documents it, byte by byte, and the expected result. */
export interface FormatReply {
  readonly name: string
  readonly model: string
  readonly body: Buffer
  readonly expected: {
    readonly text: string
    readonly thinking: string
    readonly calls: readonly (readonly [name: string, input: string])[]
    readonly finish: string
  }
  readonly settings: (url: string) => ModelSettings
}

/** Not only one byte each: a cut may fall into the middle of a character. */
const WORDS = "Größe: 3 µm – naïve 😀"
const CALLS = [
  ["find", '{"q":"köln"}'],
  ["list", "{}"],
] as const

const gemini = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 },
  modelVersion: "gemini-3-pro",
  responseId: "r1",
})
const geminiReply = Buffer.from(
  sse(
    gemini([{ text: "Hm.", thought: true }]),
    gemini([{ text: WORDS.slice(0, 5) }]),
    gemini([{ text: WORDS.slice(5) }]),
    gemini([
      { functionCall: { name: "find", args: { q: "köln" } }, thoughtSignature: "c2ln" },
      { functionCall: { name: "list", args: {} } },
    ]),
    gemini([], { finishReason: "STOP" }),
    // Google ends its lines as HTTP does.
  ).replaceAll("\n", "\r\n"),
)

const converseReply = converseStream(
  ["messageStart", { role: "assistant" }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "Hm." } } }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { signature: "c2ln" } } }],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["contentBlockDelta", { contentBlockIndex: 1, delta: { text: WORDS.slice(0, 5) } }],
  ["contentBlockDelta", { contentBlockIndex: 1, delta: { text: WORDS.slice(5) } }],
  ["contentBlockStop", { contentBlockIndex: 1 }],
  ["contentBlockStart", { contentBlockIndex: 2, start: { toolUse: { toolUseId: "tooluse_a-1", name: "find" } } }],
  ["contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '{"q":' } } }],
  ["contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '"köln"}' } } }],
  ["contentBlockStop", { contentBlockIndex: 2 }],
  ["contentBlockStart", { contentBlockIndex: 3, start: { toolUse: { toolUseId: "tooluse_b-2", name: "list" } } }],
  ["contentBlockDelta", { contentBlockIndex: 3, delta: { toolUse: { input: "{}" } } }],
  ["contentBlockStop", { contentBlockIndex: 3 }],
  ["messageStop", { stopReason: "tool_use" }],
  converseUsage,
)

const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }
const call = (index: number, more: object) => ({ index, type: "function", ...more })
const called = (name: string, text: string) => ({ function: { name, arguments: text } })

interface Chat {
  readonly chunks: readonly (readonly [delta: object, finish: string | null, more?: object])[]
  readonly more?: object
  /** The bytes before the first event. */
  readonly before?: string
}

function chatReply({ chunks, more = {}, before = "" }: Chat): Buffer {
  const events = chunks.map(([delta, finish_reason, last = {}]) => ({
    ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", ...more },
    ...{ choices: [{ index: 0, delta, finish_reason, logprobs: null }], ...last },
  }))
  return Buffer.from(before + sse(...events, "[DONE]"))
}

/** Mistral sends each call whole, with an id of nine letters, in the chunk that also says why it ends. */
const mistralReply = chatReply({
  chunks: [
    [{ role: "assistant", content: "" }, null],
    [{ content: WORDS }, null],
    [
      {
        content: "",
        tool_calls: [
          { index: 0, id: "D681PevKs", ...called("find", '{"q":"köln"}') },
          { index: 1, id: "ab12cd34E", ...called("list", "{}") },
        ],
      },
      "tool_calls",
      { usage },
    ],
  ],
})

/** Groq sends its timing under a name of its own, thinks under `reasoning`, and starts with an empty text. */
const groqReply = chatReply({
  more: { system_fingerprint: "fp_1", x_groq: { id: "req_1" } },
  chunks: [
    [{ role: "assistant", content: "" }, null],
    [{ reasoning: "Hm.", channel: "analysis" }, null],
    [{ content: WORDS }, null],
    [{ tool_calls: [call(0, { id: "fc_1", ...called("find", '{"q":"köln"}') })] }, null],
    [{ tool_calls: [call(1, { id: "fc_2", ...called("list", "{}") })] }, null],
    [{}, "tool_calls", { usage, x_groq: { id: "req_1", usage } }],
  ],
})

/** xAI sends calls whole, too, and counts in every chunk what it has written so far. */
const xaiReply = chatReply({
  more: { system_fingerprint: "fp_1", usage },
  chunks: [
    [{ role: "assistant", content: "", reasoning_content: "Hm." }, null],
    [{ role: "assistant", content: WORDS }, null],
    [{ tool_calls: [call(0, { id: "call_1", ...called("find", '{"q":"köln"}') })] }, null],
    [{ tool_calls: [call(1, { id: "call_2", ...called("list", "{}") })] }, "tool_calls"],
  ],
})

/**
 * OpenRouter sends comments while it waits, streams arguments in pieces, and reports its own and the provider's finish
 * reason.
 */
const openrouterReply = chatReply({
  before: ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
  more: { provider: "Anthropic" },
  chunks: [
    [
      {
        role: "assistant",
        content: "",
        reasoning: "Hm.",
        reasoning_details: [{ type: "reasoning.text", text: "Hm." }],
      },
      null,
    ],
    [{ role: "assistant", content: WORDS }, null],
    [{ tool_calls: [call(0, { id: "toolu_1", ...called("find", "") })] }, null],
    [{ tool_calls: [call(0, { function: { arguments: '{"q":"kö' } })] }, null],
    [{ tool_calls: [call(0, { function: { arguments: 'ln"}' } })] }, null],
    [{ tool_calls: [call(1, { id: "toolu_2", ...called("list", "{}") })] }, null],
    [{ role: "assistant", content: "" }, "tool_calls", { native_finish_reason: "tool_use" }],
    [{ role: "assistant", content: "" }, null, { usage: { ...usage, cost: 0.001 } }],
  ],
})

const expected = { text: WORDS, thinking: "Hm.", calls: CALLS, finish: "calls" }

export const formatReplies: readonly FormatReply[] = [
  {
    ...{ name: "Gemini", model: "google/gemini-3-pro", body: geminiReply, expected },
    settings: (url) => ({ geminiApiKey: "k", geminiBaseUrl: url }),
  },
  {
    ...{ name: "Vertex", model: "vertex/gemini-3-pro", body: geminiReply, expected },
    settings: (url) => ({ vertexApiKey: "k", vertexBaseUrl: url }),
  },
  {
    ...{ name: "Bedrock", model: "bedrock/anthropic.claude-x", body: converseReply, expected },
    settings: (url) => ({ bedrockApiKey: "k", bedrockBaseUrl: url }),
  },
  {
    ...{ name: "Mistral", model: "mistral/m", body: mistralReply, expected: { ...expected, thinking: "" } },
    settings: (url) => ({ mistralApiKey: "k", mistralBaseUrl: url }),
  },
  {
    ...{ name: "Groq", model: "groq/m", body: groqReply, expected },
    settings: (url) => ({ groqApiKey: "k", groqBaseUrl: url }),
  },
  {
    ...{ name: "xAI", model: "xai/m", body: xaiReply, expected },
    settings: (url) => ({ xaiApiKey: "k", xaiBaseUrl: url }),
  },
  {
    ...{ name: "OpenRouter", model: "openrouter/m", body: openrouterReply, expected },
    settings: (url) => ({ openrouterApiKey: "k", openrouterBaseUrl: url }),
  },
]
