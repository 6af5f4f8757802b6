import type { DeviceOwners } from "../auth/revocation.ts"
import type { ServerAddress, Caller } from "../auth/credentials.ts"
import type { MessageFiles } from "../../engine/stored-files.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import type { Devices } from "./devices.ts"
import type { Site } from "../../engine/devices.ts"
import type { MessageInput } from "../../engine/input.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { type ConversationId, type FileId, newId, type MessageId } from "../../protocol/ids.ts"
import type { ChatContext } from "../../protocol/chat-context.ts"
import { useFiles } from "../files/uploads.ts"
import { chooseModel, toConversationStart, defaultOf } from "../conversation/settings.ts"
import type { DeviceConnection } from "./device-connection.ts"
import { subscribe } from "../stream/open-stream.ts"
import { subscribeDuring } from "../stream/send-message.ts"
import { conversationOf } from "../conversation/find.ts"
import type { Subscription } from "../stream/subscription.ts"
import { failure } from "../../protocol/errors.ts"
import { type Message, missingAnswer } from "../../protocol/conversation/message.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { ServerFrame } from "../../protocol/socket.ts"
import type { AnyFrame } from "../stream/frame-maker.ts"

/** The services of sockets: those of streams, and devices. */
export interface SocketPorts extends StreamPorts {
  readonly devices: Devices
  readonly deviceOwners: DeviceOwners
  readonly address: ServerAddress
  readonly messageFiles: Pick<MessageFiles, "use">
}

interface SentMessage {
  readonly id: ConversationId
  readonly source: Subscription
  /** Other messages come first; until then it can be withdrawn. */
  readonly waits: boolean
}

/**
 * Finds the conversation for a socket's messages and submits them. The default is the conversation of the previous message;
 * a device with a name also continues it after reconnecting. A token is not enough, because several devices may share one.
 */
export class ChatConversation {
  readonly #ports: SocketPorts
  readonly #caller: Caller
  readonly #device: DeviceConnection
  #last: ConversationId | undefined

  constructor(ports: SocketPorts, caller: Caller, device: DeviceConnection) {
    this.#ports = ports
    this.#caller = caller
    this.#device = device
  }

  /** The conversation that a message belongs to; undefined if a new one must be created. */
  async find(context: ChatContext): Promise<ConversationView | undefined> {
    const { person } = this.#caller
    if (context.conversationId) return conversationOf(this.#ports, person.id, context.conversationId)
    if (context.newConversation) return undefined
    const id = this.#last ?? (await this.#lastOfDevice())
    const last = id && (await this.#ports.conversations.find(person.id, id))
    return last && canContinue(last, context) ? last : undefined
  }

  /** Resolves when the message is durable. */
  async send(
    { input, files }: { readonly input: MessageInput; readonly files: readonly FileId[] | null | undefined },
    context: ChatContext,
    conversation: ConversationView | undefined,
  ): Promise<SentMessage> {
    const id = conversation?.id ?? newId("conv", this.#caller.person.id, this.#ports.clock.now())
    const use = { conversation: id, message: input.id }
    const withFiles = { ...input, ...(await useFiles(this.#ports, this.#caller.person.id, use, files)) }
    if (!conversation) return this.#begin(id, withFiles, context)
    const { source, done } = await subscribeDuring(this.#ports, conversation, async () => {
      await this.continueWith(id)
      const prepared = await this.#withDevice(withFiles, conversation)
      if (!context.conversationId) await this.#switchModel(conversation, context)
      return this.#ports.runtime.submit(id, prepared)
    })
    return { id, source, waits: done === "kept" }
  }

  watch(id: ConversationId, position: number): Promise<Subscription> {
    return subscribe(this.#ports, { id, after: { position, offset: 0 } })
  }

  async #begin(id: ConversationId, input: MessageInput, context: ChatContext): Promise<SentMessage> {
    const { runtime } = this.#ports
    const { site, brought: _, ...chosen } = context
    const beginning = await toConversationStart(this.#caller, this.#ports, chosen)
    const place = site === "server" ? {} : await this.#placeOf(id)
    await this.continueWith(id)
    await runtime.begin({ ...beginning, id, ...place }, place.site === "device" ? this.#approving(input) : input)
    return { id, source: await this.watch(id, 0), waits: false }
  }

  /**
   * Before the message is submitted: after a crash in between, the device starts a new conversation instead of continuing
   * the previous one.
   */
  async continueWith(id: ConversationId): Promise<void> {
    const { introduced } = this.#device
    if (introduced && (this.#last ?? (await this.#lastOfDevice())) !== id)
      await this.#ports.deviceOwners.speaksIn(this.#caller.person.id, introduced.deviceId, id)
    this.#last = id
  }

  async #lastOfDevice(): Promise<ConversationId | undefined> {
    const { introduced } = this.#device
    return introduced && this.#ports.deviceOwners.lastConversation(this.#caller.person.id, introduced.deviceId)
  }

  /** Selects the device for a new conversation's tools: this one if it has a workspace. */
  async #placeOf(id: ConversationId): Promise<{ site?: Site; deviceId?: string | null }> {
    if (!this.#device.offers("workspace")) return {}
    const { introduced } = this.#device
    if (!introduced) await this.#ports.devices.bindConversation(id, this.#device)
    return { site: "device", deviceId: introduced?.deviceId ?? null }
  }

  /**
   * A device conversation moves to the device that sends the message; a server conversation stays. The message names the
   * device even if it is the current one, because queued messages before it may move the conversation.
   */
  async #withDevice(input: MessageInput, { id, site, deviceId: bound }: ConversationView): Promise<MessageInput> {
    if (site !== "device") return input
    const { site: here, deviceId } = await this.#placeOf(id)
    if (here !== "device") return input
    if (deviceId) return this.#approving({ ...input, place: { deviceId } })
    return bound === null ? this.#approving(input) : input
  }

  /** Marks messages from a device that the operator allows to approve writes to itself. */
  #approving(input: MessageInput): MessageInput {
    const { scopes } = this.#caller
    if (!scopes.has("self-approve") || !scopes.has("approve")) return input
    return { ...input, approves: this.#device.introduced?.deviceId ?? "" }
  }

  /** Another model does not start another conversation. */
  async #switchModel({ id, model }: ConversationView, context: ChatContext): Promise<void> {
    if (!context.model) return
    const chosen = await chooseModel(this.#caller, this.#ports, context.model)
    if (chosen.model === (model ?? (await defaultOf(this.#ports.models, this.#caller.person.id)))) return
    await this.#ports.runtime.submit(id, { type: "settings", ...chosen })
  }
}

/**
 * Whether the conversation can be continued. A setting that cannot be changed later starts a new conversation instead of
 * being ignored.
 */
function canContinue(last: ConversationView, { agent, mode, site }: ChatContext): boolean {
  return (!agent || agent === last.agent) && (!mode || mode === last.mode) && (!site || site === last.site)
}

interface ChatSubject {
  readonly conversationId: ConversationId
  /** The message that is answered; undefined for a paused run that continues. */
  readonly message?: MessageId
  /** Other messages come first, so how their runs end matters. */
  readonly waits?: boolean
}

/** Converts the frames of a conversation to the answer of a `chat_request`. */
export class ChatFrames {
  readonly #answered: ChatSubject
  /** `waiting` until the message is taken up; `paused` while a person has to decide. */
  state: "waiting" | "working" | "paused" | "over"
  /** The run is paused, and the question has not been sent as text. */
  #mustSendQuestion = false
  /** The question was sent with a `final`: what follows is extra. */
  #hasSentQuestion = false
  /** A decision came since, and its sender waits for a `final`. */
  owesFinal = false
  #response = ""
  #last: Message | undefined

  constructor(answered: ChatSubject) {
    this.#answered = answered
    this.state = answered.message ? "waiting" : "paused"
  }

  toFrames(frame: AnyFrame): ServerFrame[] {
    if (this.state === "over") return []
    if (this.state === "waiting") {
      if (isMessage(frame) && frame.data.message.id === this.#answered.message) this.state = "working"
      if (!this.#answered.waits) return []
      // The run that it waits for is paused itself.
      this.#mustSendQuestion ||= isPause(frame as Frame)
      return stopsQueue(frame as Frame) ? this.#hold() : []
    }
    // Also after a pause: a decision came, and the run continues.
    this.state = "working"
    return this.#convert(frame as Frame)
  }

  /** Whether the text of the question must be sent. True once per pause. */
  takeQuestion(): boolean {
    const must = this.#mustSendQuestion && this.state !== "over"
    this.#mustSendQuestion = false
    return must
  }

  /** Sends the question as text, after the reply so far. */
  ask(question: string): ServerFrame[] {
    const finished = this.#response
    this.#hasSentQuestion = true
    this.owesFinal = false
    this.#response = ""
    const { conversationId } = this.#answered
    const text = finished === "" ? question : `\n\n${question}`
    return [
      { type: "text_chunk", text, conversationId },
      { type: "final", response: finished + text, status: "paused", conversationId },
    ]
  }

  #convert(frame: Frame): ServerFrame[] {
    const { conversationId } = this.#answered
    switch (frame.type) {
      case "text_delta":
        return [{ type: "text_chunk", text: frame.data.text, conversationId }]
      case "message":
        if (frame.data.message.role !== "assistant") return []
        this.#response = frame.data.message.content
        this.#last = frame.data.message
        return []
      case "awaiting_confirmation":
        return [{ type: "awaiting_confirmation", proposals: frame.data.proposals, conversationId }]
      case "proposal":
        // A person's edit, which replaces the first proposal. With `approvedBy` there is no question.
        if (frame.data.approvedBy) return []
        return [{ type: "awaiting_confirmation", proposals: [frame.data.proposal], conversationId }]
      case "run_ended":
        // The person sent another message instead, which has its own answer: this one already had its final.
        if (this.#hasSentQuestion && !this.owesFinal && frame.data.reason === "superseded") this.state = "over"
        return []
      case "error":
        return this.#end(frame.data.message, frame.data)
      case "done":
        return this.#done(frame.data.status)
      default:
        return []
    }
  }

  #done(status: Frame<"done">["data"]["status"]): ServerFrame[] {
    if (status === "completed") return this.#end(this.#response || (missingAnswer(this.#last) ?? ""))
    if (status === "cancelled") return this.#end("The run was cancelled.", failure("cancelled"))
    this.state = "paused"
    this.#mustSendQuestion = true
    return []
  }

  /** It stays queued for an unknown time, so its sender gets a `final` now. */
  #hold(): ServerFrame[] {
    const held = failure("message_held")
    return this.#end(held.message, held)
  }

  #end(response: string, error?: { code: string; message: string }): ServerFrame[] {
    this.state = "over"
    const final = { type: "final", response, conversationId: this.#answered.conversationId } as const
    return error ? [{ type: "error", code: error.code, message: error.message }, final] : [final]
  }
}

/** After a failed or cancelled run, queued messages are held until the next message or a resume. */
const stopsQueue = (frame: Frame): boolean =>
  frame.type === "error" || (frame.type === "done" && frame.data.status === "cancelled")
const isPause = (frame: Frame): boolean => frame.type === "done" && frame.data.status === "paused"
const isMessage = (frame: AnyFrame): frame is Frame<"message"> => frame.type === "message"
