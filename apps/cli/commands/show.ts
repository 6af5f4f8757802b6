import { type Client, hasCode } from "../../../client/index.ts"
import { readRunRows } from "../../../client/read-pages.ts"
import { type RunTimeline, toTimeline } from "../../../client/timeline/timeline.ts"
import { baseUrl } from "../../../core/compose/settings.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import type { Run, SharedRunView } from "../../../core/protocol/conversation/conversation.ts"
import { isId } from "../../../core/protocol/ids.ts"
import { showText } from "../../strings/runs.ts"
import { sideBySide, timelineLines } from "../../terminal/drawing/timeline-lines.ts"
import { type ClientConnection, openClient } from "../open/client.ts"
import { CommandError, UsageError, readFlags } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { readConfig } from "../settings/config.ts"
import { warn } from "../settings/warn.ts"

export const help = showText.help

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

/** The width for programs that read from a pipe. */
const PIPE_WIDTH = 120

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  const { rows, json, at, dir, server, share, days, shares, unshare: taken } = values
  const ways = { rows, json, at, share, shares, unshare: taken }
  const said = Object.entries(ways).flatMap(([name, value]) => (value === undefined ? [] : `--${name}`))
  if (said.length > 1) throw new UsageError(showText.onlyOne(said))
  if (days !== undefined && !share) throw new UsageError(showText.daysWithoutShare)
  if (dir !== undefined && (share || shares || taken !== undefined)) throw new UsageError(showText.folderNotShared)
  if (positionals.length > 2) throw new UsageError(showText.tooMany)
  if (positionals.length === 2 && said.length > 0) throw new UsageError(showText.twoOnlyTimelines(said.join("")))
  const config = readConfig(undefined, { PAWL_TOKEN: values.token })
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  await using place = await openClient(config, { log, recent, dir, server, leavesIndexes: true })
  try {
    if (shares) return print(await listShared(place.client))
    if (taken !== undefined) return print(await unshare(place.client, taken))
    const named = await Promise.all((positionals.length > 0 ? positionals : [undefined]).map((id) => runOf(place, id)))
    const [first = "", other] = named
    if (share) return print(await shareRun(place.client, first, server ?? baseUrl(config), days))
    if (at !== undefined) return print([await stateAt(place.client, first, at)])
    if (other === undefined) return print(await runText(place.client, first, values))
    const columns = await Promise.all([first, other].map((id) => drawn(place.client, id, halfOf(width()))))
    return print(sideBySide(columns[0] ?? [], columns[1] ?? [], width()))
  } catch (error) {
    if (hasCode(error, "not_found"))
      throw new CommandError(showText.notFound(taken ?? positionals.join(" or "), server === undefined))
    throw error
  }
}

/** The run to show: the newest of the given conversation, or of the newest conversation. */
async function runOf({ client, newest }: ClientConnection, word: string | undefined): Promise<string> {
  if (word !== undefined && isId("run", word)) return word
  if (word !== undefined && !isId("conv", word)) throw new UsageError(showText.notARun(word))
  const id = word ?? (await newest())
  if (id === undefined) throw new CommandError(showText.noConversation)
  const { items } = await client.listRuns({ params: { id }, query: { limit: 1 } })
  if (!items[0]) throw new CommandError(showText.noRun(id))
  return items[0].id
}

async function runText(
  client: Client,
  id: string,
  { rows, json }: { rows?: boolean; json?: boolean },
): Promise<string[]> {
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

/**
 * A run that is not over lasts until now. Its rows cannot tell, because the message of the next run may have ended it.
 */
async function timelineOf(client: Client, { id, status }: Pick<Run, "id" | "status">): Promise<RunTimeline> {
  const isOver = status !== "running" && status !== "paused"
  return toTimeline(await readRunRows(client, id), isOver ? undefined : Date.now())
}

const readRun = (client: Client, id: string) => client.readRun({ params: { id } })

async function stateAt(client: Client, id: string, at: string): Promise<string> {
  if (!/^[1-9]\d*$/.test(at)) throw new UsageError(showText.badPosition(at))
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

/** A link to a run below the public address of the server. It is valid for a week, unless `days` says otherwise. */
async function shareRun(client: Client, run: string, base: string, days: string | undefined): Promise<string[]> {
  const { path, expiresAt } = await client.shareRun({ params: { id: run }, body: { days: daysIn(days) } })
  process.stderr.write(showText.shareNotice(expiresAt ?? undefined))
  return [`${base.replace(/(?<!\/)\/+$/, "")}${path}`]
}

async function listShared(client: Client): Promise<string[]> {
  const lines: string[] = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: { items: SharedRunView[]; nextCursor: string | null } = await client.listSharedRuns({
      query: cursor ? { cursor } : {},
    })
    lines.push(...page.items.map(({ id, runId, expiresAt }) => showText.share(id, runId, expiresAt ?? undefined)))
    cursor = page.nextCursor
  }
  return lines.length > 0 ? lines : [showText.noShares]
}

async function unshare(client: Client, id: string): Promise<string[]> {
  if (!isId("shr", id)) throw new UsageError(showText.notAShare(id))
  await client.revokeSharedRun({ params: { id } })
  return [showText.unshared(id)]
}

function daysIn(text: string | undefined): number | null {
  if (text === undefined) return 7
  if (text === "forever") return null
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 365) return Number(text)
  throw new UsageError(showText.badDays(text))
}
