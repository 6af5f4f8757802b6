import type { Context } from "hono"
import type { z } from "zod"
import type { UiChat, UiChatQuery } from "../../core/protocol/dialects/ai-sdk.ts"
import { failure } from "../../core/protocol/errors.ts"
import { type Env, isOpen, newestRun, readToldRuns, type ServerPorts } from "../../core/adapter.ts"
import { findNamedChat } from "./chat-conversation.ts"
import type { Frame, UnknownFrame } from "../../core/protocol/frames.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { thoughtsFirst } from "../thoughts-first.ts"
import { RunChunks, toUserParts } from "./run-chunks.ts"
import { readJson } from "../../core/shared/text/read-json.ts"
import type { CallChunk, UiChunk } from "./call-chunks.ts"

/** A chat as a page begins with it. What a run at work has not recorded yet comes with its stream. */
export async function tellChat(
  c: Context<Env>,
  ports: ServerPorts,
  { cursor }: z.infer<typeof UiChatQuery>,
): Promise<UiChat> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const found = await findNamedChat(c, ports)
  if (!found) return { conversationId: null, activeStreamId: null, messages: [], truncated: false, nextCursor: null }
  const { id, position } = found
  const run = await newestRun(ports, id)
  const told = await readToldRuns(ports, { id, position: Math.min(before ?? position, position) })
  const chat = new ToldChat(id)
  for (const frames of told.runs) chat.read(frames)
  return {
    conversationId: id,
    activeStreamId: run && isOpen(run) ? run.runId : null,
    messages: [...chat.toMessages()],
    truncated: told.before !== null,
    nextCursor: told.before === null ? null : String(told.before),
  }
}

/** Where the runs end that are told: the journal only grows, so it means the same whenever it comes back. */
function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw failure("bad_request", { problem: "cursor: this is none of ours; send `nextCursor` of an answer, as it is." })
}

/** The runs of a conversation as the messages of a chat: a person's words, then one message for all that answered them. */
export class ToldChat {
  readonly #conversation: ConversationId
  readonly #messages: ToldMessage[] = []
  #chunks: RunChunks
  #answer = new AssistantMessage()
  #isSummary = false
  /** Right behind the row that starts a run stand its words. */
  #wordsAreNext = false

  constructor(conversation: ConversationId) {
    this.#conversation = conversation
    this.#chunks = new RunChunks(conversation)
  }

  read(frames: readonly UnknownFrame[]): void {
    for (const frame of thoughtsFirst(frames)) this.#read(frame as Frame)
  }

  /** All of it, also the message that is not finished. */
  toMessages(): readonly ToldMessage[] {
    this.#endRun()
    return this.#messages
  }

  #read(frame: Frame): void {
    const areWords = this.#wordsAreNext && frame.type === "message"
    this.#wordsAreNext = frame.type === "run_started"
    if (frame.type === "run_started") {
      this.#endRun()
      this.#isSummary = frame.data.compacts === true
    }
    if (areWords && frame.data.message.role === "user") {
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
export type ToldMessage = {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly metadata?: object
  readonly parts: Writable[]
}

/** The message that a client makes of the chunks of one run, for whoever begins with it whole. */
export class AssistantMessage {
  #id = ""
  #metadata: Record<string, unknown> = {}
  #parts: Writable[] = []
  /** Parts that are being written, by the ids of their chunks. */
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

  /** Undefined where no run was told. */
  toMessage(): ToldMessage | undefined {
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
      const told = { type: `tool-${toolName}`, toolCallId, state, ...input, ...mark, rawInput: undefined }
      if (known) Object.assign(known, told)
      else this.#parts.push(told)
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

  /** Data of the same name takes the place of what was there. */
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

/** What a chunk changes in the part of its call. */
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
      const told = { id, approved, ...(reason === undefined ? {} : { reason }) }
      return { state: "approval-responded", approval: { ...(part.approval as object | undefined), ...told } }
    }
    case "tool-output-available":
      return { state: "output-available", output: chunk.output, errorText: undefined, rawInput: undefined }
    case "tool-output-error":
      return { state: "output-error", errorText: chunk.errorText, output: undefined }
    case "tool-output-denied":
      return { state: "output-denied" }
  }
}
