/**
 * Runs one part of one workload for one contender in this fresh process and prints its numbers as the last line.
 * `node bench/child.ts <part> <variant> <place> <settings>`, the last two as JSON. Started by spawn-child.ts.
 *
 * Everything is loaded when used: W5 measures the start of the contender, not of the harness.
 */
import { openContender, type OpenOptions, type Place, type VariantName } from "./contender.ts"
import type { Numbers } from "./meters.ts"

export type Part = keyof typeof parts

const parts = {
  "w0-die": async (settings) => (await import("./workloads/survive-kill.ts")).dieInTurn(open, settings),
  "w0-read": async () => (await import("./workloads/survive-kill.ts")).countSurvivors(open),
  w1: async (settings) => (await import("./workloads/short-turns.ts")).shortTurns(open, settings),
  w2: async (settings) => (await import("./workloads/long-conversation.ts")).longConversation(open, settings),
  w3: async (settings) => (await import("./workloads/streaming.ts")).streaming(open, settings),
  "w4-pause": async (settings) => (await import("./workloads/paused.ts")).pauseMany(open, settings),
  "w4-resume": async (settings) => (await import("./workloads/paused.ts")).resumeSome(open, settings),
  w5: async () => (await import("./workloads/cold-start.ts")).coldStart(variant, place),
} satisfies Record<string, (settings: never) => Promise<Numbers>>

const [part, variant, place, settings] = process.argv.slice(2).map((text, i) => (i < 2 ? text : JSON.parse(text))) as [
  Part,
  VariantName,
  Place,
  never,
]
const open = (options: Omit<OpenOptions, "place"> = {}) => openContender(variant, { ...options, place })

// Imported by the parent for its types only; run by Node as a program.
const numbers = await parts[part](settings)
process.stdout.write(`${JSON.stringify(numbers)}\n`, () => process.exit(0))
