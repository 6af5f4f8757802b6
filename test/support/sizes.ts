import { inject } from "vitest"
import { numberIn } from "./sampling.ts"

/**
 * How much the random tests try: the usual size fits into ten minutes with all other tests on two cores. The long
 * size (`npm run test:long`, which sets PAWL_TEST_LONG) is for changes to the code that these tests cover, and for a
 * release.
 */
export const isLong = process.env.PAWL_TEST_LONG === "1"

const size = (variable: string, { usual, long }: { readonly usual: number; readonly long: number }): number =>
  numberIn(variable) ?? (isLong ? long : usual)

export const sizes = {
  /** Interleavings of users, models, tools and crashes. */
  chaosCases: size("PAWL_CHAOS_CASES", { usual: 600, long: 10_000 }),
  /** Conversations over the formats of all providers, with random faults. */
  conversations: size("PAWL_CONVERSATIONS", { usual: 60, long: 2000 }),
  /** Turns of one long conversation with a small model. */
  turns: size("PAWL_TURNS", { usual: 600, long: 2000 }),
  /**
   * Random requests to a server, a tenth of them on PostgreSQL. With fewer requests too many name things that do not
   * exist yet.
   */
  fuzzCases: size("PAWL_FUZZ_CASES", { usual: 1600, long: 30_000 }),
  /** Processes that end by kill -9, over all engines and kinds of target. */
  killRounds: size("PAWL_KILL_ROUNDS", { usual: 12, long: 216 }),
  /** Rounds of faults on three nodes while clients send messages. */
  clusterRounds: size("PAWL_CLUSTER_ROUNDS", { usual: 3, long: 100 }),
  /** How often another process swaps a folder for a link. */
  swaps: size("PAWL_SWAPS", { usual: 60_000, long: 200_000 }),
  /** Notes of one user that get embeddings. */
  notes: size("PAWL_NOTES", { usual: 2000, long: 10_000 }),
  /** Rows of an imported CSV file. */
  csvRows: size("PAWL_CSV_ROWS", { usual: 50_000, long: 1_000_000 }),
  /** Conversations, with replies of a megabyte in each, that five clients do not read: they may cost 30 MB. */
  unread: isLong ? { conversations: 20, turns: 10 } : { conversations: 10, turns: 5 },
  /** Replies of a megabyte that ten watchers do not read. */
  stalledTurns: isLong ? 20 : 8,
  /** Megabytes of a file that is uploaded and downloaded. */
  keptMegabytes: size("PAWL_KEPT_MEGABYTES", { usual: 32, long: 200 }),
  /** Proposals that many clients decide at once. */
  racedProposals: size("PAWL_RACED_PROPOSALS", { usual: 20, long: 200 }),
}

/** Returns one item in so many, by the seed; all of them in the long run. */
export const oneIn = <Item>(many: number, list: readonly Item[]): readonly Item[] =>
  isLong ? list : list.filter((_, at) => at % many === inject("seed") % many)

/**
 * The seed of a random test. One number for the whole run (`sampling.ts`), printed at its start. PAWL_TEST_SEED
 * repeats it for all tests, and the variable of one test for that test alone.
 */
export const seedOf = (variable: string): number => numberIn(variable) ?? inject("seed")
