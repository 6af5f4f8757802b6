import { cpSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { median } from "../meters.ts"
import { asksFor } from "./long-reply.ts"
import { createToken, serve, type Served, startProvider } from "./served.ts"

export interface ManyConversations {
  readonly conversations: number
  /** Of each, about: a turn has five to six. */
  readonly events: number
  readonly launcher: string
  readonly folder: string
}

/** So many are the small database that the large one is held against. */
const SMALL = 100
const TIMES = 31
const EVENTS_OF_A_TURN = 5

/** What a person does, and how long it takes with so many conversations, in milliseconds: the median. */
export type Asked = Readonly<Record<string, number>>

export interface ManySeen {
  readonly events: number
  readonly loadSeconds: number
  readonly small: Asked
  readonly large: Asked
}

/**
 * One conversation is held, and copied in the database as often as is wanted: what a server with a small and with a large
 * database takes for the same questions, one after the other.
 */
export async function manyConversations(load: ManyConversations): Promise<ManySeen> {
  await using provider = await startProvider(300, 24, 0)
  const place = (data: string) => ({ launcher: load.launcher, data: join(load.folder, data), provider: provider.url })
  const token = await createToken(place("template"))
  {
    await using served = await serve(place("template"), token)
    const id = await served.open()
    for (let turn = 0; turn * EVENTS_OF_A_TURN < load.events; turn++) await served.say(id, asksFor(turn))
  }
  const seen: Asked[] = []
  let [events, loadSeconds] = [0, 0]
  for (const [name, count] of [
    ["small", SMALL],
    ["large", load.conversations],
  ] as const) {
    cpSync(place("template").data, place(name).data, { recursive: true })
    const begun = performance.now()
    events = copyConversation(join(place(name).data, "pawl.db"), count)
    loadSeconds = (performance.now() - begun) / 1000
  }
  // In turn, so that neither has the quieter time; the first start of each fills the system's file cache.
  const [small, large] = [place("small"), place("large")]
  const starts: Record<string, number[]> = { small: [], large: [] }
  for (let round = 0; round < 4; round++) {
    for (const [name, at] of Object.entries({ small, large })) {
      await using served = await serve(at, token)
      if (round > 0) starts[name]?.push(served.startMs)
    }
  }
  await using ofSmall = await serve(small, token)
  await using ofLarge = await serve(large, token)
  const asked = [await questionsTo(ofSmall), await questionsTo(ofLarge)]
  const times = asked.map((questions) =>
    Object.fromEntries(Object.keys(questions).map((name) => [name, [] as number[]])),
  )
  for (let time = 0; time < TIMES; time++) {
    for (const [which, questions] of asked.entries()) {
      for (const [name, ask] of Object.entries(questions)) {
        const begun = performance.now()
        await ask()
        times[which]?.[name]?.push(performance.now() - begun)
      }
    }
  }
  for (const [which, name] of ["small", "large"].entries())
    seen.push({
      start: median(starts[name] ?? []),
      ...Object.fromEntries(Object.entries(times[which] ?? {}).map(([what, taken]) => [what, median(taken)])),
    })
  return { events, loadSeconds, small: seen[0] ?? {}, large: seen[1] ?? {} }
}

interface Page {
  readonly items: { readonly id: string }[]
  readonly nextCursor: string | null
}

async function questionsTo(served: Served): Promise<Record<string, () => Promise<unknown>>> {
  const first = (await served.get("/api/conversations?limit=50")) as Page
  let old = first
  for (let page = 0; page < 5 && old.nextCursor !== null; page++)
    old = (await served.get(`/api/conversations?limit=50&cursor=${old.nextCursor}`)) as Page
  const id = old.items[0]?.id ?? first.items[0]?.id ?? ""
  const runs = (await served.get(`/api/conversations/${id}/runs`)) as { items: { id: string }[] }
  const own = await served.open()
  return {
    list: () => served.get("/api/conversations?limit=50"),
    "list further down": () => served.get(`/api/conversations?limit=50&cursor=${old.nextCursor ?? first.nextCursor}`),
    open: () => served.get(`/api/conversations/${id}`),
    "older messages": () => served.get(`/api/conversations/${id}/messages?before=20&limit=20`),
    "its runs": () => served.get(`/api/conversations/${id}/runs`),
    "one run": () => served.get(`/api/runs/${runs.items[0]?.id}`),
    "state in the middle": () => served.get(`/api/conversations/${id}/state?at=20`),
    "what waits": () => served.get("/api/agent/proposals?status=pending"),
    audit: () => served.get("/api/agent/audit"),
    usage: () => served.get("/api/usage"),
    turn: () => served.say(own, asksFor(1)),
  }
}

/** Copies the first conversation, its runs and what they cost, `count` times. Gives the number of events. */
function copyConversation(file: string, count: number): number {
  const database = new DatabaseSync(file)
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA foreign_keys = OFF")
  const columns = (table: string, given: Record<string, string>) => {
    const names = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[]
    const values = names.map(({ name }) => given[name] ?? `t.${name}`)
    return `INSERT INTO ${table} (${names.map(({ name }) => name).join()}) SELECT ${values.join()} FROM ${table} t`
  }
  // Other ids of the same length: letters of the middle are the number, those at the end say whose it is.
  const renamed = (column: string, number = "?1") =>
    `substr(${column}, 1, 9) || replace(printf('%09d', ${number}), '0', 'z') || substr(${column}, 19)`
  const copies = [
    columns("conversation", { key: "?1 + 1", id: renamed("t.id") }) + " WHERE t.key = 1",
    columns("event", { conversation: "?1 + 1" }) + " WHERE t.conversation = 1",
    columns("run", { conversation: "?1 + 1", id: renamed("t.id") }) + " WHERE t.conversation = 1",
    columns("usage", { run: renamed("t.run"), conversation: renamed("t.conversation") }) +
      " WHERE t.conversation = (SELECT id FROM conversation WHERE key = 1)",
  ].map((sql) => database.prepare(sql))
  database.exec("BEGIN")
  for (let i = 1; i < count; i++) {
    for (const copy of copies) copy.run(i)
    if (i % 1000 === 0) database.exec("COMMIT; BEGIN")
  }
  // The event that begins a run names it; a conversation's runs are found by that.
  const name = renamed("message_id", "conversation - 1")
  database.exec(`UPDATE event SET message_id = ${name} WHERE type = 'run_started' AND conversation > 1`)
  database.exec("COMMIT")
  const { events } = database.prepare("SELECT count(*) AS events FROM event").get() as { events: number }
  database.close()
  return events
}
