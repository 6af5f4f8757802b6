import type { ServerResponse } from "node:http"
import type { WebSocket } from "ws"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import { FairTurns } from "../../agent/concurrency/fair-turns.ts"
import { type OpenSource, type SentFrame, SIGN_OF_LIFE, toEventText } from "./event-stream.ts"
import type { KeepAlive } from "./keep-alive.ts"

/**
 * What comes with a request that came by a socket: who answers it with a stream leaves the source here and an answer
 * without a body, and the frames are written to the socket itself. A web stream in between costs more than they do.
 */
export interface Takeover {
  stream?: { readonly source: OpenSource; readonly pulse: KeepAlive }
  /** Whether what its watcher has not read may wait in memory. Without it, it may. */
  mayWait?: () => boolean
  /** Takes over what the request becomes, where it asked to be a socket and may be one. */
  serve?: (socket: WebSocket) => void
  /** Gives up the place that was kept for it, where it does not come to `serve`. */
  drop?: () => void
}

/** Of all that is written in this process: a thousand who watch a long text would hold up everybody with one piece of it. */
export const writingTurns = new FairTurns()

/** Held in memory for one watcher that does not read: what one write may leave behind. */
const MAX_WRITE = 64 * 1024

/** Sends the head of the answer, then the frames that were left on the line; without any, the answer as it is. */
export function writeEventStream(line: Takeover, answer: Response, outgoing: ServerResponse): Response {
  if (!line.stream) return answer
  const { source, pulse } = line.stream
  // A refusal after all, or one who wanted to see the head alone.
  if (answer.status !== 200 || outgoing.req.method === "HEAD") {
    source.close()
    return answer
  }
  outgoing.writeHead(200, Object.fromEntries(answer.headers))
  outgoing.write(SIGN_OF_LIFE)
  new EventStreamWriter(source, outgoing, { pulse, mayWait: line.mayWait })
  return RESPONSE_ALREADY_SENT
}

/** Writes frames as fast as the watcher reads: until it has, nothing more is taken from the source. */
class EventStreamWriter {
  readonly #source: OpenSource
  readonly #outgoing: ServerResponse
  readonly #leavePulse: () => void
  readonly #mayWait: (() => boolean) | undefined
  #quiet = true
  /** Its watcher does not read, or has to wait for others. */
  #held = false

  constructor(
    source: OpenSource,
    outgoing: ServerResponse,
    { pulse, mayWait }: { readonly pulse: KeepAlive; readonly mayWait: Takeover["mayWait"] },
  ) {
    this.#source = source
    this.#outgoing = outgoing
    this.#mayWait = mayWait
    // What it still holds is not for somebody who may no longer look.
    source.whenEnded = () => this.#held && this.#cut()
    this.#leavePulse = pulse.join(() => this.#beat())
    outgoing.on("close", () => this.#end())
    outgoing.on("error", ignore) // one that cannot be written to closes next; nobody else has to hear of it
    if (outgoing.destroyed) this.#end() // gone before it was answered: there will be no "close"
    else this.#next()
  }

  #next(): void {
    this.#source.next().then(
      (frames) => this.#write(frames).catch(() => this.#cut()),
      () => this.#cut(),
    )
  }

  async #write(frames: readonly SentFrame[] | undefined): Promise<void> {
    if (!frames) return void this.#outgoing.end()
    this.#quiet = false
    const turn = writingTurns.enter(this.#source.user)
    if (turn) {
      this.#held = true
      await turn
      this.#held = false
    }
    let text = ""
    for (const frame of frames) {
      text += toEventText(frame)
      if (text.length < MAX_WRITE) continue
      if (!this.#send(text)) await this.#drained()
      text = ""
    }
    if (text !== "" && !this.#send(text)) await this.#drained()
    if (!this.#outgoing.destroyed) this.#next()
  }

  #send(text: string): boolean {
    return this.#outgoing.destroyed || this.#outgoing.write(text)
  }

  /** Resolves when the watcher has read on, or is gone. */
  #drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const outgoing = this.#outgoing
    const go = () => {
      this.#held = false
      outgoing.off("drain", go).off("close", go)
      resolve()
    }
    this.#held = true
    outgoing.on("drain", go).on("close", go)
    if (this.#mayWait?.() === false) this.#cut()
    return promise
  }

  #beat(): void {
    if (this.#quiet && !this.#outgoing.writableNeedDrain) this.#send(SIGN_OF_LIFE)
    this.#quiet = true
  }

  /** The watcher finds the connection cut and comes again with its cursor. */
  #cut(): void {
    this.#outgoing.destroy()
  }

  #end(): void {
    this.#leavePulse()
    this.#source.close()
  }
}

function ignore(): void {}

// Made when its module was loaded: where the framework has put its own class in the place of Response by then, it is one
// that would be sent after all, unless its body has been asked for.
if (RESPONSE_ALREADY_SENT.body) throw new Error("an answer that was sent has no body")
