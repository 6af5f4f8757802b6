import { isId, newId } from "../../protocol/ids.ts"
import { type Baseline, differencesOf, toBaseline } from "../crashtest/compare-lives.ts"
import { live } from "../crashtest/live.ts"
import type { CrashBoundary } from "../crashtest/life-files.ts"
import { CrashScenario, readScenario } from "../crashtest/scenario.ts"
import { scenarioOfRun } from "../crashtest/scenario-of-run.ts"
import { play, type Playing } from "../crashtest/spawn-life.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { Progress } from "../process/progress.ts"
import { readConfig } from "../settings/config.ts"
import { toShown } from "../../terminal/shown.ts"

export const help = `Usage: pawl crashtest FILE
       pawl crashtest RUN
       pawl crashtest --agent NAME --say WORDS

Plays a scenario whole, then once for each write boundary: before and after each commit the process is ended with SIGKILL, and a
new one goes on in the same throwaway store. Each time the transcript has to be the same, each write at most as often as in the
whole run, and no history that the provider is sent may be broken. Tools really run: point them at something of which a copy may be
spoiled. The agents are those of the server, PAWL_PACKS included; the model is the one of the scenario, or the offline one. Exit
code 1 where something differs.

  FILE           a scenario as JSON: say, and if wanted agent, mode, replies, decide, mayRunAgain (docs/crashtest.md)
  RUN            the id of a run (run_…): what was said and replied in its conversation up to its end
  --agent NAME   of which agent, where no file says it
  --say WORDS    what is said; several times for several messages
  --mode MODE    confirm (each proposal is agreed to), auto or read-only
  --every N      only each Nth boundary
  --jobs N       so many at a time; 1 unless said
  --json         print it as JSON
`

const flags = {
  agent: { type: "string" },
  say: { type: "string", multiple: true },
  mode: { type: "string" },
  every: { type: "string" },
  jobs: { type: "string" },
  json: { type: "boolean" },
  // The processes that are killed are this command too.
  life: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("crashtest", words, flags)
  if (values.life !== undefined) {
    await live(readConfig(), values.life)
    return 0
  }
  const scenario = await toScenario(positionals, values)
  const [every, jobs] = [toCount("--every", values.every), toCount("--jobs", values.jobs)]
  const playing: Playing = { scenario, messageIds: scenario.say.map(() => newId("msg", null)) }
  const whole = await play(playing)
  const baseline = toBaseline(whole, whole.outcome ? await play(playing) : whole)
  if (typeof baseline === "string") throw new CommandError(`The scenario does not even run whole: ${baseline}`)
  const boundaries = baseline.played.writes
    .flatMap((what, index) => (["before", "after"] as const).map((when) => ({ at: index + 1, when, what })))
    .filter((_, index) => index % every === 0)
  const progress = new Progress(toShown)
  const rows = await eachOf(boundaries, jobs, async (boundary, done) => {
    progress.show("Killed", done, boundaries.length, `${boundary.when} ${boundary.what}`)
    return playTo(baseline, playing, boundary)
  })
  progress.end()
  process.stdout.write(
    values.json ? `${JSON.stringify({ boundaries: rows }, null, 2)}\n` : `${toLines(rows).join("\n")}\n`,
  )
  return rows.some(({ differences }) => differences.length > 0) ? 1 : 0
}

interface Boundary extends CrashBoundary {
  /** The events of the write. */
  readonly what: string
}

interface Row extends Boundary {
  readonly reached: boolean
  readonly wasInDoubt: boolean
  readonly differences: readonly string[]
}

async function playTo(baseline: Baseline, playing: Playing, boundary: Boundary): Promise<Row> {
  const played = await play(playing, { at: boundary.at, when: boundary.when })
  const wasInDoubt = played.outcome?.transcript.some((line) => line.wasInDoubt) ?? false
  return {
    ...boundary,
    reached: played.died,
    wasInDoubt,
    differences: differencesOf(baseline, played, { mayRunAgain: playing.scenario.mayRunAgain, killed: boundary }),
  }
}

function toLines(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(({ what }) => what.length))
  const differing = rows.filter(({ differences }) => differences.length > 0)
  const lines = rows.map(({ at, when, what, reached, wasInDoubt, differences }) => {
    const same = !reached ? "not reached" : wasInDoubt ? "same; a write was in doubt, and asked about" : "same"
    const verdict = differences.length > 0 ? `DIFFERS: ${differences.join(" ")}` : same
    return `${String(at).padStart(4)} ${when.padEnd(6)}  ${what.padEnd(width)}  ${verdict}`
  })
  const end =
    differing.length === 0
      ? `Killed at ${rows.length} write boundaries: each time as in the whole run.`
      : `Killed at ${rows.length} write boundaries: ${differing.length} differ.`
  return [...lines, "", end].map(toShown)
}

async function toScenario(
  positionals: readonly string[],
  values: { agent?: string; say?: string[]; mode?: string },
): Promise<CrashScenario> {
  const [file, more] = positionals
  const isSaid = values.agent !== undefined || values.say !== undefined || values.mode !== undefined
  if (more !== undefined || (file !== undefined) === isSaid)
    throw new CommandError("Name one scenario, or say what is asked of whom: pawl crashtest --agent NAME --say WORDS.")
  if (file !== undefined) return isId("run", file) ? scenarioOfRun(readConfig(), file) : readScenario(file)
  const { agent, say, mode } = values
  if (!say) throw new CommandError("Say what is asked: --say WORDS.")
  const read = CrashScenario.safeParse({ say, ...(agent ? { agent } : {}), ...(mode ? { mode } : {}) })
  if (!read.success) throw new CommandError("--mode is confirm, auto or read-only.")
  return read.data
}

function toCount(flag: string, given = "1"): number {
  if (!/^[1-9]\d{0,3}$/.test(given)) throw new CommandError(`${flag} takes a number from 1, not "${given}".`)
  return Number(given)
}

/** In their order, so many at a time. */
async function eachOf<Item, Made>(
  items: readonly Item[],
  jobs: number,
  make: (item: Item, done: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = []
  let [next, done] = [0, 0]
  const work = async () => {
    for (let mine = next++; mine < items.length; mine = next++) {
      made[mine] = await make(items[mine] as Item, done)
      done++
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return made
}
