import type { CallChunk, UiChunk } from "./chunks.ts"

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
      return { input: JSON.parse(chunk.inputTextDelta) as unknown, rawInput: chunk.inputTextDelta }
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
