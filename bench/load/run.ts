/** Measures a server under load: see --help, and docs/speed.md for results. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { describeMachine } from "../machine.ts"
import { buildPackage } from "../nodes/package.ts"
import { type LoadSeen, measureFloor, measureOurs } from "./large-replies.ts"
import { growthOf, longRun, type Stretch } from "./long-run.ts"
import { manyConversations } from "./many-conversations.ts"

const USAGE = `npm run bench:load -- large [--conversations 200] [--characters 300000] [--delta 24] [--seconds 0] [--watchers 5]
    many large replies at once; --seconds is how long the provider takes for each, 0: as fast as it is read
npm run bench:load -- long [--minutes 2] [--conversations 200] [--think 0]
    a server under many conversations for long (30 before claiming anything): what grows with time; --think is how many
    seconds a person waits before the next words, 0: as fast as answers come
npm run bench:load -- many [--conversations 10000] [--events 100]
    what a person waits for in a large database, against a small one; events are those of each conversation`

const root = mkdtempSync(join(process.env.BENCH_TMP ?? tmpdir(), "pawl-load-"))
process.on("exit", () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130))

async function main([what, ...args]: string[]): Promise<number> {
  const { node, cpu, cores, load, commit } = describeMachine()
  const run = what === "large" ? large : what === "long" ? long : what === "many" ? many : undefined
  if (!run) {
    console.error(USAGE)
    return 2
  }
  console.log(`${cores} × ${cpu}, ${process.arch}, Node ${node}, ${commit}, load ${load.toFixed(1)}`)
  return await run(args, await buildPackage(join(root, "package")))
}

/**
 * The limits of the server's own work in milliseconds. Its memory may grow by as much as the floor's, which stores
 * almost nothing.
 */
const LARGE_MUST = { heldP99: 50, heldMax: 250 }

async function large(args: string[], launcher: string): Promise<number> {
  const options = {
    conversations: { type: "string", default: "200" },
    characters: { type: "string", default: "300000" },
    delta: { type: "string", default: "24" },
    seconds: { type: "string", default: "0" },
    watchers: { type: "string", default: "5" },
  } as const
  const { values } = parseArgs({ args, options })
  const [conversations, characters, deltaCharacters] = [values.conversations, values.characters, values.delta].map(
    Number,
  ) as [number, number, number]
  const [seconds, watchers] = [Number(values.seconds), Number(values.watchers)]
  const common = { conversations, characters, deltaCharacters, seconds, watchers, launcher }
  const floor = await measureFloor({ ...common, folder: folder("floor") })
  const ours = await measureOurs({ ...common, folder: folder("ours") })
  const line = ({ heldP99, heldMax, delayP99, delayMax, grewMb, serverCpuMs, seconds: took }: LoadSeen) => ({
    ...{ "held p99 ms": round(heldP99), "held max ms": round(heldMax) },
    ...{ "late p99 ms": round(delayP99), "late max ms": round(delayMax) },
    ...{ "grew MB": round(grewMb), "CPU ms": round(serverCpuMs), seconds: round(took) },
  })
  const [of, by] = [line(ours), line(floor)]
  const names = Object.keys(of) as (keyof typeof of)[]
  const ratio = Object.fromEntries(names.map((name) => [name, round(of[name] / by[name])]))
  console.table({ floor: by, ours: of, ratio })
  const most = { ...LARGE_MUST, grewMb: floor.grewMb }
  const figures = Object.keys(most) as (keyof typeof most)[]
  const missed = figures.some((figure) => ours[figure] > most[figure])
  console.log(missed ? `MISSED: ${JSON.stringify(most)}` : "must")
  return 0
}

/**
 * The share by which a figure may grow over the run. Wall-clock times are reported but not judged, because other
 * programs affect them; nor are open files and handles, which follow the number of active requests.
 */
const LONG_MUST = { rssMb: 0.1, cpuMs: 0.15, heldP99: 0.5, rows: 0, aheadMb: 0.1 } as const

async function long(args: string[], launcher: string): Promise<number> {
  const options = {
    minutes: { type: "string", default: "2" },
    conversations: { type: "string", default: "200" },
    think: { type: "string", default: "0" },
  } as const
  const { values } = parseArgs({ args, options })
  const [minutes, conversations, thinkSeconds] = [values.minutes, values.conversations, values.think].map(Number) as [
    number,
    number,
    number,
  ]
  const rounded = (each: Stretch) => Object.fromEntries(Object.entries(each).map(([key, of]) => [key, round(of)]))
  const onStretch = (each: Stretch) => console.log(JSON.stringify(rounded(each)))
  const stretches = await longRun({
    ...{ minutes, conversations, thinkSeconds, launcher, onStretch },
    folder: folder("long"),
  })
  console.table(stretches.map(rounded))
  for (const [figure, must] of Object.entries(LONG_MUST) as [keyof typeof LONG_MUST, number][]) {
    const growth = growthOf(stretches, figure)
    console.log(
      `${figure} grows by ${Math.round(growth * 100)} % (${growth <= must ? "must" : "MISSED"} ${must * 100} %)`,
    )
  }
  return 0
}

/** How many times as long as on a small database a request may take on a large one. */
const MANY_MUST = 1.5

async function many(args: string[], launcher: string): Promise<number> {
  const options = {
    conversations: { type: "string", default: "10000" },
    events: { type: "string", default: "100" },
  } as const
  const { values } = parseArgs({ args, options })
  const [conversations, events] = [Number(values.conversations), Number(values.events)]
  const seen = await manyConversations({ conversations, events, launcher, folder: folder("many") })
  console.log(`${conversations} conversations, ${seen.events} events, loaded in ${Math.round(seen.loadSeconds)} s`)
  const rows = Object.entries(seen.large).map(([what, large]) => {
    const small = seen.small[what] ?? Number.NaN
    const ratio = round(large / small)
    const verdict = ratio <= MANY_MUST ? "must" : "MISSED"
    return [what, { "small ms": round(small), "large ms": round(large), ratio, verdict }] as const
  })
  console.table(Object.fromEntries(rows))
  return 0
}

function folder(name: string): string {
  const made = join(root, name)
  mkdirSync(made)
  return made
}

const round = (value: number) => Number(value.toPrecision(3))

process.exitCode = await main(process.argv.slice(2))
