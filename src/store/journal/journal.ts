import { type Conversation, pauseReason } from "../../agent/conversation.ts"
import type { Input } from "../../agent/input.ts"
import type {
  AppendOptions,
  Claimed,
  ClaimOptions,
  Death,
  EventPage,
  Journal,
  Judgement,
  PageRange,
  ReadRange,
  Recorded,
} from "../../agent/journal.ts"
import { replay, settled } from "../../agent/replay.ts"
import { failure } from "../../protocol/errors.ts"
import type { JournalEvent, UnknownEvent } from "../../protocol/events.ts"
import { type ConversationId, newId, type UserId } from "../../protocol/ids.ts"
import type { ProposalStatus } from "../../protocol/proposals/proposal.ts"
import { toStorableJson } from "../../protocol/text.ts"
import { Deaths } from "./deaths.ts"
import type { Engine } from "../engine/engine.ts"
import { type EventRow, toEvent, toPage, toRow } from "../engine/event-rows.ts"
import { HotConversations } from "./hot-conversations.ts"
import { readInbox } from "./inbox.ts"
import { type RecordedRow, readRecorded, toRecorded } from "./recorded.ts"
import { toAuditRows, toDeciding, toHeadRow, toProposalRows, toRunRow, toUsageRows } from "./mirror-rows.ts"
import type { ThisNode } from "./nodes.ts"
import type { Commit, Committed } from "../engine/operations.ts"

const EVERYTHING = { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER }

/** The owner of a conversation whose writer went down in good order: no node has this id, so anyone may take it up. */
const NOBODY = "nobody"

interface Head extends Omit<RecordedRow, "id" | "position"> {
  readonly key: number
  readonly user_id: UserId
}

/** The journal on either engine. It keeps folds hot, never copies them, and drops them after any error. */
export class SqlJournal implements Journal {
  readonly #engine: Engine
  readonly #node: ThisNode
  readonly #deaths: Deaths
  readonly #hot = new HotConversations()
  readonly #people = new Map<UserId, number>()

  constructor(engine: Engine, node: ThisNode) {
    this.#engine = engine
    this.#node = node
    this.#deaths = new Deaths(engine)
  }

  /** Whether this node is the writer of anything. */
  get holding(): boolean {
    return this.#hot.holding
  }

  async load(id: ConversationId, fresh = false): Promise<Conversation> {
    const hot = this.#hot.get(id)
    if (!hot || (fresh && !hot.lease.held)) return this.#read(id)
    if (hot.lease.arrivals > hot.lease.seen) await readInbox(this.#engine, hot)
    return hot
  }

  async create(conversation: Conversation, events: readonly JournalEvent[], hold: boolean): Promise<void> {
    if (hold) await this.#node.alive()
    const born = { id: conversation.id, person: await this.#personKey(conversation.user) }
    const { id: node, now } = this.#node
    const how = { lease: "create", node, now, release: !hold, born } as const
    const outcome = await this.#engine.change(toCommit(conversation, events, how))
    if (!outcome.ok) throw failure("bad_request", { problem: `There is a conversation ${conversation.id} already.` })
    conversation.lease.key = outcome.committed.key
    this.#file(conversation, outcome.committed)
  }

  async claim(conversation: Conversation, events: readonly JournalEvent[], options: ClaimOptions): Promise<Claimed> {
    const { release, withInbox = false, deciding } = options
    try {
      await this.#node.alive()
      const { id: node, now } = this.#node
      const how = { lease: "claim", node, now, release, withInbox, deciding: deciding && toDeciding(deciding) } as const
      const outcome = await this.#engine.change(toCommit(conversation, events, how))
      if (outcome.ok) {
        this.#file(conversation, outcome.committed)
        return "claimed"
      }
      this.drop(conversation.id)
      return outcome.refused === "lost" || outcome.refused === "unread" ? "moved" : outcome.refused
    } catch (error) {
      this.#lose(conversation)
      throw error
    }
  }

  async append(
    conversation: Conversation,
    events: readonly JournalEvent[],
    { taken = [], release }: AppendOptions,
  ): Promise<boolean> {
    const { lease } = conversation
    try {
      if (!lease.held) throw failure("lease_lost", { id: conversation.id })
      const { id: node, now } = this.#node
      for (const number of taken) lease.taken.add(number)
      const outcome = await this.#engine.change(
        toCommit(conversation, events, { lease: "hold", node, now, release, taken }),
      )
      if (!outcome.ok && outcome.refused === "unread") {
        await this.#reread(conversation)
        return false
      }
      if (!outcome.ok) throw failure("lease_lost", { id: conversation.id })
      this.#file(conversation, outcome.committed)
      return true
    } catch (error) {
      this.#lose(conversation)
      throw error
    }
  }

  async addToInbox(id: ConversationId, input: Input): Promise<"kept" | ProposalStatus> {
    const { key } = this.#hot.get(id)?.lease ?? (await this.#head(id))
    const deciding = toDeciding(input)
    const { now } = this.#node
    const body = toStorableJson(input)
    const outcome = await this.#engine.change({ type: "inbox", key, id: newId("in", now), body, now, deciding })
    if (outcome.ok) {
      const hot = this.#hot.get(id)
      if (hot) hot.lease.arrivals = Math.max(hot.lease.arrivals, outcome.arrived)
      return "kept"
    }
    const sql = "SELECT status FROM proposal WHERE id = ? AND conversation = ?"
    const [row] = deciding ? await this.#engine.query<{ status: ProposalStatus }>(sql, [deciding.proposal, key]) : []
    if (!row) throw failure("not_found")
    return row.status
  }

  async readInbox(id: ConversationId): Promise<Conversation | undefined> {
    const hot = this.#hot.get(id)
    if (!hot?.lease.held) return undefined
    await readInbox(this.#engine, hot)
    return hot
  }

  async release(id: ConversationId): Promise<void> {
    this.drop(id)
    const sql = "UPDATE conversation SET owner = ?, fence = fence + 1 WHERE id = ? AND owner = ?"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [NOBODY, id, this.#node.id] }] })
  }

  isWriterOf(id: ConversationId): boolean {
    return this.#hot.get(id)?.lease.held === true
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
    return rows.map((row) => toRecorded(row, this.isWriterOf(row.id) ? this.#hot.get(row.id)?.lease : undefined))
  }

  async abandoned(limit: number): Promise<ConversationId[]> {
    await this.#node.watch()
    const open = "SELECT id FROM conversation WHERE (owner IS NOT NULL OR arrivals <> seen)"
    const others = `${open} AND (owner IS NULL
      OR (owner <> ? AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner))) LIMIT ?`
    type Row = { id: ConversationId }
    const rows = await this.#engine.query<Row>(others, [this.#node.id, limit])
    // What this node is at work on does not count against the limit: it would hide the others behind it.
    const own = await this.#engine.query<Row>(`${open} AND owner = ?`, [this.#node.id])
    return [...rows, ...own.filter(({ id }) => !this.isWriterOf(id))].map(({ id }) => id)
  }

  suspected(): Promise<Death[]> {
    return this.#deaths.suspected(NOBODY)
  }

  judge(node: string, judged: Judgement): Promise<Judgement> {
    return this.#deaths.judge(node, judged)
  }

  async doubtful(limit: number): Promise<ConversationId[]> {
    // The first condition is that of the index, in its words: SQLite takes it only for these.
    const sql = `SELECT DISTINCT c.id FROM proposal p JOIN conversation c ON c.key = p.conversation
      WHERE p.status IN ('pending', 'applying', 'in_doubt') AND p.status = 'in_doubt' LIMIT ?`
    return (await this.#engine.query<{ id: ConversationId }>(sql, [limit])).map(({ id }) => id)
  }

  async #rows(id: ConversationId, range: ReadRange): Promise<EventRow[]> {
    const { key } = this.#hot.get(id)?.lease ?? (await this.#head(id))
    return this.#engine.events(key, { ...EVERYTHING, ...range })
  }

  /** After an error the truth is on disk: the fold holds events that may not be there. */
  #lose(conversation: Conversation): void {
    conversation.lease.held = false
    this.drop(conversation.id)
  }

  #file(conversation: Conversation, { fence, arrivals, released }: Committed): void {
    const { lease } = conversation
    lease.fence = fence
    lease.arrivals = Math.max(lease.arrivals, arrivals)
    lease.held = !released
    this.#hot.keep(conversation, released && pauseReason(conversation) !== undefined)
  }

  async #read(id: ConversationId): Promise<Conversation> {
    const { key, user_id, fence, arrivals, seen, owner } = await this.#head(id)
    const conversation = replay(id, user_id, (await this.#engine.eventsToFold(key)).map(toEvent))
    Object.assign(conversation.lease, {
      key,
      fence,
      arrivals,
      owned: owner !== null,
      handedOver: owner === NOBODY,
      unread: arrivals !== seen,
    })
    if (arrivals > 0) await readInbox(this.#engine, conversation)
    return conversation
  }

  async #head(id: ConversationId): Promise<Head> {
    const sql = `SELECT c.key, p.id AS user_id, c.fence, c.arrivals, c.seen, c.owner
      FROM conversation c JOIN person p ON p.key = c.person WHERE c.id = ?`
    const [head] = await this.#engine.query<Head>(sql, [id])
    if (!head) throw failure("not_found")
    return head
  }

  async #personKey(user: UserId): Promise<number> {
    const known = this.#people.get(user)
    if (known !== undefined) return known
    const [person] = await this.#engine.query<{ key: number }>("SELECT key FROM person WHERE id = ?", [user])
    if (!person) throw failure("not_found")
    this.#people.set(user, person.key)
    return person.key
  }

  /** The fold anew from disk, by the writer itself: what it had staged was not recorded. */
  async #reread({ id, lease: { fence } }: Conversation): Promise<void> {
    const fresh = await this.#read(id)
    if (fresh.lease.fence !== fence) throw failure("lease_lost", { id })
    fresh.lease.held = true
    this.#hot.keep(fresh, false)
  }
}

interface How extends Pick<Commit, "lease" | "node" | "now" | "release"> {
  readonly born?: Commit["born"]
  readonly withInbox?: boolean
  readonly deciding?: Commit["deciding"] | undefined
  readonly taken?: readonly number[]
}

const NONE: readonly never[] = []

/** Everything a commit changes, taken from the fold now: what is staged later belongs to the next one. */
function toCommit(conversation: Conversation, events: readonly JournalEvent[], how: How): Commit {
  const { lease, changed } = conversation
  const { born = null, withInbox = false, deciding = null, taken = NONE } = how
  const commit: Commit = {
    type: "commit",
    lease: how.lease,
    key: lease.key,
    node: how.node,
    now: how.now,
    fence: lease.fence,
    seen: lease.seen,
    withInbox,
    release: how.release,
    head: changed.head || how.release || how.lease !== "hold" ? toHeadRow(conversation) : null,
    born,
    after: events[0] ? events[0].position - 1 : conversation.position,
    events: events.map(toRow),
    run: changed.run ? toRunRow(conversation) : null,
    proposals: changed.proposals.size === 0 ? NONE : toProposalRows(conversation, deciding),
    audits: toAuditRows(conversation),
    // Only where a reply is new: a fork repeats what the conversation it comes from has paid for.
    usage: how.lease === "hold" ? toUsageRows(conversation, events) : NONE,
    taken,
    deciding,
  }
  settled(conversation)
  return commit
}
