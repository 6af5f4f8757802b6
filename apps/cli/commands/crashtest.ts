import { isId, newId } from "../../../core/protocol/ids.ts"
import {
  CrashTable,
  toBaseline,
  toBoundaries,
  toCrashRow,
  toEnd,
  toReport,
} from "../../../labs/crashtest/compare-lives.ts"
import { LifeProcesses } from "../../../labs/crashtest/life-process.ts"
import { serveLifeOrders } from "../../../labs/crashtest/live.ts"
import { CrashScenario, readScenario } from "../../../labs/crashtest/scenario.ts"
import { scenarioOfRun } from "../../../labs/crashtest/scenario-of-run.ts"
import { play, type Playing } from "../../../labs/crashtest/play-lives.ts"
import { CommandError, UsageError, onStop, readFlags } from "../process/command.ts"
import { Progress } from "../process/progress.ts"
import { readConfig } from "../settings/config.ts"
import { printable } from "../../terminal/printable.ts"
import { crashtestText } from "../../strings/tests.ts"
import { optionText } from "../../strings/exec.ts"

const STOPPED = 130

export const help = crashtestText.help

const flags = {
  agent: { type: "string" },
  say: { type: "string", multiple: true },
  mode: { type: "string" },
  every: { type: "string" },
  jobs: { type: "string" },
  json: { type: "boolean" },
  // The processes that are killed run this command too.
  life: { type: "boolean" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  if (values.life) {
    await serveLifeOrders(readConfig())
    return 0
  }
  const scenario = await toScenario(positionals, values)
  const [every, jobs] = [toCount("--every", values.every), toCount("--jobs", values.jobs)]
  const signal = onStop()
  using processes = new LifeProcesses()
  const playing: Playing = { scenario, messageIds: scenario.say.map(() => newId("msg", null)), processes }
  const progress = new Progress(printable)
  progress.show(crashtestText.whole, 0, 2, "")
  const whole = await play(playing)
  progress.show(crashtestText.whole, 1, 2, "")
  const baseline = toBaseline(whole, whole.outcome ? await play(playing) : whole)
  progress.end()
  if (signal.aborted) return STOPPED
  if (typeof baseline === "string") throw new CommandError(crashtestText.notEvenWhole(baseline))
  const boundaries = toBoundaries(baseline.played.writes).filter((_, index) => index % every === 0)
  processes.expect(boundaries.length, jobs)
  const table = new CrashTable(boundaries)
  const work = { jobs, signal }
  const rows = await eachOf(boundaries, work, async (boundary, index, done) => {
    progress.show(crashtestText.killed, done, boundaries.length, crashtestText.boundary(boundary.when, boundary.what))
    const row = toCrashRow(baseline, boundary, await play(playing, { at: boundary.at, when: boundary.when }), scenario)
    if (values.json || signal.aborted) return row
    progress.end()
    for (const line of table.add(index, row)) process.stdout.write(`${printable(line)}\n`)
    return row
  })
  progress.end()
  if (signal.aborted) return STOPPED
  process.stdout.write(
    values.json ? `${JSON.stringify(toReport(scenario, rows), null, 2)}\n` : `\n${toEnd(baseline, rows)}\n`,
  )
  return rows.some(({ differences }) => differences.length > 0) ? 1 : 0
}

async function toScenario(
  positionals: readonly string[],
  values: { agent?: string; say?: string[]; mode?: string },
): Promise<CrashScenario> {
  const [file, more] = positionals
  const isSaid = values.agent !== undefined || values.say !== undefined || values.mode !== undefined
  if (more !== undefined || (file !== undefined) === isSaid) throw new UsageError(crashtestText.oneScenario)
  if (file !== undefined) return isId("run", file) ? scenarioOfRun(readConfig(), file) : readScenario(file)
  const { agent, say, mode } = values
  if (!say) throw new UsageError(crashtestText.missingSay)
  const read = CrashScenario.safeParse({ say, ...(agent ? { agent } : {}), ...(mode ? { mode } : {}) })
  if (!read.success) throw new UsageError(optionText.badMode(mode ?? "", ["confirm", "auto", "read-only"]))
  return read.data
}

function toCount(flag: string, given = "1"): number {
  if (!/^[1-9]\d{0,3}$/.test(given)) throw new UsageError(optionText.badCount(flag, given))
  return Number(given)
}

/** Runs the work on all items in order, with limited concurrency; starts nothing more after an abort. */
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
