import type { Happened, NewsKind } from "../../engine/ports.ts"
import { type CallEvents, isAboutCalls } from "../../protocol/calls/follow-calls.ts"
import type { EventType } from "../../protocol/events.ts"
import type { FeedFrame } from "../../protocol/frames.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { RowChange } from "../../protocol/workspace.ts"
import { type TableName, tableNames } from "../../protocol/workspace-tables.ts"
import type { FrameSource, WaitingSource } from "./frame-source.ts"
import { withDefaultModel, withDefaultModels } from "../conversation/settings.ts"
import type { StreamPorts } from "../conversation/ports.ts"

/**
 * Which events change a list of conversations or an inbox. The type requires an entry for each event that is not about
 * calls.
 */
const SHOWN: Readonly<Record<Exclude<EventType, keyof CallEvents>, boolean>> = {
  conversation_started: true,
  settings: true,
  run_started: true,
  run_ended: true,
  message: false,
  step: false,
  restarted: false,
  fallback: false,
  history_cut: false,
  compaction: false,
}

/** Every event about calls except `tool_start` changes a proposal. */
const isShown = ({ type }: Happened): boolean =>
  isAboutCalls({ type }) ? type !== "tool_start" : (SHOWN as Readonly<Record<string, boolean>>)[type] === true
const NEWEST = { limit: 50 }
/** Most open, in-doubt and expired proposals. */
const MAX_PROPOSALS = 200
/** If more conversations changed, the whole list is sent, which is shorter. */
const MAX_CHANGED = 200
/** If more rows of a table changed, only the table's name is sent. */
const MAX_ROWS = 50

/** How often the progress of document ingestion is read. */
const INGEST_POLL_MS = 2000

/**
 * All conversations of a person at a glance, and changes of their workspace. It sends current states, not events, so a
 * client that was away misses nothing, and a slow one costs only the ids of what changed.
 */
export class Feed implements FrameSource<FeedFrame>, WaitingSource<FeedFrame> {
  readonly #ports: StreamPorts
  readonly #user: UserId
  readonly #unsubscribe: () => void
  readonly #changed = new Set<ConversationId>()
  /** The changed rows of each table; undefined if they are too many or unknown. */
  readonly #rows = new Map<TableName, Set<string> | undefined>()
  #everything = true
  /** Whether ingestion progress must be read; and whether the client was sent any. */
  #ingests = true
  #ingesting = false
  #cancelPoll: (() => void) | undefined
  #closed = false
  #wake: (() => void) | undefined

  constructor(ports: StreamPorts, user: UserId) {
    this.#ports = ports
    this.#user = user
    const { bus } = ports
    const stops = [
      bus.subscribeNews(user, (kind) => this.#receiveNews(kind)),
      bus.subscribeUser(user, (id, happened) => this.#receive(id, happened)),
      ports.workspaces.onChange((whose, changes) => whose === user && this.#receiveRows(changes)),
      ports.ingests.watch(user, () => this.#expectIngests()),
      () => this.#cancelPoll?.(),
    ]
    this.#unsubscribe = () => stops.forEach((stop) => stop())
  }

  async next(): Promise<FeedFrame[] | undefined> {
    while (await this.wait()) {
      const frames = await this.take()
      if (frames.length > 0) return frames
    }
    return undefined
  }

  async wait(): Promise<boolean> {
    while (!this.#closed && !this.#everything && !this.#ingests && this.#changed.size + this.#rows.size === 0)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    return !this.#closed
  }

  async take(): Promise<FeedFrame[]> {
    if (this.#everything) return [await this.#snapshot()]
    if (this.#ingests) return this.#readIngests()
    const [ids, tables] = [[...this.#changed], [...this.#rows]]
    this.#changed.clear()
    this.#rows.clear()
    const conversations = ids.map((id) => this.#conversation(id))
    return Promise.all([...conversations, ...tables.map(([table, rows]) => this.#workspace(table, rows))])
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#wake?.()
  }

  #receive(id: ConversationId, happened: readonly Happened[]): void {
    if (happened.length > 0 && !happened.some(isShown)) return
    this.#changed.add(id)
    this.#everything ||= this.#changed.size > MAX_CHANGED
    this.#wakeUp()
  }

  /** Another process changed something unknown: everything of that kind is sent again. */
  #receiveNews(kind: NewsKind): void {
    if (kind === "conversations") this.#everything = true
    else if (kind === "library") this.#receiveLibrary()
    else for (const table of tableNames) this.#rows.set(table, undefined)
    this.#wakeUp()
  }

  #receiveRows(changes: readonly RowChange[]): void {
    for (const { table, id } of changes) {
      const ids = this.#rows.has(table) ? this.#rows.get(table) : new Set<string>()
      const isSent = ids?.add(id) && ids.size <= MAX_ROWS
      this.#rows.set(table, isSent ? ids : undefined)
    }
    this.#wakeUp()
  }

  /** A short document may already be ingested: then only the end is sent. */
  #receiveLibrary(): void {
    this.#ingesting = true
    this.#expectIngests()
  }

  /** Polls the progress until nothing is being ingested. */
  #expectIngests(): void {
    if (this.#cancelPoll) return
    this.#ingests = true
    this.#wakeUp()
  }

  /** Sends nothing if nothing is being ingested, except the end. */
  async #readIngests(): Promise<FeedFrame[]> {
    this.#ingests = false
    const collections = await this.#ports.ingests.of(this.#user)
    const isNews = collections.length > 0 || this.#ingesting
    this.#ingesting = collections.length > 0
    this.#cancelPoll?.()
    this.#cancelPoll = this.#ingesting && !this.#closed ? this.#pollLater() : undefined
    return isNews ? [{ ...this.#id(), type: "ingest", data: { collections } }] : []
  }

  #pollLater(): () => void {
    const ring = () => {
      this.#cancelPoll = undefined
      this.#expectIngests()
    }
    return this.#ports.clock.alarm(INGEST_POLL_MS, ring, "background")
  }

  #wakeUp(): void {
    if (this.#wake) setImmediate(this.#wake)
    this.#wake = undefined
  }

  async #snapshot(): Promise<FeedFrame> {
    this.#everything = false // changes during the read are sent again
    this.#changed.clear()
    const { conversations, proposals, models } = this.#ports
    const [listed, waiting] = await Promise.all([
      conversations.list(this.#user, NEWEST),
      proposals.inbox(this.#user, MAX_PROPOSALS),
    ])
    const named = await withDefaultModels(models, this.#user, listed.items)
    return { ...this.#id(), type: "snapshot", data: { conversations: named, proposals: waiting } }
  }

  async #conversation(id: ConversationId): Promise<FeedFrame> {
    const { conversations, proposals, models } = this.#ports
    const found = await conversations.find(this.#user, id)
    if (!found) return { ...this.#id(), type: "conversation_deleted", data: { conversationId: id } }
    const [open, expired] = await Promise.all([proposals.open(id), proposals.expired(id)])
    const conversation = await withDefaultModel(models, this.#user, found)
    return { ...this.#id(), type: "conversation", data: { conversation, proposals: [...open, ...expired] } }
  }

  async #workspace(table: TableName, ids: ReadonlySet<string> | undefined): Promise<FeedFrame> {
    if (!ids) return { ...this.#id(), type: "workspace", data: { table } }
    const rows = await this.#ports.workspaces.of(this.#user).listed(table, [...ids])
    const there = new Set(rows.map(({ id }) => id))
    const deleted = [...ids].filter((id) => !there.has(id))
    return { ...this.#id(), type: "workspace", data: { table, rows, deleted } }
  }

  /** A feed has no cursor; its ids are times. */
  #id(): { id: string } {
    return { id: String(this.#ports.clock.now()) }
  }
}
