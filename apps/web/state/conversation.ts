import {
  type StreamState,
  type Transcript,
  canRetry,
  emptyTranscript,
  fromDetail,
  hasCode,
  olderThan,
  readPages,
  reduce,
  withOlderMessages,
  withWhole,
} from "../../../client/index.ts"
import type { QueuedMessage, Run } from "../../../core/protocol/index.ts"
import { client } from "./client.ts"
import { noticeSignOut } from "./identity.ts"
import { arrivals } from "./outbox.ts"
import { Store } from "./store.ts"

export interface ConversationState {
  readonly transcript: Transcript
  readonly phase: "opening" | "open" | "failed"
  /** Why it cannot be shown. */
  readonly error: unknown
  readonly line: StreamState["state"]
  /** Messages that wait for the current run. */
  readonly queue: readonly QueuedMessage[]
  readonly loadingOlder: boolean
  /** The newest run from the server, because a snapshot does not include it. */
  readonly lastRun: Run | null
}

const OLDER = 100

/** A conversation that is open on this page: its transcript, kept up to date, and its queue. */
export class OpenConversation {
  readonly id: string
  readonly store = new Store<ConversationState>({
    transcript: emptyTranscript,
    phase: "opening",
    error: undefined,
    line: "connecting",
    queue: [],
    loadingOlder: false,
    lastRun: null,
  })
  readonly #leaving = new AbortController()
  /** Several events of one exchange request it while a read is in progress. */
  readonly refreshQueue: () => Promise<void> = inTurn(() => this.#readQueue())

  constructor(id: string) {
    this.id = id
  }

  /** Reads the conversation and subscribes to it, until it is closed. */
  async open(): Promise<void> {
    try {
      const params = { id: this.id }
      const detail = await client.readConversation({ params })
      this.store.change({ transcript: fromDetail(detail), phase: "open", error: undefined })
      arrivals.add(this.#arrived)
      void this.#listen(this.#leaving.signal)
      void this.refreshQueue()
      await this.#readLastRun()
    } catch (error) {
      noticeSignOut(error)
      if (this.store.value.phase === "opening")
        this.store.change({ phase: canRetry(error) ? "opening" : "failed", error })
    }
  }

  close(): void {
    this.#leaving.abort()
    arrivals.delete(this.#arrived)
  }

  /** A sent message may be in the queue, which has no events. */
  readonly #arrived = async (conversationId: string) => {
    if (conversationId === this.id) await this.refreshQueue()
  }

  async #listen(signal: AbortSignal): Promise<void> {
    let wasAway = false
    const onState = ({ state }: StreamState) => {
      if (signal.aborted) return
      this.store.change({ line: state })
      if (state === "live" && wasAway) {
        void this.refreshQueue()
        void this.#readLastRun()
      }
      if (state !== "connecting") wasAway = state === "waiting"
    }
    try {
      const after = this.store.value.transcript.cursor
      for await (const frame of client.events(this.id, { after, signal, onState })) {
        const { transcript } = this.store.value
        this.store.change({ transcript: reduce(transcript, frame) })
        // A queued message may have started; the queue has no events.
        if (frame.type === "message" || frame.type === "run_ended") void this.refreshQueue()
        // Only the server knows a run that started before this page was loaded.
        if (frame.type === "run_ended" && transcript.run === null) void this.#readLastRun()
      }
    } catch (error) {
      if (signal.aborted) return
      noticeSignOut(error)
      if (hasCode(error, "not_found")) this.store.change({ phase: "failed", error })
      else this.store.change({ line: "waiting" })
    }
  }

  async #readLastRun(): Promise<void> {
    try {
      const { items } = await client.listRuns({ params: { id: this.id }, query: { limit: 1 } })
      this.store.change({ lastRun: items[0] ?? null })
    } catch (error) {
      noticeSignOut(error) // only the summary of the run is missing then
    }
  }

  async #readQueue(): Promise<void> {
    try {
      const queue = await readPages((query) => client.listQueue({ params: { id: this.id }, query }))
      this.store.change({ queue })
    } catch (error) {
      noticeSignOut(error)
    }
  }

  /** Loads the rest of a truncated message and shows it. */
  async loadWhole(messageId: string): Promise<string> {
    try {
      const message = await client.readMessage({ params: { id: this.id, messageId } })
      this.store.change({ transcript: withWhole(this.store.value.transcript, message) })
      return message.content
    } catch (error) {
      noticeSignOut(error)
      throw error
    }
  }

  /** Loads the previous page of messages, if any. */
  async loadOlder(): Promise<void> {
    const { transcript, loadingOlder } = this.store.value
    const before = olderThan(transcript)
    if (before === null || loadingOlder) return
    this.store.change({ loadingOlder: true })
    try {
      const page = await client.readMessages({ params: { id: this.id }, query: { before, limit: OLDER } })
      this.store.change({ transcript: withOlderMessages(this.store.value.transcript, page) })
    } catch (error) {
      noticeSignOut(error)
    } finally {
      this.store.change({ loadingOlder: false })
    }
  }
}

const opened = new Map<string, { readonly conversation: OpenConversation; users: number }>()

/** A shared instance for all components that show the conversation; the last one to release it closes it. */
export function acquire(id: string): OpenConversation {
  let entry = opened.get(id)
  if (!entry) {
    entry = { conversation: new OpenConversation(id), users: 0 }
    opened.set(id, entry)
    void entry.conversation.open()
  }
  entry.users++
  return entry.conversation
}

export function release(id: string): void {
  const entry = opened.get(id)
  if (!entry || --entry.users > 0) return
  opened.delete(id)
  entry.conversation.close()
}

/**
 * Runs one read at a time. Callers in the meantime share the next one, because the current response may be older than
 * what they know.
 */
export function inTurn(read: () => Promise<void>): () => Promise<void> {
  let now: Promise<void> | undefined
  let next: Promise<void> | undefined
  const ask = (): Promise<void> => {
    if (!now) return (now = read().finally(() => (now = undefined)))
    const again = () => {
      next = undefined
      return ask()
    }
    return (next ??= now.then(again, again))
  }
  return ask
}
