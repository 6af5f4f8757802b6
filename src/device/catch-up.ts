import { createClient } from "../client/client.ts"
import { type ClientClock, sleepOrAbort } from "../client/clock.ts"
import { textOfNote } from "../protocol/text/note-text.ts"
import { MAX_EMBEDDED_CHARACTERS } from "../protocol/routes/data/vectors.ts"
import type { LocalVectors } from "./local-vectors.ts"
import type { ConnectOptions } from "./stay-connected.ts"

export interface CatchingUp {
  readonly reach: ConnectOptions
  readonly vectors: LocalVectors
  readonly clock: ClientClock
  /** Aborts when the device is closed. */
  readonly signal: AbortSignal
  isConnected(): boolean
  /** Calls back, once, when the device has connected. */
  onceConnected(tell: () => void): void
}

/** How often it is looked for notes that the person has written by other ways than through the server. */
export const LOOK_EVERY_MS = 15_000
/** A server that takes longer for one text is asked again later. */
const LONGEST_MS = 60_000
const AT_A_TIME = 20

/**
 * Makes the person's own edits findable by meaning while there is a server: what is out of date is a question to the
 * file, so nothing of it is forgotten. What fails is tried again with the next look.
 */
export async function catchUp(catching: CatchingUp): Promise<void> {
  const { clock, signal } = catching
  while (!signal.aborted) {
    const connected = new AbortController()
    catching.onceConnected(() => connected.abort())
    const stirred = AbortSignal.any([signal, connected.signal])
    if (catching.isConnected()) {
      await embedStale(catching).catch(() => {}) // the connection tells what is wrong with it
      await sleepOrAbort(clock, LOOK_EVERY_MS, stirred).catch(() => {})
    } else {
      // Without a server there is nothing to look for: it is the connection that is waited for.
      await new Promise((resolve) => stirred.addEventListener("abort", resolve, { once: true }))
    }
  }
}

async function embedStale({ reach, vectors, clock, signal, isConnected }: CatchingUp): Promise<void> {
  const { server, token, fetch } = reach
  const client = createClient({ baseUrl: server, token, clock, ...(fetch ? { fetch } : {}) })
  /** A note that is out of date again right after its turn changes faster than it can be followed. */
  const seen = new Set<string>()
  for (;;) {
    const stale = vectors.stale(AT_A_TIME + seen.size).filter(({ id }) => !seen.has(id))
    if (stale.length === 0) return
    for (const note of stale) {
      if (signal.aborted || !isConnected()) return
      seen.add(note.id)
      const text = textOfNote(note).slice(0, MAX_EMBEDDED_CHARACTERS).toWellFormed().replaceAll("\0", " ")
      if (text.trim() === "") continue
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)])
      const { vector } = await client.embedText({ body: { text }, signal: inTime })
      if (signal.aborted) return
      const { id, projectId, content } = note
      vectors.upsert({ id, projectId, content }, vector)
    }
  }
}
