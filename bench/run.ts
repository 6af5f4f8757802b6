/** Compares the runtime with hand-written floors: see --help and README.md in this folder. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type FloorName, needsPostgres, type OursName } from "./contender.ts"
import { type Round, type Series, toRow } from "./judge.ts"
import { describeMachine } from "./machine.ts"
import { measures } from "./measures.ts"
import type { Numbers } from "./meters.ts"
import { type Options, readOptions, USAGE } from "./options.ts"
import { noNats } from "./nodes/nats.ts"
import { Places } from "./places.ts"
import { toPlot } from "./plot.ts"
import { profile } from "./profile.ts"
import { runWorkload, type Workload } from "./run-workload.ts"
import { type Sizes, sizes } from "./sizes.ts"
import { toTable } from "./table.ts"

/** More than the cores of most machines: a smoke run mostly waits for processes, and for leases of killed processes. */
const QUICK_LANES = 4
const needsNats = (workload: Workload) => workload === "w11" || workload === "w12"
/** Leases of killed processes expire after many seconds, so this workload starts first and waits while others run. */
const WAITS_LONGEST: Workload = "w7"

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130))
process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  let options: Options
  try {
    if (args.includes("--help")) throw new TypeError("usage")
    options = readOptions(args)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  await using places = new Places()
  if (options.profile) {
    // A long run, so that the start and the compiler are a small part of the profile.
    const size = options.size === "usual" ? "full" : options.size
    console.log(await profile({ ...options.profile, sizes: sizes[size], places }))
    return 0
  }
  return await compare(options, places)
}

/** Exit code 1 if an answer or a transcript was wrong, or a workload did not run. Times do not affect it. */
async function compare(options: Options, places: Places): Promise<number> {
  const started = performance.now()
  const machine = describeMachine()
  const judges = options.size !== "quick"
  // If times are judged, one workload runs at a time.
  const isFirst = ({ workload }: Pair) => !judges && workload === WAITS_LONGEST
  const lanes = { count: judges ? 1 : QUICK_LANES, isFirst }
  const all = await inLanes(lanes, pairs(options), (pair) => measure(pair, options, places))
  const rows = all.flatMap((series) => {
    const lines = measures.filter(({ workload, ours }) => workload === series.workload && ours === series.ours)
    return lines.map((line) => toRow(line, series, judges ? machine.slowness : undefined))
  })
  const seconds = Math.round((performance.now() - started) / 1000)
  const named = `${machine.cores} × ${machine.cpu} (${machine.arch})`
  const slow = machine.slowness > 1.05 ? `, bounds in time × ${machine.slowness.toFixed(2)}` : ""
  const subtitle = `${named}, Node ${machine.node}${slow}, ${options.size}${judges ? "" : ": times are not judged"}`
  write(options, { machine, size: options.size, seconds, rows, runs: all }, toPlot(rows, subtitle))
  console.log(
    `${toTable(rows)}\n\n${subtitle}, ${seconds} s, load ${machine.load.toFixed(1)}, node -e 0: ${machine.nodeStartMs} ms`,
  )
  const lost = rows.filter(({ unit, oursValue }) => unit === "lost" && oursValue !== null && oursValue > 0)
  return all.some(({ failed }) => failed !== undefined) || lost.length > 0 ? 1 : 0
}

interface Lanes<Item> {
  readonly count: number
  readonly isFirst: (item: Item) => boolean
}

/** Results are in the order of the items, independent of the order of execution. */
async function inLanes<Item, Result>(
  { count, isFirst }: Lanes<Item>,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
) {
  const results: Result[] = []
  const rest = [...items.entries()].sort(([, a], [, b]) => Number(isFirst(b)) - Number(isFirst(a)))
  const lane = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all(Array.from({ length: count }, lane))
  return results
}

interface Pair {
  readonly workload: Workload
  readonly ours: OursName
  readonly floors: readonly FloorName[]
}

function pairs({ workloads, only }: Options): Pair[] {
  return workloads.flatMap((workload) => {
    const lines = measures.filter((line) => line.workload === workload && (!only || only.includes(line.ours)))
    const names = [...new Set(lines.map(({ ours }) => ours))]
    return names.map((ours) => ({
      workload,
      ours,
      floors: [...new Set(lines.filter((line) => line.ours === ours).map(({ floor }) => floor))],
    }))
  })
}

async function measure({ workload, ours, floors }: Pair, options: Options, places: Places): Promise<Series> {
  const { size } = options
  const rounds: Round[] = []
  console.error(`${workload} ${ours} …`)
  if (noNats !== undefined && needsNats(workload)) return { workload, ours, rounds, skipped: noNats }
  if (needsPostgres(ours)) {
    const problem = await places.postgres().then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (problem !== undefined) return { workload, ours, rounds, skipped: `no PostgreSQL (${problem})` }
  }
  const asked = sizesOf(options)
  const run = (variant: FloorName | OursName) => runWorkload({ workload, variant, sizes: asked, places })
  try {
    for (let round = 0; round < sizes[size].rounds; round++) {
      const beside: Partial<Record<FloorName, Numbers[]>> = {}
      // A smoke run skips floors that prove nothing about ours.
      if (size !== "quick" || workload !== "w0") for (const floor of floors) beside[floor] = [await run(floor)]
      const numbers = await run(ours)
      if (size !== "quick") for (const floor of floors) beside[floor]?.push(await run(floor))
      rounds.push({ ours: numbers, floors: beside })
    }
    return { workload, ours, rounds }
  } catch (error) {
    return { workload, ours, rounds, failed: (error as Error).message }
  }
}

function sizesOf({ size, passages }: Options): Sizes {
  const { w8, ...others } = sizes[size]
  return { ...others, w8: passages === undefined ? w8 : { ...w8, passages } }
}

function write({ out, size }: Options, results: object, plot: string): void {
  const folder = out ?? join(import.meta.dirname, "out")
  const name = size === "quick" ? "quick" : "results"
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(join(folder, `${name}.svg`), plot)
}
