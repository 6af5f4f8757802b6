import { useEffect, useState } from "react"
import { hasCode } from "../../../client/index.ts"
import type { RecordedEvent, Run, SharedRun } from "../../../core/protocol/index.ts"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { inTurn } from "../state/conversation.ts"
import { Store, useStore } from "../state/store.ts"

/** What is said of a run above its rows. */
export type RunHead = Pick<Run, "status" | "model" | "startedAt" | "endedAt" | "error">

export interface RunPart<Head extends RunHead> {
  readonly run: Head
  readonly items: readonly RecordedEvent[]
  readonly nextAfter: number | null
}

/** Where a run is read: at the server as its owner, or through a link of somebody else. */
interface RunSource<Head extends RunHead> {
  read(after: number): Promise<RunPart<Head>>
  /** Calls back each time that there may be more, until the signal says that nobody looks any more. */
  follow(run: Head, after: number, changed: () => void, signal: AbortSignal): Promise<void>
}

export interface RunState<Head extends RunHead> {
  /** Undefined until it was read once. */
  readonly run: Head | undefined
  readonly rows: readonly RecordedEvent[]
  /** Why it is not there, or not up to date. */
  readonly problem: unknown
}

export const isOver = ({ status }: RunHead): boolean => status !== "running" && status !== "paused"

/** A run that is looked at: its rows, and those that come while it goes on. */
export class FollowedRun<Head extends RunHead> {
  readonly store = new Store<RunState<Head>>({ run: undefined, rows: [], problem: undefined })
  /** One read at a time: what is told meanwhile is in the next one. */
  readonly refresh: () => Promise<void> = inTurn(() => this.#read())
  readonly #source: RunSource<Head>
  /** Ends what listens, while something does. */
  #listening: AbortController | undefined
  #isClosed = false

  constructor(source: RunSource<Head>) {
    this.#source = source
  }

  close(): void {
    this.#isClosed = true
    this.#listening?.abort()
  }

  async #read(): Promise<void> {
    try {
      for (let after: number | null = this.#last(); after !== null && !this.#isClosed;) {
        const { run, items, nextAfter }: RunPart<Head> = await this.#source.read(after)
        this.store.change({ run, rows: [...this.store.value.rows, ...items], problem: undefined })
        after = nextAfter
      }
      const { run } = this.store.value
      // What is over does not change any more.
      if (!run || isOver(run)) this.#listening?.abort()
      else void this.#listen(run)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #listen(run: Head): Promise<void> {
    if (this.#listening || this.#isClosed) return
    const listening = (this.#listening = new AbortController())
    try {
      await this.#source.follow(run, this.#last(), () => void this.refresh(), listening.signal)
    } catch (error) {
      if (!listening.signal.aborted) this.#fail(error)
    } finally {
      this.#listening = undefined
    }
  }

  #fail(error: unknown): void {
    noticeSignOut(error)
    const isGone = hasCode(error, "not_found")
    if (isGone) this.#listening?.abort()
    // What is gone is not shown any longer, also where it was read before.
    this.store.change({ ...(isGone ? { run: undefined, rows: [] } : {}), problem: error })
  }

  #last(): number {
    return this.store.value.rows.at(-1)?.position ?? 0
  }
}

interface UsedRun<Head extends RunHead> extends RunState<Head> {
  readonly refresh: () => Promise<void>
}

/** A run for as long as it is shown. Whoever wants another one gives its element another key. */
export function useFollowedRun<Head extends RunHead>(open: () => RunSource<Head>): UsedRun<Head> {
  const [followed] = useState(() => new FollowedRun(open()))
  useEffect(() => {
    void followed.refresh()
    return () => followed.close()
  }, [followed])
  return { ...useStore(followed.store), refresh: followed.refresh }
}

/** A run of the person's own: its rows are asked for, and the stream of its conversation tells when there are more. */
export const ownRun = (id: string): RunSource<Run> => ({
  async read(after) {
    // The run before the rows: one that is said to be over has all of them.
    const run = await client.readRun({ params: { id } })
    return { run, ...(await client.readRunJournal({ params: { id }, query: { after } })) }
  },
  async follow({ conversationId }, after, changed, signal) {
    for await (const { type } of client.events(conversationId, { after: String(after), signal })) {
      // Text that is being written is in no row yet.
      if (!type.endsWith("_delta")) changed()
    }
  },
})

/** Between two looks at a run that goes on: nobody tells of a conversation whose owner is somebody else. */
const LOOK_MS = 3000

/** A run of somebody else, as far as their link shows it. */
export const sharedRun = (secret: string): RunSource<SharedRun["run"]> => ({
  read: (after) => client.openSharedRun({ body: { secret, after } }),
  async follow(_run, _after, changed, signal) {
    const timer = setInterval(() => {
      // A tab behind others looks when somebody looks at it.
      if (document.visibilityState === "visible") changed()
    }, LOOK_MS)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
    clearInterval(timer)
  },
})
