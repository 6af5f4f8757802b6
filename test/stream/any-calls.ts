import { type Call, type Conversation, conversationStatus } from "../../core/engine/conversation.ts"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import { dropSettled, stageCopy } from "../../core/engine/replay/replay.ts"
import type { ConversationDetail } from "../../core/protocol/answers.ts"
import { CallStatus, type Message, type Part } from "../../core/protocol/conversation/message.ts"
import type { JournalEvent, NewEvent } from "../../core/protocol/events.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { CallId, ConversationId, MessageId, ProposalId, RunId, UserId } from "../../core/protocol/ids.ts"
import type { Proposal, Proposed } from "../../core/protocol/proposals/proposal.ts"
import { FrameMaker } from "../../core/server/stream/frame-maker.ts"

const PEOPLE = ["ada", "policy", "grant", "device"] as const

/** The states after a row: of the reducer, of a client that received its frames, and of a client that loads the conversation. */
export interface Moment {
  readonly event: JournalEvent
  readonly frames: readonly UnknownFrame[]
  readonly conversation: Conversation
  readonly detail: ConversationDetail
}

/**
 * Rows about calls in any order that the reducer accepts, also orders that the loop never writes: a call that starts twice,
 * ends before it starts, or is in doubt and settled without a proposal. All readers must agree about them.
 */
export class AnyCalls {
  readonly #conversation = emptyConversation("conv_any" as ConversationId, "user_ada" as UserId)
  readonly #maker = new FrameMaker(this.#conversation.id)
  readonly #proposals = new Map<ProposalId, Proposal>()
  readonly #messages: Message[] = []
  readonly #dice: number[]
  readonly #tell: (moment: Moment) => void
  #ids = 0

  constructor(dice: readonly number[], tell: (moment: Moment) => void) {
    this.#dice = [...dice]
    this.#tell = tell
    const head = { agent: "test", model: null, provider: null, mode: "confirm", title: null } as const
    this.#write({ type: "conversation_started", ...head })
    while (this.#dice.length > 0) for (const event of this.#next()) this.#write(event)
  }

  #next(): NewEvent[] {
    const { run, calls } = this.#conversation
    if (run?.status !== "running") return [{ type: "run_started", runId: this.#new<RunId>("run"), maxIterations: 5 }]
    const open = calls.filter(({ state }) => state !== "ended")
    const call = this.#pick(open)
    if (!call) return this.#roll(4) ? [this.#reply()] : [{ type: "run_ended", status: "completed" }]
    return this.#about(call)
  }

  #reply(): NewEvent {
    const calls = Array.from({ length: 1 + this.#roll(4) }, (): Part => {
      const name = this.#roll(3) ? "tool" : "other"
      return { type: "call", id: this.#new<CallId>("call"), name, input: { q: this.#roll(3) } }
    })
    const seq = this.#conversation.seq + 1
    return { type: "message", id: this.#new<MessageId>("msg"), seq, role: "assistant", parts: calls }
  }

  #about(call: Call): NewEvent[] {
    const { id: callId, state } = call
    // A duplicate is not carried out; in an old journal it is, once the first call has its result.
    if (state === "duplicate") return []
    const by = "ada"
    switch (this.#roll(11)) {
      case 0:
      case 1:
        return [{ type: "tool_start", callId }]
      case 2:
        return [this.#end(call)]
      case 3:
        return [{ type: "in_doubt", callId, because: "It was cut off." }]
      case 4:
        return [{ type: "resolution", callId, choice: this.#pick(["retry", "done", "abandon"] as const) ?? "done", by }]
      case 5:
        return [{ type: "late_result", callId, status: this.#roll(2) ? "ok" : "error", text: "after all" }]
      case 6:
        return [{ type: "grant_revoked", by, ...(this.#roll(2) ? { tool: this.#roll(2) ? "tool" : "other" } : {}) }]
      case 7:
      case 8:
        return this.#decide(call)
      case 9:
        return call.proposal ? [] : [{ type: "awaiting_confirmation", proposals: [this.#propose(call)] }]
      default: {
        const approvedBy = this.#pick([undefined, ...PEOPLE])
        const event = { type: "proposal", proposal: this.#propose(call) } as const
        return call.proposal ? [] : [{ ...event, ...(approvedBy ? { approvedBy } : {}) }]
      }
    }
  }

  #decide({ proposal: proposalId }: Call): NewEvent[] {
    if (!proposalId || !this.#conversation.proposals.has(proposalId)) return []
    const decision = this.#pick(["commit", "reject", "edit"] as const) ?? "commit"
    const edited = decision === "edit" && this.#roll(2) ? { arguments: { q: "edited" } } : {}
    return [{ type: "decision", proposalId, decision, by: "ada", ...edited }]
  }

  #end({ id: callId, seq }: Call): NewEvent {
    const status = this.#pick(CallStatus.options) ?? "ok"
    return { type: "tool_end", callId, id: this.#new<MessageId>("msg"), seq, status, text: `It is ${status}.`, ms: 5 }
  }

  #propose({ id: callId, name, input, isChanged }: Call): Proposed {
    const shown = { action: "safe_create", summary: "Make it", undoable: true, version: 1, hash: "x" } as const
    const edited = isChanged ? { arguments: input } : {}
    return { id: this.#new<ProposalId>("prop"), callId, tool: name, ...shown, ...edited, expiresAt: 10 ** 9 }
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

  #write(event: NewEvent): void {
    const conversation = this.#conversation
    const row = stageCopy(conversation, event, 1000 + conversation.position)
    dropSettled(conversation)
    const frames = this.#maker.rows(row, 0)
    for (const frame of frames) this.#remember(frame as Frame)
    this.#tell({ event: row, frames, conversation, detail: this.#detail() })
  }

  #remember(frame: Frame): void {
    if (frame.type === "message") this.#messages.push(frame.data.message)
    if (frame.type === "proposal") this.#proposals.set(frame.data.proposal.id, frame.data.proposal)
    if (frame.type === "awaiting_confirmation")
      for (const proposal of frame.data.proposals) this.#proposals.set(proposal.id, proposal)
    if (frame.type !== "tool_end") return
    const { messageId: id, seq, text: content, callId: toolCallId, status, ms, at: createdAt } = frame.data
    this.#messages.push({ id, seq, role: "tool", content, toolCalls: null, toolCallId, status, ms, createdAt })
  }

  #detail(): ConversationDetail {
    const { id, position, title, agent, model, provider, mode, proposals } = this.#conversation
    const head = { id, position, title, agent, model, provider, mode, createdAt: "", updatedAt: "" }
    return {
      ...head,
      status: conversationStatus(this.#conversation),
      site: "server",
      deviceId: null,
      connectionId: null,
      messages: this.#messages.toSorted((a, b) => a.seq - b.seq),
      steps: [],
      notices: [],
      proposals: [...proposals].map(([key, { status }]) => ({ ...(this.#proposals.get(key) as Proposal), status })),
    }
  }
}
