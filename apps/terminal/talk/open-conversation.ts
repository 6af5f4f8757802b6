import { filesWords } from "../naming/file-words.ts"
import { filesBack, untilAnswered, uploadNamed } from "./sent-files.ts"
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

export interface Told {
  /** Something about it has changed. */
  changed(): void
  /** What its person should know of what is being said. */
  tells(words: string): void
  readonly workFolder?: WorkFolder | undefined
  /** Nothing more will come of it, and why. */
  failed(error: unknown): void
}

/** What goes along with words. */
export interface Along {
  /** What of the words stands on the screen, where it may name files. */
  readonly seen?: string
  /** Files that the server has already. */
  readonly files?: readonly MessageFile[] | undefined
}

interface Sending {
  readonly when: "queue" | "steer"
  readonly idempotencyKey: string
  readonly files: readonly MessageFile[]
}

/** The conversation that this terminal shows: the client's transcript of it, kept up to date, and what is said to it. */
export class OpenConversation {
  readonly id: string
  transcript: Transcript
  /** How the line to the server stands. */
  line: StreamState["state"] = "connecting"
  /** Messages that wait while a run works. */
  queue: readonly QueuedMessage[] = []
  /** What was said and has not arrived yet: the client tries again while there is no line. */
  sending: readonly string[] = []
  /** When a call was first seen at work, for how long it takes. */
  readonly #since = new Map<string, number>()
  #last: Promise<void> | undefined
  readonly #leaving = new AbortController()
  readonly #client: Client
  readonly #told: Told

  constructor(client: Client, detail: ConversationDetail, told: Told) {
    this.#client = client
    this.#told = told
    this.id = detail.id
    this.transcript = fromDetail(detail)
    void this.#listen(this.#leaving.signal)
    // Also of one that rests: what was held when its run was stopped still waits.
    void this.refreshQueue()
  }

  close(): void {
    this.#leaving.abort()
  }

  get isBusy(): boolean {
    return this.transcript.status === "running"
  }

  /** Something is at work, or waits: for the person, or for a program. */
  get canStop(): boolean {
    return this.isBusy || this.transcript.status === "awaiting_confirmation" || this.waiting.length > 0
  }

  /** What waits for the person, in the order in which it is shown. */
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
   * Says something. While a run works it waits, or steers it; otherwise a run begins. Ends when the server has it. Only files
   * that the words name where their person sees them go along: not those that a long paste names.
   */
  async say(text: string, when: "queue" | "steer", { seen = "", files = [] }: Along = {}): Promise<void> {
    this.sending = [...this.sending, text]
    // One key, however often it is sent: what arrived and was not answered is not said twice.
    const idempotencyKey = newKey()
    const sendWith = (all: readonly MessageFile[]) =>
      untilAnswered(() => this.#send(text, { when, idempotencyKey, files: all }))
    const isAlone = files.length === 0 && !seen.includes("@")
    const send = () => (isAlone ? sendWith([]) : this.#upload(seen, files).then(sendWith))
    // One behind the other, so that they arrive in the order they were said, whichever the server lets in first.
    const arrived = this.#last ? this.#last.then(send) : send()
    const last = arrived.catch(() => {}) // one that was refused holds up none
    this.#last = last
    try {
      await arrived
    } finally {
      if (this.#last === last) this.#last = undefined
      const at = this.sending.indexOf(text)
      this.sending = this.sending.filter((_, index) => index !== at)
      this.#told.changed()
    }
  }

  async #upload(words: string, along: readonly MessageFile[]): Promise<MessageFile[]> {
    const named = await uploadNamed(this.#client, words, this.#told.workFolder)
    const files = [...new Map([...along, ...named].map((file) => [file.id, file])).values()]
    if (files.length > 0) this.#told.tells(filesWords(files))
    const why = this.transcript.mode === "auto" ? whyAutoAsks(files) : undefined
    if (files.length > 0 && why !== undefined) this.#told.tells(why)
    return files
  }

  async #send(text: string, { when, idempotencyKey, files: named }: Sending): Promise<void> {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    const files = named.length > 0 ? { files: named.map(({ id }) => id), ...workFilesOf(named) } : {}
    const [answered, heard] = [Promise.withResolvers<void>(), new AbortController()]
    const onState = ({ state }: StreamState) => void (state === "live" && answered.resolve())
    const said = { when, timeZone, attended: true, idempotencyKey, tries: 1, onState, ...files }
    const frames = this.#client.run(this.id, text, { ...said, signal: heard.signal })
    try {
      // Once the server answers the message is safe, whether it begins a run or waits: what is said next does not wait for
      // that. The rest comes over the line that is open already.
      await Promise.race([frames.next(), answered.promise])
    } finally {
      heard.abort()
    }
    return this.refreshQueue()
  }

  /** Takes the newest message that waits back, with those of its files that it does not name; undefined where none does any more. */
  async takeBack(): Promise<{ readonly text: string; readonly files: readonly MessageFile[] } | undefined> {
    const last = this.queue.at(-1)
    if (!last) return undefined
    // At once: a second press means the one before it.
    this.queue = this.queue.slice(0, -1)
    let wasLost = false
    try {
      await untilAnswered(() =>
        this.#client.withdrawQueued({ params: { id: this.id, messageId: last.id } }).catch((error: unknown) => {
          // The answer was lost, and the message was not taken: then it was this that took it back.
          if (wasLost && hasCode(error, "not_found")) return null
          wasLost = hasCode(error, "unreachable")
          throw error
        }),
      )
      return { text: last.text, files: await filesBack(this.#client, last.text, last.files ?? []) }
    } catch (error) {
      if (hasCode(error, "message_taken") || hasCode(error, "not_found")) return undefined
      throw error
    } finally {
      void this.refreshQueue()
    }
  }

  /** An older answer never stands in the place of a newer one. */
  readonly refreshQueue = onceMore(async () => {
    try {
      this.queue = await readPages((query) => this.#client.listQueue({ params: { id: this.id }, query }))
      this.#told.changed()
    } catch {
      // It is safe all the same; the next change, or the line when it is back, asks again.
    }
  })

  async #listen(signal: AbortSignal): Promise<void> {
    const onState = ({ state }: StreamState) => {
      if (state === "live" && this.line === "waiting") void this.refreshQueue()
      // While it is tried again it is as far away as before.
      if (state !== "connecting" || this.line !== "waiting") this.line = state
      this.#told.changed()
    }
    try {
      const after = this.transcript.cursor
      for await (const frame of this.#client.events(this.id, { after, signal, onState })) {
        this.transcript = reduce(this.transcript, frame)
        if (frame.type === "tool_start") this.#note(frame.data)
        // What waited may have been taken; nobody tells of the queue itself.
        if (frame.type === "message" || frame.type === "run_ended") void this.refreshQueue()
        this.#told.changed()
      }
    } catch (error) {
      if (!signal.aborted) this.#told.failed(error)
    }
  }

  #note(data: unknown): void {
    const { callId } = (data ?? {}) as { callId?: unknown }
    if (typeof callId === "string") this.#since.set(callId, Date.now())
  }
}
