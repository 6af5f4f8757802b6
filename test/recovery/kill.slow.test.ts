import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"
import type { JournalEvent } from "../../core/protocol/events.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { dice } from "../support/sampling.ts"
import { seedOf, sizes } from "../support/sizes.ts"
import type { AfterCrash } from "./payments.ts"
import { lifeNamed } from "../support/processes/package.ts"

const KINDS: AfterCrash[] = ["run-again", "ask-target", "in-doubt"]

/** PAWL_KILL_SEED repeats the same moments; how far the machine gets by then may differ. The test names contain it. */
const SEED = seedOf("PAWL_KILL_SEED")

/** Usually each kind on one engine, by the seed; on both in the long run, and if more rounds are requested. */
const all = databases.flatMap(({ name }) => KINDS.map((kind) => ({ name, kind })))
const chains = sizes.killRounds > 12 ? all : all.filter((_, at) => at % 2 === SEED % 2)
const kindsOn = (engine: string) => chains.filter(({ name }) => name === engine).map(({ kind }) => kind)
const ROUNDS_EACH = Math.ceil(sizes.killRounds / chains.length)

/** The time from ready to kill: long enough to outlast a lease and pay a few times. */
const LONGEST_LIFE_MS = 300

/** When a process is killed: so long after it has logged so many lines since it was ready. */
interface Death {
  readonly told: number
  readonly ms: number
}

/** By time, and by progress: on a busy machine a process that lives for milliseconds does nothing at all. */
const deathOf = (round: number, roll: () => number): Death =>
  round % 2 === 0 ? { told: 0, ms: roll() * LONGEST_LIFE_MS } : { told: Math.floor(roll() * 10), ms: roll() * 15 }

/** Runs one process; without a kill it finishes. */
async function live(settings: object, death?: Death): Promise<string[]> {
  const script = lifeNamed("bank-life")
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "pipe"],
  })
  const lines: string[] = []
  let complaints = ""
  child.stderr?.on("data", (text) => (complaints += text))
  const ended = once(child, "close") // its exit may be known before the last line that it said
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    lines.push(line)
    const told = lines.length - 1 - lines.indexOf("ready")
    if (death && lines.includes("ready") && told === death.told) setTimeout(() => child.kill("SIGKILL"), death.ms)
  })
  const [code, signal] = (await ended) as [number | null, string | null]
  if (signal !== "SIGKILL" && code !== 0)
    throw new Error(`a life ended by itself with ${code}: ${complaints}\n${lines.join("\n")}`)
  return lines
}

describe.each(databases)("on $name", ({ name, create }) => {
  // Run concurrently: each is a chain of processes that mostly wait to be killed.
  test.concurrent.each(kindsOn(name))(
    `${ROUNDS_EACH} processes end by kill -9 at any moment: what was acknowledged holds, nothing is paid twice (%s, PAWL_KILL_SEED=${SEED})`,
    async (afterCrash) => {
      await using database = await create()
      const folder = await mkdtemp(join(tmpdir(), "pawl-kill-"))
      const settings = { url: database.url, bank: join(folder, "bank.db"), afterCrash }
      const told: string[] = []
      const roll = dice(SEED)
      const seedOfLife = () => Math.floor(roll() * 1e9)
      for (let round = 0; round < ROUNDS_EACH; round++) {
        const death = deathOf(round, roll)
        told.push(...(await live({ ...settings, finish: false, seed: seedOfLife() }, death)))
      }
      told.push(...(await live({ ...settings, finish: true, seed: seedOfLife() })))
      await using store = await openStore({ url: database.url })
      await expectTheTruth(store, new DatabaseSync(settings.bank), told)
      await rm(folder, { recursive: true, force: true })
    },
    300_000,
  )
})

async function expectTheTruth(store: Store, bank: DatabaseSync, told: string[]): Promise<void> {
  const { engine } = store
  const about = (what: string) =>
    told.filter((line) => line.startsWith(`${what} `)).map((line) => line.split(" ")[1] as string)
  expect(told.filter((line) => /^(broken-history|problem)/.test(line))).toEqual([])
  expect(about("message").length, "the lives must have got something done").toBeGreaterThan(ROUNDS_EACH / 6)

  const conversations = await engine.query<{ id: string; status: string; owner: string | null }>(
    "SELECT id, status, owner FROM conversation",
    [],
  )
  const known = new Set(conversations.map(({ id }) => id))
  expect(
    about("message").filter((id) => !known.has(id)),
    "acknowledged messages that are lost",
  ).toEqual([])
  expect(conversations.filter(({ status, owner }) => status !== "active" || owner !== null)).toEqual([])

  const proposals = await engine.query<{ id: string; conversation_id: string; status: string }>(
    "SELECT * FROM proposals",
    [],
  )
  const statusOf = new Map(proposals.map(({ id, status }) => [id, status]))
  expect([...new Set(about("commit").map((id) => statusOf.get(id)))].filter((status) => status !== "applied")).toEqual(
    [],
  )
  expect([...new Set(about("reject").map((id) => statusOf.get(id)))].filter((status) => status !== "rejected")).toEqual(
    [],
  )

  const payments = bank
    .prepare("SELECT conversation, count(*) AS times, min(wanted) AS wanted FROM payment GROUP BY conversation")
    .all()
  expect(
    payments.filter(({ times, wanted }) => times !== 1 || wanted !== 1),
    "paid twice, or against the person's will",
  ).toEqual([])
  const paid = new Set(payments.map(({ conversation }) => conversation))
  const own = await ownWrites(store, [...known])
  const applied = proposals.filter(({ id, status }) => status === "applied" && !own.proposed.has(id))
  expect(
    applied.filter(({ conversation_id }) => !paid.has(conversation_id)),
    "said to be applied, but not paid",
  ).toEqual([])

  expect(own.doubts, "writes to our own table that were in doubt").toBe(0)
  const [rows] = await engine.query<{ count: number }>("SELECT count(*) AS count FROM task", [])
  const done = proposals.filter(({ id, status }) => status === "applied" && own.proposed.has(id))
  expect([Number(rows?.count), done.length], "each of them is done once").toEqual([
    own.proposed.size,
    own.proposed.size,
  ])

  const gaps = await engine.query(
    "SELECT conversation FROM event GROUP BY conversation HAVING max(position) <> count(*)",
    [],
  )
  expect(gaps).toEqual([])
  const said = await engine.query(
    "SELECT conversation_id FROM messages WHERE role = 'user' GROUP BY conversation_id HAVING count(*) <> 1",
    [],
  )
  expect(said).toEqual([])
  bank.close()
}

/** The writes to our own table, and how often their outcome was unknown, also if it was resolved later. */
async function ownWrites(
  { journal }: Store,
  ids: readonly string[],
): Promise<{ proposed: Set<string>; doubts: number }> {
  const proposed = new Set<string>()
  let doubts = 0
  for (const id of ids) {
    const events = (await journal.read(id as ConversationId)) as JournalEvent[]
    const own = events.flatMap((event) =>
      event.type === "awaiting_confirmation" ? event.proposals.filter(({ tool }) => tool === "create_task") : [],
    )
    for (const { id: proposal } of own) proposed.add(proposal)
    const calls = new Set<string>(own.map(({ callId }) => callId))
    doubts += events.filter((event) => isDoubt(event) && calls.has(event.callId)).length
  }
  return { proposed, doubts }
}

type Doubt = Extract<JournalEvent, { type: "in_doubt" | "tool_end" }>

const isDoubt = (event: JournalEvent): event is Doubt =>
  event.type === "in_doubt" || (event.type === "tool_end" && event.status === "in_doubt")
