import { describe, expect, test } from "vitest"
import type { ConversationDetail } from "../core/protocol/answers.ts"
import type { UnknownFrame } from "../core/protocol/frames.ts"
import type { CallId } from "../core/protocol/ids.ts"
import type { Message } from "../core/protocol/conversation/message.ts"
import type { Proposal } from "../core/protocol/proposals/proposal.ts"
import { fromDetail, withDetail } from "./transcript/from-detail.ts"
import { isFrame } from "./is-frame.ts"
import { reduce } from "./reduce.ts"
import { emptyTranscript, type Item, type Transcript } from "./transcript/transcript.ts"

const at = "2026-01-01T00:00:00.000Z"
const frame = (id: string, type: string, data: object): UnknownFrame => ({ id, type, data: { ...data, at } })
const message = (seq: number, role: Message["role"], content: string, more: Partial<Message> = {}): Message => ({
  id: `msg_${seq}` as Message["id"],
  seq,
  role,
  content,
  toolCalls: null,
  toolCallId: null,
  createdAt: at,
  ...more,
})
const calling = (seq: number, ...ids: string[]) =>
  message(seq, "assistant", "", {
    toolCalls: ids.map((id) => ({ id: id as CallId, name: "pay", input: { amount: 1 } })),
  })
const says = (id: string, said: Message) => frame(id, "message", { message: said })
const proposal = (id: string, callId: string) =>
  ({
    id,
    conversationId: "conv_1",
    runId: "run_1",
    callId,
    tool: "pay",
    action: "safe_create",
    summary: "Pay 1",
    arguments: { amount: 1 },
    diff: null,
    undoable: false,
    version: 1,
    hash: "x",
    status: "pending",
    createdAt: at,
    expiresAt: at,
  }) as unknown as Proposal

const begun = [
  frame("1", "conversation_started", { agent: "test", model: null, provider: null, mode: "confirm", title: null }),
  frame("2", "run_started", { runId: "run_1", maxIterations: 5 }),
  says("3", message(1, "user", "Pay.")),
]
const fold = (frames: readonly UnknownFrame[], from: Transcript = emptyTranscript) => frames.reduce(reduce, from)
const line = (item: Item): string => {
  switch (item.type) {
    case "message":
      return `${item.message.role}: ${item.message.content}`
    case "call":
      return `${item.name} ${item.state}${item.text === null ? "" : `: ${item.text}`}`
    case "proposal":
      return `${item.proposal.summary}? ${item.proposal.status}`
    case "step":
      return `step ${item.step}`
    case "notice":
      return `${item.notice}: ${item.detail}`
    case "unknown":
      return `? ${item.frame.type}`
  }
}
const lines = ({ items }: Transcript) => items.map(line)

describe("a transcript", () => {
  test("shows text while it is written, and then the message in its place", () => {
    const writing = fold([
      ...begun,
      frame("3.3", "text_delta", { text: "Hel" }),
      frame("3.5", "text_delta", { text: "lo" }),
    ])
    expect(writing).toMatchObject({ writing: "Hello", status: "running", cursor: "3.5" })
    expect(lines(writing)).toEqual(["user: Pay."])
    const whole = reduce(writing, says("4", message(2, "assistant", "Hello there.")))
    expect(whole).toMatchObject({ writing: null, cursor: "4" })
    expect(lines(whole)).toEqual(["user: Pay.", "assistant: Hello there."])
  })

  test("drops the text of a failed attempt, and says so", () => {
    const dead = fold([
      ...begun,
      frame("3.3", "text_delta", { text: "Hel" }),
      frame("4", "restarted", { because: "crash" }),
    ])
    expect(dead.writing).toBeNull()
    const again = fold([frame("3.5", "text_delta", { text: "lo" }), frame("4.2", "text_delta", { text: "Hi" })], dead)
    expect(again.writing).toBe("Hi")
    expect(lines(again)).toEqual(["user: Pay.", "restarted: crash"])
  })

  test("keeps the open reply when another row is added", () => {
    const beside = fold([
      ...begun,
      frame("3.3", "text_delta", { text: "Hel" }),
      frame("4.3", "settings", { title: "New" }),
    ])
    expect(beside).toMatchObject({ writing: "Hel", title: "New", cursor: "4.3" })
  })

  test("repeated text adds only what is new, and text after a gap nothing", () => {
    const open = fold([...begun, frame("3.3", "text_delta", { text: "Hel" })])
    expect(reduce(open, frame("3.5", "text_delta", { text: "Hello" })).writing).toBe("Hello")
    expect(reduce(open, frame("3.5", "text_delta", { text: "ello" })).writing).toBe("Hello")
    expect(reduce(open, frame("3.6", "text_delta", { text: "o!" })).writing).toBe("Hel")
  })

  test("costs the same for each delta, whatever its length", () => {
    const open = fold([...begun, frame("3.3", "text_delta", { text: "Hel" })])
    expect(reduce(open, frame("3.5", "text_delta", { text: "lo" })).items).toBe(open.items)
  })

  test("shares unchanged parts", () => {
    const before = fold([...begun, says("4", calling(2, "call_1", "call_2"))])
    const after = reduce(before, frame("5", "tool_start", { callId: "call_1", name: "pay", input: { amount: 1 } }))
    expect(after.items.map((item, index) => item === before.items[index])).toEqual([true, true, false, true])
    expect(reduce(after, begun[0] as UnknownFrame)).toBe(after)
  })

  test("follows a write from the call over the proposal to its result", () => {
    const frames = [
      ...begun,
      says("4", calling(2, "call_1", "call_2")),
      frame("5", "awaiting_confirmation", { proposals: [proposal("prop_1", "call_1"), proposal("prop_2", "call_2")] }),
      frame("6", "decision", { proposalId: "prop_1", decision: "commit", by: "ada" }),
      frame("7", "tool_start", { callId: "call_1", name: "pay", input: { amount: 1 } }),
      frame("8", "tool_end", {
        callId: "call_1",
        name: "pay",
        status: "ok",
        text: "Paid.",
        ms: 7,
        messageId: "msg_3",
        seq: 3,
      }),
      frame("9", "decision", { proposalId: "prop_2", decision: "reject", by: "ada", reason: "too much" }),
      frame("10", "tool_end", {
        callId: "call_2",
        name: "pay",
        status: "rejected",
        text: "No.",
        ms: 0,
        messageId: "msg_4",
        seq: 4,
      }),
      frame("11", "run_ended", { runId: "run_1", status: "cancelled" }),
      frame("11", "usage", { runId: "run_1", inputTokens: 5, outputTokens: 2 }),
      frame("11", "done", { status: "cancelled" }),
    ]
    const steps = frames.map((_, index) => fold(frames.slice(0, index + 1)))
    expect(steps.map(({ status }) => status)).toEqual([
      "active",
      "running",
      "running",
      "running",
      "awaiting_confirmation",
      "running",
      "running",
      "awaiting_confirmation",
      "awaiting_confirmation",
      "running",
      "active",
      "active",
      "active",
    ])
    expect(lines(steps[6] as Transcript)).toEqual([
      "user: Pay.",
      "assistant: ",
      "pay running",
      "pay proposed",
      "Pay 1? applying",
      "Pay 1? pending",
    ])
    const last = steps.at(-1) as Transcript
    expect(lines(last)).toEqual([
      "user: Pay.",
      "assistant: ",
      "pay ok: Paid.",
      "pay rejected: No.",
      "Pay 1? applied",
      "Pay 1? rejected",
      "cancelled: null",
    ])
    expect(last.items[2]).toMatchObject({ ms: 7, isOver: true })
    expect(last.items[5]).toMatchObject({ decidedBy: "ada", reason: "too much" })
    expect(last).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 2 },
      run: { id: "run_1", status: "cancelled" },
    })
  })

  test("shows a failure with its code and sentence", () => {
    const error = { code: "refused", message: "It declined." }
    const failed = fold([...begun, frame("4", "run_ended", { runId: "run_1", status: "failed", error })])
    expect(failed).toMatchObject({ status: "failed", run: { status: "failed", error } })
    expect(lines(failed)).toEqual(["user: Pay.", "failed: refused: It declined."])
  })

  test("keeps unknown frames, and frames that only have a known name, unchanged", () => {
    const strange = [
      { id: "4", type: "telepathy", data: 7 },
      { id: "5", type: "message", data: { parts: [] } },
      { id: "6", type: "toString", data: null },
    ]
    const transcript = fold([...begun, ...strange])
    expect(lines(transcript)).toEqual(["user: Pay.", "? telepathy", "? message", "? toString"])
    expect(transcript).toMatchObject({ status: "running", cursor: "6" })
    expect(isFrame(strange[1] as UnknownFrame, "message")).toBe(false)
    expect(isFrame(begun[2] as UnknownFrame, "message")).toBe(true)
    expect(
      isFrame({ id: "1", type: "conversation_deleted", data: { conversationId: "conv_1" } }, "conversation_deleted"),
    ).toBe(true)
  })
})

describe("a snapshot", () => {
  const detail = (position: number, messages: Message[], proposals: Proposal[] = []): ConversationDetail =>
    ({
      position,
      messages,
      proposals,
      title: "T",
      agent: "test",
      model: null,
      mode: "confirm",
      status: "running",
    }) as unknown as ConversationDetail
  const paid = message(3, "tool", "Paid.", { toolCallId: "call_1" as Message["toolCallId"] })

  test("is a transcript that can be continued", () => {
    const from = fromDetail(
      detail(8, [message(1, "user", "Pay."), calling(2, "call_1", "call_2"), paid], [proposal("prop_2", "call_2")]),
    )
    expect(lines(from)).toEqual(["user: Pay.", "assistant: ", "pay ended: Paid.", "pay proposed", "Pay 1? pending"])
    expect(from).toMatchObject({ title: "T", cursor: "8" })
    const decided = reduce(from, frame("9", "decision", { proposalId: "prop_2", decision: "commit", by: "ada" }))
    expect(lines(decided).slice(3)).toEqual(["pay approved", "Pay 1? applying"])
  })

  test("may hold proposals that are newer than its position: they are not shown twice", () => {
    const from = fromDetail(
      detail(4, [message(1, "user", "Pay."), calling(2, "call_1")], [proposal("prop_1", "call_1")]),
    )
    const told = reduce(from, frame("5", "awaiting_confirmation", { proposals: [proposal("prop_1", "call_1")] }))
    expect(lines(told)).toEqual(["user: Pay.", "assistant: ", "pay proposed", "Pay 1? pending"])
  })

  test("may hold proposals whose calls it does not have yet: they are still placed after their calls", () => {
    const asked = detail(3, [message(1, "user", "Pay.")], [proposal("prop_1", "call_1")])
    const from = fromDetail(asked)
    expect(lines(from)).toEqual(["user: Pay.", "Pay 1? pending"])
    const told = fold(
      [
        says("4", calling(2, "call_1")),
        frame("5", "awaiting_confirmation", { proposals: [proposal("prop_1", "call_1")] }),
      ],
      from,
    )
    expect(lines(told)).toEqual(["user: Pay.", "assistant: ", "pay proposed", "Pay 1? pending"])
  })

  test("keeps frames that only the stream has sent, where it overlaps", () => {
    const before = fold([...begun, frame("4", "step", { step: "routing" })])
    const after = withDetail(before, detail(9, [message(1, "user", "Pay."), message(2, "assistant", "Done.")]))
    expect(lines(after)).toEqual(["user: Pay.", "step routing", "assistant: Done."])
  })

  test("replaces everything where it does not overlap, so that no message is missing in between", () => {
    const before = fold(begun)
    expect(lines(withDetail(before, detail(99, [message(50, "user", "Later.")])))).toEqual(["user: Later."])
  })

  test("omits a result whose call is before it, and a call is shown at its first frame", () => {
    const from = fromDetail(detail(8, [paid, message(5, "assistant", "Well.")]))
    expect(lines(from)).toEqual(["assistant: Well."])
    const end = { callId: "call_9", name: "pay", status: "ok", text: "Paid.", ms: 1, messageId: "msg_9", seq: 9 }
    expect(lines(reduce(from, frame("9", "tool_end", end)))).toEqual(["assistant: Well.", "pay ok: Paid."])
  })

  test("removes questions that are no longer open", () => {
    const waiting = fold([
      ...begun,
      says("4", calling(2, "call_1")),
      frame("5", "awaiting_confirmation", { proposals: [proposal("prop_1", "call_1")] }),
    ])
    const after = withDetail(waiting, detail(9, [message(1, "user", "Pay."), calling(2, "call_1"), paid]))
    expect(lines(after)).toEqual(["user: Pay.", "assistant: ", "pay ended: Paid."])
    // Edited and not yet proposed again: the server is working.
    const edited = withDetail(waiting, detail(9, [message(1, "user", "Pay."), calling(2, "call_1")]))
    expect(lines(edited)).toEqual(["user: Pay.", "assistant: ", "pay asked"])
    expect(reduce(edited, frame("10", "step", { step: "routing" })).status).toBe("running")
  })
})

test("a call allowed by a grant is asked about again when the grant is revoked before the call starts", () => {
  const granted = [
    ...begun,
    says("4", calling(2, "call_1", "call_2")),
    frame("5", "proposal", { proposal: { ...proposal("prop_1", "call_1"), status: "applying" }, approvedBy: "grant" }),
    frame("6", "proposal", { proposal: { ...proposal("prop_2", "call_2"), status: "applying" }, approvedBy: "grant" }),
    frame("7", "tool_start", { callId: "call_1", name: "pay", input: { amount: 1 } }),
  ]
  const ended = frame("9", "tool_end", {
    callId: "call_1",
    name: "pay",
    status: "ok",
    text: "Paid.",
    ms: 1,
    messageId: "msg_3",
    seq: 3,
  })
  const of = (frames: readonly UnknownFrame[]) => {
    const { status, items } = fold(frames)
    return [status, ...items.flatMap((item) => (item.type === "proposal" ? [item.proposal.status] : []))]
  }
  const other = frame("8", "grant_revoked", { tool: "other", by: "ada" })
  expect(of([...granted, other, ended])).toEqual(["running", "applied", "applying"])
  const revoked = frame("8", "grant_revoked", { tool: "pay", by: "ada" })
  expect(of([...granted, revoked])).toEqual(["running", "applying", "pending"])
  expect(of([...granted, revoked, ended])).toEqual(["awaiting_confirmation", "applied", "pending"])
})

describe("the reasoning of the open reply", () => {
  const think = (id: string, text: string, offset: number) =>
    ({ id, type: "reasoning_delta", data: { text, offset, ms: offset * 100 } }) as UnknownFrame
  const open = begun.reduce(reduce, emptyTranscript)
  const place = open.cursor

  test("grows, is applied once even if repeated, and moves no cursor", () => {
    const frames = [think(place, "Hm, ", 4), think(place, "Hm, wait", 8), think(place, "Hm, ", 4), think(place, ".", 9)]
    const after = frames.reduce(reduce, open)
    expect(after.thinking).toEqual({ text: "Hm, wait.", ms: 900 })
    expect(after.cursor).toBe(place)
    expect(after.writing).toBeNull()
  })

  test("stays while text arrives, and ends with the row that ends the reply", () => {
    const spoken = [think(place, "Hm.", 3), { id: `${place}.3`, type: "text_delta", data: { text: "Yes" } }]
    const writing = [...spoken, think(`${place}.3`, " Or no.", 10)].reduce(reduce, open)
    expect(writing).toMatchObject({ writing: "Yes", thinking: { text: "Hm. Or no." }, cursor: `${place}.3` })
    const whole = message(2, "assistant", "Yes", { reasoning: { text: "Hm. Or no.", ms: 5 } })
    const done = reduce(writing, says(String(Number(place) + 1), whole))
    expect(done).toMatchObject({ writing: null, thinking: null })
    expect(done.items.at(-1)).toMatchObject({ message: { reasoning: { text: "Hm. Or no.", ms: 5 } } })
  })

  test("is omitted after a gap", () => {
    expect(reduce(open, think(place, "later", 20)).thinking).toBeNull()
  })
})
