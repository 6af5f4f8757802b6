import { isId, newId } from "../../protocol/ids.ts"
import { toBaseline } from "../crashtest/compare-lives.ts"
import { CrashTable, toBoundaries, toEnd, toReport, toCrashRow } from "../crashtest/crash-rows.ts"
import { LifeProcesses } from "../crashtest/life-process.ts"
import { liveAsTold } from "../crashtest/live.ts"
import { CrashScenario, readScenario } from "../crashtest/scenario.ts"
import { scenarioOfRun } from "../crashtest/scenario-of-run.ts"
import { play, type Playing } from "../crashtest/play-lives.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { onStop } from "../process/on-stop.ts"
import { Progress } from "../process/progress.ts"
import { readConfig } from "../settings/config.ts"
import { toShown } from "../../terminal/shown.ts"

const STOPPED = 130

export const help = `Usage: pawl crashtest FILE
       pawl crashtest RUN
       pawl crashtest --agent NAME --say WORDS

Plays a scenario whole, then once for each write boundary: before and after each commit, and before and after whatever a tool
changes outside (a file, a request, a program), the process is ended with SIGKILL, and a new one goes on in the same throwaway
store. Each time the transcript has to be the same, each write at most as often as in the whole run, and no history that the
provider is sent may be broken. Tools really run: point them at something of which a copy may be spoiled. The agents are those of
the server, PAWL_PACKS included; the model is the one of the scenario, or the offline one.

Exit codes: 0 each time the same, 1 something differs or wrong usage, 130 stopped with Ctrl-C.

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
  life: { type: "boolean" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("crashtest", words, flags)
  if (values.life) {
    await liveAsTold(readConfig())
    return 0
  }
  const scenario = await toScenario(positionals, values)
  const [every, jobs] = [toCount("--every", values.every), toCount("--jobs", values.jobs)]
  const signal = onStop()
  using processes = new LifeProcesses()
  const playing: Playing = { scenario, messageIds: scenario.say.map(() => newId("msg", null)), processes }
  const progress = new Progress(toShown)
  progress.show("Whole", 0, 2, "")
  const whole = await play(playing)
  progress.show("Whole", 1, 2, "")
  const baseline = toBaseline(whole, whole.outcome ? await play(playing) : whole)
  progress.end()
  if (signal.aborted) return STOPPED
  if (typeof baseline === "string") throw new CommandError(`The scenario does not even run whole: ${baseline}`)
  const boundaries = toBoundaries(baseline.played.writes).filter((_, index) => index % every === 0)
  processes.expect(boundaries.length, jobs)
  const table = new CrashTable(boundaries)
  const work = { jobs, signal }
  const rows = await eachOf(boundaries, work, async (boundary, index, done) => {
    progress.show("Killed", done, boundaries.length, `${boundary.when} ${boundary.what}`)
    const row = toCrashRow(baseline, boundary, await play(playing, { at: boundary.at, when: boundary.when }), scenario)
    if (values.json || signal.aborted) return row
    progress.end()
    for (const line of table.add(index, row)) process.stdout.write(`${toShown(line)}\n`)
    return row
  })
  progress.end()
  if (signal.aborted) return STOPPED
  process.stdout.write(values.json ? `${JSON.stringify(toReport(scenario, rows), null, 2)}\n` : `\n${toEnd(rows)}\n`)
  return rows.some(({ differences }) => differences.length > 0) ? 1 : 0
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

/** In their order, so many at a time; nothing more is begun once it is stopped. */
async function eachOf<Item, Made>(
  items: readonly Item[],
  { jobs, signal }: { readonly jobs: number; readonly signal: AbortSignal },
  make: (item: Item, index: number, done: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = []
  let [next, done] = [0, 0]
  const work = async () => {
    for (let mine = next++; mine < items.length && !signal.aborted; mine = next++) {
      made[mine] = await make(items[mine] as Item, mine, done)
      done++
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return made
}
