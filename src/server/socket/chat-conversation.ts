import type { Site } from "../../agent/devices.ts"
import type { MessageInput } from "../../agent/input.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import { type ConversationId, type FileId, newId } from "../../protocol/ids.ts"
import type { ChatContext } from "../../protocol/chat-context.ts"
import { namedFiles } from "../conversation/named-files.ts"
import { chooseModel, toBeginning } from "../conversation/settings.ts"
import type { DeviceConnection } from "./device-connection.ts"
import { subscribe } from "../stream/open-stream.ts"
import { watchWhile } from "../stream/say-and-watch.ts"
import { conversationOf } from "../conversation/find.ts"
import { defaultOf } from "../conversation/named-models.ts"
import type { SocketPorts } from "./ports.ts"
import type { Caller } from "../door/ports.ts"
import type { Subscription } from "../stream/subscription.ts"

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
