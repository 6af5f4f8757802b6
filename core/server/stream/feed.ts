import type { Happened, NewsKind } from "../../engine/ports.ts"
import { type CallEvents, isAboutCalls } from "../../protocol/calls/follow-calls.ts"
import type { EventType } from "../../protocol/events.ts"
import type { FeedFrame } from "../../protocol/frames.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { RowChange } from "../../protocol/workspace.ts"
import { type TableName, tableNames } from "../../protocol/workspace-tables.ts"
import type { FrameSource, WaitingSource } from "./event-stream.ts"
import { nameModel, nameModels } from "../conversation/settings.ts"
import type { StreamPorts } from "../conversation/ports.ts"

/** Rows that change what a list of conversations or an inbox shows: the compiler asks about each that is not about calls. */
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

/** What is about calls changes a proposal; only the start of a call leaves it as it was. */
const isShown = ({ type }: Happened): boolean =>
  isAboutCalls({ type }) ? type !== "tool_start" : (SHOWN as Readonly<Record<string, boolean>>)[type] === true
const NEWEST = { limit: 50 }
/** Of what waits, of what is in doubt, and of what expired unseen. */
const MAX_PROPOSALS = 200
/** With more changes than this at once the whole list is sent again, which is shorter. */
const MAX_CHANGED = 200
/** The same for rows of a table, which may be long: then it is only said that there are others now. */
const MAX_ROWS = 50

/** While documents are being read in, one looks so often how far they are. */
const LOOK_EVERY_MS = 2000

/**
 * All conversations of a person at a glance, and what changes in their workspace. It tells how things stand, never what
 * happened, so that whoever was away has missed nothing, and a slow watcher only costs the names of what has changed.
 */
export class Feed implements FrameSource<FeedFrame>, WaitingSource<FeedFrame> {
  readonly #ports: StreamPorts
  readonly #user: UserId
  readonly #unsubscribe: () => void
  readonly #changed = new Set<ConversationId>()
  /** Of each table, whose rows to look at again; undefined where they are too many, or nobody knows which. */
  readonly #rows = new Map<TableName, Set<string> | undefined>()
  #everything = true
  /** How far what is being read in is has to be looked at; and whether it was told that something is. */
  #ingests = true
  #ingesting = false
  #cancelLook: (() => void) | undefined
  #closed = false
  #wake: (() => void) | undefined

  constructor(ports: StreamPorts, user: UserId) {
    this.#ports = ports
    this.#user = user
    const { bus } = ports
    const stops = [
      bus.subscribeNews(user, (kind) => this.#hearNews(kind)),
      bus.subscribeUser(user, (id, happened) => this.#hear(id, happened)),
      ports.workspaces.onChange((whose, changes) => whose === user && this.#see(changes)),
      ports.ingests.watch(user, () => this.#expectIngests()),
      () => this.#cancelLook?.(),
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
    if (this.#ingests) return this.#lookAtIngests()
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

  #hear(id: ConversationId, happened: readonly Happened[]): void {
    if (happened.length > 0 && !happened.some(isShown)) return
    this.#changed.add(id)
    this.#everything ||= this.#changed.size > MAX_CHANGED
    this.#stir()
  }

  /** Another process has changed something, and what is not known: all of it is told anew. */
  #hearNews(kind: NewsKind): void {
    if (kind === "conversations") this.#everything = true
    else if (kind === "library") this.#hearLibrary()
    else for (const table of tableNames) this.#rows.set(table, undefined)
    this.#stir()
  }

  #see(changes: readonly RowChange[]): void {
    for (const { table, id } of changes) {
      const ids = this.#rows.has(table) ? this.#rows.get(table) : new Set<string>()
      const isTold = ids?.add(id) && ids.size <= MAX_ROWS
      this.#rows.set(table, isTold ? ids : undefined)
    }
    this.#stir()
  }

  /** A short document may have been read in by now: then it is told that it is over. */
  #hearLibrary(): void {
    this.#ingesting = true
    this.#expectIngests()
  }

  /** Something of the person's is being read in: from now on it is looked at until it is over. */
  #expectIngests(): void {
    if (this.#cancelLook) return
    this.#ingests = true
    this.#stir()
  }

  /** Nothing is told where nothing is read in, except that it is over. */
  async #lookAtIngests(): Promise<FeedFrame[]> {
    this.#ingests = false
    const collections = await this.#ports.ingests.of(this.#user)
    const isNews = collections.length > 0 || this.#ingesting
    this.#ingesting = collections.length > 0
    this.#cancelLook?.()
    this.#cancelLook = this.#ingesting && !this.#closed ? this.#lookLater() : undefined
    return isNews ? [{ ...this.#id(), type: "ingest", data: { collections } }] : []
  }

  #lookLater(): () => void {
    const ring = () => {
      this.#cancelLook = undefined
      this.#expectIngests()
    }
    return this.#ports.clock.alarm(LOOK_EVERY_MS, ring, "background")
  }

  #stir(): void {
    if (this.#wake) setImmediate(this.#wake)
    this.#wake = undefined
  }

  async #snapshot(): Promise<FeedFrame> {
    this.#everything = false // what changes while we read is told again after it
    this.#changed.clear()
    const { conversations, proposals, models } = this.#ports
    const [listed, waiting] = await Promise.all([
      conversations.list(this.#user, NEWEST),
      proposals.inbox(this.#user, MAX_PROPOSALS),
    ])
    const named = await nameModels(models, this.#user, listed.items)
    return { ...this.#id(), type: "snapshot", data: { conversations: named, proposals: waiting } }
  }

  async #conversation(id: ConversationId): Promise<FeedFrame> {
    const { conversations, proposals, models } = this.#ports
    const found = await conversations.find(this.#user, id)
    if (!found) return { ...this.#id(), type: "conversation_deleted", data: { conversationId: id } }
    const [open, expired] = await Promise.all([proposals.open(id), proposals.expired(id)])
    const conversation = await nameModel(models, this.#user, found)
    return { ...this.#id(), type: "conversation", data: { conversation, proposals: [...open, ...expired] } }
  }

  async #workspace(table: TableName, ids: ReadonlySet<string> | undefined): Promise<FeedFrame> {
    if (!ids) return { ...this.#id(), type: "workspace", data: { table } }
    const rows = await this.#ports.workspaces.of(this.#user).listed(table, [...ids])
    const there = new Set(rows.map(({ id }) => id))
    const deleted = [...ids].filter((id) => !there.has(id))
    return { ...this.#id(), type: "workspace", data: { table, rows, deleted } }
  }

  /** A feed needs no place to go on from: only when it was told. */
  #id(): { id: string } {
    return { id: String(this.#ports.clock.now()) }
  }
}
