import { setTimeout as sleep } from "node:timers/promises"
import { asksFor, asksTask } from "./long-reply.ts"
import { createToken, serve, type Served, type ServedOptions } from "./served.ts"

/** The kinds of conversations that are copied. */
export type Kind = "talk" | "applied" | "rejected" | "waiting" | "expired"

export interface Templates {
  readonly token: string
  /** The id of one conversation of each kind. */
  readonly ids: Readonly<Record<Kind, string>>
}

/** The number of events of a turn of plain text. */
const EVENTS_OF_A_TURN = 5
/** Long enough that a proposal is recorded as waiting, in minutes and in milliseconds. */
const SHORT_MINUTES = 0.02
const SHORT_MS = SHORT_MINUTES * 60_000 + 200

/** Long enough that waiting proposals have not expired when they are requested. */
const LONG_MINUTES = 24 * 60

interface Page {
  readonly items: { readonly id: string }[]
}

/** Creates one conversation of each kind with a server, each with about this many events. */
export async function holdTemplates(place: ServedOptions, events: number): Promise<Templates> {
  const token = await createToken(place)
  const turns = Math.max(1, Math.round(events / EVENTS_OF_A_TURN))
  const talk = async (served: Served) => {
    const id = await served.open()
    for (let turn = 1; turn < turns; turn++) await served.say(id, asksFor(turn))
    return id
  }
  const propose = async (served: Served) => {
    const id = await talk(served)
    await served.post(`/api/conversations/${id}/messages`, { text: asksTask(turns) })
    const { items } = (await served.get(`/api/agent/proposals?conversationId=${id}`)) as Page
    return { id, proposal: `/api/agent/proposals/${items[0]?.id}` }
  }
  let expired = ""
  {
    await using served = await serve({ ...place, proposalMinutes: SHORT_MINUTES }, token)
    expired = (await propose(served)).id
    await sleep(SHORT_MS)
    await served.say(expired, asksFor(turns)) // the next message settles the expired proposal
  }
  await using served = await serve({ ...place, proposalMinutes: LONG_MINUTES }, token)
  const plain = await talk(served)
  await served.say(plain, asksFor(turns))
  const [applied, rejected, waiting] = [await propose(served), await propose(served), await propose(served)]
  await served.post(`${applied.proposal}/commit`, {})
  await served.post(`${rejected.proposal}/reject`, {})
  for (const { id } of [applied, rejected]) await atRest(served, id)
  return { token, ids: { talk: plain, applied: applied.id, rejected: rejected.id, waiting: waiting.id, expired } }
}

/** Waits until the conversation is idle: after a decision the run continues by itself. */
async function atRest(served: Served, id: string): Promise<void> {
  const path = `/api/conversations/${id}`
  while (((await served.get(path)) as { status: string }).status === "running") await sleep(50)
}
