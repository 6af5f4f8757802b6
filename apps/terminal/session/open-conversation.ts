import { describeFiles } from "../attachments/file-references.ts"
import { unreferencedFiles, retryUntilAnswered, uploadReferenced } from "./upload-files.ts"
import { whyAutoAsks, workFilesOf } from "../../../client/work-files.ts"
import { newKey } from "../../../client/calls.ts"
import type { Client } from "../../../client/client.ts"
import type { StreamState } from "../../../client/stream/follow.ts"
import { fromDetail } from "../../../client/transcript/from-detail.ts"
import { readPages } from "../../../client/read-pages.ts"
import { reduce } from "../../../client/reduce.ts"
import type { Transcript } from "../../../client/transcript/transcript.ts"
import type { ConversationDetail, QueuedMessage } from "../../../core/protocol/answers.ts"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import { onceMore } from "../../../core/shared/concurrency/locks.ts"
import { isSettled, type Proposal } from "../../../core/protocol/proposals/proposal.ts"
import type { WorkFolder } from "../terminal-server.ts"

export interface ConversationListener {
  onChange(): void
  /** A notice about a message that is being sent. */
  onNotice(words: string): void
  readonly workFolder?: WorkFolder | undefined
  /** The stream has ended, with the reason. */
  onError(error: unknown): void
}

/** Data that is sent with the text of a message. */
export interface MessageExtras {
  /** The part of the text that is visible in the input line. Only this part can name files. */
  readonly seen?: string
  /** Files that are already uploaded. */
  readonly files?: readonly MessageFile[] | undefined
}

interface Sending {
  readonly when: "queue" | "steer"
  readonly idempotencyKey: string
  readonly files: readonly MessageFile[]
}

/** The conversation that this terminal shows: its transcript, kept up to date, and its queue. */
export class OpenConversation {
  readonly id: string
  transcript: Transcript
  /** The state of the connection to the server. */
  line: StreamState["state"] = "connecting"
  /** Messages that wait for the current run. */
  queue: readonly QueuedMessage[] = []
  /** Messages that have not been acknowledged: the client retries while disconnected. */
  sending: readonly string[] = []
  /** When each running call was first seen. */
  readonly #since = new Map<string, number>()
  #last: Promise<void> | undefined
  readonly #leaving = new AbortController()
  readonly #client: Client
  readonly #listener: ConversationListener

  constructor(client: Client, detail: ConversationDetail, told: ConversationListener) {
    this.#client = client
    this.#listener = told
    this.id = detail.id
    this.transcript = fromDetail(detail)
    void this.#listen(this.#leaving.signal)
    // An idle conversation can have messages too: those held when its run was cancelled.
    void this.refreshQueue()
  }

  close(): void {
    this.#leaving.abort()
  }

  get isBusy(): boolean {
    return this.transcript.status === "running"
  }

  /** Whether there is something to cancel: a run, or a change or program that it waits for. */
  get canStop(): boolean {
    return this.isBusy || this.transcript.status === "awaiting_confirmation" || this.waiting.length > 0
  }

  /** The waiting changes in the order in which they are shown. */
  get waiting(): readonly Proposal[] {
    return this.transcript.items.flatMap((item) =>
      item.type === "proposal" && !isSettled(item.proposal.status) && item.proposal.status !== "applying"
        ? [item.proposal]
        : [],
    )
  }

  workingMs(key: string, now: number): number | undefined {
    const since = this.#since.get(key)
    return since === undefined ? undefined : now - since
  }

  /**
   * Sends a message. During a run it waits or steers the run, otherwise it starts one. Resolves when the server has
   * stored it. Only files named in the visible text are attached, not those named in a long paste.
   */
  async send(text: string, when: "queue" | "steer", { seen = "", files = [] }: MessageExtras = {}): Promise<void> {
    this.sending = [...this.sending, text]
    // One key for all attempts: a message whose response was lost is not sent twice.
    const idempotencyKey = newKey()
    const sendWith = (all: readonly MessageFile[]) =>
      retryUntilAnswered(() => this.#send(text, { when, idempotencyKey, files: all }))
    const isAlone = files.length === 0 && !seen.includes("@")
    const send = () => (isAlone ? sendWith([]) : this.#upload(seen, files).then(sendWith))
    // One after the other, so that messages arrive in order.
    const arrived = this.#last ? this.#last.then(send) : send()
    const last = arrived.catch(() => {}) // a refused message does not block the next
    this.#last = last
    try {
      await arrived
    } finally {
      if (this.#last === last) this.#last = undefined
      const at = this.sending.indexOf(text)
      this.sending = this.sending.filter((_, index) => index !== at)
      this.#listener.onChange()
    }
  }

  async #upload(words: string, along: readonly MessageFile[]): Promise<MessageFile[]> {
    const named = await uploadReferenced(this.#client, words, this.#listener.workFolder)
    const files = [...new Map([...along, ...named].map((file) => [file.id, file])).values()]
    if (files.length > 0) this.#listener.onNotice(describeFiles(files))
    const why = this.transcript.mode === "auto" ? whyAutoAsks(files) : undefined
    if (files.length > 0 && why !== undefined) this.#listener.onNotice(why)
    return files
  }

  async #send(text: string, { when, idempotencyKey, files: named }: Sending): Promise<void> {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    const files = named.length > 0 ? { files: named.map(({ id }) => id), ...workFilesOf(named) } : {}
    const [answered, received] = [Promise.withResolvers<void>(), new AbortController()]
    const onState = ({ state }: StreamState) => void (state === "live" && answered.resolve())
    const said = { when, timeZone, attended: true, idempotencyKey, tries: 1, onState, ...files }
    const frames = this.#client.run(this.id, text, { ...said, signal: received.signal })
    try {
      // The response means that the message is durable. The rest arrives on the stream that is already open.
      await Promise.race([frames.next(), answered.promise])
    } finally {
      received.abort()
    }
    return this.refreshQueue()
  }

  /**
   * Withdraws the newest queued message. Returns it with those files that its text does not name, or undefined if it is
   * already running.
   */
  async withdrawLast(): Promise<{ readonly text: string; readonly files: readonly MessageFile[] } | undefined> {
    const last = this.queue.at(-1)
    if (!last) return undefined
    // Removed at once, so that a second press withdraws the one before it.
    this.queue = this.queue.slice(0, -1)
    let responseLost = false
    try {
      await retryUntilAnswered(() =>
        this.#client.withdrawQueued({ params: { id: this.id, messageId: last.id } }).catch((error: unknown) => {
          // The response to the first attempt was lost, so that attempt withdrew the message.
          if (responseLost && hasCode(error, "not_found")) return null
          responseLost = hasCode(error, "unreachable")
          throw error
        }),
      )
      return { text: last.text, files: await unreferencedFiles(this.#client, last.text, last.files ?? []) }
    } catch (error) {
      if (hasCode(error, "message_taken") || hasCode(error, "not_found")) return undefined
      throw error
    } finally {
      void this.refreshQueue()
    }
  }

  /** An older response never replaces a newer one. */
  readonly refreshQueue = onceMore(async () => {
    try {
      this.queue = await readPages((query) => this.#client.listQueue({ params: { id: this.id }, query }))
      this.#listener.onChange()
    } catch {
      // The queue is durable; the next event or reconnection reads it again.
    }
  })

  async #listen(signal: AbortSignal): Promise<void> {
    const onState = ({ state }: StreamState) => {
      if (state === "live" && this.line === "waiting") void this.refreshQueue()
      // A retry still counts as disconnected.
      if (state !== "connecting" || this.line !== "waiting") this.line = state
      this.#listener.onChange()
    }
    try {
      const after = this.transcript.cursor
      for await (const frame of this.#client.events(this.id, { after, signal, onState })) {
        this.transcript = reduce(this.transcript, frame)
        if (frame.type === "tool_start") this.#note(frame.data)
        // A queued message may have started; the queue itself has no events.
        if (frame.type === "message" || frame.type === "run_ended") void this.refreshQueue()
        this.#listener.onChange()
      }
    } catch (error) {
      if (!signal.aborted) this.#listener.onError(error)
    }
  }

  #note(data: unknown): void {
    const { callId } = (data ?? {}) as { callId?: unknown }
    if (typeof callId === "string") this.#since.set(callId, Date.now())
  }
}
