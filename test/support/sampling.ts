import { execFileSync } from "node:child_process"
import { randomInt } from "node:crypto"
import { basename } from "node:path"

/**
 * Slow test files that seldom fail. `npm test` runs a quarter of them, chosen by the seed, and prints the rest; the
 * long run has all, and so does a run that names files. None is about at-most-once, provider requests, kills or the
 * sandbox.
 */
export const sampled: readonly string[] = [
  "packs/research/citations/work-limit.slow.test.ts",
  "core/shared/vectors/vector-index.slow.test.ts",
  "core/store/files/large-file.fresh.test.ts",
  "packs/research/pdf/read-pdf.slow.test.ts",
  "packs/workspace/device-lists.slow.test.ts",
  "test/analyst/csv/million.slow.test.ts",
  "test/children/from-source.slow.test.ts",
  "test/cli/backup.slow.test.ts",
  "test/cli/exec-endings.slow.test.ts",
  "test/cli/several-nodes.slow.test.ts",
  "test/cluster/rolling.slow.test.ts",
  "test/evaluate/documented.test.ts",
  "test/files/on-device.slow.test.ts",
  "test/mcp/programs-of-others.slow.test.ts",
  "test/packs/documented.test.ts",
  "test/socket/floods.slow.test.ts",
  "test/socket/half-open.slow.test.ts",
  "test/socket/rounds.fresh.test.ts",
  "test/socket/slow-reader.fresh.test.ts",
  "test/store/forgetful-postgres.slow.test.ts",
  "test/stream/stalled-watcher.fresh.test.ts",
  "test/terminal/continue.slow.test.ts",
  "test/terminal/hostile-markdown.slow.test.ts",
  "test/terminal/input.slow.test.ts",
  "test/terminal/keys.slow.test.ts",
  "test/terminal/paste.slow.test.ts",
  "test/terminal/quick-enough.slow.test.ts",
  "test/terminal/quits.slow.test.ts",
  "test/web/away.test.ts",
  "test/web/axe.test.ts",
  "test/web/conversation/choices.test.ts",
  "test/web/conversation/citations.test.ts",
  "test/web/conversation/context.test.ts",
  "test/web/conversation/endings.test.ts",
  "test/web/conversation/files.test.ts",
  "test/web/conversation/long-messages.test.ts",
  "test/web/conversation/math.test.ts",
  "test/web/conversation/models.test.ts",
  "test/web/conversation/reasoning.test.ts",
  "test/web/data/analyst.test.ts",
  "test/web/data/chart-specs.test.ts",
  "test/web/data/charts.test.ts",
  "test/web/data/databases.test.ts",
  "test/web/data/library.test.ts",
  "test/web/data/results.test.ts",
  "test/web/every-page.test.ts",
  "test/web/first-run.test.ts",
  "test/web/hostile-replies.test.ts",
  "test/web/nothing-covered.test.ts",
  "test/web/proposals/cards.test.ts",
  "test/web/proposals/expired.test.ts",
  "test/web/proposals/inbox.test.ts",
  "test/web/runs.test.ts",
  "test/web/session.test.ts",
  "test/web/settings.test.ts",
  "test/web/speed.test.ts",
  "test/web/tabs.test.ts",
  "test/web/workspace.test.ts",
  "test/workspace/ten-thousand-notes.slow.test.ts",
]

const SHARE = 4

/** The sampled files that this run leaves out. */
export const leftOut = (seed: number): readonly string[] =>
  sampled.filter((_, index) => index % SHARE !== shareOf(seed))

/** Whether a file is in this run's quarter of any number of files, by its name. */
export function isSampled(file: string, seed: number): boolean {
  const hash = [...basename(file)].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 31, 7)
  return hash % SHARE === shareOf(seed)
}

/** Uses other digits of the seed than the tests that choose from a list. */
const shareOf = (seed: number): number => Math.floor(seed / 2 ** 12) % SHARE

/** The positive integer in an environment variable, or undefined if it is empty. Throws for any other value. */
export function numberIn(variable: string, environment: NodeJS.ProcessEnv = process.env): number | undefined {
  const given = environment[variable]?.trim()
  if (!given) return undefined
  const number = Number(given)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new Error(`${variable}="${given}" is not a positive integer`)
}

/**
 * The seed of all random tests. It follows from the commit, so that a failure of a commit can be repeated and the next commit
 * tries other cases. The long run, and a folder without Git, use a new one each time.
 */
export function seedOfRun(environment: NodeJS.ProcessEnv = process.env, folder = import.meta.dirname): number {
  const given = numberIn("PAWL_TEST_SEED", environment)
  if (given !== undefined) return given
  const commit = environment.PAWL_TEST_LONG === "1" ? undefined : commitOf(folder)
  return commit === undefined ? randomInt(1, 2 ** 31) : seedOfCommit(commit)
}

/** The first 31 bits, because generators take a signed number of 32 bits; never 0. */
export const seedOfCommit = (commit: string): number => Number.parseInt(commit.slice(0, 8), 16) >>> 1 || 1

function commitOf(folder: string): string | undefined {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
  } catch {
    return undefined
  }
}

/** Random-looking numbers from 0 up to 1, the same for the same seed (a linear congruential generator). */
export function dice(seed: number): () => number {
  const modulus = 2 ** 31 - 1
  let state = (Math.abs(Math.floor(seed)) % (modulus - 1)) + 1
  const next = () => (state = (state * 48_271) % modulus) / modulus
  for (let round = 0; round < 8; round++) next() // similar seeds start with similar numbers
  return next
}
