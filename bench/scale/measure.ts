import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import type { Contender } from "../contender.ts"
import { describeMachine } from "../machine.ts"
import { check, cpuMs, median, quantile } from "../meters.ts"
import { openContender } from "../open-contender.ts"
import { Places } from "../places.ts"
import { finalText, userText } from "../script.ts"
import { type Constants, CONSTANTS_FILE, type Phase } from "./constants.ts"

/**
 * Measures the cost of a turn on PostgreSQL for `docs/reference/scaling.md` and the simulation: `node
 * bench/scale/measure.ts` writes `constants.json` in this folder. Needs an idle machine: costs are CPU time, but the
 * rates that validate the simulation are by the clock.
 */
const WARM_MS = 3000
const PHASE_MS = 6000
const AT_ONCE = [1, 4, 16, 64]
const LONG_TURNS = 60
const COUNTED = 20

let [sent, changing] = [0, 0]
watchStatements()
await using places = new Places()
const postgres = await places.postgres()
await using place = await places.open("pawl-postgres")
const admin = new pg.Client(place.postgresUrl)
await admin.connect()
const contender = await openContender("pawl-postgres", { place })
const { load, ...machine } = describeMachine()

const number = async (sql: string): Promise<number> =>
  Number((await admin.query({ text: sql, rowMode: "array" })).rows[0]?.[0])
const walBytes = () => number("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
const diskBytes = () =>
  number(`SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = 'public'`)
const postmaster = Number(
  readFileSync(join((await admin.query("SHOW data_directory")).rows[0].data_directory, "postmaster.pid"), "utf8").split(
    "\n",
  )[0],
)

let begun = 0
async function turn(of: Contender = contender): Promise<void> {
  check((await of.turn(`conv_s${begun++}`, userText(0), true)) === finalText(0), "the answer of a short turn")
}

await phase(contender, 64, WARM_MS)
const diskBefore = await settledDisk()
const turnsBefore = begun
const phases: Phase[] = []
for (const atOnce of AT_ONCE) phases.push(await phase(contender, atOnce, PHASE_MS))
const newConversation = ((await settledDisk()) - diskBefore) / (begun - turnsBefore)
const { roundTrips, commits } = await countStatements(() => turn())
const furtherTurn = await longConversations(contender)
const floorPhases = await measureFloor()
const constants: Constants = {
  measured: new Date().toISOString().slice(0, 10),
  machine: { cpu: machine.cpu, cores: machine.cores, node: machine.node, commit: machine.commit, load: round(load) },
  postgres: postgres.version,
  ...{ roundTrips, commits, fsyncMs: round(fsyncMs()) },
  diskBytes: { newConversation: Math.round(newConversation), furtherTurn: Math.round(furtherTurn) },
  ...{ phases, floorPhases },
}
writeFileSync(CONSTANTS_FILE, `${JSON.stringify(constants, null, 2)}\n`)
console.log(JSON.stringify(constants, null, 2))
await contender.close()
await admin.end()

async function phase(of: Contender, atOnce: number, ms: number): Promise<Phase> {
  const times: number[] = []
  const [wal, database, node, start] = [await walBytes(), databaseCpuMs(), cpuMs(), performance.now()]
  const before = sent
  const lane = async () => {
    for (let from = performance.now(); from - start < ms; from = performance.now()) {
      await turn(of)
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  const seconds = (performance.now() - start) / 1000
  const turns = times.length
  return {
    ...{
      atOnce,
      perSecond: round(turns / seconds),
      p50: round(quantile(times, 0.5)),
      p99: round(quantile(times, 0.99)),
    },
    ...{ nodeMs: round((cpuMs() - node) / turns), databaseMs: round((databaseCpuMs() - database) / turns) },
    statements: round((sent - before) / turns),
    walBytes: Math.round(((await walBytes()) - wal) / turns),
  }
}

async function measureFloor(): Promise<Phase[]> {
  await using other = await places.open("floor-postgres")
  const floor = await openContender("floor-postgres", { place: other })
  await phase(floor, 64, WARM_MS)
  const found = [await phase(floor, 1, PHASE_MS), await phase(floor, 64, PHASE_MS)]
  await floor.close()
  return found
}

/** Conversations with many turns, for the cost of one more turn. */
async function longConversations(to: Contender): Promise<number> {
  const say = async (from: number, turns: number) => {
    for (let i = from; i < from + turns; i++)
      await Promise.all(Array.from({ length: 8 }, (_, n) => to.turn(`conv_long${n}`, userText(i), i === 0)))
  }
  await say(0, 10)
  const before = await settledDisk()
  await say(10, LONG_TURNS)
  return ((await settledDisk()) - before) / (8 * LONG_TURNS)
}

/** The size on disk after dead rows were removed, as autovacuum does in time. */
async function settledDisk(): Promise<number> {
  await admin.query("VACUUM")
  return diskBytes()
}

/** The CPU time of all processes of PostgreSQL, from the system's clock ticks. */
function databaseCpuMs(): number {
  const TICK_MS = 10
  let ticks = 0
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")
        .map(Number)
      const [, parent] = fields as [unknown, number]
      if (Number(pid) !== postmaster && parent !== postmaster) continue
      // The time of an ended backend is included in its parent's.
      ticks += fields.slice(11, Number(pid) === postmaster ? 15 : 13).reduce((sum, each) => sum + each, 0)
    } catch {
      // it has ended in the meantime
    }
  }
  return ticks * TICK_MS
}

async function countStatements(one: () => Promise<void>): Promise<{ roundTrips: number; commits: number }> {
  const [sentBefore, changingBefore] = [sent, changing]
  for (let i = 0; i < COUNTED; i++) await one()
  return { roundTrips: (sent - sentBefore) / COUNTED, commits: (changing - changingBefore) / COUNTED }
}

/** Counts the statements of all clients of this process. Must be called before the first is opened. */
function watchStatements(): void {
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: unknown, ...args: unknown[]) {
    const text = typeof args[0] === "string" ? args[0] : ((args[0] as { text?: string })?.text ?? "")
    sent++
    if (/\b(?:INSERT|UPDATE|DELETE)\b/.test(text)) changing++
    return Reflect.apply(query, this, args)
  } as typeof query
}

function fsyncMs(): number {
  const folder = mkdtempSync(join(process.env.BENCH_TMP ?? tmpdir(), "pawl-fsync-"))
  const file = openSync(join(folder, "wal"), "w")
  const block = Buffer.alloc(8192, "x")
  const times = Array.from({ length: 200 }, () => {
    const from = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return performance.now() - from
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  return median(times)
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
