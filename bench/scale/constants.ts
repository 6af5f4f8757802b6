import { readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"

const Phase = z.object({
  atOnce: z.number(),
  perSecond: z.number(),
  p50: z.number(),
  p99: z.number(),
  /** CPU for one turn, in milliseconds: of the node's process, and of all of PostgreSQL's. */
  nodeMs: z.number(),
  databaseMs: z.number(),
  walBytes: z.number(),
})

/** What a turn costs, measured by `bench/scale/measure.ts`; and on what. */
const Constants = z.object({
  measured: z.string(),
  /** Where some of it was not measured by that program. */
  note: z.string().optional(),
  machine: z.object({ cpu: z.string(), cores: z.number(), node: z.string(), commit: z.string(), load: z.number() }),
  postgres: z.string(),
  /** Statements that a short turn sends, one after the other, and how many of them wait for the disk. */
  roundTrips: z.number(),
  commits: z.number(),
  /** One write of 8 KB that is made durable, in milliseconds, median. */
  fsyncMs: z.number(),
  /** Bytes in tables and indexes for a short turn that is a conversation of its own, and for one more turn of a long one. */
  diskBytes: z.object({ newConversation: z.number(), furtherTurn: z.number() }),
  phases: z.array(Phase),
  /** The same for the benchmark's floor, which does far less in the node: there the cores end, and not the node's thread. */
  floorPhases: z.array(Phase),
})
export type Constants = z.infer<typeof Constants>
export type Phase = z.infer<typeof Phase>

export const CONSTANTS_FILE = join(import.meta.dirname, "constants.json")

export const readConstants = (): Constants => Constants.parse(JSON.parse(readFileSync(CONSTANTS_FILE, "utf8")))

/** The phase with so many turns at once. */
export function phaseOf(phases: readonly Phase[], atOnce: number): Phase {
  const found = phases.find((phase) => phase.atOnce === atOnce)
  if (!found) throw new Error(`${CONSTANTS_FILE} has no phase with ${atOnce} at once; measure again`)
  return found
}

/** What one turn takes of each, in milliseconds, when nobody is in its way. */
export interface TurnCost {
  readonly nodeMs: number
  readonly databaseMs: number
  /** Statements, one after the other; how many of them wait for the disk. */
  readonly roundTrips: number
  readonly commits: number
  readonly fsyncMs: number
}

/** What a turn costs when it is alone: nothing of what is foretold goes into it. */
export function costAlone(of: Constants, phases: readonly Phase[] = of.phases): TurnCost {
  const { nodeMs, databaseMs } = phaseOf(phases, 1)
  const { roundTrips, commits, fsyncMs } = of
  return { nodeMs, databaseMs, roundTrips, commits, fsyncMs }
}
