import { inject } from "vitest"
import { numberIn } from "./sampling.ts"

/**
 * How much the tests of chance try: the usual size fits into ten minutes with all others on two cores, the long one
 * (`npm run test:long`, which sets PAWL_TEST_LONG) is for whoever changes what they are about, and for a release.
 */
export const isLong = process.env.PAWL_TEST_LONG === "1"

const size = (variable: string, { usual, long }: { readonly usual: number; readonly long: number }): number =>
  numberIn(variable) ?? (isLong ? long : usual)

export const sizes = {
  /** Interleavings of people, models, tools and crashes. */
  chaosCases: size("PAWL_CHAOS_CASES", { usual: 600, long: 10_000 }),
  /** Conversations over the formats of all providers, with what befalls them. */
  conversations: size("PAWL_CONVERSATIONS", { usual: 60, long: 2000 }),
  /** Turns of one long conversation with a small model. */
  turns: size("PAWL_TURNS", { usual: 600, long: 2000 }),
  /** Random requests to a server; a tenth of them on PostgreSQL. Of fewer, too many are about what nobody has made yet. */
  fuzzCases: size("PAWL_FUZZ_CASES", { usual: 1600, long: 30_000 }),
  /** Lives that end by kill -9, over all engines and kinds of target. */
  killRounds: size("PAWL_KILL_ROUNDS", { usual: 12, long: 216 }),
  /** What befalls three nodes while people talk to them. */
  clusterRounds: size("PAWL_CLUSTER_ROUNDS", { usual: 3, long: 100 }),
  /** How often another process swaps a folder for a link. */
  swaps: size("PAWL_SWAPS", { usual: 60_000, long: 200_000 }),
  /** Notes of one person that are made findable by their meaning. */
  notes: size("PAWL_NOTES", { usual: 2000, long: 10_000 }),
  /** Rows of a CSV file that is taken in. */
  csvRows: size("PAWL_CSV_ROWS", { usual: 50_000, long: 1_000_000 }),
  /** Conversations, and replies of a megabyte in each, that five readers do not read: what they cost may be 30 MB. */
  unread: isLong ? { conversations: 20, turns: 10 } : { conversations: 10, turns: 5 },
  /** Replies of a megabyte that ten watchers do not read. */
  stalledTurns: isLong ? 20 : 8,
  /** Megabytes of a file that goes into the store and comes back. */
  keptMegabytes: size("PAWL_KEPT_MEGABYTES", { usual: 32, long: 200 }),
  /** Proposals that many people decide about at once. */
  racedProposals: size("PAWL_RACED_PROPOSALS", { usual: 20, long: 200 }),
}

/** Of a list one in so many, by the seed; all of it in the long run. */
export const oneIn = <Item>(many: number, list: readonly Item[]): readonly Item[] =>
  isLong ? list : list.filter((_, at) => at % many === inject("seed") % many)

/**
 * What the dice of a test begin with. One number for the whole run (`sampling.ts`), printed when it starts;
 * PAWL_TEST_SEED brings it back, and the variable of one test that test alone.
 */
export const seedOf = (variable: string): number => numberIn(variable) ?? inject("seed")
