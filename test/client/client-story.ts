import { type Call, conversationStatus, openCalls } from "../../core/engine/conversation.ts"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { duplicateEnds } from "../../core/engine/calls/duplicates.ts"
import { dropSettled, stageCopy } from "../../core/engine/replay/replay.ts"
import type { ConversationDetail } from "../../core/protocol/answers.ts"
import type { CallStatus, Message, Part } from "../../core/protocol/conversation/message.ts"
import { type JournalEvent, type NewEvent } from "../../core/protocol/events.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { CallId, ConversationId, MessageId, ProposalId, RunId, UserId } from "../../core/protocol/ids.ts"
import { type NoticeView, toNotice } from "../../core/protocol/notices.ts"
import type { StepView } from "../../core/protocol/conversation/stages.ts"
import type { DelayedResult, Proposal, Proposed, DecidedProposal } from "../../core/protocol/proposals/proposal.ts"
import { FrameMaker } from "../../core/server/stream/frame-maker.ts"

/**
 * A random conversation: every kind of row, in an order that the loop's state accepts, and the frames that the server
 * creates from them. The same dice give the same story.
 */
export class Story {
  readonly id = "conv_story" as ConversationId
  readonly conversation = emptyConversation(this.id, "user_ada" as UserId)
  readonly frames: UnknownFrame[] = []
  /** The answer of `readConversation`, had it been asked at each position; the first is 1. */
  readonly details: ConversationDetail[] = []
  readonly #maker = new FrameMaker(this.id)
  readonly #messages: Message[] = []
  readonly #proposals = new Map<ProposalId, Proposal>()
  readonly #decisions = new Map<ProposalId, Extract<JournalEvent, { type: "decision" }>>()
  readonly #decided = new Map<ProposalId, DecidedProposal>()
  readonly #late: DelayedResult[] = []
  /** Expired proposals that were not proposed again, in the order of their creation. */
  #expired: ProposalId[] = []
  readonly #dice: number[]
  #ids = 0

  constructor(dice: readonly number[], told: (story: Story) => void = () => {}) {
    this.#dice = [...dice]
    const head = { agent: "test", model: null, provider: null, mode: "confirm", title: null } as const
    this.#tell(told, { type: "conversation_started", ...head })
    while (this.#dice.length > 0) for (const event of this.#next()) this.#tell(told, event)
  }

  #next(): NewEvent[] {
    const { run } = this.conversation
    const aside = this.#aside()
    if (aside) return aside
    if (run?.status !== "running") return this.#speak()
    const call = this.#pick(openCalls(this.conversation))
    return call ? this.#work(call) : this.#reply()
  }

  #roll(sides: number): number {
    return (this.#dice.shift() ?? 0) % sides
  }

  #pick<Value>(from: readonly Value[]): Value | undefined {
    return from.length === 0 ? undefined : from[this.#roll(from.length)]
  }

  #new<Id extends string>(prefix: string): Id {
    return `${prefix}_${++this.#ids}` as Id
  }

  /** Events that can happen at any time. */
  #aside(): NewEvent[] | undefined {
    const { proposals, calls } = this.conversation
    const doubtful = [...proposals.values()].find(
      ({ status, proposed }) =>
        status === "in_doubt" && !calls.some(({ id, state }) => id === proposed.callId && state !== "ended"),
    )
    const callId = doubtful?.proposed.callId
    // Doubtful writes are usually resolved; otherwise few stories would cover that.
    const odds = callId ? this.#pick([4, 5, 8, 8]) : this.#roll(16)
    switch (odds) {
      case 0:
        return [
          {
            type: "settings",
            title: `Title ${this.#roll(9)}`,
            mode: "auto",
            ...(this.#roll(2) ? { connectionId: this.#roll(2) ? this.#new("conn") : null } : {}),
          },
        ]
      case 1:
        return [{ type: "step", step: "routing", detail: { to: "test" } }]
      case 2:
        return [{ type: "restarted", because: "crash" }]
      case 3:
        return [{ type: "history_cut", seq: 1, tokens: 0 }] // nothing: what the model is shown is not what people are
      case 9:
        return [{ type: "fallback", from: "a", to: "b", because: "overloaded", message: "a is overloaded.", until: 0 }]
      case 10:
        return [
          this.#roll(2)
            ? { type: "compaction", what: "summary", seq: 1, summary: "So far." }
            : { type: "compaction", what: "failed", problem: "overloaded" },
        ]
      case 4:
        return callId && [{ type: "late_result", callId, status: "ok", text: "done after all" }]
      case 5:
        return callId && [{ type: "resolution", callId, choice: this.#roll(2) ? "done" : "abandon", by: "ada" }]
      case 6:
        return [{ type: "grant_revoked", by: "ada" }]
      case 7:
        return this.conversation.run?.status === "running" ? this.#giveUp() : undefined
      default:
        return undefined
    }
  }

  #speak(): NewEvent[] {
    const runId = this.#new<RunId>("run")
    const again = this.#expired.length > 0 && this.#roll(2) ? this.#pick(this.#expired) : undefined
    const start = { type: "run_started", runId, maxIterations: 5, ...(again ? { again } : {}) } as const
    return [start, this.#message("user", [{ type: "text", text: "Go on." }])]
  }

  #reply(): NewEvent[] {
    const text: Part[] = this.#roll(4)
      ? [{ type: "text", text: "Wörds 😀 of a reply.".slice(0, 3 + this.#roll(17)).toWellFormed() }]
      : []
    const calls = Array.from({ length: this.#roll(4) }, () => {
      return { type: "call", id: this.#new<CallId>("call"), name: "tool", input: { q: this.#roll(5) } } as const
    })
    const reply = { ...this.#message("assistant", [...text, ...calls]), usage: { inputTokens: 3, outputTokens: 2 } }
    if (calls.length > 0) return [reply]
    const error = { code: "refused", message: "No." }
    return [
      reply,
      this.#roll(5) ? { type: "run_ended", status: "completed" } : { type: "run_ended", status: "failed", error },
    ]
  }

  #message(role: "user" | "assistant", parts: Part[]): Extract<NewEvent, { type: "message" }> {
    return { type: "message", id: this.#new<MessageId>("msg"), seq: this.conversation.seq + 1, role, parts }
  }

  #work(call: Call): NewEvent[] {
    const { id: callId, proposal } = call
    const proposalId = proposal ?? ("prop_none" as ProposalId)
    switch (call.state) {
      case "new":
        if (this.#roll(2)) return [{ type: "tool_start", callId }, this.#end(call, this.#roll(3) ? "ok" : "error")]
        if (this.#roll(5) === 0) return [{ type: "handed_over", callId, expiresAt: 10 ** 9 }]
        if (this.#roll(4) === 0)
          return [{ type: "proposal", proposal: this.#propose(call), approvedBy: this.#ids % 2 ? "policy" : "grant" }]
        return [{ type: "awaiting_confirmation", proposals: this.#waiting().map((each) => this.#propose(each)) }]
      case "edited":
        return [{ type: "proposal", proposal: { ...this.#propose(call), arguments: call.input } }]
      case "proposed": {
        const decided = { type: "decision", proposalId, by: "ada" } as const
        const how = this.#roll(5)
        if (how === 0) return [{ ...decided, decision: "edit", arguments: { q: "edited" } }]
        if (how === 1) return [{ ...decided, decision: "reject", reason: "no" }, this.#end(call, "rejected")]
        return how === 2 ? [this.#end(call, "expired")] : [{ ...decided, decision: "commit" }]
      }
      case "approved":
        return [{ type: "tool_start", callId }]
      case "started":
        if (this.#roll(3) === 0) return [{ type: "in_doubt", callId, because: "It was cut off." }]
        return [this.#end(call, this.#pick(["ok", "error", "timed_out", "interrupted"] as const) ?? "ok")]
      case "handed_over":
        return [this.#end(call, this.#pick(["ok", "error", "expired"] as const) ?? "ok")]
      case "in_doubt": {
        const choice = this.#pick(["retry", "done", "abandon"] as const) ?? "done"
        const said: NewEvent = { type: "resolution", callId, choice, by: "ada" }
        return choice === "retry" ? [said] : [said, this.#end(call, choice === "done" ? "ok" : "error")]
      }
      case "duplicate":
      case "ended":
        return []
    }
  }

  #waiting(): Call[] {
    return openCalls(this.conversation).filter(({ state }) => state === "new")
  }

  #giveUp(): NewEvent[] {
    const left = openCalls(this.conversation).map((call) =>
      this.#end(call, call.state === "started" || call.state === "in_doubt" ? "in_doubt" : "cancelled"),
    )
    return [...left, { type: "run_ended", status: "cancelled" }]
  }

  #end({ id: callId, seq }: Call, status: CallStatus): NewEvent {
    return { type: "tool_end", callId, id: this.#new<MessageId>("msg"), seq, status, text: `It is ${status}.`, ms: 5 }
  }

  #propose({ id: callId, name }: Call): Proposed {
    const shown = {
      tool: name,
      action: "safe_create",
      summary: "Make it",
      undoable: true,
      version: 1,
      hash: "x",
    } as const
    return { id: this.#new<ProposalId>("prop"), callId, ...shown, expiresAt: 10 ** 9 }
  }

  #tell(told: (story: Story) => void, event: NewEvent): void {
    const now = 1000 + this.frames.length
    for (const each of [event, ...duplicateEnds(this.conversation, event, now)]) this.#tellOne(told, each, now)
  }

  #tellOne(told: (story: Story) => void, event: NewEvent, now: number): void {
    const open = [...this.conversation.proposals].filter(([, { status }]) => status !== "in_doubt")
    const row: JournalEvent = stageCopy(this.conversation, event, now)
    this.frames.push(...this.#textBefore(row))
    const offset = row.type === "message" && row.role === "assistant" ? this.#shown : 0
    this.#shown = 0
    const made = this.#maker.rows(row, offset)
    this.frames.push(...made, ...progressAfter(row))
    for (const frame of made) this.#remember(frame as Frame)
    this.#decide(row)
    dropSettled(this.conversation)
    if (event.type === "run_started") this.#expired = this.#expired.filter((id) => id !== event.again)
    if (event.type === "tool_end" && event.status === "expired")
      this.#expire(open.flatMap(([id, { proposed }]) => (proposed.callId === event.callId ? [id] : [])))
    this.details.push(this.#detail())
    told(this)
  }

  /** Updates the proposals that no longer wait for a decision, as the store knows them. */
  #decide(row: JournalEvent): void {
    if (row.type === "decision") this.#decisions.set(row.proposalId, row)
    for (const [id, { status, decidedBy = null, position }] of this.conversation.proposals) {
      // A rejection and the result of its call are one commit, which this story writes as two.
      if (status === "pending" && decidedBy === null) {
        this.#decided.delete(id)
        continue
      }
      const { reason = null, arguments: editedTo } = this.#decisions.get(id) ?? {}
      const proposal = { ...(this.#proposals.get(id) as Proposal), status }
      const edited = editedTo ? { editedTo } : {}
      this.#decided.set(id, { position, decidedBy, reason, ...edited, proposal })
    }
    if (row.type === "run_started" && row.again) {
      const before = this.#decided.get(row.again)
      if (before) this.#decided.set(row.again, { ...before, proposal: { ...before.proposal, status: "superseded" } })
    }
    if (row.type === "late_result") this.#late.push({ callId: row.callId, status: row.status, text: row.text })
  }

  #expire(ids: readonly ProposalId[]): void {
    const places = [...this.#proposals.keys()]
    this.#expired = [...this.#expired, ...ids].sort((a, b) => places.indexOf(a) - places.indexOf(b))
  }

  #shown = 0
  /** The highest message id, and the decisions. */
  #last = 0
  readonly #steps: StepView[] = []
  readonly #notices: NoticeView[] = []

  /** Emits part of the reply in pieces, or the text of a failed attempt. */
  #textBefore(row: JournalEvent): UnknownFrame[] {
    const dead = row.type === "restarted" ? "I was about to" : ""
    const said = row.type === "message" && row.role === "assistant" ? row.parts : []
    const text = dead || said.map((part) => (part.type === "text" ? part.text : "")).join("")
    const pieces: UnknownFrame[] = []
    for (let end = 0; end < text.length && this.#roll(4) > 0;) {
      const start = end
      end = Math.min(text.length, end + 1 + this.#roll(6))
      if (/[\udc00-\udfff]/.test(text[end] ?? "")) end++ // never inside a pair
      this.#shown = end
      pieces.push(FrameMaker.text(text.slice(start, end), { position: row.position - 1, offset: end }))
    }
    if (text === "") return pieces
    // Reasoning before the first text and after the last, without a position of its own.
    const thought = (id: string, said: string, offset: number): UnknownFrame => ({
      ...{ id, type: "reasoning_delta", data: { text: said, offset, ms: offset } },
    })
    const first = String(row.position - 1)
    return [thought(first, "Hm", 2), ...pieces, thought(pieces.at(-1)?.id ?? first, ", so", 6)]
  }

  #remember(frame: Frame): void {
    if (frame.type === "message") {
      this.#messages.push(frame.data.message)
      this.#last = Math.max(this.#last, frame.data.message.seq)
    }
    const { type } = frame
    if (
      type === "restarted" ||
      type === "fallback" ||
      type === "history_cut" ||
      type === "compaction" ||
      type === "run_ended"
    ) {
      const notice = toNotice(frame.type, frame.data)
      if (notice) this.#notices.push({ position: Number(frame.id), after: this.#last, ...notice, at: frame.data.at })
    }
    if (frame.type === "step") this.#steps.push({ position: Number(frame.id), after: this.#last, ...frame.data })
    if (frame.type === "awaiting_confirmation")
      for (const each of frame.data.proposals) this.#proposals.set(each.id, each)
    if (frame.type === "proposal") this.#proposals.set(frame.data.proposal.id, frame.data.proposal)
    if (frame.type !== "tool_end") return
    const { messageId, seq, text, callId, status, ms, at } = frame.data
    const result = {
      id: messageId,
      seq,
      role: "tool",
      content: text,
      toolCalls: null,
      toolCallId: callId,
      status,
      ms,
      createdAt: at,
    } as const
    this.#messages.push(result)
    this.#last = Math.max(this.#last, seq)
    this.#messages.sort((a, b) => a.seq - b.seq)
  }

  #detail(): ConversationDetail {
    const { id, position, title, agent, model, provider, mode, proposals } = this.conversation
    const times = { createdAt: "", updatedAt: "" }
    return {
      id,
      position,
      title,
      agent,
      model,
      provider,
      mode,
      status: conversationStatus(this.conversation),
      site: "server",
      deviceId: null,
      connectionId: this.conversation.connectionId,
      ...times,
      messages: [...this.#messages],
      steps: [...this.#steps],
      notices: [...this.#notices],
      decided: [...this.#proposals.keys()].flatMap((key) => this.#decided.get(key) ?? []),
      lateResults: [...this.#late],
      expired: this.#expired.map((key) => ({ ...(this.#proposals.get(key) as Proposal), status: "expired" })),
      handedOver: this.conversation.calls.flatMap(({ id: callId, state, expiresAt = 0 }) =>
        state === "handed_over" ? [{ callId, expiresAt: new Date(expiresAt).toISOString() }] : [],
      ),
      proposals: [...proposals].map(([key, { status }]) => ({ ...(this.#proposals.get(key) as Proposal), status })),
    }
  }
}

/** A started tool call emits progress, which has no position. */
function progressAfter(row: JournalEvent): UnknownFrame[] {
  if (row.type !== "tool_start") return []
  const data = { callId: row.callId, text: "Half of it", done: 1, total: 2 }
  return [{ id: String(row.position), type: "tool_progress", data }]
}
