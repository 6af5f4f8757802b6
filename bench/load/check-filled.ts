import { isDeepStrictEqual as same } from "node:util"
import { conversationStatus, runStatus } from "../../core/engine/conversation.ts"
import { replay } from "../../core/engine/replay/replay.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import { type ConversationId, isId, slotOf, type UserId } from "../../core/protocol/ids.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { check } from "../meters.ts"

/** The number of conversations that are compared completely, spread over all of them. */
const LOOKED_AT = 300

interface Row {
  readonly key: number
  readonly id: ConversationId
  readonly user: UserId
  readonly status: string
}

/** Throws unless the rows of a filled database equal those that the server would compute from its journal. */
export async function checkFilled(file: string): Promise<void> {
  await using store = await openStore({ url: `file:${file}`, durability: "normal" })
  const one = async (sql: string) => (await store.engine.query<{ n: number }>(sql, []))[0]?.n ?? 0
  const last = await one("SELECT max(key) AS n FROM conversation")
  // A run and its rows are written in one commit, so neither side may have more.
  const begun = await one(
    "SELECT count(*) AS n FROM event e JOIN run r ON r.id = e.message_id WHERE e.type = 'run_started'",
  )
  check(begun === (await one("SELECT count(*) AS n FROM run")), "a row for each run")
  for (let at = 0; at < LOOKED_AT; at++) {
    const sql = `SELECT c.key, c.id, p.id AS user, c.status FROM conversation c JOIN person p ON p.key = c.person
      WHERE c.key >= ? ORDER BY c.key LIMIT 1`
    const [row] = await store.engine.query<Row>(sql, [1 + Math.floor((at * (last - 1)) / LOOKED_AT)])
    if (row) await checkConversation(store, row)
  }
}

async function checkConversation(store: Store, { key, id, user, status }: Row): Promise<void> {
  const holds = (so: boolean, what: string) => check(so, `${what} of ${id}`)
  holds(isId("conv", id) && slotOf(id) === slotOf(user), "the id")
  const events = (await store.journal.read(id)) as JournalEvent[]
  holds(
    same(
      events.map(({ position }) => position),
      events.map((_, at) => at + 1),
    ),
    "the positions",
  )
  const onDisk = replay(id, user, events)
  const loaded = await store.journal.load(id)
  const { inbox: _, arrivals: __, ...fold } = loaded
  const { inbox: ___, arrivals: ____, ...wanted } = onDisk
  holds(same(fold, wanted), "the fold")
  holds(status === conversationStatus(onDisk), "the status")
  const ask = <Found>(sql: string, value: string | number) => store.engine.query<Found>(sql, [value])
  const runs = await ask<{ status: string }>("SELECT status FROM runs WHERE id = ?", onDisk.run?.id ?? "")
  holds(
    same(
      runs.map((run) => run.status),
      [runStatus(onDisk)],
    ),
    "the run",
  )
  const proposals = await ask<{ id: string; status: string }>(
    "SELECT id, status FROM proposal WHERE conversation = ?",
    key,
  )
  for (const { id: proposal, status: said } of proposals) {
    const known = onDisk.proposals.get(proposal as never)
    holds(known === undefined || known.status === said, "a proposal")
    holds((await store.proposals.find(user, proposal as never)) !== undefined, "the words of a proposal")
  }
  const audited = await ask<{ id: string }>("SELECT proposal_id AS id FROM audit_entry WHERE conversation_id = ?", id)
  const applied = proposals.filter(({ status: said }) => said === "applied")
  holds(
    same(
      audited.map((entry) => entry.id),
      applied.map((proposal) => proposal.id),
    ),
    "the audit",
  )
  // The cost of a reply is stored with it.
  const usage = await ask<{ id: string; person: string; day: string }>(
    "SELECT id, person, day FROM usage WHERE conversation = ?",
    id,
  )
  const replies = events.filter((event) => event.type === "message" && event.role === "assistant")
  const sorted = (all: string[]) => all.sort()
  holds(
    same(
      sorted(usage.map((used) => used.id)),
      sorted(replies.map((reply) => (reply.type === "message" ? reply.id : ""))),
    ),
    "what was used",
  )
  const dayOf = new Map(
    replies.map((reply) => [reply.type === "message" ? reply.id : "", new Date(reply.at).toISOString().slice(0, 10)]),
  )
  holds(
    usage.every((used) => used.person === user && used.day === dayOf.get(used.id as never)),
    "the days of what was used",
  )
}
