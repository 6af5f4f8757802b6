import { describe, expect, test } from "vitest"
import type { CallResult, HistoryMessage, ModelRequest } from "../../../engine/model.ts"
import type { CallStatus } from "../../../protocol/conversation/message.ts"
import type { CallId } from "../../../protocol/ids.ts"
import { toPrompt, toTools } from "./to-prompt.ts"

const id = (text: string) => text as CallId
const request = (...history: HistoryMessage[]): ModelRequest => ({
  system: "S",
  history,
  tools: [],
  toolChoice: "auto",
})
const promptOf = (...history: HistoryMessage[]) => toPrompt(request(...history), "m").slice(1)

describe("a prompt", () => {
  test("starts with the instructions, if there are any", () => {
    expect(toPrompt(request(), "m")).toEqual([{ role: "system", content: "S" }])
    expect(toPrompt({ ...request(), system: "" }, "m")).toEqual([])
  })

  test("keeps the parts of a reply in order, with calls under our own ids and arguments as objects", () => {
    const turn: HistoryMessage = {
      role: "assistant",
      parts: [
        { type: "text", text: "I look." },
        { type: "call", id: id("call_1"), name: "find", input: { q: "a" } },
      ],
    }
    expect(promptOf(turn)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool-call", toolCallId: "call_1", toolName: "find", input: { q: "a" } },
        ],
      },
    ])
  })

  test("marks every result that is not ok as an error, and keeps their order", () => {
    const statuses: CallStatus[] = ["ok", "error", "denied", "in_doubt"]
    const results = statuses.map((status, n): CallResult => ({
      callId: id(`call_${n}`),
      name: "t",
      status,
      text: status,
    }))
    const [message] = promptOf({ role: "tool", results })
    expect(message?.content).toEqual(
      statuses.map((status, n) => ({
        type: "tool-result",
        toolCallId: `call_${n}`,
        toolName: "t",
        output: { type: status === "ok" ? "text" : "error-text", value: status },
      })),
    )
  })

  test("returns a model's own reasoning with its metadata, and no other model's", () => {
    const metadata = { anthropic: { signature: "s" } }
    const thought = { type: "reasoning", text: "hm", metadata } as const
    const said = { type: "text", text: "x" } as const
    expect(promptOf({ role: "assistant", parts: [{ ...thought, model: "m" }, said] })).toEqual([
      { role: "assistant", content: [{ type: "reasoning", text: "hm", providerOptions: metadata }, said] },
    ])
    expect(
      promptOf({
        role: "assistant",
        parts: [
          { ...thought, model: "other" },
          { type: "text", text: "x" },
        ],
      }),
    ).toEqual([{ role: "assistant", content: [{ type: "text", text: "x" }] }])
  })

  test("sends reasoning to OpenAI only with its encrypted form, in any block", () => {
    const block = (itemId: string, reasoningEncryptedContent: string | null): HistoryMessage => ({
      role: "assistant",
      parts: [
        ...[null, reasoningEncryptedContent].map((encrypted, n) => ({
          type: "reasoning" as const,
          text: `${n}`,
          model: "m",
          metadata: { openai: { itemId, reasoningEncryptedContent: encrypted } },
        })),
        { type: "text", text: "x" },
      ],
    })
    expect(promptOf(block("rs_1", "e"))[0]?.content).toHaveLength(3)
    expect(promptOf(block("rs_1", null))[0]?.content).toEqual([{ type: "text", text: "x" }])
  })

  test("returns the metadata of a call only to the model that made it", () => {
    const call = { type: "call", id: id("call_1"), name: "t", input: {} } as const
    const withMetadata = (model: string): HistoryMessage => ({
      role: "assistant",
      parts: [{ ...call, metadata: { model, providerOptions: { openai: { itemId: "fc_1" } } } }],
    })
    expect(promptOf(withMetadata("m"))[0]?.content[0]).toHaveProperty("providerOptions", { openai: { itemId: "fc_1" } })
    expect(promptOf(withMetadata("other"))[0]?.content[0]).not.toHaveProperty("providerOptions")
  })

  test("leaves out empty messages, which providers reject", () => {
    const thought = { type: "reasoning", text: "hm", model: "other" } as const
    expect(
      promptOf({ role: "assistant", parts: [] }, { role: "assistant", parts: [thought, { type: "text", text: "" }] }),
    ).toEqual([])
  })

  test("ends a reply with text or a call, never with reasoning, and has no blank text", () => {
    const thought = { type: "reasoning", text: "hm", model: "m" } as const
    const said = { type: "text", text: "x" } as const
    const blank = { type: "text", text: " \n" } as const
    expect(promptOf({ role: "assistant", parts: [thought] }, { role: "assistant", parts: [thought, blank] })).toEqual(
      [],
    )
    expect(promptOf({ role: "assistant", parts: [said, thought, blank] })[0]?.content).toEqual([said])
  })

  test("adds text to an empty error, which Anthropic rejects", () => {
    const [message] = promptOf({
      role: "tool",
      results: [{ callId: id("call_1"), name: "t", status: "error", text: " " }],
    })
    expect(message?.content[0]).toHaveProperty("output", { type: "error-text", value: "It gave no reason." })
  })

  test("repairs an invented tool name, in call and result alike", () => {
    const [call, result] = promptOf(
      { role: "assistant", parts: [{ type: "call", id: id("call_1"), name: "files.read now!", input: {} }] },
      { role: "tool", results: [{ callId: id("call_1"), name: "files.read now!", status: "error", text: "unknown" }] },
    )
    expect(call?.content[0]).toHaveProperty("toolName", "files_read_now_")
    expect(result?.content[0]).toHaveProperty("toolName", "files_read_now_")
    const [digit] = promptOf({ role: "assistant", parts: [{ type: "call", id: id("call_1"), name: "2nd", input: {} }] })
    expect(digit?.content[0]).toHaveProperty("toolName", "_2nd")
  })
})

test("tools stay declared when the model may not call them", () => {
  const tool = { name: "t", description: "d", inputSchema: { type: "object" } }
  expect(toTools({ ...request(), tools: [tool], toolChoice: "none" })).toEqual({
    tools: [{ type: "function", ...tool }],
    toolChoice: { type: "none" },
  })
  expect(toTools(request())).toEqual({})
})
