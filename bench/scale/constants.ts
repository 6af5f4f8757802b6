import { readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"

const Phase = z.object({
  atOnce: z.number(),
  perSecond: z.number(),
  p50: z.number(),
  p99: z.number(),
  /** The CPU time of one turn in milliseconds: of the node's process, and of all processes of PostgreSQL. */
  nodeMs: z.number(),
  databaseMs: z.number(),
  /** The statements of one turn: fewer if one statement has commits of many turns. */
  statements: z.number(),
  walBytes: z.number(),
})

/** The cost of a turn, measured by `bench/scale/measure.ts`, and the machine. */
const Constants = z.object({
  measured: z.string(),
  /** A note about values that were not measured by that program. */
  note: z.string().optional(),
  machine: z.object({ cpu: z.string(), cores: z.number(), node: z.string(), commit: z.string(), load: z.number() }),
  postgres: z.string(),
  /** The statements of a short turn, one after the other, and how many of them wait for the disk. */
  roundTrips: z.number(),
  commits: z.number(),
  /** The median time of one durable write of 8 KB in milliseconds. */
  fsyncMs: z.number(),
  /** The bytes in tables and indexes of a short turn in a new conversation, and of a further turn of a long one. */
  diskBytes: z.object({ newConversation: z.number(), furtherTurn: z.number() }),
  phases: z.array(Phase),
  /**
   * The same for the benchmark's floor. Its node does far less work, so all cores are the limit, not the node's thread.
   */
  floorPhases: z.array(Phase),
})
export type Constants = z.infer<typeof Constants>
export type Phase = z.infer<typeof Phase>

export const CONSTANTS_FILE = join(import.meta.dirname, "constants.json")

export const readConstants = (): Constants => Constants.parse(JSON.parse(readFileSync(CONSTANTS_FILE, "utf8")))

/** The phase with this many concurrent turns. */
export function phaseOf(phases: readonly Phase[], atOnce: number): Phase {
  const found = phases.find((phase) => phase.atOnce === atOnce)
  if (!found) throw new Error(`${CONSTANTS_FILE} has no phase with ${atOnce} at once; measure again`)
  return found
}

/** The cost of a turn without contention, in milliseconds each. */
export interface TurnCost {
  readonly node: StatementCost
  readonly database: StatementCost
  /** The number of statements, one after the other, and of those that wait for the disk. */
  readonly roundTrips: number
  readonly commits: number
  readonly fsyncMs: number
  /** The part of the database's work that a turn waits for; log and checkpoints are written in the background. */
  readonly waitedFor: number
  /** The most commits of different conversations in one statement; 1 if they do not share it. */
  readonly mostTogether: number
}

/** The cost of a statement: a fixed part, and a part for each of its commits. */
interface StatementCost {
  readonly ofStatement: number
  readonly ofCommit: number
}

const MOST_TOGETHER = 32

/**
 * Returns the cost of a single turn, and the part that concurrent turns share: derived from the cost at the highest
 * concurrency, where a turn sends fewer statements. Of the measured rates, only that of one turn at a time is used.
 */
export function costOf(of: Constants, phases: readonly Phase[] = of.phases): TurnCost {
  const [alone, busy] = [phaseOf(phases, 1), phaseOf(phases, 64)]
  const { roundTrips, commits, fsyncMs } = of
  const saved = alone.statements - busy.statements
  const isGrouped = saved > roundTrips / 4
  const turnMs = 1000 / alone.perSecond
  const split = (aloneMs: number, busyMs: number): StatementCost => {
    const ofStatement = isGrouped ? Math.max(0, aloneMs - busyMs) / saved : aloneMs / roundTrips
    return { ofStatement, ofCommit: Math.max(0, aloneMs / roundTrips - ofStatement) }
  }
  return {
    node: split(alone.nodeMs, busy.nodeMs),
    database: split(alone.databaseMs, busy.databaseMs),
    waitedFor: Math.min(1, Math.max(0, (turnMs - alone.nodeMs - commits * fsyncMs) / alone.databaseMs)),
    ...{ roundTrips, commits, fsyncMs, mostTogether: isGrouped ? MOST_TOGETHER : 1 },
  }
}
