import type { MessageInput } from "../../engine/input.ts"
import type { ConversationView } from "../../protocol/conversation/conversation.ts"
import type { MessageId, ConversationId } from "../../protocol/ids.ts"
import type { FrameSource } from "./event-stream.ts"
import { subscribe } from "./open-stream.ts"
import type { StreamPorts } from "../conversation/ports.ts"
import { type Subscription, isEnd } from "./subscription.ts"
import { isKnown } from "../../engine/replay/replay.ts"
import type { JournalEvent } from "../../protocol/events.ts"
import { FollowedPauses, type RunRange, runRows, toldPause, toldSource } from "./journal-runs.ts"
import type { Frame } from "../../protocol/frames.ts"
import type { AnyFrame } from "./frame-maker.ts"
import { onceMore } from "../../shared/concurrency/locks.ts"

/** Where to look from: the conversation as it was found. */
type Place = Pick<ConversationView, "id" | "position">

/** Says something, and gives the frames of the run that it enters, to its end, also where it has to wait for its turn. */
export async function sayAndWatch(ports: StreamPorts, place: Place, message: MessageInput): Promise<FrameSource> {
  const { source, done } = await watchWhile(ports, place, () => ports.runtime.submit(place.id, message))
  return framesOfRun(ports, source, { ...place, message: message.id, waits: done === "kept" })
}

interface Said extends Place {
  readonly message: MessageId
  /** Others have to be answered first, and meanwhile it can be taken back. */
  readonly waits: boolean
  /** Its run has gone on from the pauses up to here. */
  readonly pausesUpTo?: number
}

/** The frames of the run that a message enters, out of those of its conversation. */
export function framesOfRun(ports: StreamPorts, source: Subscription, { waits, ...said }: Said): FrameSource {
  const { message, pausesUpTo } = said
  const frames = new RunFrames(source, { message, ...(pausesUpTo === undefined ? {} : { pausesUpTo }) })
  return waits ? unlessWithdrawn(ports, frames, said) : frames
}

/**
 * Everything of a conversation from before something is done in it. The watch begins first, so that nothing that follows
 * from it is missed; where it is refused nobody is left watching.
 */
export async function watchWhile<Done>(
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
  /** Where the conversation was when the request came. */
  readonly position: number
  /** To its end as it stands now: without the pauses that it has gone on from since. */
  readonly asItStands?: boolean
}

export interface WatchedAgain {
  readonly frames: FrameSource
  /** Others have to be answered first. */
  readonly waits: boolean
  /** Where its run begins, and where what it brought does; 0 where it has not begun. */
  readonly start: number
  readonly from: number
}

/** The frames of the run that a message has entered which was sent before, from its beginning; it is not begun again. */
export async function watchRepeated(ports: StreamPorts, repeated: Repeated): Promise<WatchedAgain> {
  const { id, message, position, asItStands } = repeated
  let place = await ports.conversations.placeOf(id, message.id)
  if (place === undefined) {
    // It is on its way in, or its process died before it was kept. Sent now, it is taken once all the same.
    await ports.runtime.submit(id, message)
    place = (await ports.conversations.placeOf(id, message.id)) ?? "waiting"
  }
  const waits = place === "waiting"
  const start = place === "waiting" ? 0 : await ports.conversations.runStart(id, place)
  // Words stand right behind the row that starts their run; those that were let into a working one stand alone.
  const from = place === "waiting" ? position + 1 : place === start + 1 ? start : place
  const left =
    asItStands && !waits ? { pausesUpTo: (await pausesOf(ports, { id, start, position })).leftUpTo(position) } : {}
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  return {
    frames: framesOfRun(ports, source, { id, position, message: message.id, waits, ...left }),
    waits,
    start,
    from,
  }
}

interface GoingOn {
  readonly id: ConversationId
  /** Where the conversation stands. */
  readonly position: number
  /** Of the rows of its newest run: the first that is told. */
  isFirst(event: JournalEvent): boolean
}

/**
 * The frames of the newest run from a row on, to its end as it stands now. Where it has no such row there is nothing to
 * tell: it is over.
 */
export async function watchOn(ports: StreamPorts, { id, position, isFirst }: GoingOn): Promise<FrameSource> {
  const start = await ports.conversations.runStart(id, position)
  const pauses = new FollowedPauses()
  let from: number | undefined
  let stays = true
  for await (const rows of runRows(ports, { id, start, position }))
    for (const row of rows) {
      if (from === undefined && isKnown(row) && isFirst(row)) from = row.position
      // Whether it waited before that row, and has done nothing else since.
      if (from !== undefined) stays &&= pauses.paused
      pauses.see(row)
    }
  if (from === undefined) return toldSource([{ id: String(position), type: "done", data: { status: "completed" } }])
  if (stays && pauses.paused) return toldPause(ports, { id, start, position, from })
  const source = await subscribe(ports, { id, after: { position: from - 1, offset: 0 } })
  return new RunFrames(source, { position: pauses.leftUpTo(position) })
}

/** The frames of the run that begins at a row, from there to its end as it stands now. */
export async function watchRun(ports: StreamPorts, run: RunRange): Promise<FrameSource> {
  const { id, start, position } = run
  const pauses = await pausesOf(ports, run)
  if (pauses.paused) return toldPause(ports, { ...run, from: start })
  const source = await subscribe(ports, { id, after: { position: start - 1, offset: 0 } })
  return new RunFrames(source, { position: pauses.leftUpTo(position) })
}

async function pausesOf(ports: StreamPorts, run: RunRange): Promise<FollowedPauses> {
  const pauses = new FollowedPauses()
  for await (const rows of runRows(ports, run)) for (const row of rows) pauses.see(row)
  return pauses
}

/**
 * Which run: the one a message enters, or the one that goes on from every pause up to a position. Of the first, too, pauses
 * can be left out that it has gone on from: those up to `pausesUpTo`.
 */
export type WhichRun = { readonly message: MessageId; readonly pausesUpTo?: number } | { readonly position: number }

/** The frames of one run out of those of its conversation, to its `done` or `error`. */
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

  /** Ends with `done`, unless its run has begun: there will be none, because its message was taken back. */
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
    // The words follow the row that starts their run; in a run that works already they stand alone.
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

  /** Between two decisions the run paused again: it has gone on since. */
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
  /** Where the conversation was when the wait began. */
  readonly position: number
}

/**
 * The frames of the run that a queued message will start; where the message is taken back instead, the `done` that its
 * sender would otherwise wait for as long as the connection lasts.
 */
export function unlessWithdrawn(ports: WithdrawalPorts, frames: RunFrames, waiting: Waiting): FrameSource {
  const leave = whenWithdrawn(ports, waiting, {
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

interface Waits {
  /** The run has begun: there is nothing to take back any more. */
  begun(): boolean
  withdraw(): void
}

/** Tells who waits for the run of a queued message that it was taken back; what is returned ends the listening. */
export function whenWithdrawn(
  { bus, log, conversations }: WithdrawalPorts,
  { id, message }: Pick<Waiting, "id" | "message">,
  waits: Waits,
): () => void {
  const look = onceMore(async () => {
    if (waits.begun()) return leave()
    if ((await conversations.placeOf(id, message)) === undefined && !waits.begun()) waits.withdraw()
  })
  const orWarn = () => void look().catch((error: unknown) => log.warn("poll_failed", { conversation: id, error }))
  const stops = [
    // Whoever takes a message back wakes the conversation; of another node, that may not be heard, and then the record is looked at.
    bus.onWake((woken) => woken === id && orWarn()),
    bus.subscribe(id, ({ type }) => type === "recorded" && orWarn()),
  ]
  const leave = () => stops.forEach((stop) => stop())
  orWarn() // it may have been taken back before anybody listened
  return leave
}
