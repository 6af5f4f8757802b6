import { type Client, ClientError, hasCode } from "../../client/index.ts"
import { readRunRows } from "../../client/timeline/read-run-rows.ts"
import { type RunTimeline, toTimeline } from "../../client/timeline/timeline.ts"
import { baseUrl } from "../../compose/server-url.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import type { Run } from "../../protocol/conversation/run.ts"
import { isId } from "../../protocol/ids.ts"
import { sideBySide, timelineLines } from "../../terminal/drawing/timeline-lines.ts"
import { type ClientPlace, openClient } from "../open/client.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { readConfig, readPersonalConfig } from "../settings/config.ts"
import { warn } from "../settings/warn.ts"
import { listShared, shareRun, unshare } from "./show-shared.ts"

export const help = `Usage: pawl show [RUN] [OTHER] [flags]

Shows what a run was spent on: each reply, call, wait and trouble, when it began, how long it took and what it used. RUN is
the id of a run (run_…), or of a conversation (conv_…) for its newest run; without one, the newest of all. With two, they
stand beside each other.

  --rows          print what was recorded instead, one row of the journal a line, as JSON
  --json          print the timeline as JSON
  --at POSITION   print the state as it was behind this row, as JSON; the first number of each line is its row
  --share         print a link by which somebody else who is signed in on the server sees this run, and nothing else
  --days NUMBER   for how many days it opens (default: 7), or forever
  --shares        list the links that still open; --unshare ID takes one back
  --dir DIR       of the conversations of this folder, as pawl chat keeps them
  --server URL    ask this server instead of one in this process
  --token TOKEN   who asks it; better PAWL_TOKEN, which no list of processes shows
`

const flags = {
  rows: { type: "boolean" },
  json: { type: "boolean" },
  at: { type: "string" },
  share: { type: "boolean" },
  days: { type: "string" },
  shares: { type: "boolean" },
  unshare: { type: "string" },
  dir: { type: "string" },
  server: { type: "string" },
  token: { type: "string" },
} as const

/** As wide as a program is told that reads it through a pipe. */
const PIPE_WIDTH = 120

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("show", words, flags)
  const { rows, json, at, dir, server, share, days, shares, unshare: taken } = values
  const ways = { rows, json, at, share, shares, unshare: taken }
  const said = Object.entries(ways).flatMap(([name, value]) => (value === undefined ? [] : `--${name}`))
  if (said.length > 1) throw new CommandError(`Say one of ${said.join(" and ")}.`)
  if (days !== undefined && !share) throw new CommandError("--days says how long a link opens that --share makes.")
  if (dir !== undefined && (share || shares || taken !== undefined))
    throw new CommandError("Conversations of a folder are on no server, so that nobody else could open a link to them.")
  if (positionals.length > 2) throw new CommandError("Name one run, or two to see them beside each other.")
  if (positionals.length === 2 && said.length > 0)
    throw new CommandError(`Two runs stand beside each other only as timelines; name one for ${said.join("")}.`)
  const given = { PAWL_TOKEN: values.token }
  const config = dir === undefined ? readConfig(undefined, given) : readPersonalConfig(given)
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  await using place = await openClient(config, { log, recent, dir, server, isBrief: true, leavesIndexes: true })
  try {
    if (shares) return print(await listShared(place.client))
    if (taken !== undefined) return print(await unshare(place.client, taken))
    const named = await Promise.all((positionals.length > 0 ? positionals : [undefined]).map((id) => runOf(place, id)))
    const [first = "", other] = named
    if (share) return print(await shareRun(place.client, first, server ?? baseUrl(config), days))
    if (at !== undefined) return print([await stateAt(place.client, first, at)])
    if (other === undefined) return print(await told(place.client, first, values))
    const columns = await Promise.all([first, other].map((id) => drawn(place.client, id, halfOf(width()))))
    return print(sideBySide(columns[0] ?? [], columns[1] ?? [], width()))
  } catch (error) {
    if (hasCode(error, "not_found")) throw new CommandError(missingWords(taken ?? positionals.join(" or "), server))
    if (error instanceof ClientError) throw new CommandError(error.message)
    throw error
  }
}

/** Not here, or somebody else's: nobody learns which. Without a server it is asked of what this machine's own user did. */
function missingWords(named: string, server: string | undefined): string {
  const where = "What people did on a server is asked of it, as one of them: --server URL and PAWL_TOKEN."
  return `There is no ${named} here, or it is not yours.${server === undefined ? ` ${where}` : ""}`
}

/** The run that is meant: of a conversation its newest, and without a word the newest of the newest conversation. */
async function runOf({ client, newest }: ClientPlace, word: string | undefined): Promise<string> {
  if (word !== undefined && isId("run", word)) return word
  if (word !== undefined && !isId("conv", word))
    throw new CommandError(`"${word}" is no run: their ids begin with run_, those of conversations with conv_.`)
  const id = word ?? (await newest())
  if (id === undefined) throw new CommandError("Nobody has said anything here yet, so that there is no run to show.")
  const { items } = await client.listRuns({ params: { id }, query: { limit: 1 } })
  if (!items[0]) throw new CommandError(`In ${id} nothing was asked yet, so that there is no run to show.`)
  return items[0].id
}

async function told(client: Client, id: string, { rows, json }: { rows?: boolean; json?: boolean }): Promise<string[]> {
  if (rows) return (await readRunRows(client, id)).map((row) => JSON.stringify(row))
  if (json) {
    const run = await readRun(client, id)
    return [JSON.stringify({ run, ...(await timelineOf(client, run)) }, null, 2)]
  }
  return drawn(client, id, width())
}

async function drawn(client: Client, id: string, columns: number): Promise<string[]> {
  const run = await readRun(client, id)
  const head = [id, run.status, ...(run.model ? [run.model] : [])].join(" · ")
  return [head, ...timelineLines(await timelineOf(client, run), columns)]
}

/** One that is not over goes on until now; its rows alone do not tell, since the words of the next run may have ended it. */
async function timelineOf(client: Client, { id, status }: Pick<Run, "id" | "status">): Promise<RunTimeline> {
  const isOver = status !== "running" && status !== "paused"
  return toTimeline(await readRunRows(client, id), isOver ? undefined : Date.now())
}

const readRun = (client: Client, id: string) => client.readRun({ params: { id } })

async function stateAt(client: Client, id: string, at: string): Promise<string> {
  if (!/^[1-9]\d*$/.test(at)) throw new CommandError(`--at takes the number of a row, such as 12, not "${at}".`)
  const { conversationId } = await readRun(client, id)
  const state = await client.readState({ params: { id: conversationId }, query: { at: Number(at) } })
  return JSON.stringify(state, null, 2)
}

const width = (): number => (process.stdout.isTTY ? process.stdout.columns : PIPE_WIDTH)
const halfOf = (columns: number): number => Math.floor((columns - 3) / 2)

function print(lines: readonly string[]): 0 {
  process.stdout.write(`${lines.join("\n")}\n`)
  return 0
}
