import pg from "pg"
import { type Conversation } from "../../core/engine/conversation.ts"
import { emptyConversation } from "../../core/engine/empty-conversation.ts"
import type { AppendOptions } from "../../core/engine/journal.ts"
import { stage } from "../../core/engine/replay/replay.ts"
import type { NewEvent } from "../../core/protocol/events.ts"
import { type ConversationId, newId } from "../../core/protocol/ids.ts"
import type { EventRow } from "../../core/store/engine/event-rows.ts"
import type { DatabaseTimeouts } from "../../core/store/engine/engine.ts"
import { SqlJournal } from "../../core/store/journal/journal.ts"
import { ThisNode } from "../../core/store/journal/nodes.ts"
import { bookkeepingOf } from "../../core/store/journal/bookkeeping.ts"
import { openStore, type Store } from "../../core/store/store.ts"

const START = Date.UTC(2026, 0, 1)
const clock = { now: () => START, monotonic: () => START, alarm: () => () => {} }
const STARTED = {
  type: "conversation_started",
  agent: "a",
  model: null,
  provider: null,
  mode: "confirm",
  title: null,
} as const

export const many = <T>(count: number, each: T): T[] => new Array<T>(count).fill(each)

interface Appending {
  readonly release?: boolean
  readonly taken?: AppendOptions["taken"]
}

/** One node with many conversations, whose journal is written to directly. */
export async function openMany({ url }: { readonly url: string }, settings: { waits?: DatabaseTimeouts }) {
  const store = await openStore({ url, clock, durability: "normal", ...settings })
  return new ManyConversations(store, url)
}

export class ManyConversations implements AsyncDisposable {
  readonly url: string
  readonly journal: SqlJournal
  readonly #store: Store
  readonly #node: ThisNode

  constructor(store: Store, url: string) {
    this.url = url
    this.#store = store
    this.#node = this.#newNode()
    this.journal = new SqlJournal(store.engine, this.#node)
  }

  #newNode(): ThisNode {
    return new ThisNode({ ...this.#store.engine, exclusive: false }, { clock })
  }

  otherNode() {
    const journal = new SqlJournal(this.#store.engine, this.#newNode())
    const claim = (each: Conversation, words: string) =>
      journal.claim(each, stage(each, [{ type: "step", step: words }], START), { release: false })
    return { journal, claim }
  }

  async begin(count: number, how: "held" | "resting" = "held"): Promise<Conversation[]> {
    const { id: user } = await this.#store.people.ensure("ada", START)
    const [first] = await this.#create([emptyConversation(newId("conv"), user)], how)
    const rest = Array.from({ length: count - 1 }, () => emptyConversation(newId("conv"), user))
    return first ? [first, ...(await this.#create(rest, how))] : []
  }

  /** Whether each could be created under this id. */
  async beginAll(ids: readonly string[]): Promise<boolean[]> {
    const { id: user } = await this.#store.people.ensure("ada", START)
    const each = ids.map((id) => this.#create([emptyConversation(id as ConversationId, user)], "held"))
    return Promise.all(
      each.map((begun) =>
        begun.then(
          () => true,
          () => false,
        ),
      ),
    )
  }

  async #create(all: Conversation[], how: "held" | "resting"): Promise<Conversation[]> {
    await Promise.all(all.map((each) => this.journal.create(each, stage(each, [STARTED], START), how === "held")))
    return all
  }

  append(each: Conversation, type: "step" | "settings", words: string, how: Appending = {}): Promise<boolean> {
    const event: NewEvent = type === "step" ? { type, step: words } : { type, title: words }
    return this.journal.append(each, stage(each, [event], START), { release: false, ...how })
  }

  /** True, or the code of the refusal. */
  outcome(each: Conversation, words = "words"): Promise<boolean | string> {
    return this.append(each, "step", words).catch((error: { code: string }) => error.code)
  }

  /** The same without the state, which would repair the text first. */
  write(each: Conversation, words: string): Promise<boolean | string> {
    const { key, fence } = bookkeepingOf(each)
    const [lease, node, now] = ["hold", this.#node.id, START] as const
    const none = { head: null, born: null, runs: [], proposals: [], audits: [], usage: [], taken: [], deciding: null }
    const events: EventRow[] = [[2, "step", 1, START, null, null, null, words, null, null, null]]
    const where = { key, fence, seen: 0, after: 1, withInbox: false, release: false }
    const commit = { type: "commit", lease, node, now, ...where, ...none, events } as const
    const change = this.#store.engine.change(commit)
    return change.then(
      ({ ok }) => ok,
      (error: { code: string }) => error.code,
    )
  }

  query<Row = unknown>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#store.engine.query<Row>(sql, values)
  }

  async wordsIn({ id }: Conversation): Promise<unknown[]> {
    const events = await this.otherNode().journal.read(id)
    return events.slice(1).map((event) => ("step" in event ? event.step : "title" in event ? event.title : undefined))
  }

  /** The number of events after the first ones. */
  written(): Promise<number> {
    return this.#count("SELECT count(*) AS n FROM event WHERE position > 1")
  }

  /** How many transactions have written the events at this position of their conversations. */
  transactionsAt(position: number): Promise<number> {
    return this.#count(`SELECT count(DISTINCT xmin::text) AS n FROM event WHERE position = ${position}`)
  }

  async #count(sql: string): Promise<number> {
    const [row] = await this.query<{ n: number }>(sql)
    return row?.n ?? 0
  }

  /** Another session that locks these conversations, as a writer does. */
  async holding(ids: readonly string[]) {
    const client = new pg.Client(this.url)
    await client.connect()
    await client.query("BEGIN")
    await client.query("SELECT 1 FROM conversation WHERE id = ANY ($1) FOR NO KEY UPDATE", [ids])
    return {
      query: (text: string, values: unknown[]) => client.query(text, values),
      letGo: () => client.query("COMMIT"),
      [Symbol.asyncDispose]: () => client.end(),
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#store[Symbol.asyncDispose]()
  }
}
