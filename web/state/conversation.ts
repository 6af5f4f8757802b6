import {
  emptyTranscript,
  fromDetail,
  hasCode,
  olderThan,
  reduce,
  type StreamState,
  type Transcript,
  withOlder,
} from "../../src/client/index.ts"
import type { QueuedMessage, Run } from "../../src/protocol/index.ts"
import { client } from "./client.ts"
import { noticeSignOut } from "./identity.ts"
import { Store } from "./store.ts"

/** Words that are on their way to the server. */
export interface Sending {
  readonly key: string
  readonly text: string
  /** Why they did not arrive; undefined while they may. */
  readonly error?: unknown
}

export interface ConversationState {
  readonly transcript: Transcript
  readonly phase: "opening" | "open" | "failed"
  /** Why it cannot be shown. */
  readonly error: unknown
  readonly line: StreamState["state"]
  readonly sending: readonly Sending[]
  /** Messages that wait while a run works. */
  readonly queue: readonly QueuedMessage[]
  readonly loadingOlder: boolean
  /** The newest run as the server has it, for what a snapshot of the conversation does not tell. */
  readonly lastRun: Run | null
}

const OLDER = 100

/** One conversation that is open on this page: the client's transcript of it, kept up to date, and what is said to it. */
export class OpenConversation {
  readonly id: string
  readonly store = new Store<ConversationState>({
    transcript: emptyTranscript,
    phase: "opening",
    error: undefined,
    line: "connecting",
    sending: [],
    queue: [],
    loadingOlder: false,
    lastRun: null,
  })
  readonly #leaving = new AbortController()
  #sent = 0

  constructor(id: string) {
    this.id = id
  }

  /** Reads it and then listens, until it is closed. */
  async open(): Promise<void> {
    try {
      const params = { id: this.id }
      const detail = await client.readConversation({ params })
      this.store.change({ transcript: fromDetail(detail), phase: "open" })
      void this.#listen(this.#leaving.signal)
      void this.refreshQueue()
      await this.#readLastRun()
    } catch (error) {
      noticeSignOut(error)
      if (this.store.value.phase === "opening") this.store.change({ phase: "failed", error })
    }
  }

  close(): void {
    this.#leaving.abort()
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const onState = ({ state }: StreamState) => signal.aborted || this.store.change({ line: state })
    try {
      const after = this.store.value.transcript.cursor
      for await (const frame of client.events(this.id, { after, signal, onState })) {
        const { transcript } = this.store.value
        this.store.change({ transcript: reduce(transcript, frame) })
        // What waited may have been taken; nobody tells of the queue itself.
        if (frame.type === "message" || frame.type === "run_ended") void this.refreshQueue()
        // A run that had begun before this page was loaded is known to the server alone.
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
      noticeSignOut(error) // how it went is then not told; the conversation itself is there
    }
  }

  /** Says something. It is shown at once, and stays until the conversation has it. */
  async say(text: string, when: "queue" | "steer" = "queue"): Promise<void> {
    const key = `sending-${++this.#sent}`
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    this.store.change({ sending: [...this.store.value.sending, { key, text }] })
    try {
      if (this.isBusy) {
        await client.sendMessage({ params: { id: this.id }, body: { text, when, timeZone } })
        await this.refreshQueue()
      } else {
        // With the first frame the message is safe; the rest comes over the line that is open already.
        for await (const _first of client.run(this.id, text, { when, timeZone })) break
      }
      this.forget(key)
    } catch (error) {
      noticeSignOut(error)
      const sending = this.store.value.sending.map((each) => (each.key === key ? { ...each, error } : each))
      this.store.change({ sending })
    }
  }

  /** Takes words off the page that did not arrive. */
  forget(key: string): void {
    this.store.change({ sending: this.store.value.sending.filter((each) => each.key !== key) })
  }

  get isBusy(): boolean {
    const { status } = this.store.value.transcript
    return status === "running" || this.store.value.sending.length > 1
  }

  async refreshQueue(): Promise<void> {
    try {
      const { items } = await client.listQueue({ params: { id: this.id } })
      this.store.change({ queue: items })
    } catch (error) {
      noticeSignOut(error)
    }
  }

  /** One more page of what came before, where there is one. */
  async loadOlder(): Promise<void> {
    const { transcript, loadingOlder } = this.store.value
    const before = olderThan(transcript)
    if (before === null || loadingOlder) return
    this.store.change({ loadingOlder: true })
    try {
      const page = await client.readMessages({ params: { id: this.id }, query: { before, limit: OLDER } })
      this.store.change({ transcript: withOlder(this.store.value.transcript, page) })
    } catch (error) {
      noticeSignOut(error)
    } finally {
      this.store.change({ loadingOlder: false })
    }
  }
}

const opened = new Map<string, { readonly conversation: OpenConversation; users: number }>()

/** The conversation for everything on the page that shows it; the last one to let go closes it. */
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
