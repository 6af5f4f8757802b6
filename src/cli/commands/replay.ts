import type { Model } from "../../agent/model.ts"
import { type RebuiltRun, rebuildRequests } from "../../agent/rebuild/rebuild-requests.ts"
import { type ComposedServer, composeServer } from "../../compose/compose-server.ts"
import { placesOfOurs } from "../../compose/files-options.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import type { Run } from "../../protocol/conversation/run.ts"
import { type ConversationId, isId, type RunId, type UserId } from "../../protocol/ids.ts"
import { toFolder } from "../open/to-folder.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { readConfig, readPersonalConfig } from "../settings/config.ts"
import { warn } from "../settings/warn.ts"
import { compareKeptFold, type KeptFoldLook } from "../replay/compare-fold.ts"
import { DryRun } from "../replay/dry-run.ts"
import { readJournalRows } from "../replay/journal-faults.ts"
import { dryLines, replayLines } from "../replay/replay-lines.ts"
import { unlikeRow } from "../replay/unlike-row.ts"

export const help = `Usage: pawl replay RUN [flags]

Folds the journal of a run anew, makes each of its requests to the model again with the agents, settings and program of now,
and compares them byte by byte with what was sent then: by digests that the journal keeps. It asks no model, calls no tool
and writes nothing. RUN is the id of a run (run_…), or of a conversation (conv_…) for its newest run, of whichever person.
The fold is compared too: with the row of the run, and with the fold that is kept beside a long journal. Exit code 1 where a request
or a fold differs, or where the journal cannot be read to its end.

  --model NAME  give each request to this model instead, and show what it says beside what was said then. No tool is called:
                results are those on record, as long as the calls agree; where they part it stops. With the server's own
                keys: it costs what it says
  --json        print it as JSON
  --dir DIR     of the conversations of this folder, as pawl chat keeps them
`

const flags = { model: { type: "string" }, json: { type: "boolean" }, dir: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("replay", words, flags)
  const [word, more] = positionals
  if (word === undefined || more !== undefined) throw new CommandError("Name one run: pawl replay run_…")
  if (!isId("run", word) && !isId("conv", word))
    throw new CommandError("That is no run: their ids begin with run_, those of conversations with conv_.")
  const config = values.dir === undefined ? readConfig() : readPersonalConfig({})
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const folder = values.dir === undefined ? undefined : toFolder(values.dir, placesOfOurs(config))
  await using closing = new AsyncDisposableStack()
  if (folder) closing.use(folder)
  const server = closing.use(
    await composeServer(config, {
      ...{ log: { ...log, info() {} }, recent, folder },
      ...{ localEmbedder: "none", indexing: "none" },
    }),
  )
  const found = await findRun(server, word)
  const model = values.model === undefined ? undefined : await server.personal.shared.get(values.model)
  const dry = model && new DryRun(model, found.user)
  const { rebuilt, torn } = await rebuild(server, found, { model, look: dry?.look })
  const isWhole = torn === undefined && rebuilt.missing === undefined
  const unlike = isWhole && !dry ? unlikeRow(found.run, rebuilt) : []
  const told = { ...found, rebuilt, torn, unlike, keptFold: await lookAtFold(server, found.run, isWhole && !dry) }
  const lines = dry ? dryLines(told, dry) : replayLines(told)
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
  throw new CommandError(`There is no ${word} here: it was never here, or what it belonged to was erased.`)
}

type Asking = { readonly model: Model | undefined; readonly look: DryRun["look"] | undefined }

/** Of a journal that cannot be read to its end nothing is folded that could be compared. */
async function lookAtFold({ store }: ComposedServer, { conversationId }: Run, isWhole: boolean): Promise<KeptFoldLook> {
  return isWhole ? compareKeptFold(store.engine, conversationId) : { verdict: "none" }
}

interface Rebuilt {
  readonly rebuilt: RebuiltRun
  /** The first row that cannot be read at all. */
  readonly torn: number | undefined
}

async function rebuild({ store, pawl }: ComposedServer, { run, user }: FoundRun, asking: Asking): Promise<Rebuilt> {
  const id = run.conversationId
  const rows = await store.conversations.rowsOfRun(id, run.id)
  if (!rows)
    throw new CommandError(
      `The journal has no row with which ${run.id} begins, so that there is nothing to make again.`,
    )
  const { events, torn } = await readJournalRows(store.journal, id, rows.upTo)
  if (events.length === 0 && torn === undefined) throw new CommandError(`${run.id} was erased a moment ago.`)
  const { model, look } = asking
  const more = { ...(model ? { model } : {}), ...(look ? { look } : {}) }
  const signal = new AbortController().signal
  return { rebuilt: await rebuildRequests(events, { ports: pawl.ports, id, user, rows, signal, ...more }), torn }
}
