import { cpSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { median } from "../meters.ts"
import { checkFilled } from "./check-filled.ts"
import { fill } from "./fill.ts"
import { asksFor } from "./long-reply.ts"
import { serve, type Served, startProvider } from "./served.ts"
import { holdTemplates } from "./templates.ts"

export interface ManyConversations {
  readonly conversations: number
  /** The events of each conversation. A turn has five to six. */
  readonly events: number
  readonly launcher: string
  readonly folder: string
}

/** The size of the small database, to which the large one is compared. */
const SMALL = 100
const TIMES = 31
/** The conversations of each further user. The one who sends requests owns half of all. */
const CONVERSATIONS_OF_A_PERSON = 100
/** The number of the oldest conversations, as a page's cursor. */
const OLD = 300
/** How long an idle server is observed. */
const IDLE_MS = 20_000

/** The median time of each request in milliseconds, by name. */
export type RequestTimes = Readonly<Record<string, number>>

export interface ManySeen {
  readonly events: number
  readonly loadSeconds: number
  readonly small: RequestTimes
  readonly large: RequestTimes
}

/**
 * Compares the times of the same requests on a server with a small and with a large database. One conversation of each
 * kind is created by a server and copied in the database as often as needed.
 */
export async function manyConversations(load: ManyConversations): Promise<ManySeen> {
  await using provider = await startProvider(300, 24, 0)
  const place = (data: string) => ({ launcher: load.launcher, data: join(load.folder, data), provider: provider.url })
  const templates = await holdTemplates(place("template"), load.events)
  const [small, large] = [place("small"), place("large")]
  const filled = [
    [small, SMALL],
    [large, load.conversations],
  ] as const
  let [events, loadSeconds] = [0, 0]
  for (const [{ data }, conversations] of filled) {
    cpSync(place("template").data, data, { recursive: true })
    const begun = performance.now()
    const people = Math.ceil(conversations / CONVERSATIONS_OF_A_PERSON)
    events = fill(join(data, "pawl.db"), templates, { conversations, people }).events
    loadSeconds = (performance.now() - begun) / 1000
    await checkFilled(join(data, "pawl.db"))
  }
  const seen = await ask(small, large, templates.token)
  return { events, loadSeconds, ...seen }
}

type Place = Parameters<typeof serve>[0]

/** Alternates between both servers, so that disturbances affect both. */
export async function ask(
  small: Place,
  large: Place,
  token: string,
): Promise<{ small: RequestTimes; large: RequestTimes }> {
  const places = [small, large]
  const times = places.map(() => new Map<string, number[]>())
  const add = (which: number, what: string, ms: number) =>
    times[which]?.set(what, [...(times[which].get(what) ?? []), ms])
  // The first start of each fills the system's file cache.
  for (let round = 0; round < 4; round++) {
    for (const [which, at] of places.entries()) {
      await using served = await serve(at, token)
      if (round > 0) add(which, "start", served.startMs)
    }
  }
  await using ofSmall = await serve(small, token)
  await using ofLarge = await serve(large, token)
  const both = [ofSmall, ofLarge]
  const questions = await Promise.all(both.map(questionsTo))
  for (let time = 0; time < TIMES; time++) {
    for (const [which, asked] of questions.entries()) {
      for (const [name, question] of Object.entries(asked)) {
        const begun = performance.now()
        await question()
        add(which, name, performance.now() - begun)
      }
    }
  }
  // The work of an idle node: CPU time, and the longest blocking of the event loop.
  for (const served of both) await served.process.probe()
  const before = await Promise.all(both.map((served) => served.process.probe()))
  await sleep(IDLE_MS)
  for (const [which, served] of both.entries()) {
    const { cpuMs, heldMax } = await served.process.probe()
    add(which, "its own work, CPU ms a second", (cpuMs - (before[which]?.cpuMs ?? 0)) / (IDLE_MS / 1000))
    add(which, "its own work, loop held", heldMax)
  }
  const [of, by] = times.map((each) => Object.fromEntries([...each].map(([what, taken]) => [what, median(taken)])))
  return { small: of ?? {}, large: by ?? {} }
}

interface Page {
  readonly items: { readonly id: string }[]
  readonly nextCursor: string | null
}

/** A complete search, as the page does it: each page of results examines a limited number of titles. */
async function searched(get: (path: string) => Promise<Page>): Promise<void> {
  for (let cursor: string | null = ""; cursor !== null;) {
    const { nextCursor }: Page = await get(`/api/conversations?search=zeppelin${cursor && `&cursor=${cursor}`}`)
    cursor = nextCursor
  }
}

async function questionsTo(served: Served): Promise<Record<string, () => Promise<unknown>>> {
  const get = async (path: string) => (await served.get(path)) as Page
  // An old conversation of plain text.
  const old = await get(`/api/conversations?limit=50&cursor=${OLD}`)
  const id = old.items.at(-1)?.id ?? ""
  const runs = await get(`/api/conversations/${id}/runs`)
  const own = await served.open()
  // Searches among the newest of a large database; in a small one far from the old one that is requested.
  const { nextCursor } = await get("/api/conversations?limit=50")
  let cursor: string | null = nextCursor !== null && Number(nextCursor) > 95 ? nextCursor : "95"
  const erased = async () => {
    const page = await get(`/api/conversations?limit=1&cursor=${cursor}`)
    cursor = page.nextCursor
    await served.erase(`/api/conversations/${page.items[0]?.id}`)
  }
  return {
    list: () => get("/api/conversations?limit=50"),
    "list, the last page": () => get(`/api/conversations?limit=50&cursor=${OLD}`),
    "search, and nothing is found": () => searched(get),
    open: () => get(`/api/conversations/${id}`),
    messages: () => get(`/api/conversations/${id}/messages?limit=50`),
    "older messages": () => get(`/api/conversations/${id}/messages?before=20&limit=20`),
    "its runs": () => get(`/api/conversations/${id}/runs`),
    "one run": () => get(`/api/runs/${runs.items[0]?.id}`),
    "state in the middle": () => get(`/api/conversations/${id}/state?at=20`),
    // Only one item of each, because a small database has no full page of them.
    "what waits": () => get("/api/agent/proposals?status=pending&limit=1"),
    "expired unseen": () => get("/api/agent/proposals?status=expired&seen=false&limit=1"),
    "all proposals": () => get("/api/agent/proposals?limit=1"),
    "proposals of a conversation": () => get(`/api/agent/proposals?conversationId=${id}`),
    audit: () => get("/api/agent/audit?limit=1"),
    usage: () => get("/api/usage"),
    turn: () => served.say(own, asksFor(1)),
    "new conversation": async () => served.say(await served.open(), asksFor(1)),
    erase: erased,
  }
}
