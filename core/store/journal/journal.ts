import { type Conversation, pauseReason } from "../../engine/conversation.ts"
import type { Input } from "../../engine/input.ts"
import type {
  AppendOptions,
  Claimed,
  ClaimOptions,
  NodeFailure,
  EventPage,
  Journal,
  Judgement,
  LastWriterState,
  Loads,
  PageRange,
  ReadRange,
  Recorded,
} from "../../engine/journal.ts"
import { failure } from "../../protocol/errors.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { type ConversationId, newId, type UserId } from "../../protocol/ids.ts"
import type { ProposalStatus } from "../../protocol/proposals/proposal.ts"
import { toStorableJson } from "../../shared/text/text.ts"
import { NodeFailures } from "./node-failures.ts"
import { Earmarks, NOT_EARMARKED } from "./earmarks.ts"
import type { Engine } from "../engine/engine.ts"
import { type EventRow, toEvent, toPage } from "../engine/event-rows.ts"
import { HotConversations } from "./hot-conversations.ts"
import { readInbox } from "./inbox.ts"
import { toDeciding } from "./mirror-rows.ts"
import { readConversation, readHead } from "./read-conversation.ts"
import { readRecorded, toRecorded } from "./recorded.ts"
import type { ThisNode } from "./nodes.ts"
import type { Committed } from "../engine/operations.ts"
import { attachBookkeeping, bookkeepingOf } from "./bookkeeping.ts"
import { toCommit } from "./to-commit.ts"

const EVERYTHING = { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER }

/** The owner of a conversation that its writer released at shutdown. No node has this id, so any node may claim it. */
const RELEASED = "nobody"

/** The journal on either engine. It caches conversation states, never copies them, and drops them after any error. */
export class SqlJournal implements Journal {
  readonly #engine: Engine
  readonly #node: ThisNode
  readonly #nodeFailures: NodeFailures
  readonly #earmarks: Earmarks
  readonly sharesWork: boolean
  readonly #hot = new HotConversations()
  readonly #people = new Map<UserId, number>()

  constructor(engine: Engine, node: ThisNode) {
    this.#engine = engine
    this.#node = node
    this.#nodeFailures = new NodeFailures(engine)
    this.#earmarks = new Earmarks(engine, node)
    this.sharesWork = engine.skipLocked !== undefined
  }

  /** How many conversations this node writes. */
  get held(): number {
    return this.#hot.held
  }

  async load(id: ConversationId, fresh = false): Promise<Conversation> {
    const hot = this.#hot.get(id)
    if (!hot || (fresh && !this.mayAppend(hot))) return this.#read(id)
    if (hot.arrivals > bookkeepingOf(hot).seen) await readInbox(this.#engine, hot)
    return hot
  }

  async create(conversation: Conversation, events: readonly JournalEvent[], hold: boolean): Promise<void> {
    if (hold) await this.#node.alive()
    const born = { id: conversation.id, person: await this.#personKey(conversation.user) }
    const { id: node, now } = this.#node
    const options = { lease: "create", node, now, release: !hold, born } as const
    const outcome = await this.#engine.change(toCommit(conversation, events, options))
    if (!outcome.ok) throw failure("bad_request", { problem: `There is a conversation ${conversation.id} already.` })
    bookkeepingOf(conversation).key = outcome.committed.key
    this.#store(conversation, outcome.committed)
  }

  async claim(conversation: Conversation, events: readonly JournalEvent[], options: ClaimOptions): Promise<Claimed> {
    const { release, withInbox = false, deciding } = options
    try {
      await this.#node.alive()
      const { id: node, now } = this.#node
      const options = {
        lease: "claim",
        node,
        now,
        release,
        withInbox,
        deciding: deciding && toDeciding(deciding),
      } as const
      const outcome = await this.#engine.change(toCommit(conversation, events, options))
      if (outcome.ok) {
        this.#store(conversation, outcome.committed)
        return "claimed"
      }
      this.drop(conversation.id)
      return outcome.refused === "lost" || outcome.refused === "unread" ? "moved" : outcome.refused
    } catch (error) {
      this.#dropAfterError(conversation)
      throw error
    }
  }

  async append(
    conversation: Conversation,
    events: readonly JournalEvent[],
    { taken = [], release }: AppendOptions,
  ): Promise<boolean> {
    try {
      if (!this.mayAppend(conversation)) throw failure("lease_lost", { id: conversation.id })
      const { id: node, now } = this.#node
      const outcome = await this.#engine.change(
        toCommit(conversation, events, { lease: "hold", node, now, release, taken }),
      )
      if (!outcome.ok && outcome.refused === "unread") {
        await this.#reread(conversation)
        return false
      }
      if (!outcome.ok) throw failure("lease_lost", { id: conversation.id })
      this.#store(conversation, outcome.committed)
      return true
    } catch (error) {
      this.#dropAfterError(conversation)
      throw error
    }
  }

  async addToInbox(id: ConversationId, input: Input): Promise<"kept" | ProposalStatus> {
    const key = await this.#keyOf(id)
    const deciding = toDeciding(input)
    const { now } = this.#node
    const body = toStorableJson(input)
    const outcome = await this.#engine.change({ type: "inbox", key, id: newId("in", id, now), body, now, deciding })
    if (outcome.ok) {
      const hot = this.#hot.get(id)
      if (hot) hot.arrivals = Math.max(hot.arrivals, outcome.arrived)
      return "kept"
    }
    const sql = "SELECT status FROM proposal WHERE id = ? AND conversation = ?"
    const [row] = deciding ? await this.#engine.query<{ status: ProposalStatus }>(sql, [deciding.proposal, key]) : []
    if (!row) throw failure("not_found")
    return row.status
  }

  async readInbox(id: ConversationId): Promise<Conversation | undefined> {
    const hot = this.#hot.get(id)
    if (!hot || !this.mayAppend(hot)) return undefined
    await readInbox(this.#engine, hot)
    return hot
  }

  async release(id: ConversationId): Promise<void> {
    this.drop(id)
    const sql = "UPDATE conversation SET owner = ?, fence = fence + 1 WHERE id = ? AND owner = ?"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [RELEASED, id, this.#node.id] }] })
  }

  isWriterOf(id: ConversationId): boolean {
    const hot = this.#hot.get(id)
    return hot !== undefined && this.mayAppend(hot)
  }

  mayAppend(conversation: Conversation): boolean {
    return bookkeepingOf(conversation).held
  }

  leftBehind(conversation: Conversation): LastWriterState {
    return bookkeepingOf(conversation).leftBehind
  }

  drop(id: ConversationId): void {
    this.#hot.drop(id)
  }

  async read(id: ConversationId, range: ReadRange = {}): Promise<(JournalEvent | UnknownEvent)[]> {
    return (await this.#rows(id, range)).map(toEvent)
  }

  async readPage(id: ConversationId, { maxLength, ...range }: PageRange): Promise<EventPage> {
    return toPage(await this.#rows(id, range), maxLength)
  }

  async recorded(ids: readonly ConversationId[]): Promise<Recorded[]> {
    const rows = await readRecorded(this.#engine, ids)
    return rows.map((row) => {
      const hot = this.#hot.get(row.id)
      return toRecorded(row, hot && this.mayAppend(hot) ? bookkeepingOf(hot) : undefined)
    })
  }

  async abandoned(limit: number): Promise<ConversationId[]> {
    // A node that looks for abandoned conversations counts when they are shared out.
    if (this.sharesWork) await this.#node.alive()
    await this.#node.watch()
    const open = "SELECT id FROM conversation WHERE (owner IS NOT NULL OR arrivals <> seen)"
    const [free, values] = this.sharesWork ? [` AND ${NOT_EARMARKED}`, [this.#node.id]] : ["", []]
    const others = `${open} AND (owner IS NULL
      OR (owner <> ? AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner)))${free} LIMIT ?`
    type Row = { id: ConversationId }
    const rows = await this.#engine.query<Row>(others, [this.#node.id, ...values, limit])
    // This node's own do not count against the limit, or they would hide the others.
    const own = await this.#engine.query<Row>(`${open} AND owner = ?`, [this.#node.id])
    return [...rows, ...own.filter(({ id }) => !this.isWriterOf(id))].map(({ id }) => id)
  }

  earmark(ids: readonly ConversationId[], most: number): Promise<ConversationId[]> {
    return this.#earmarks.mark(ids, most)
  }

  unmark(ids: readonly ConversationId[]): Promise<void> {
    return this.#earmarks.unmark(ids)
  }

  hasNewerNode = (): Promise<boolean> => this.#node.hasNewer()

  hasOlderNode = (): Promise<boolean> => this.#node.hasOlder()

  loads(): Promise<Loads> {
    return this.#earmarks.loads()
  }

  suspected(): Promise<NodeFailure[]> {
    return this.#nodeFailures.suspected(RELEASED)
  }

  judge(node: string, judged: Judgement): Promise<Judgement> {
    return this.#nodeFailures.judge(node, judged)
  }

  async doubtful(limit: number): Promise<ConversationId[]> {
    const sql = `SELECT DISTINCT c.id FROM proposal p JOIN conversation c ON c.key = p.conversation
      WHERE p.status = 'in_doubt' LIMIT ?`
    return (await this.#engine.query<{ id: ConversationId }>(sql, [limit])).map(({ id }) => id)
  }

  async #rows(id: ConversationId, range: ReadRange): Promise<EventRow[]> {
    return this.#engine.events(await this.#keyOf(id), { ...EVERYTHING, ...range })
  }

  /** After an error the state may contain events that were not stored, so it is read again. */
  #dropAfterError(conversation: Conversation): void {
    bookkeepingOf(conversation).held = false
    this.drop(conversation.id)
  }

  #store(conversation: Conversation, { fence, arrivals, released }: Committed): void {
    const bookkeeping = bookkeepingOf(conversation)
    bookkeeping.fence = fence
    bookkeeping.held = !released
    conversation.arrivals = Math.max(conversation.arrivals, arrivals)
    this.#hot.keep(conversation, released && pauseReason(conversation) !== undefined)
  }

  async #read(id: ConversationId): Promise<Conversation> {
    const { head, conversation } = await readConversation(this.#engine, id)
    const { key, fence, arrivals, seen, owner } = head
    conversation.arrivals = arrivals
    const elsewhere = owner !== null && owner !== this.#node.id
    const leftBehind = { owned: owner !== null, elsewhere, handedOver: owner === RELEASED, unread: arrivals !== seen }
    attachBookkeeping(conversation, { key, fence, leftBehind })
    if (arrivals > 0) await readInbox(this.#engine, conversation)
    return conversation
  }

  async #keyOf(id: ConversationId): Promise<number> {
    const hot = this.#hot.get(id)
    return (hot ? bookkeepingOf(hot) : await readHead(this.#engine, id)).key
  }

  async #personKey(user: UserId): Promise<number> {
    const known = this.#people.get(user)
    if (known !== undefined) return known
    const [person] = await this.#engine.query<{ key: number }>("SELECT key FROM person WHERE id = ?", [user])
    if (!person) throw failure("not_found")
    this.#people.set(user, person.key)
    return person.key
  }

  /** Reads the state again as the writer, because the staged events were not recorded. */
  async #reread(conversation: Conversation): Promise<void> {
    const { id } = conversation
    const fresh = await this.#read(id)
    const bookkeeping = bookkeepingOf(fresh)
    if (bookkeeping.fence !== bookkeepingOf(conversation).fence) throw failure("lease_lost", { id })
    bookkeeping.held = true
    this.#hot.keep(fresh, false)
  }
}
