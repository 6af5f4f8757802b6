import type { MessageInput } from "../../engine/input.ts"
import { hasCode } from "../../protocol/errors.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import type { MessageId, ConversationId } from "../../protocol/ids.ts"
import type { FrameSource } from "./frame-source.ts"
import { subscribe } from "./open-stream.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import { type Subscription, isEnd } from "./subscription.ts"
import { isKnown } from "../../engine/replay/replay.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import { RunPauses, type RunRange, runRows, pausedRun, fixedSource } from "./journal-runs.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { AnyFrame } from "./frame-maker.ts"
import { onceMore } from "../../shared/concurrency/locks.ts"

/** The conversation's position before the message. */
type Place = Pick<ConversationView, "id" | "position">

/** Submits a message and returns the frames of its run to the end, also if it has to wait in the inbox. */
export async function sendAndWatch(ports: StreamPorts, place: Place, message: MessageInput): Promise<FrameSource> {
  const { source, done } = await subscribeDuring(ports, place, () => ports.runtime.submit(place.id, message))
  return framesOfMessage(ports, source, { ...place, message: message.id, waits: done === "kept" })
}

/**
 * Sends a message, or attaches to its run if it was sent before. Of two concurrent requests both get the same run, from its
 * beginning and without the pauses that are over.
 */
export async function sendOnce(
  ports: StreamPorts,
  { id, position }: Place,
  message: MessageInput,
): Promise<FrameSource> {
  const isThere = async () => (await ports.conversations.placeOf(id, message.id)) !== undefined
  const attach = async () => (await watchSentMessage(ports, { id, position, message, asItStands: true })).frames
  if (await isThere()) return attach()
  try {
    return await sendAndWatch(ports, { id, position }, message)
  } catch (error) {
    if (!hasCode(error, "busy") || !(await isThere())) throw error
    return attach()
  }
}

/** The frames of the run that a new conversation's first message starts. */
export async function watchFirstRun(ports: StreamPorts, id: ConversationId, message: MessageId): Promise<FrameSource> {
  const source = await subscribe(ports, { id, after: { position: 0, offset: 0 } })
  return framesOfMessage(ports, source, { id, position: 0, message, waits: false })
}

interface WatchedMessage extends Place {
  readonly message: MessageId
  /** Other messages come first; until then it can be withdrawn. */
  readonly waits: boolean
  /** Pauses up to this position are over. */
  readonly pausesUpTo?: number
}

/** The frames of the run that contains a message. */
function framesOfMessage(ports: StreamPorts, source: Subscription, { waits, ...subject }: WatchedMessage): FrameSource {
  const { message, pausesUpTo } = subject
  const frames = new RunFrames(source, { message, ...(pausesUpTo === undefined ? {} : { pausesUpTo }) })
  return waits ? endIfWithdrawn(ports, frames, subject) : frames
}

/** Subscribes, then acts, so that no event of the act is missed. If the act fails, the subscription is closed. */
export async function subscribeDuring<Done>(
  ports: StreamPorts,
  { id, position }: Place,
  act: () => Promise<Done>,
): Promise<{ readonly source: Subscription; readonly done: Done }> {
  const source = await subscribe(ports, { id, after: { position, offset: 0 } })
  try {
    return { source, done: await act() }
  } catch (error) {
    source.close()
    throw error
  }
}

export interface Repeated {
  readonly id: ConversationId
  readonly message: MessageInput
  /** The conversation's position when the request arrived. */
  readonly position: number
  /** Omits pauses that the run has left since. */
  readonly asItStands?: boolean
}

interface WatchedMessageRun {
  readonly frames: FrameSource
  /** Other messages come first. */
  readonly waits: boolean
  /** The run's first position, and the first position of the message's events; 0 if it has not started. */
  readonly start: number
  readonly from: number
}

/** The frames of the run of a message that was already sent, from its beginning. The run is not started again. */
export async function watchSentMessage(ports: StreamPorts, repeated: Repeated): Promise<WatchedMessageRun> {
  const { id, message, position, asItStands } = repeated
  let place = await ports.conversations.placeOf(id, message.id)
  if (place === undefined) {
    // It is being submitted, or its process crashed before it was recorded. Submitting it again records it once.
    await ports.runtime.submit(id, message)
    place = (await ports.conversations.placeOf(id, message.id)) ?? "waiting"
  }
  const waits = place === "waiting"
  const start = place === "waiting" ? 0 : await ports.conversations.runStart(id, place)
  // A message that starts a run follows the event that starts it; one that joined a working run stands alone.
  const from = place === "waiting" ? position + 1 : place === start + 1 ? start : place
  const left =
    asItStands && !waits ? { pausesUpTo: (await pausesOf(ports, { id, start, position })).overUpTo(position) } : {}
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  return {
    frames: framesOfMessage(ports, source, { id, position, message: message.id, waits, ...left }),
    waits,
    start,
    from,
  }
}

interface RunSuffix {
  readonly id: ConversationId
  /** The conversation's position. */
  readonly position: number
  /** True for the first event of the newest run to return. */
  isFirst(event: JournalEvent): boolean
}

/** The frames of the newest run from an event on. If there is no such event, the run is over. */
export async function watchFrom(ports: StreamPorts, { id, position, isFirst }: RunSuffix): Promise<FrameSource> {
  const start = await ports.conversations.runStart(id, position)
  const pauses = new RunPauses()
  let from: number | undefined
  let stays = true
  for await (const rows of runRows(ports, { id, start, position }))
    for (const row of rows) {
      if (from === undefined && isKnown(row) && isFirst(row)) from = row.position
      // Whether it was paused before that event and did nothing since.
      if (from !== undefined) stays &&= pauses.paused
      pauses.add(row)
    }
  if (from === undefined) return fixedSource([{ id: String(position), type: "done", data: { status: "completed" } }])
  if (stays && pauses.paused) return pausedRun(ports, { id, start, position, from })
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  return new RunFrames(source, { position: pauses.overUpTo(position) })
}

/** The frames of the run that starts at a position. */
export async function watchRun(ports: StreamPorts, run: RunRange): Promise<FrameSource> {
  const { id, start, position } = run
  const pauses = await pausesOf(ports, run)
  if (pauses.paused) return pausedRun(ports, { ...run, from: start })
  const source = await subscribe(ports, { id, after: { position: start - 1, offset: 0 } })
  return new RunFrames(source, { position: pauses.overUpTo(position) })
}

async function pausesOf(ports: StreamPorts, run: RunRange): Promise<RunPauses> {
  const pauses = new RunPauses()
  for await (const rows of runRows(ports, run)) for (const row of rows) pauses.add(row)
  return pauses
}

/**
 * The run that contains a message, or the one that continues after the pauses up to a position. `pausesUpTo` omits the
 * message's pauses that are over.
 */
type WhichRun = { readonly message: MessageId; readonly pausesUpTo?: number } | { readonly position: number }

/** Filters a conversation's frames to those of one run, up to its `done` or `error`. */
export class RunFrames implements FrameSource<AnyFrame> {
  readonly #source: FrameSource<AnyFrame>
  readonly #which: WhichRun
  #begun: boolean
  #start: AnyFrame | undefined
  #over = false
  #last: AnyFrame | undefined

  constructor(source: FrameSource<AnyFrame>, which: WhichRun) {
    this.#source = source
    this.#which = which
    this.#begun = "position" in which
  }

  async next(): Promise<AnyFrame[] | undefined> {
    while (!this.#over) {
      const frames = await this.#source.next()
      if (!frames) return this.#end()
      const mine = frames.flatMap((frame) => this.#pick(frame))
      if (mine.length > 0) return mine
    }
    return undefined
  }

  close(): void {
    this.#over = true
    this.#source.close()
  }

  /** Ends with `done` unless its run has started: there will be none, because its message was withdrawn. */
  withdraw(position: number): void {
    if (this.#begun || this.#over) return
    this.#last = { id: String(position), type: "done", data: { status: "cancelled" } }
    this.#source.close()
  }

  get begun(): boolean {
    return this.#begun
  }

  #end(): AnyFrame[] | undefined {
    const last = this.#last
    this.#last = undefined
    return last && [last]
  }

  #pick(frame: AnyFrame): AnyFrame[] {
    if (this.#over) return []
    if (this.#begun) {
      if (this.#wasPaused(frame)) return []
      this.#over = isEnd(frame)
      return [frame]
    }
    if (this.#isMine(frame)) {
      this.#begun = true
      return this.#start ? [this.#start, frame] : [frame]
    }
    // A message follows the event that starts its run; in a run that is already working it stands alone.
    this.#start = frame.type === "run_started" ? frame : undefined
    return []
  }

  #isMine(frame: AnyFrame): boolean {
    return (
      "message" in this.#which &&
      frame.type === "message" &&
      (frame as Frame<"message">).data.message.id === this.#which.message
    )
  }

  /** A pause between two decisions that is over. */
  #wasPaused({ id, type, data }: AnyFrame): boolean {
    const left = "position" in this.#which ? this.#which.position : this.#which.pausesUpTo
    if (left === undefined || type !== "done" || (data as Frame<"done">["data"]).status !== "paused") return false
    return Number(id) <= left
  }
}

type WithdrawalPorts = Pick<StreamPorts, "bus" | "log" | "conversations">

interface Waiting {
  readonly id: ConversationId
  readonly message: MessageId
  /** The conversation's position when the wait started. */
  readonly position: number
}

/** The frames of the run that a queued message will start. If the message is withdrawn, its sender gets a `done`. */
export function endIfWithdrawn(ports: WithdrawalPorts, frames: RunFrames, waiting: Waiting): FrameSource {
  const leave = onWithdrawn(ports, waiting, {
    begun: () => frames.begun,
    withdraw: () => frames.withdraw(waiting.position),
  })
  return {
    next: () => frames.next(),
    close() {
      leave()
      frames.close()
    },
  }
}

interface WithdrawalHandler {
  /** The run has started: the message can no longer be withdrawn. */
  begun(): boolean
  withdraw(): void
}

/** Calls `withdraw` if a queued message is withdrawn. The returned function stops watching. */
export function onWithdrawn(
  { bus, log, conversations }: WithdrawalPorts,
  { id, message }: Pick<Waiting, "id" | "message">,
  waits: WithdrawalHandler,
): () => void {
  const check = onceMore(async () => {
    if (waits.begun()) return leave()
    if ((await conversations.placeOf(id, message)) === undefined && !waits.begun()) waits.withdraw()
  })
  const orWarn = () => void check().catch((error: unknown) => log.warn("poll_failed", { conversation: id, error }))
  const stops = [
    // A withdrawal wakes the conversation. A wake-up of another node may be lost; then its next event triggers the check.
    bus.onWake((woken) => woken === id && orWarn()),
    bus.subscribe(id, ({ type }) => type === "recorded" && orWarn()),
  ]
  const leave = () => stops.forEach((stop) => stop())
  orWarn() // it may have been withdrawn before the watch
  return leave
}
