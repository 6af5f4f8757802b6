import type { MessageInput } from "../agent/input.ts"
import type { Site } from "../agent/devices.ts"
import type { ConversationView } from "../protocol/conversation.ts"
import { AppError, failure } from "../protocol/errors.ts"
import { type ConversationId, type MessageId, newId } from "../protocol/ids.ts"
import type { ChatContext, ClientFrameOf } from "../protocol/socket.ts"
import { demandOf, spokenBy } from "./caller.ts"
import { ChatFrames } from "./chat-frames.ts"
import { toBeginning } from "./choices.ts"
import type { DeviceLine } from "./device-line.ts"
import { subscribe } from "./events.ts"
import { conversationOf } from "./find.ts"
import { Floor } from "./floor.ts"
import type { Caller, ServerPorts } from "./ports.ts"
import type { Subscription } from "./subscription.ts"
import { whenWithdrawn } from "./unless-withdrawn.ts"
import type { Wire } from "./wire.ts"

/** So many answers may be on their way over one socket. */
const MOST = 16

interface Surroundings {
  readonly wire: Wire
  readonly device: DeviceLine
  /** Counts a request against what the person may ask. */
  charge(): void
}

interface Said {
  readonly id: ConversationId
  readonly source: Subscription
  /** Others have to be answered first, and meanwhile it can be taken back. */
  readonly waits: boolean
}

/**
 * What was said over a socket, and what is answered. The frames of an answer do not say whose they are, so one speaks at
 * a time; one that waits for a person lets the next speak. Each ends with one `final`, however it ends.
 */
export class Chats {
  readonly #ports: ServerPorts
  readonly #caller: Caller
  readonly #wire: Wire
  readonly #device: DeviceLine
  readonly #floor = new Floor()
  readonly #sources = new Set<Subscription>()
  /** The last answer from each conversation: its runs follow one another, and so do their frames. */
  readonly #last = new Map<ConversationId, Promise<void>>()
  readonly #charge: () => void
  #refusals = 0

  constructor(ports: ServerPorts, caller: Caller, { wire, device, charge }: Surroundings) {
    this.#ports = ports
    this.#caller = caller
    this.#wire = wire
    this.#device = device
    this.#charge = charge
  }

  /** Resolves when the words are durable. The run outlives the socket; whoever comes again attaches to it. */
  async start({ message, context }: ClientFrameOf<"chat_request">): Promise<void> {
    const { clock } = this.#ports.runtime.ports
    const input: MessageInput = {
      type: "message",
      id: newId("msg", clock.now()),
      text: message,
      when: "queue",
      ...spokenBy(this.#caller),
      ...(context?.timeZone ? { timeZone: context.timeZone } : {}),
    }
    try {
      this.#charge()
      demandOf(this.#caller, "chat")
      if (this.#sources.size >= MOST) throw failure("too_many", { what: "answers", most: MOST })
      const { id, source, waits } = await this.#say(input, context ?? { brought: [] })
      this.#sources.add(source)
      if (!this.#wire.open) return this.#leave(source)
      const frames = new ChatFrames(input.id, { waits })
      const told = this.#tell(source, frames, this.#last.get(id))
      if (waits) this.#endIfWithdrawn({ id, message: input.id }, frames, { source, told })
      this.#last.set(id, told)
      void told.then(() => this.#last.get(id) === told && this.#last.delete(id))
    } catch (error) {
      if (!(error instanceof AppError)) this.#ports.runtime.ports.log.error("frame_failed", { error })
      this.refuse(error, context?.conversationId ?? undefined)
    }
  }

  /** Answers what could not even begin. In its turn: in the middle of another answer it would pass for that one's end. */
  refuse(error: unknown, about?: string): void {
    const tell = () => {
      this.#wire.fail(error, about)
      this.#wire.send({ type: "final", response: `Nothing was done: ${sentenceOf(error)}` })
    }
    if (this.#refusals >= MOST) return tell() // whoever has so many refused does not read them one by one
    this.#refusals++
    void this.#floor.take().then((leave) => {
      this.#refusals--
      tell()
      leave()
    })
  }

  close(): void {
    for (const source of this.#sources) source.close()
    this.#sources.clear()
  }

  async #say(input: MessageInput, context: ChatContext): Promise<Said> {
    const { runtime } = this.#ports
    if (!context.conversationId) {
      const id = newId("conv", runtime.ports.clock.now())
      const { site, ...chosen } = context
      const place = site === "server" ? {} : this.#placeOf(id)
      await runtime.begin({ ...(await toBeginning(this.#caller, this.#ports, chosen)), id, ...place }, input)
      return { id, source: await this.#watch(id, 0), waits: false }
    }
    const conversation = await conversationOf(this.#ports, this.#caller.person.id, context.conversationId)
    const { id, position } = conversation
    const source = await this.#watch(id, position)
    try {
      await this.#bind(conversation)
      return { id, source, waits: (await runtime.submit(id, input)) === "kept" }
    } catch (error) {
      source.close()
      throw error
    }
  }

  /** Where the tools of a conversation run that is spoken in from here: on this device, if it has what they need. */
  #placeOf(id: ConversationId): { site?: Site; deviceId?: string | null } {
    if (!this.#device.offers("workspace")) return {}
    const { introduced } = this.#device
    if (!introduced) this.#ports.devices.speaks(id, this.#device)
    return { site: "device", deviceId: introduced?.deviceId ?? null }
  }

  /** A conversation that works on devices works on the one it is spoken in from; one on the server stays there. */
  async #bind({ id, site, deviceId }: ConversationView): Promise<void> {
    if (site !== "device") return
    const place = this.#placeOf(id)
    if (place.deviceId && place.deviceId !== deviceId)
      await this.#ports.runtime.submit(id, { type: "settings", ...place })
  }

  #watch(id: ConversationId, position: number): Promise<Subscription> {
    return subscribe(this.#ports, { id, after: { position, offset: 0 } })
  }

  /** One that is taken back before its run began has no run that could end. */
  #endIfWithdrawn(
    waiting: { readonly id: ConversationId; readonly message: MessageId },
    frames: ChatFrames,
    { source, told }: { readonly source: Subscription; readonly told: Promise<void> },
  ): void {
    const leave = whenWithdrawn(this.#ports, waiting, {
      begun: () => frames.state !== "waiting" || !this.#sources.has(source),
      withdraw: () => {
        if (!this.#sources.delete(source)) return
        source.close()
        this.refuse(failure("message_withdrawn"), waiting.id)
      },
    })
    void told.then(leave)
  }

  async #tell(source: Subscription, told: ChatFrames, before: Promise<void> | undefined): Promise<void> {
    let leave: (() => void) | undefined
    try {
      for (let frames = await source.next(); frames && this.#sources.has(source); frames = await source.next()) {
        const news = frames.flatMap((frame) => told.toFrames(frame))
        if (news.length > 0) {
          await before
          leave ??= await this.#floor.take()
          if (!(await this.#wire.sendAll(news))) return
        }
        if (told.state === "over") return
        if (told.state === "paused") leave = void leave?.()
      }
      if (this.#sources.has(source)) this.#breakOff(failure("not_found"))
    } catch (error) {
      this.#ports.runtime.ports.log.warn("chat_failed", { error })
      this.#breakOff(error)
    } finally {
      leave?.()
      this.#leave(source)
    }
  }

  /** The run may go on; only nobody can tell of it here any more. */
  #breakOff(error: unknown): void {
    this.#wire.fail(error)
    this.#wire.send({ type: "final", response: sentenceOf(error) })
  }

  #leave(source: Subscription): void {
    this.#sources.delete(source)
    source.close()
  }
}

const sentenceOf = (error: unknown): string => (error instanceof AppError ? error : failure("internal")).message
