import { execFileSync } from "node:child_process"
import { randomInt } from "node:crypto"
import { numberIn } from "./number-in.ts"

/**
 * The number that all tests of chance begin with. It follows from the commit, so that a run that is red for a commit is red
 * again for whoever looks at it, and another commit tries something else. The long run is there to find what nobody has
 * met: it takes a new one each time, as does a folder without Git.
 */
export function seedOfRun(environment: NodeJS.ProcessEnv = process.env, folder = import.meta.dirname): number {
  const given = numberIn("PAWL_TEST_SEED", environment)
  if (given !== undefined) return given
  const commit = environment.PAWL_TEST_LONG === "1" ? undefined : commitOf(folder)
  return commit === undefined ? randomInt(1, 2 ** 31) : seedOfCommit(commit)
}

/** Its first 31 bits, as the generators want a number of 32 bits with a sign; none of them likes a zero. */
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
