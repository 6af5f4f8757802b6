import { mkdirSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineAgent } from "../../../core/engine/definition/agent.ts"
import type { Model } from "../../../core/engine/model.ts"
import type { ModelSource } from "../../../core/engine/ports.ts"
import type { Log } from "../../../core/shared/log.ts"
import type { EvalScript } from "../../../labs/evaluate/file/script.ts"
import { JUDGE_INSTRUCTIONS } from "../../../labs/evaluate/run/judge.ts"
import { JUDGE, type OpenPlace, SCRIPTED, SCRIPTED_JUDGE } from "../../../labs/evaluate/run/place.ts"
import { createEmbedder, noEmbedder } from "../../../core/models/embedders/create.ts"
import { proxiedFetch } from "../../../core/models/network/proxied-fetch.ts"
import type { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { ScriptedModel } from "../../../core/models/scripted/model.ts"
import { calls, finishes, replies, type Script, says } from "../../../core/models/scripted/script.ts"
import { openFolder } from "../../../packs/files/folder/local-folder.ts"
import { privateFolders } from "../../../core/compose/files-options.ts"
import type { ModelCatalogue } from "../../../core/server/conversation/ports.ts"
import type { Config } from "../settings/config.ts"
import { openInProcess } from "./embedded.ts"

const judge = defineAgent({
  name: JUDGE,
  description: "Judges what another agent did, for `pawl eval`.",
  instructions: JUDGE_INSTRUCTIONS,
  tools: [],
})

interface TemporaryServerOptions {
  readonly log: Log
  readonly recent: RecentSecrets
  /** The parent of their folders; by default the system's temporary folder. */
  readonly under?: string
}

/**
 * Opens a server in its own temporary folder for each run of a case, with the operator's models and packs, and removes
 * it afterwards. They share the embedder, which is slow to start and stores nothing.
 */
export function openTemporaryServers(
  config: Config,
  { log, recent, under = tmpdir() }: TemporaryServerOptions,
): { open: OpenPlace } & AsyncDisposable {
  const outward = config.proxy ? { fetch: proxiedFetch(config.proxy) } : {}
  const embedder = createEmbedder(config.models, { log, local: config.localEmbedder, ...outward }) ?? noEmbedder
  const open: OpenPlace = async ({ hasFolder, script, verdicts }) => {
    await using opening = new AsyncDisposableStack()
    const root = await mkdtemp(join(under, "pawl-eval-"))
    opening.defer(() => rm(root, { recursive: true, force: true }))
    const settings = settingsFor(config, join(root, "data"))
    const work = hasFolder ? join(root, "work") : undefined
    if (work !== undefined) mkdirSync(work)
    const spoken = script && new PlayedModel(SCRIPTED, script)
    const said = verdicts.map((verdict) => ({ says: JSON.stringify(verdict) }))
    const judging = new PlayedModel(SCRIPTED_JUDGE, { replies: said })
    const place = opening.use(
      await openInProcess(settings, {
        ...{ log, recent, embedder },
        // As for `pawl exec`: otherwise the tools would depend on when the embedder is ready.
        agents: (ofPacks) => [...ofPacks, judge],
        models: (own) => withPlayed(own, [...(spoken ? [spoken] : []), judging]),
        ...(work === undefined
          ? {}
          : { folder: openFolder(work, undefined, privateFolders(settings), { isTrusted: true }) }),
      }),
    )
    const closing = opening.move()
    return {
      client: place.client,
      folder: work,
      databases: settings.sqliteRoot,
      asked: () => spoken?.received.length ?? 0,
      [Symbol.asyncDispose]: () => closing.disposeAsync(),
    }
  }
  return {
    open,
    async [Symbol.asyncDispose]() {
      await embedder.close?.()
    },
  }
}

/**
 * The operator's settings without those that lead to real data or report to the outside: database and files, cluster,
 * webhook, traces, MCP servers. There is no sign-in, and titles are not needed.
 */
function settingsFor(config: Config, dataFolder: string): Config {
  return {
    ...config,
    dataFolder,
    databaseUrl: `file:${join(dataFolder, "pawl.db")}`,
    sqliteRoot: join(dataFolder, "databases"),
    durability: "normal",
    ...{ filesFolder: undefined, nats: undefined, webhook: undefined, telemetry: undefined, mcp: [] },
    ...{ jwt: undefined, oidc: undefined, masterKey: undefined, previousMasterKey: undefined },
    ...{ titleModel: undefined, requestsPerMinute: 0, sharedKeys: true },
  }
}

const FREE = { input: 0, output: 0 }

/** Never used for verdicts; stages fall back to their path without a model. */
class PlayedModel extends ScriptedModel {
  readonly decides = false
  readonly price: Model["price"]

  constructor(name: string, { replies: said, price }: EvalScript) {
    super(said.map(toScript))
    this.name = name
    this.price = price ?? FREE
  }
}

function toScript({ says: words, calls: called, usage }: EvalScript["replies"][number]): Script {
  return replies(
    ...(words === undefined ? [] : [says(words)]),
    ...(called ? [calls(...called.map(({ tool, arguments: given }) => [tool, given] as const))] : []),
    finishes(called ? "calls" : "stop", { inputTokens: usage?.input ?? 0, outputTokens: usage?.output ?? 0 }),
  )
}

/** The operator's models together with the scripted ones. */
function withPlayed(own: ModelSource & ModelCatalogue, played: readonly Model[]): ModelSource & ModelCatalogue {
  const byName = new Map(played.map((model) => [model.name, model]))
  return {
    get: async (name, user) => (name === null ? undefined : byName.get(name)) ?? own.get(name, user),
    list: (user) => own.list(user),
    providerOf: async (name, user) => byName.get(name)?.provider ?? (await own.providerOf?.(name, user)) ?? null,
    defaultName: (user) => own.defaultName(user),
  }
}
