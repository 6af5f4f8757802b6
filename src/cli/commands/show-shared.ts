import type { Client } from "../../client/index.ts"
import type { SharedRunView } from "../../protocol/conversation/shared-run.ts"
import { isId } from "../../protocol/ids.ts"
import { CommandError } from "../process/command.ts"

/** Said before the link, to whoever is about to send it to somebody. */
const SHOWS = `Whoever has the link and is signed in on the server sees this run: words, replies, calls with arguments and results, times and cost.
Nothing of other runs, no files, no thoughts, no instructions. \`pawl show --shares\` lists links, \`pawl show --unshare ID\` takes one back.\n`

/** A link to a run for somebody else, below where people reach the server. It opens for a week, unless `days` says otherwise. */
export async function shareRun(client: Client, run: string, base: string, days: string | undefined): Promise<string[]> {
  const { path, expiresAt } = await client.shareRun({ params: { id: run }, body: { days: daysIn(days) } })
  process.stderr.write(`${SHOWS}It opens until ${expiresAt ?? "it is taken back"}.\n`)
  return [`${base.replace(/(?<!\/)\/+$/, "")}${path}`]
}

export async function listShared(client: Client): Promise<string[]> {
  const lines: string[] = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: { items: SharedRunView[]; nextCursor: string | null } = await client.listSharedRuns({
      query: cursor ? { cursor } : {},
    })
    lines.push(...page.items.map(({ id, runId, expiresAt }) => `${id}  ${runId}  ${expiresAt ?? "until taken back"}`))
    cursor = page.nextCursor
  }
  return lines.length > 0 ? lines : ["No run is shared."]
}

export async function unshare(client: Client, id: string): Promise<string[]> {
  if (!isId("shr", id)) throw new CommandError(`"${id}" is no link to a run: their ids begin with shr_, see --shares.`)
  await client.revokeSharedRun({ params: { id } })
  return [`${id} opens nothing any more.`]
}

function daysIn(text: string | undefined): number | null {
  if (text === undefined) return 7
  if (text === "forever") return null
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 365) return Number(text)
  throw new CommandError(`--days cannot be "${text}". Allowed: 1 to 365, or forever.`)
}
