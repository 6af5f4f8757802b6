import type { Hono } from "hono"
import type { WebSocket } from "ws"
import { AppError, failure } from "../../protocol/errors.ts"
import type { ProposalId } from "../../protocol/ids.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { routes } from "../../protocol/routes/index.ts"
import { lineageOf } from "../../protocol/account/sign-in.ts"
import { type ClientFrame, type ClientFrameOf, CLOSE, MAX_ANSWER_BYTES } from "../../protocol/socket.ts"
import { SocketStreams } from "./socket-streams.ts"
import { requireScopeOf } from "../auth/caller.ts"
import type { Env, Caller } from "../auth/credentials.ts"
import type { OpenQuestions } from "./open-questions.ts"
import { SocketChat } from "./socket-chat.ts"
import { readApplied, decideAndWait, endsCall, requireDeviceOnline, resolveDoubt } from "../conversation/decide.ts"
import { DeviceConnection } from "./device-connection.ts"
import { isUpgrade } from "../auth/origins.ts"
import { conversationOf, proposalOf } from "../conversation/find.ts"
import type { SocketPorts } from "./chat-conversation.ts"
import { type RateLimits, spend } from "../auth/rate-limits.ts"
import { serveRoute } from "../request/serve-route.ts"
import type { ConnectionHooks } from "../stream/event-stream.ts"
import { IncomingFrames } from "./incoming-frames.ts"
import { JsonSocket } from "./json-socket.ts"

/** The WebSocket: watching, messages, decisions, and device calls over one connection. */
export function socketRoute(app: Hono<Env>, ports: SocketPorts, limits: RateLimits): void {
  serveRoute(app, routes.openSocket, (c) => {
    const { hooks } = (c.env ?? {}) as { hooks?: ConnectionHooks }
    if (!isUpgrade(c) || !hooks) throw failure("upgrade_required")
    const caller = c.get("caller")
    const charge = () => spend(limits.people, caller.person.id)
    // Counted from here on, so that simultaneous requests cannot exceed the limit.
    ports.streams.admit(caller)
    let open: Socket | undefined
    let revoked = false
    const leave = ports.streams.register(caller, () => {
      revoked = true
      open?.revoke()
    })
    hooks.drop = leave
    hooks.serve = (socket, connection) => {
      const incoming = new IncomingFrames(connection)
      open = new Socket(ports, { ...caller, charge, leave }, { socket, incoming })
      if (revoked) open.revoke()
    }
    return c.body(null, 200)
  })
}

/** The caller of a socket. */
interface SocketCaller extends Caller {
  /** Counts a request against the person's limit. */
  charge(): void
  /** Releases the place among the open streams. */
  leave(): void
}

/** Most decisions of one socket in progress. */
const MAX_DECISIONS = 256

class Socket {
  readonly #ports: SocketPorts
  readonly #caller: SocketCaller
  readonly #socket: JsonSocket
  readonly #streams: SocketStreams
  readonly #chat: SocketChat
  readonly #device: DeviceConnection
  /** Frames are handled in order of arrival. */
  #order: Promise<unknown> = Promise.resolve()
  #decisions = 0

  constructor(ports: SocketPorts, caller: SocketCaller, connection: { socket: WebSocket; incoming: IncomingFrames }) {
    this.#ports = ports
    this.#caller = caller
    this.#socket = new JsonSocket(connection, ports.clock, {
      onFrame: (frame) => this.#receive(frame),
      onRefused: (error, type) => this.#refuse(error, type),
      onUnreadable: (text, problem) => this.#device.failUnreadable(text, problem),
      expectsAnswer: () => this.#device.expectsAnswer,
      onClose: () => this.#closed(),
    })
    this.#streams = new SocketStreams(ports, caller, this.#socket)
    this.#device = new DeviceConnection(
      { user: caller.person.id, lineage: lineageOf(caller.credential) },
      this.#socket,
      ports.clock,
    )
    this.#device.onLateResult = (call, outcome) => ports.devices.addLateResult(caller.person.id, call, outcome)
    this.#chat = new SocketChat(ports, caller, { socket: this.#socket, device: this.#device, charge: caller.charge })
    ports.metrics.streams.add(1)
  }

  revoke(): void {
    this.#socket.close(CLOSE.revoked, "no longer signed in")
  }

  #receive(frame: ClientFrame): boolean {
    // Before all other frames: a run waits for this result.
    if (frame.type === "tool_result" || frame.type === "tool_status") {
      const taken = this.#device.receive(frame)
      this.#ports.metrics.deviceAnswers.add(1, { outcome: taken ? "taken" : "stray" })
      return taken
    }
    const about = idOf(frame)
    // The questions as they were when the frame arrived: its sender knew no later ones.
    const { questions } = this.#chat
    const done = this.#order.then(() => this.#socket.open && this.#perform(frame, questions))
    this.#order = done.catch((error: unknown) => this.#fail(error, about))
    this.#socket.during(this.#order)
    return false
  }

  /** Clients that know only the six original frame types wait for a `final` after each message. */
  #refuse(error: AppError, type: unknown): void {
    if (type === "chat_request") this.#chat.refuse(error)
    else this.#socket.fail(error)
  }

  #perform(frame: ClientFrame, questions: OpenQuestions): Promise<void> | void {
    if (frame.type !== "chat_request") this.#caller.charge()
    switch (frame.type) {
      case "chat_request":
        return this.#chat.start(frame, questions)
      case "attach":
        return this.#streams.attach(frame)
      case "detach":
        return this.#streams.detach(frame.conversationId)
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

  /** A device executes what the person's runs ask of it and sees what they write, so it needs the scope `chat`. */
  async #introduce(frame: ClientFrameOf<"hello">): Promise<void> {
    requireScopeOf(this.#caller, "chat")
    const { person, credential } = this.#caller
    const { deviceId } = frame
    const claim = await this.#ports.deviceOwners.claim(person.id, deviceId, credential)
    if (!claim.owned) {
      if (claim.asked === "now") await this.#ports.devices.announceClaim(person.id, deviceId)
      throw failure("device_taken", { device: deviceId })
    }
    const knowsApprovals = frame.knows?.includes("approvals") === true
    const keys = knowsApprovals ? [...(await this.#ports.devices.approvalKeys())] : []
    if (!this.#socket.open) return // closed in the meantime: it would never be removed
    this.#socket.answersPings = true
    this.#device.introduce(frame, claim.takenAt)
    await this.#ports.devices.register(this.#device)
    const approvals = keys.length > 0 ? { approvalKeys: keys } : {}
    this.#socket.send({ ...frame, ...approvals, limit: MAX_ANSWER_BYTES })
  }

  async #decide({ proposalId, decision, reason }: ClientFrameOf<"decide">): Promise<void> {
    const proposal = await this.#proposalToDecide(proposalId)
    const user = this.#caller.person.id
    const { callId, conversationId } = proposal
    if (decision === "commit") await requireDeviceOnline(this.#ports, user, proposal)
    const input = {
      type: "decide",
      proposalId,
      decision,
      by: user,
      credential: this.#caller.credential.id,
      ...(reason ? { reason } : {}),
    } as const
    this.#inBackground(proposalId, async () => {
      await decideAndWait(this.#ports, { user, input, conversationId, happens: (event) => endsCall(event, callId) })
      if (decision === "commit") await readApplied(this.#ports, user, proposalId)
    })
  }

  async #resolve({ proposalId, choice }: ClientFrameOf<"resolve">): Promise<void> {
    const proposal = await this.#proposalToDecide(proposalId)
    const { person, credential } = this.#caller
    this.#inBackground(proposalId, () =>
      resolveDoubt(this.#ports, proposal, { choice, by: person.id, credential: credential.id }),
    )
  }

  #proposalToDecide(id: ProposalId): Promise<Proposal> {
    requireScopeOf(this.#caller, "approve")
    if (this.#decisions >= MAX_DECISIONS) throw failure("too_many", { what: "decisions", most: MAX_DECISIONS })
    return proposalOf(this.#ports, this.#caller.person.id, id)
  }

  /**
   * Not awaited: a write may take half a minute, and the next frame may be a cancel, or this device's result that the write
   * waits for. Reading is not paused either.
   */
  #inBackground(about: ProposalId, decided: () => Promise<unknown>): void {
    this.#decisions++
    const over = () => void this.#decisions--
    decided()
      .catch((error: unknown) => this.#fail(error, about))
      .then(over, over)
  }

  async #cancel({ conversationId }: ClientFrameOf<"cancel">): Promise<void> {
    requireScopeOf(this.#caller, "chat")
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
    this.#streams.close()
    this.#chat.close()
    this.#ports.devices.unregister(this.#device)
  }
}

/** The id that an error about this frame contains. */
function idOf(frame: ClientFrame): string | undefined {
  if (frame.type === "chat_request") return frame.context?.conversationId ?? undefined
  if (frame.type === "decide" || frame.type === "resolve") return frame.proposalId
  if (frame.type === "hello") return frame.deviceId
  return "conversationId" in frame ? frame.conversationId : undefined
}
