import type { Hono } from "hono"
import type { WebSocket } from "ws"
import { AppError, failure } from "../../protocol/errors.ts"
import type { ProposalId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { routes } from "../../protocol/routes/index.ts"
import { lineageOf } from "../../protocol/account/sign-in.ts"
import { type ClientFrame, type ClientFrameOf, CLOSE, MAX_ANSWER_BYTES } from "../../protocol/socket.ts"
import { WatchedConversations } from "./watched-conversations.ts"
import { demandOf } from "../auth/caller.ts"
import type { Env, Caller } from "../auth/credentials.ts"
import type { OpenQuestions } from "./open-questions.ts"
import { Chats } from "./chats.ts"
import { carriedOut, decideAndWait, settles, refuseOffline, resolveDoubt } from "../conversation/decide.ts"
import { DeviceConnection } from "./device-connection.ts"
import { isUpgrade } from "../auth/origins.ts"
import { conversationOf, proposalOf } from "../conversation/find.ts"
import type { SocketPorts } from "./chat-conversation.ts"
import { type RateLimits, spend } from "../auth/rate-limits.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { Takeover } from "../stream/event-stream.ts"
import { IncomingFrames } from "./incoming-frames.ts"
import { JsonSocket } from "./json-socket.ts"

/** Everything over one connection: watching, speaking, deciding, and being a device. */
export function socketRoute(app: Hono<Env>, ports: SocketPorts, limits: RateLimits): void {
  serveRoute(app, routes.openSocket, (c) => {
    const { line } = (c.env ?? {}) as { line?: Takeover }
    if (!isUpgrade(c) || !line) throw failure("upgrade_required")
    const caller = c.get("caller")
    const charge = () => spend(limits.people, caller.person.id)
    // Counted from here on: of a thousand that ask in one moment, only as many as may come in are let in.
    ports.streams.admit(caller)
    let open: Socket | undefined
    let revoked = false
    const leave = ports.streams.register(caller, () => {
      revoked = true
      open?.revoke()
    })
    line.drop = leave
    line.serve = (socket, connection) => {
      const incoming = new IncomingFrames(connection)
      open = new Socket(ports, { ...caller, charge, leave }, { socket, incoming })
      if (revoked) open.revoke()
    }
    return c.body(null, 200)
  })
}

/** Who has come by a socket. */
interface Visitor extends Caller {
  /** Counts a request against what this person may ask in a minute. */
  charge(): void
  /** Gives up the place among the open streams. */
  leave(): void
}

/** Decisions of one socket that may wait for their outcome. */
const MAX_DECISIONS = 256

class Socket {
  readonly #ports: SocketPorts
  readonly #caller: Visitor
  readonly #socket: JsonSocket
  readonly #watched: WatchedConversations
  readonly #chats: Chats
  readonly #device: DeviceConnection
  /** What was asked is begun in the order it came. */
  #order: Promise<unknown> = Promise.resolve()
  #decisions = 0

  constructor(ports: SocketPorts, caller: Visitor, line: { socket: WebSocket; incoming: IncomingFrames }) {
    this.#ports = ports
    this.#caller = caller
    this.#socket = new JsonSocket(line, ports.clock, {
      onFrame: (frame) => this.#hear(frame),
      onRefused: (error, type) => this.#refuse(error, type),
      onUnreadable: (text, problem) => this.#device.failUnreadable(text, problem),
      expectsAnswer: () => this.#device.expectsAnswer,
      onClose: () => this.#closed(),
    })
    this.#watched = new WatchedConversations(ports, caller, this.#socket)
    this.#device = new DeviceConnection(
      { user: caller.person.id, lineage: lineageOf(caller.credential) },
      this.#socket,
      ports.clock,
    )
    this.#device.onLateAnswer = (call, outcome) => ports.devices.answeredLate(caller.person.id, call, outcome)
    this.#chats = new Chats(ports, caller, { socket: this.#socket, device: this.#device, charge: caller.charge })
    ports.metrics.streams.add(1)
  }

  revoke(): void {
    this.#socket.close(CLOSE.revoked, "no longer signed in")
  }

  #hear(frame: ClientFrame): boolean {
    // Beside everything else that is under way: what a run waits for must not wait behind it.
    if (frame.type === "tool_result" || frame.type === "tool_status") {
      const taken = this.#device.hear(frame)
      this.#ports.metrics.deviceAnswers.add(1, { outcome: taken ? "taken" : "stray" })
      return taken
    }
    const about = idOf(frame)
    // As it is now: what is asked while a frame waits for its turn was not known to whoever sent it.
    const { asked } = this.#chats
    const done = this.#order.then(() => this.#socket.open && this.#perform(frame, asked))
    this.#order = done.catch((error: unknown) => this.#fail(error, about))
    this.#socket.during(this.#order)
    return false
  }

  /** Clients that know only the first six frame types wait for a `final` after each message. */
  #refuse(error: AppError, type: unknown): void {
    if (type === "chat_request") this.#chats.refuse(error)
    else this.#socket.fail(error)
  }

  #perform(frame: ClientFrame, asked: OpenQuestions): Promise<void> | void {
    if (frame.type !== "chat_request") this.#caller.charge()
    switch (frame.type) {
      case "chat_request":
        return this.#chats.start(frame, asked)
      case "attach":
        return this.#watched.attach(frame)
      case "detach":
        return this.#watched.detach(frame.conversationId)
      case "decide":
        return this.#decide(frame)
      case "resolve":
        return this.#resolve(frame)
      case "cancel":
        return this.#cancel(frame)
      case "hello":
        return this.#introduce(frame)
      default:
        return undefined
    }
  }

  /** Who speaks for a device does what the person's chats ask of it, and sees what they would write. */
  async #introduce(frame: ClientFrameOf<"hello">): Promise<void> {
    demandOf(this.#caller, "chat")
    const { person, credential } = this.#caller
    const { deviceId } = frame
    const claim = await this.#ports.deviceOwners.claim(person.id, deviceId, credential)
    if (!claim.owned) {
      if (claim.asked === "now") await this.#ports.devices.asked(person.id, deviceId)
      throw failure("device_taken", { device: deviceId })
    }
    const knowsApprovals = frame.knows?.includes("approvals") === true
    const keys = knowsApprovals ? [...(await this.#ports.devices.approvalKeys())] : []
    if (!this.#socket.open) return // gone meanwhile, and nobody would ever take it off the list
    this.#socket.answersPings = true
    this.#device.introduce(frame, claim.takenAt)
    await this.#ports.devices.arrive(this.#device)
    const approvals = keys.length > 0 ? { approvalKeys: keys } : {}
    this.#socket.send({ ...frame, ...approvals, limit: MAX_ANSWER_BYTES })
  }

  async #decide({ proposalId, decision, reason }: ClientFrameOf<"decide">): Promise<void> {
    const proposal = await this.#proposalToDecide(proposalId)
    const user = this.#caller.person.id
    const { callId, conversationId } = proposal
    if (decision === "commit") await refuseOffline(this.#ports, user, proposal)
    const input = {
      type: "decide",
      proposalId,
      decision,
      by: user,
      credential: this.#caller.credential.id,
      ...(reason ? { reason } : {}),
    } as const
    this.#beside(proposalId, async () => {
      await decideAndWait(this.#ports, { user, input, conversationId, happens: (event) => settles(event, callId) })
      if (decision === "commit") await carriedOut(this.#ports, user, proposalId)
    })
  }

  async #resolve({ proposalId, choice }: ClientFrameOf<"resolve">): Promise<void> {
    const proposal = await this.#proposalToDecide(proposalId)
    const { person, credential } = this.#caller
    this.#beside(proposalId, () =>
      resolveDoubt(this.#ports, proposal, { choice, by: person.id, credential: credential.id }),
    )
  }

  #proposalToDecide(id: ProposalId): Promise<Proposal> {
    demandOf(this.#caller, "approve")
    if (this.#decisions >= MAX_DECISIONS) throw failure("too_many", { what: "decisions", most: MAX_DECISIONS })
    return proposalOf(this.#ports, this.#caller.person.id, id)
  }

  /**
   * Not waited for: a write may take half a minute, and what comes next may be the word that stops it, or the very
   * answer of this device that the write waits for. So reading is not held back by it either.
   */
  #beside(about: ProposalId, decided: () => Promise<unknown>): void {
    this.#decisions++
    const over = () => void this.#decisions--
    decided()
      .catch((error: unknown) => this.#fail(error, about))
      .then(over, over)
  }

  async #cancel({ conversationId }: ClientFrameOf<"cancel">): Promise<void> {
    demandOf(this.#caller, "chat")
    const { id } = await conversationOf(this.#ports, this.#caller.person.id, conversationId)
    await this.#ports.runtime.submit(id, { type: "cancel", by: this.#caller.person.id })
  }

  #fail(error: unknown, about: string | undefined): void {
    if (!(error instanceof AppError)) this.#ports.log.error("frame_failed", { error })
    this.#socket.fail(error, about)
  }

  #closed(): void {
    this.#ports.metrics.streams.add(-1)
    this.#caller.leave()
    this.#watched.close()
    this.#chats.close()
    this.#ports.devices.leave(this.#device)
  }
}

/** What an error about a frame names, so that its sender knows which one is meant. */
function idOf(frame: ClientFrame): string | undefined {
  if (frame.type === "chat_request") return frame.context?.conversationId ?? undefined
  if (frame.type === "decide" || frame.type === "resolve") return frame.proposalId
  if (frame.type === "hello") return frame.deviceId
  return "conversationId" in frame ? frame.conversationId : undefined
}
