import { type Conversation, pauseReason } from "../agent/conversation.ts"
import type { InboxItem, Input } from "../agent/input.ts"
import type { AppendOptions, Claimed, ClaimOptions, Journal, ReadRange } from "../agent/journal.ts"
import { replay, settled } from "../agent/replay.ts"
import { failure } from "../protocol/errors.ts"
import type { JournalEvent, UnknownEvent } from "../protocol/events.ts"
import { type ConversationId, type InboxId, newId, type UserId } from "../protocol/ids.ts"
import type { ProposalStatus } from "../protocol/proposal.ts"
import { toStorableJson } from "../protocol/text.ts"
import type { Engine } from "./engine.ts"
import { toEvent, toRow } from "./event-rows.ts"
import { HotConversations } from "./hot-conversations.ts"
import { toDeciding, toHeadRow, toProposalRows, toRunRow } from "./mirror.ts"
import type { ThisNode } from "./nodes.ts"
import type { Commit, Committed } from "./operations.ts"

const EVERYTHING = { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER }

/** The owner of a conversation whose writer went down in good order: no node has this id, so anyone may take it up. */
const NOBODY = "nobody"

interface Head {
  readonly key: number
  readonly user_id: UserId
  readonly fence: number
  readonly arrivals: number
  readonly seen: number
  readonly owner: string | null
}

/** The journal on either engine. It keeps folds hot, never copies them, and drops them after any error. */
export class SqlJournal implements Journal {
  readonly #engine: Engine
  readonly #node: ThisNode
  readonly #hot = new HotConversations()
  readonly #people = new Map<UserId, number>()

  constructor(engine: Engine, node: ThisNode) {
    this.#engine = engine
    this.#node = node
  }

  /** Whether this node is the writer of anything. */
  get holding(): boolean {
    return this.#hot.holding
  }

  async load(id: ConversationId, fresh = false): Promise<Conversation> {
    const hot = this.#hot.get(id)
    if (!hot || (fresh && !hot.lease.held)) return this.#read(id)
    if (hot.lease.arrivals > hot.lease.seen) await this.#readInbox(hot)
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
      return outcome.refused === "lost" ? "moved" : outcome.refused
    } catch (error) {
      this.#lose(conversation)
      throw error
    }
  }

  async append(
    conversation: Conversation,
    events: readonly JournalEvent[],
    { taken = [], release }: AppendOptions,
  ): Promise<void> {
    try {
      if (!conversation.lease.held) throw failure("lease_lost", { id: conversation.id })
      const { id: node, now } = this.#node
      const outcome = await this.#engine.change(
        toCommit(conversation, events, { lease: "hold", node, now, release, taken }),
      )
      if (!outcome.ok) throw failure("lease_lost", { id: conversation.id })
      this.#file(conversation, outcome.committed)
    } catch (error) {
      this.#lose(conversation)
      throw error
    }
  }

  async arrive(id: ConversationId, input: Input): Promise<"kept" | ProposalStatus> {
    const { key } = this.#hot.get(id)?.lease ?? (await this.#head(id))
    const deciding = toDeciding(input)
    const { now } = this.#node
    const body = toStorableJson(input)
    const outcome = await this.#engine.change({ type: "arrival", key, id: newId("in", now), body, now, deciding })
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

  async look(id: ConversationId): Promise<Conversation | undefined> {
    const hot = this.#hot.get(id)
    if (!hot?.lease.held) return undefined
    await this.#readInbox(hot)
    return hot
  }

  async release(id: ConversationId): Promise<void> {
    this.drop(id)
    const sql = "UPDATE conversation SET owner = ?, fence = fence + 1 WHERE id = ? AND owner = ?"
    await this.#engine.change({ type: "statements", statements: [{ sql, values: [NOBODY, id, this.#node.id] }] })
  }

  holds(id: ConversationId): boolean {
    return this.#hot.get(id)?.lease.held === true
  }

  drop(id: ConversationId): void {
    this.#hot.drop(id)
  }

  async read(id: ConversationId, range: ReadRange = {}): Promise<(JournalEvent | UnknownEvent)[]> {
    const { key } = this.#hot.get(id)?.lease ?? (await this.#head(id))
    return (await this.#engine.events(key, { ...EVERYTHING, ...range })).map(toEvent)
  }

  async abandoned(limit: number): Promise<ConversationId[]> {
    const open = "SELECT id FROM conversation WHERE (owner IS NOT NULL OR arrivals <> seen)"
    const others = `${open} AND (owner IS NULL
      OR (owner <> ? AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = owner AND expires_at > ?))) LIMIT ?`
    type Row = { id: ConversationId }
    const rows = await this.#engine.query<Row>(others, [this.#node.id, this.#node.now, limit])
    // What this node is at work on does not count against the limit: it would hide the others behind it.
    const own = await this.#engine.query<Row>(`${open} AND owner = ?`, [this.#node.id])
    return [...rows, ...own.filter(({ id }) => !this.holds(id))].map(({ id }) => id)
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
    if (arrivals > 0) await this.#readInbox(conversation)
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

  /** Adds what has arrived since the last look. Numbers only grow, so nothing is read twice, and so nothing taken twice. */
  async #readInbox(conversation: Conversation): Promise<void> {
    const { lease } = conversation
    const known = lease.arrivals // a count that we know was committed together with its rows
    const sql = "SELECT number, id, body FROM inbox WHERE conversation = ? AND number > ? ORDER BY number"
    const rows = await this.#engine.query<{ number: number; id: InboxId; body: string }>(sql, [lease.key, lease.seen])
    const unseen = rows.filter(({ number }) => number > lease.seen)
    const items = unseen.map(({ number, id, body }): InboxItem => ({ number, id, input: JSON.parse(body) as Input }))
    if (items.length > 0) conversation.inbox = [...conversation.inbox, ...items]
    lease.seen = Math.max(lease.seen, known, unseen.at(-1)?.number ?? 0)
    lease.arrivals = Math.max(lease.arrivals, lease.seen)
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
    events: events.map(toRow),
    run: changed.run ? toRunRow(conversation) : null,
    proposals: changed.proposals.size === 0 ? NONE : toProposalRows(conversation, deciding),
    taken,
    deciding,
  }
  settled(conversation)
  return commit
}
