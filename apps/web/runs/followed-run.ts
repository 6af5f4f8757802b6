import { useEffect, useState } from "react"
import { hasCode } from "../../../client/index.ts"
import type { RecordedEvent, Run, SharedRun } from "../../../core/protocol/index.ts"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { inTurn } from "../state/conversation.ts"
import { Store, useStore } from "../state/store.ts"

/** The head of a run, shown above its rows. */
export type RunHead = Pick<Run, "status" | "model" | "startedAt" | "endedAt" | "error">

export interface RunPart<Head extends RunHead> {
  readonly run: Head
  readonly items: readonly RecordedEvent[]
  readonly nextAfter: number | null
}

/** The source of a run: the owner's routes, or a shared link. */
interface RunSource<Head extends RunHead> {
  read(after: number): Promise<RunPart<Head>>
  /** Calls `changed` when there may be new rows, until the signal aborts. */
  follow(run: Head, after: number, changed: () => void, signal: AbortSignal): Promise<void>
}

export interface RunState<Head extends RunHead> {
  /** Undefined until the first read. */
  readonly run: Head | undefined
  readonly rows: readonly RecordedEvent[]
  /** The error of the last read. */
  readonly problem: unknown
}

export const isOver = ({ status }: RunHead): boolean => status !== "running" && status !== "paused"

/** A run on screen: its rows, and new ones while it continues. */
export class FollowedRun<Head extends RunHead> {
  readonly store = new Store<RunState<Head>>({ run: undefined, rows: [], problem: undefined })
  /** One read at a time: changes in the meantime are read by the next one. */
  readonly refresh: () => Promise<void> = inTurn(() => this.#read())
  readonly #source: RunSource<Head>
  /** Aborts the subscription. */
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
      // A completed run does not change.
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
    // A deleted run is removed from the screen.
    this.store.change({ ...(isGone ? { run: undefined, rows: [] } : {}), problem: error })
  }

  #last(): number {
    return this.store.value.rows.at(-1)?.position ?? 0
  }
}

interface UsedRun<Head extends RunHead> extends RunState<Head> {
  readonly refresh: () => Promise<void>
}

/** Follows a run while the component is mounted. For another run, give the element another key. */
export function useFollowedRun<Head extends RunHead>(open: () => RunSource<Head>): UsedRun<Head> {
  const [followed] = useState(() => new FollowedRun(open()))
  useEffect(() => {
    void followed.refresh()
    return () => followed.close()
  }, [followed])
  return { ...useStore(followed.store), refresh: followed.refresh }
}

/** A run of the person: the stream of its conversation reports new rows. */
export const ownRun = (id: string): RunSource<Run> => ({
  async read(after) {
    // The run is read before the rows: if it is completed, all rows exist.
    const run = await client.readRun({ params: { id } })
    return { run, ...(await client.readRunJournal({ params: { id }, query: { after } })) }
  },
  async follow({ conversationId }, after, changed, signal) {
    for await (const { type } of client.events(conversationId, { after: String(after), signal })) {
      // Text deltas are not in rows.
      if (!type.endsWith("_delta")) changed()
    }
  },
})

/** Poll interval for a shared run: its conversation's stream is not available. */
const POLL_MS = 3000

/** Another person's run, through a shared link. */
export const sharedRun = (secret: string): RunSource<SharedRun["run"]> => ({
  read: (after) => client.openSharedRun({ body: { secret, after } }),
  async follow(_run, _after, changed, signal) {
    const timer = setInterval(() => {
      // A hidden tab polls when it becomes visible.
      if (document.visibilityState === "visible") changed()
    }, POLL_MS)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
    clearInterval(timer)
  },
})
