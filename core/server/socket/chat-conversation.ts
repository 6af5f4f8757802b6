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
import { namedFiles } from "../files/uploads.ts"
import { chooseModel, toBeginning, defaultOf } from "../conversation/settings.ts"
import type { DeviceConnection } from "./device-connection.ts"
import { subscribe } from "../stream/open-stream.ts"
import { watchWhile } from "../stream/send-message.ts"
import { conversationOf } from "../conversation/find.ts"
import type { Subscription } from "../stream/subscription.ts"
import { failure } from "../../protocol/errors.ts"
import { type Message, missingAnswer } from "../../protocol/conversation/message.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { ServerFrame } from "../../protocol/socket.ts"
import type { AnyFrame } from "../stream/frame-maker.ts"

/** Beside what every stream needs: the devices that a socket may be. */
export interface SocketPorts extends StreamPorts {
  readonly devices: Devices
  readonly deviceOwners: DeviceOwners
  readonly address: ServerAddress
  readonly messageFiles: Pick<MessageFiles, "use">
}

export interface SentMessage {
  readonly id: ConversationId
  readonly source: Subscription
  /** Others have to be answered first, and meanwhile it can be taken back. */
  readonly waits: boolean
}

/**
 * Which conversation the words of a socket belong to, and how they get there. It goes on with the one it last spoke in; a
 * device that has said who it is does so also after it was away. A token is no such name: several devices may share one.
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

  /** The conversation that is meant; undefined where one has to begin. */
  async find(context: ChatContext): Promise<ConversationView | undefined> {
    const { person } = this.#caller
    if (context.conversationId) return conversationOf(this.#ports, person.id, context.conversationId)
    if (context.newConversation) return undefined
    const id = this.#last ?? (await this.#lastOfDevice())
    const last = id && (await this.#ports.conversations.find(person.id, id))
    return last && fits(last, context) ? last : undefined
  }

  /** Resolves when the words are durable. */
  async say(
    { input, files }: { readonly input: MessageInput; readonly files: readonly FileId[] | null | undefined },
    context: ChatContext,
    conversation: ConversationView | undefined,
  ): Promise<SentMessage> {
    const id = conversation?.id ?? newId("conv", this.#caller.person.id, this.#ports.clock.now())
    const use = { conversation: id, message: input.id }
    const words = { ...input, ...(await namedFiles(this.#ports, this.#caller.person.id, use, files)) }
    if (!conversation) return this.#begin(id, words, context)
    const { source, done } = await watchWhile(this.#ports, conversation, async () => {
      await this.goOnWith(id)
      const spoken = await this.#fromHere(words, conversation)
      if (!context.conversationId) await this.#switchModel(conversation, context)
      return this.#ports.runtime.submit(id, spoken)
    })
    return { id, source, waits: done === "kept" }
  }

  watch(id: ConversationId, position: number): Promise<Subscription> {
    return subscribe(this.#ports, { id, after: { position, offset: 0 } })
  }

  async #begin(id: ConversationId, input: MessageInput, context: ChatContext): Promise<SentMessage> {
    const { runtime } = this.#ports
    const { site, brought: _, ...chosen } = context
    const beginning = await toBeginning(this.#caller, this.#ports, chosen)
    const place = site === "server" ? {} : await this.#placeOf(id)
    await this.goOnWith(id)
    await runtime.begin({ ...beginning, id, ...place }, place.site === "device" ? this.#approving(input) : input)
    return { id, source: await this.watch(id, 0), waits: false }
  }

  /** Before the words are said: should we die in between, the device begins anew and does not go on with the one before. */
  async goOnWith(id: ConversationId): Promise<void> {
    const { introduced } = this.#device
    if (introduced && (this.#last ?? (await this.#lastOfDevice())) !== id)
      await this.#ports.deviceOwners.speaksIn(this.#caller.person.id, introduced.deviceId, id)
    this.#last = id
  }

  async #lastOfDevice(): Promise<ConversationId | undefined> {
    const { introduced } = this.#device
    return introduced && this.#ports.deviceOwners.lastConversation(this.#caller.person.id, introduced.deviceId)
  }

  /** Where the tools of a conversation run that is spoken in from here: on this device, if it has what they need. */
  async #placeOf(id: ConversationId): Promise<{ site?: Site; deviceId?: string | null }> {
    if (!this.#device.offers("workspace")) return {}
    const { introduced } = this.#device
    if (!introduced) await this.#ports.devices.speaks(id, this.#device)
    return { site: "device", deviceId: introduced?.deviceId ?? null }
  }

  /**
   * A conversation that works on devices works on the one it is spoken in from; one on the server stays there. The words
   * carry the name also where it is this device now: others that wait before them may move it.
   */
  async #fromHere(input: MessageInput, { id, site, deviceId: bound }: ConversationView): Promise<MessageInput> {
    if (site !== "device") return input
    const { site: here, deviceId } = await this.#placeOf(id)
    if (here !== "device") return input
    if (deviceId) return this.#approving({ ...input, place: { deviceId } })
    return bound === null ? this.#approving(input) : input
  }

  /** What is said from a device that its operator lets agree by itself to what is written on it. */
  #approving(input: MessageInput): MessageInput {
    const { scopes } = this.#caller
    if (!scopes.has("self-approve") || !scopes.has("approve")) return input
    return { ...input, approves: this.#device.introduced?.deviceId ?? "" }
  }

  /** Another model is no other conversation: it is asked from now on. */
  async #switchModel({ id, model }: ConversationView, context: ChatContext): Promise<void> {
    if (!context.model) return
    const chosen = await chooseModel(this.#caller, this.#ports, context.model)
    if (chosen.model === (model ?? (await defaultOf(this.#ports.models, this.#caller.person.id)))) return
    await this.#ports.runtime.submit(id, { type: "settings", ...chosen })
  }
}

/** Whether one can go on in it: what cannot be changed, or may not be unasked, is chosen by beginning anew, never passed over. */
function fits(last: ConversationView, { agent, mode, site }: ChatContext): boolean {
  return (!agent || agent === last.agent) && (!mode || mode === last.mode) && (!site || site === last.site)
}

export interface ChatSubject {
  readonly conversationId: ConversationId
  /** Whose answer it is; undefined for one that goes on with a run that waits. */
  readonly message?: MessageId
  /** Whether others have to be answered first: then how they end matters. */
  readonly waits?: boolean
}

/** Turns the frames of a conversation into those that a `chat_request` is answered with. */
export class ChatFrames {
  readonly #answered: ChatSubject
  /** `waiting` until the words have been taken up; `paused` while a person has to decide. */
  state: "waiting" | "working" | "paused" | "over"
  /** The run has come to wait for a person, and nobody has been told in words. */
  #mustAsk = false
  /** It has been told, and a `final` with it: what comes now is more than was waited for. */
  #hasAsked = false
  /** Somebody has answered since, and waits for the end of it. */
  owesFinal = false
  #response = ""
  /** The last reply. */
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
      // What it waits behind waits for a person itself.
      this.#mustAsk ||= isPause(frame as Frame)
      return stopsQueue(frame as Frame) ? this.#hold() : []
    }
    // Also after a pause: somebody has decided, and it goes on.
    this.state = "working"
    return this.#tell(frame as Frame)
  }

  /** Once for each pause: whether it has to be told what the run waits for. */
  takeQuestion(): boolean {
    const must = this.#mustAsk && this.state !== "over"
    this.#mustAsk = false
    return must
  }

  /** What waits for the person, in words, behind what was said before it. */
  ask(words: string): ServerFrame[] {
    const said = this.#response
    this.#hasAsked = true
    this.owesFinal = false
    this.#response = ""
    const { conversationId } = this.#answered
    const text = said === "" ? words : `\n\n${words}`
    return [
      { type: "text_chunk", text, conversationId },
      { type: "final", response: said + text, status: "paused", conversationId },
    ]
  }

  #tell(frame: Frame): ServerFrame[] {
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
        // One that a person has changed, and that waits in place of the first.
        if (frame.data.approvedBy) return []
        return [{ type: "awaiting_confirmation", proposals: [frame.data.proposal], conversationId }]
      case "run_ended":
        // The person said something else instead, and that is answered: this one has had its final.
        if (this.#hasAsked && !this.owesFinal && frame.data.reason === "superseded") this.state = "over"
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
    this.#mustAsk = true
    return []
  }

  /** It stays in the queue, and nobody can tell here when it will be taken up: whoever waits for a `final` must not wait for that. */
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

/** After one that failed or was stopped, what waits is held until somebody speaks again or resumes it. */
const stopsQueue = (frame: Frame): boolean =>
  frame.type === "error" || (frame.type === "done" && frame.data.status === "cancelled")
const isPause = (frame: Frame): boolean => frame.type === "done" && frame.data.status === "paused"
const isMessage = (frame: AnyFrame): frame is Frame<"message"> => frame.type === "message"
