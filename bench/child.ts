/**
 * Runs one part of one workload for one contender in this fresh process and prints its numbers as the last line.
 * `node bench/child.ts <part> <variant> <place> <settings>`, the last two as JSON. Started by spawn-child.ts.
 *
 * Everything is imported on use: W5 measures the start of the contender, not of the harness.
 */
import { type Contender, type OpenOptions, type Place, type VariantName, variants } from "./contender.ts"
import { openContender, openServer } from "./open-contender.ts"
import type { Numbers } from "./meters.ts"

export type Part =
  | "w0-die"
  | "w0-read"
  | "w1"
  | "w2"
  | "w3"
  | "w4-pause"
  | "w4-resume"
  | "w5"
  | "w6"
  | "w7-die"
  | "w7-again"
  | "w8"
  | "w13"
  | "w14"

const [part, variant, place, settings] = process.argv.slice(2).map((text, i) => (i < 2 ? text : JSON.parse(text))) as [
  Part,
  VariantName,
  Place,
  never, // each part knows the settings that its parent sends
]
const numbers = await run()
process.stdout.write(`${JSON.stringify(numbers)}\n`, () => process.exit(0))

function open(options: Omit<OpenOptions, "place"> = {}): Promise<Contender> {
  return openContender(variant, { ...options, place })
}

async function run(): Promise<Numbers> {
  switch (part) {
    case "w0-die":
      return (await import("./workloads/survive-kill.ts")).dieInTurn(open, settings)
    case "w0-read":
      return (await import("./workloads/survive-kill.ts")).countSurvivors(open)
    case "w1":
      return (await import("./workloads/short-turns.ts")).shortTurns(open, settings)
    case "w2":
      return (await import("./workloads/long-conversation.ts")).longConversation(open, settings)
    case "w3":
      return (await import("./workloads/streaming.ts")).streaming(open, settings)
    case "w4-pause":
      return (await import("./workloads/paused.ts")).pauseMany(open, settings)
    case "w4-resume":
      return (await import("./workloads/paused.ts")).resumeSome(open, settings)
    case "w5":
      return (await import("./workloads/cold-start.ts")).coldStart(variant, place)
    case "w6":
      return (await import("./workloads/server.ts")).server(() => openServer(variant, place), settings)
    case "w7-die":
      return (await import("./workloads/after-kill.ts")).dieInMany(open, settings, variant)
    case "w7-again": {
      const { goOn, startAgain } = await import("./workloads/after-kill.ts")
      if (variant.startsWith("floor-")) return goOn(open, settings)
      const { openPawlServer } = await import("./contenders/pawl-server.ts")
      return startAgain((before) => openPawlServer(variants[variant], place, before), settings)
    }
    case "w13":
      return variant.startsWith("floor-") ? {} : (await import("./workloads/embedding.ts")).embedding(settings)
    case "w14":
      return (await import("./workloads/file-search.ts")).fileSearch(variant.startsWith("floor-"), place, settings)
    case "w8": {
      const isFloor = variant.startsWith("floor-")
      const near = (await import("./workloads/vectors.ts")).nearest(isFloor, settings)
      // Without a floor: an index with words and meaning cannot be written by hand in an hour.
      return isFloor ? near : { ...near, ...(await (await import("./workloads/library.ts")).hybrid(place, settings)) }
    }
  }
}
