/** What a server is like under much: see --help, and docs/speed.md for what was found. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { describeMachine } from "../machine.ts"
import { buildPackage } from "../nodes/package.ts"
import { type LoadSeen, measureFloor, measureOurs } from "./large-replies.ts"

const USAGE = `npm run bench:load -- large [--conversations 200] [--characters 300000] [--delta 24] [--seconds 0] [--watchers 5]
    many large replies at once; --seconds is how long the provider takes for each, 0: as fast as it is read`

const root = mkdtempSync(join(process.env.BENCH_TMP ?? tmpdir(), "pawl-load-"))
process.on("exit", () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130))
process.exitCode = await main(process.argv.slice(2))

async function main([what, ...args]: string[]): Promise<number> {
  const { node, cpu, cores, load, commit } = describeMachine()
  if (what !== "large") {
    console.error(USAGE)
    return 2
  }
  console.log(`${cores} × ${cpu}, ${process.arch}, Node ${node}, ${commit}, load ${load.toFixed(1)}`)
  return await large(args, await buildPackage(join(root, "package")))
}

/** Bounds in milliseconds of the server's own work, and in megabytes beside what the floor needs. */
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
  console.table({ floor: line(floor), ours: line(ours) })
  const missed = ours.heldP99 > LARGE_MUST.heldP99 || ours.heldMax > LARGE_MUST.heldMax
  console.log(missed ? `MISSED: ${JSON.stringify(LARGE_MUST)}` : "must")
  return 0
}

function folder(name: string): string {
  const made = join(root, name)
  mkdirSync(made)
  return made
}

const round = (value: number) => Number(value.toPrecision(3))
