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
  /** Statements for one turn: fewer where one statement has commits of many. */
  statements: z.number(),
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

/** What a turn takes, in milliseconds of each, when nobody is in its way. */
export interface TurnCost {
  readonly node: StatementCost
  readonly database: StatementCost
  /** Statements, one after the other; how many of them wait for the disk. */
  readonly roundTrips: number
  readonly commits: number
  readonly fsyncMs: number
  /** Of the database's work, what a turn waits for: its log and its checkpoints are written beside. */
  readonly waitedFor: number
  /** So many commits of different conversations share a statement at most; 1 where they do not. */
  readonly mostTogether: number
}

/** A statement costs something by itself, however many commits it has, and something for each of them. */
interface StatementCost {
  readonly ofStatement: number
  readonly ofCommit: number
}

const MOST_TOGETHER = 32

/**
 * What a turn costs when it is alone, and of that, what it would share with others: by what a turn costs with most at once,
 * where it sends fewer statements. Of the rates that were measured, that of one at a time goes into it and no other.
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
