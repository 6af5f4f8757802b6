import type { CallPart, CallStatus, Part } from "../protocol/conversation/message.ts"
import type { JournalEvent, NewEvent } from "../protocol/events.ts"
import type { AuditId, CallId, ConversationId, InboxId, MessageId, ProposalId, RunId, UserId } from "../protocol/ids.ts"
import type { Proposed } from "../protocol/proposals/proposal.ts"
import { type Conversation } from "./conversation.ts"
import { emptyConversation } from "./empty-conversation.ts"
import type { Input, MessageInput } from "./input.ts"
import { dropSettled, stage } from "./replay/replay.ts"

export const ID = "conv_test" as ConversationId
export const ADA = "user_ada" as UserId

export const call = (n: number) => `call_${n}` as CallId
export const proposal = (n: number) => `prop_${n}` as ProposalId
export const run = (n: number) => `run_${n}` as RunId

export const text = (words: string): Part => ({ type: "text", text: words })

export const message = (words: string, when: MessageInput["when"] = "queue"): MessageInput => ({
  type: "message",
  id: "msg_waiting" as MessageId,
  text: words,
  when,
})

type Called = string | readonly [name: string, input: Record<string, unknown>]

/** Builds a conversation event by event. */
export class Staged {
  readonly conversation: Conversation = emptyConversation(ID, ADA)
  readonly events: JournalEvent[] = []
  #now = 0
  #runs = 0
  #messages = 0
  #calls = 0
  #proposals = 0
  #inputs = 0

  constructor() {
    this.add({
      type: "conversation_started",
      agent: "test",
      model: null,
      provider: null,
      mode: "confirm",
      title: null,
    })
  }

  /** Like the store: what a commit has settled leaves the state. */
  add(...events: NewEvent[]): this {
    this.events.push(...stage(this.conversation, events, this.#now))
    dropSettled(this.conversation)
    return this
  }

  wait(ms: number): this {
    this.#now += ms
    return this
  }

  run(maxIterations = 5): this {
    return this.add({ type: "run_started", runId: run(++this.#runs), maxIterations })
  }

  /** A run that undoes an applied write. */
  undoes(): this {
    const undoes = "aud_1" as AuditId
    return this.add({ type: "run_started", runId: run(++this.#runs), maxIterations: 1, undoes })
  }

  words(words: string): this {
    return this.#message({ role: "user", parts: [text(words)] })
  }

  /** A run starts with a message. */
  asks(words: string, maxIterations = 5): this {
    return this.run(maxIterations).words(words)
  }

  /** Records which tools the message is offered. */
  routed(...profiles: string[]): this {
    const detail = { profiles, tools: ["read"], reason: "", scores: {}, by: "rules" }
    return this.add({ type: "step", step: "routing", detail })
  }

  step(step: string, detail: unknown): this {
    return this.add({ type: "step", step, detail })
  }

  says(...parts: (string | Part)[]): this {
    const whole = parts.map((part) => (typeof part === "string" ? text(part) : part))
    return this.#message({ role: "assistant", parts: whole, finish: "stop" })
  }

  /** The final reply of a run. */
  answers(...parts: (string | Part)[]): this {
    return this.says(...parts).ends("completed")
  }

  calls(...called: Called[]): this {
    const parts = called.map((given): CallPart => {
      // Each call has other arguments unless a test passes them, because identical calls count as one.
      const [name, input] = typeof given === "string" ? [given, { n: this.#calls }] : given
      return { type: "call", id: call(++this.#calls), name, input }
    })
    return this.#message({ role: "assistant", parts, finish: "calls" })
  }

  broken(words: string): this {
    return this.#message({ role: "assistant", parts: [text(words)], finish: "cancelled" })
  }

  starts(n: number): this {
    return this.add({ type: "tool_start", callId: call(n) })
  }

  result(n: number, status: CallStatus = "ok", words = `result ${n}`): this {
    return this.add({ ...this.#end(n), status, text: words })
  }

  /** A result with data. */
  shows(n: number, data: unknown): this {
    return this.add({ ...this.#end(n), data })
  }

  /** A result with untrusted text or private data. */
  brings(n: number, brings: "outside" | "private" | "both"): this {
    return this.add({ ...this.#end(n), brings })
  }

  #end(n: number) {
    const seq = this.conversation.calls.find(({ id }) => id === call(n))?.seq ?? 0
    const id = `msg_result${n}` as MessageId
    return { type: "tool_end", callId: call(n), id, seq, status: "ok", text: "", ms: 1 } as const
  }

  proposes(...calls: number[]): this {
    return this.add({ type: "awaiting_confirmation", proposals: calls.map((n) => this.proposed(n)) })
  }

  proposed(n: number): Proposed {
    return {
      id: proposal(++this.#proposals),
      callId: call(n),
      tool: "write",
      action: "safe_create",
      summary: "Write.",
      undoable: false,
      version: 1,
      hash: "",
      expiresAt: this.#now + 60_000,
    }
  }

  decides(n: number, decision: "commit" | "reject" | "edit"): this {
    return this.add({ type: "decision", proposalId: proposal(n), decision, by: ADA })
  }

  /** Approves, and also this many later writes of the same tool. */
  grants(n: number, uses: number): this {
    return this.add({ type: "decision", proposalId: proposal(n), decision: "commit", by: ADA, grant: { uses } })
  }

  /** Proposed and approved by a grant in one event. */
  granted(n: number, changes: Partial<Proposed> = {}): this {
    return this.add({ type: "proposal", proposal: { ...this.proposed(n), ...changes }, approvedBy: "grant" })
  }

  revokes(tool?: string): this {
    return this.add({ type: "grant_revoked", ...(tool === undefined ? {} : { tool }), by: ADA })
  }

  doubts(n: number): this {
    return this.add({ type: "in_doubt", callId: call(n), because: "It broke off." })
  }

  restarts(because: "crash" | "handover" | "provider" = "crash"): this {
    return this.add({ type: "restarted", because })
  }

  /** The process died, and this run is not the only possible cause. */
  dies(blame: "shared" | "none"): this {
    return this.add({ type: "restarted", because: "crash", blame })
  }

  ends(status: "completed" | "failed" | "cancelled"): this {
    return this.add({ type: "run_ended", status })
  }

  cuts(seq: number): this {
    return this.add({ type: "history_cut", seq, tokens: 0 })
  }

  /** Adds input to the inbox. */
  waiting(...inputs: Input[]): this {
    const items = inputs.map((input) => ({ id: "in_waiting" as InboxId, number: ++this.#inputs, input }))
    this.conversation.inbox = [...this.conversation.inbox, ...items]
    return this
  }

  #message(event: Omit<Extract<NewEvent, { type: "message" }>, "type" | "id" | "seq">): this {
    const id = `msg_${++this.#messages}` as MessageId
    return this.add({ type: "message", id, seq: this.conversation.seq + 1, ...event })
  }
}

export const staged = () => new Staged()
