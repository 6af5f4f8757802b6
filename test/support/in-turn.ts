import { basename } from "node:path"

/**
 * Files that take long and seldom find anything, in four groups that take about as long as each other. `npm test` has one
 * of the groups, by the seed, and prints what it leaves out; the long run has all. Whoever names a file runs it.
 *
 * None is about what is applied at most once, what a provider sees, what is killed at any moment, or a wall that somebody
 * tries to climb.
 */
const groups: readonly (readonly string[])[] = [
  [
    "src/packs/workspace/device-lists.slow.test.ts",
    "src/vectors/vector-index.slow.test.ts",
    "test/children/from-source.slow.test.ts",
    "test/cli/several-nodes.slow.test.ts",
    "test/socket/slow-reader.slow.test.ts",
    "test/stream/stalled-watcher.slow.test.ts",
    "test/terminal/hostile-markdown.slow.test.ts",
    "test/terminal/quits.slow.test.ts",
    "test/web/conversation/models.test.ts",
    "test/web/every-page.test.ts",
    "test/web/first-run.test.ts",
    "test/web/hostile-replies.test.ts",
    "test/web/nothing-covered.test.ts",
    "test/web/proposals/expired.test.ts",
  ],
  [
    "src/store/files/large-file.slow.test.ts",
    "test/files/on-device.slow.test.ts",
    "test/socket/floods.slow.test.ts",
    "test/socket/rounds.slow.test.ts",
    "test/web/axe.test.ts",
    "test/web/conversation/choices.test.ts",
    "test/web/conversation/endings.test.ts",
    "test/web/conversation/math.test.ts",
    "test/web/data/charts.test.ts",
    "test/web/data/databases.test.ts",
    "test/web/data/results.test.ts",
    "test/web/proposals/cards.test.ts",
    "test/web/speed.test.ts",
    "test/web/workspace.test.ts",
  ],
  [
    "src/packs/research/pdf/read-pdf.slow.test.ts",
    "test/analyst/csv/million.slow.test.ts",
    "test/cli/backup.slow.test.ts",
    "test/cli/exec-endings.slow.test.ts",
    "test/cluster/rolling.slow.test.ts",
    "test/mcp/programs-of-others.slow.test.ts",
    "test/socket/half-open.slow.test.ts",
    "test/store/forgetful-postgres.slow.test.ts",
    "test/terminal/continue.slow.test.ts",
    "test/terminal/quick-enough.slow.test.ts",
    "test/web/ai-sdk-example.test.ts",
    "test/web/conversation/citations.test.ts",
    "test/web/conversation/context.test.ts",
    "test/web/data/analyst.test.ts",
    "test/web/session.test.ts",
    "test/workspace/ten-thousand-notes.slow.test.ts",
  ],
  [
    "src/agent/cite/work-limit.slow.test.ts",
    "test/evaluate/documented.test.ts",
    "test/packs/documented.test.ts",
    "test/terminal/input.slow.test.ts",
    "test/terminal/keys.slow.test.ts",
    "test/terminal/paste.slow.test.ts",
    "test/web/away.test.ts",
    "test/web/conversation/files.test.ts",
    "test/web/conversation/long-messages.test.ts",
    "test/web/conversation/reasoning.test.ts",
    "test/web/data/chart-specs.test.ts",
    "test/web/data/library.test.ts",
    "test/web/proposals/inbox.test.ts",
    "test/web/runs.test.ts",
    "test/web/settings.test.ts",
    "test/web/tabs.test.ts",
    "test/workspace/orchestrator.slow.test.ts",
  ],
]

export const inTurn: readonly string[] = groups.flat()

/** The files of the groups that have no turn. */
export const leftOut = (seed: number): readonly string[] => groups.filter((_, at) => at !== turnOf(seed)).flat()

/** Whether a file has its turn, of as many files as there may be: by its name, so that each run has about a quarter of them. */
export function hasTurn(file: string, seed: number): boolean {
  const number = [...basename(file)].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 2 ** 31, 7)
  return number % groups.length === turnOf(seed)
}

/** By other digits of the seed than those by which a test chooses of a list. */
const turnOf = (seed: number): number => Math.floor(seed / 2 ** 12) % groups.length
