import type { Context } from "hono"
import type { z } from "zod"
import {
  type Env,
  isOpen,
  newestRun,
  readJson,
  readRecordedRuns,
  type ServerPorts,
  type UiChat,
  type UiChatQuery,
} from "../../core/adapter.ts"
import { type ConversationId, failure, type Frame, type UnknownFrame } from "../../core/protocol/index.ts"
import { findNamedChat } from "./chat-conversation.ts"
import { reasoningFirst } from "../reasoning-first.ts"
import { RunChunks, toUserParts } from "./run-chunks.ts"
import type { CallChunk, UiChunk } from "./call-chunks.ts"

/** A chat for a page that loads. Unrecorded events of a running run come with its stream. */
export async function readUiChat(
  c: Context<Env>,
  ports: ServerPorts,
  { cursor }: z.infer<typeof UiChatQuery>,
): Promise<UiChat> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const found = await findNamedChat(c, ports)
  if (!found) return { conversationId: null, activeStreamId: null, messages: [], truncated: false, nextCursor: null }
  const { id, position } = found
  const run = await newestRun(ports, id)
  const recorded = await readRecordedRuns(ports, { id, position: Math.min(before ?? position, position) })
  const chat = new RecordedChat(id)
  for (const frames of recorded.runs) chat.read(frames)
  return {
    conversationId: id,
    activeStreamId: run && isOpen(run) ? run.runId : null,
    messages: [...chat.toMessages()],
    truncated: recorded.before !== null,
    nextCursor: recorded.before === null ? null : String(recorded.before),
  }
}

/** The position before which runs are read. The journal only grows, so a cursor stays valid. */
function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw failure("bad_request", { problem: "cursor: this is none of ours; send `nextCursor` of an answer, as it is." })
}

/** The runs of a conversation as chat messages: a user's message, then one message for all replies to it. */
export class RecordedChat {
  readonly #conversation: ConversationId
  readonly #messages: ChatMessage[] = []
  #chunks: RunChunks
  #answer = new AssistantMessage()
  #isSummary = false
  /** A run's message follows the event that starts it. */
  #textIsNext = false

  constructor(conversation: ConversationId) {
    this.#conversation = conversation
    this.#chunks = new RunChunks(conversation)
  }

  read(frames: readonly UnknownFrame[]): void {
    for (const frame of reasoningFirst(frames)) this.#read(frame as Frame)
  }

  /** All messages, including an unfinished one. */
  toMessages(): readonly ChatMessage[] {
    this.#endRun()
    return this.#messages
  }

  #read(frame: Frame): void {
    const isText = this.#textIsNext && frame.type === "message"
    this.#textIsNext = frame.type === "run_started"
    if (frame.type === "run_started") {
      this.#endRun()
      this.#isSummary = frame.data.compacts === true
    }
    if (isText && frame.data.message.role === "user") {
      const { id, createdAt } = frame.data.message
      const metadata = { pawl: { createdAt } }
      this.#messages.push({ id, role: "user", metadata, parts: toUserParts(frame.data.message) })
    }
    for (const chunk of this.#chunks.read(frame)) this.#answer.take(chunk)
  }

  #endRun(): void {
    const message = this.#answer.toMessage()
    if (message && !this.#isSummary) this.#messages.push(message)
    this.#chunks = new RunChunks(this.#conversation)
    this.#answer = new AssistantMessage()
  }
}

type Writable = Record<string, unknown> & { type: string }

/** A message as `useChat` holds it. */
type ChatMessage = {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly metadata?: object
  readonly parts: Writable[]
}

/** Builds the message that a client would build from a run's chunks. */
class AssistantMessage {
  #id = ""
  #metadata: Record<string, unknown> = {}
  #parts: Writable[] = []
  /** Open parts by their ids. */
  readonly #open = new Map<string, Writable>()

  take(chunk: UiChunk): void {
    switch (chunk.type) {
      case "start":
        this.#id = chunk.messageId
        return this.#describe(chunk.messageMetadata)
      case "message-metadata":
      case "finish":
        return this.#describe(chunk.messageMetadata)
      case "start-step":
        return void this.#parts.push({ type: "step-start" })
      case "reset-step":
        this.#open.clear()
        this.#parts = this.#parts.slice(0, this.#parts.findLastIndex(({ type }) => type === "step-start") + 1)
        return
      case "text-start":
        return this.#start(chunk.id, { type: "text", text: "", state: "streaming" })
      case "reasoning-start":
        return this.#start(chunk.id, { type: "reasoning", id: chunk.id, text: "", state: "streaming" })
      case "text-delta":
      case "reasoning-delta":
        return this.#change(this.#open.get(chunk.id), (part) => (part.text = `${String(part.text)}${chunk.delta}`))
      case "text-end":
      case "reasoning-end":
        return this.#change(this.#open.get(chunk.id), (part) => (part.state = "done"))
      case "finish-step":
      case "abort":
      case "error":
        return
      case "steering-message":
      case "source-url":
      case "source-document":
        return void this.#parts.push({ ...chunk })
      case "tool-input-available":
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-error":
      case "tool-approval-request":
      case "tool-approval-response":
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
        return this.#call(chunk)
      default:
        if (chunk.transient) return
        return this.#put(chunk.id, { ...chunk })
    }
  }

  /** Undefined without a run. */
  toMessage(): ChatMessage | undefined {
    if (this.#id === "") return undefined
    return { id: this.#id, role: "assistant", metadata: this.#metadata, parts: this.#parts }
  }

  #call(chunk: CallChunk): void {
    if (chunk.type === "tool-input-available" || chunk.type === "tool-input-start") {
      const { type, toolCallId, toolName, toolMetadata } = chunk
      const known = this.#parts.find((part) => part.toolCallId === toolCallId)
      const state = type === "tool-input-start" ? "input-streaming" : "input-available"
      const input = "input" in chunk ? { input: chunk.input } : {}
      const mark = toolMetadata ? { toolMetadata } : {}
      const recorded = { type: `tool-${toolName}`, toolCallId, state, ...input, ...mark, rawInput: undefined }
      if (known) Object.assign(known, recorded)
      else this.#parts.push(recorded)
      return
    }
    const isMine = (part: Writable): boolean =>
      "toolCallId" in chunk
        ? part.toolCallId === chunk.toolCallId
        : (part.approval as { id?: string } | undefined)?.id === chunk.approvalId
    this.#change(this.#parts.find(isMine), (part) => Object.assign(part, changeOf(part, chunk)))
  }

  #describe(metadata: object | undefined): void {
    const { pawl } = (metadata ?? {}) as { pawl?: object }
    if (pawl) this.#metadata = { pawl: { ...(this.#metadata.pawl as object | undefined), ...pawl } }
  }

  #start(id: string, part: Writable): void {
    this.#open.set(id, part)
    this.#parts.push(part)
  }

  /** Data with the same id replaces the previous. */
  #put(id: string | undefined, part: Writable): void {
    const known = id === undefined ? undefined : this.#parts.find((each) => each.id === id && each.type === part.type)
    if (known) known.data = part.data
    else this.#parts.push(part)
  }

  #change(part: Writable | undefined, change: (part: Writable) => unknown): void {
    if (part) change(part)
  }
}

type CallChange = Exclude<CallChunk, { type: "tool-input-available" | "tool-input-start" }>

/** The changes of a chunk to its call's part. */
function changeOf(part: Writable, chunk: CallChange): object {
  switch (chunk.type) {
    case "tool-input-delta":
      return { input: readJson(chunk.inputTextDelta), rawInput: chunk.inputTextDelta }
    case "tool-input-error":
      return { state: "output-error", input: chunk.input, errorText: chunk.errorText, rawInput: undefined }
    case "tool-approval-request": {
      const { approvalId: id, approvalDescriptor: descriptor, reason: requestReason, isAutomatic } = chunk
      const automatic = isAutomatic ? { isAutomatic } : {}
      return { state: "approval-requested", approval: { id, descriptor, requestReason, ...automatic } }
    }
    case "tool-approval-response": {
      const { approvalId: id, approved, reason } = chunk
      const recorded = { id, approved, ...(reason === undefined ? {} : { reason }) }
      return { state: "approval-responded", approval: { ...(part.approval as object | undefined), ...recorded } }
    }
    case "tool-output-available":
      return { state: "output-available", output: chunk.output, errorText: undefined, rawInput: undefined }
    case "tool-output-error":
      return { state: "output-error", errorText: chunk.errorText, output: undefined }
    case "tool-output-denied":
      return { state: "output-denied" }
  }
}
