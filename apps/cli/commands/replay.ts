import type { Model } from "../../../core/engine/model.ts"
import { type RebuiltRun, rebuildRequests } from "../../../core/engine/rebuild/rebuild-requests.ts"
import { type ComposedServer, composeServer } from "../../../core/compose/compose-server.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import type { Run } from "../../../core/protocol/conversation/conversation.ts"
import { type ConversationId, isId, type RunId, type UserId } from "../../../core/protocol/ids.ts"
import { toFolder } from "../open/trusted-folders.ts"
import { CommandError, readFlags, UsageError } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { readConfig } from "../settings/config.ts"
import { warn } from "../settings/warn.ts"
import {
  type StateComparison,
  compareSnapshot,
  readJournalRows,
  unlikeRow,
} from "../../../labs/replay/compare-snapshot.ts"
import { DryRun } from "../../../labs/replay/dry-run.ts"
import { dryLines, replayLines } from "../../../labs/replay/replay-lines.ts"
import { replayText, showText } from "../../strings/runs.ts"

export const help = replayText.help

const flags = { model: { type: "string" }, json: { type: "boolean" }, dir: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  const [word, more] = positionals
  if (word === undefined || more !== undefined) throw new UsageError(replayText.missingRun)
  if (!isId("run", word) && !isId("conv", word)) throw new UsageError(showText.notARun(word))
  const config = readConfig()
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const folder = values.dir === undefined ? undefined : toFolder(values.dir, config)
  await using closing = new AsyncDisposableStack()
  if (folder) closing.use(folder)
  const server = closing.use(
    await composeServer(config, {
      ...{ log: { ...log, info() {} }, recent, folder },
      indexing: "none",
    }),
  )
  const found = await findRun(server, word)
  const model = values.model === undefined ? undefined : await server.personal.shared.get(values.model)
  const dry = model && new DryRun(model, found.user)
  const { rebuilt, torn } = await rebuild(server, found, { model, look: dry?.look })
  const isWhole = torn === undefined && rebuilt.missing === undefined
  const unlike = isWhole && !dry ? unlikeRow(found.run, rebuilt) : []
  const comparison = {
    ...found,
    rebuilt,
    torn,
    unlike,
    keptFold: await compareState(server, found.run, isWhole && !dry),
  }
  const lines = dry ? dryLines(comparison, dry) : replayLines(comparison)
  process.stdout.write(`${values.json ? JSON.stringify(lines.json, null, 2) : lines.text.join("\n")}\n`)
  return lines.code
}

interface FoundRun {
  readonly run: Run
  readonly user: UserId
}

async function findRun({ store }: ComposedServer, word: RunId | ConversationId): Promise<FoundRun> {
  const { conversations } = store
  const id = isId("run", word) ? word : (await conversations.runs(word, { limit: 1 })).items[0]?.id
  const found = id && (await conversations.runOfAnybody(id))
  if (found) return found
  throw new CommandError(replayText.notFound(word))
}

type Asking = { readonly model: Model | undefined; readonly look: DryRun["look"] | undefined }

/** Without a complete journal there is no state to compare. */
async function compareState(
  { store }: ComposedServer,
  { conversationId }: Run,
  isWhole: boolean,
): Promise<StateComparison> {
  return isWhole ? compareSnapshot(store.engine, conversationId) : { verdict: "none" }
}

interface Rebuilt {
  readonly rebuilt: RebuiltRun
  /** The first row that cannot be read. */
  readonly torn: number | undefined
}

async function rebuild({ store, pawl }: ComposedServer, { run, user }: FoundRun, asking: Asking): Promise<Rebuilt> {
  const id = run.conversationId
  const rows = await store.conversations.rowsOfRun(id, run.id)
  if (!rows) throw new CommandError(replayText.noFirstEvent(run.id))
  const { events, torn } = await readJournalRows(store.journal, id, rows.upTo)
  if (events.length === 0 && torn === undefined) throw new CommandError(replayText.erased(run.id))
  const { model, look } = asking
  const more = { ...(model ? { model } : {}), ...(look ? { look } : {}) }
  const signal = new AbortController().signal
  return { rebuilt: await rebuildRequests(events, { ports: pawl.ports, id, user, rows, signal, ...more }), torn }
}
