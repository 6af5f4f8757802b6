import type { ModelRegistry } from "../../../core/models/registry.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import { readOnlyFlags } from "../process/command.ts"
import { type Config, readConfig } from "../settings/config.ts"
import { filesOpenToOthers } from "../../../core/compose/open-store.ts"
import { createLog } from "../process/log.ts"
import { migrations } from "../../../core/store/schema/migrations.ts"
import { readMigrations, unknownMigrations } from "../../../core/store/schema/recorded-migrations.ts"
import { examineBus, examineNodes, examineStatements, examineTraces } from "../doctor/server.ts"
import { type Finding, examineDisk, examineDurability, examineFiles, examineSandbox } from "../doctor/machine.ts"
import { examineLocalServers, examineProviders, examineReservations } from "../doctor/providers.ts"
import manifest from "../../../package.json" with { type: "json" }
import { type ComposedServer, composeServer } from "../../../core/compose/compose-server.ts"
import { doctorText } from "../../strings/doctor.ts"
import { errorText } from "../process/error-text.ts"

export const help = doctorText.help

const NODE = 24

export async function run(words: readonly string[]): Promise<number> {
  const { json } = readOnlyFlags(words, { json: { type: "boolean" } })
  const findings: { readonly mark: Finding[0]; readonly what: string }[] = []
  for await (const [mark, what] of examine()) {
    findings.push({ mark, what })
    if (!json) process.stdout.write(doctorText.finding(mark, what))
  }
  const wrong = findings.filter(({ mark }) => mark === "wrong").length
  const ok = wrong === 0
  process.stdout.write(json ? `${JSON.stringify({ ok, findings }, null, 2)}\n` : doctorText.verdict(wrong))
  return ok ? 0 : 1
}

async function* examine(): AsyncGenerator<Finding> {
  yield ["ok", doctorText.pawl(manifest.version)]
  const { node } = process.versions
  yield Number.parseInt(node, 10) >= NODE ? ["ok", doctorText.node(node)] : ["wrong", doctorText.oldNode(node, NODE)]
  yield* examineReservations()
  let config: Config
  let opened: ComposedServer
  try {
    config = readConfig()
    yield* config.warnings.map((warning): Finding => ["note", warning])
    yield ["ok", doctorText.settings]
    yield ["ok", doctorText.dataFolder(config.dataFolder)]
    const log = createLog(config.secrets, undefined, config.log)
    opened = await composeServer(config, { log, indexing: "none" })
  } catch (error) {
    yield ["wrong", (await errorText(error)) ?? (error as Error).message]
    // Work that a pack started while it was loaded may never end, and nothing else can stop it.
    if (hasCode(error, "pack_refused")) process.exit(1)
    return
  }
  await using open = opened
  const version = await versionOf(open)
  const isSqlite = open.store.engine.name === "sqlite"
  yield ["ok", isSqlite ? doctorText.sqlite(config.dataFolder, version) : doctorText.postgres(version)]
  yield await examineSchema(open)
  yield* examineStore(open)
  yield* examineDurability(open.store.engine, config.durability)
  if (isSqlite) yield* examineDisk(doctorText.disk, config.dataFolder)
  yield* examineFiles(open.store)
  if (open.store.filesFolder !== undefined) yield* examineDisk(doctorText.filesDisk, open.store.filesFolder)
  yield* examineNodes(open.store, open.clock)
  yield* examineBus(open)
  for (const path of filesOpenToOthers(config.dataFolder)) yield ["note", doctorText.readableByOthers(path)]
  if (!(await open.store.people.hasTokens())) yield ["note", doctorText.noTokens]
  if (config.packs.length > 0) yield ["ok", doctorText.packs(open.packs.names.join(", "), config.packs.join(", "))]
  // Providers first: the lists of their endpoints decide which models can be used.
  yield* examineProviders(open.personal.shared)
  yield* examineModels(open.personal.shared)
  yield* examineLocalServers(open.personal)
  yield* examineTraces(config.telemetry)
  yield examineSandbox(config)
  yield* examineStatements(open.store)
  yield ["ok", doctorText.editors(`${process.argv.slice(0, 2).join(" ")} acp`)]
}

async function versionOf({ store: { engine } }: ComposedServer): Promise<string | undefined> {
  const isFile = engine.name === "sqlite"
  const sql = isFile ? "SELECT sqlite_version() AS version" : "SELECT current_setting('server_version') AS version"
  return (await engine.query<{ version: string }>(sql, []))[0]?.version
}

/** The server was opened, so its schema can be used. */
async function examineSchema({ store }: ComposedServer): Promise<Finding> {
  const newer = unknownMigrations((await readMigrations(store.engine)) ?? new Map(), migrations)
  if (newer.length === 0) return ["ok", doctorText.schema(migrations.at(-1)?.name ?? "none")]
  return ["note", doctorText.newerSchema(newer.join(", "))]
}

/** Whether the database accepts writes and stores them durably. */
async function* examineStore({ store }: ComposedServer): AsyncGenerator<Finding> {
  try {
    const { warnings } = await store.readiness.check()
    yield* warnings.map((warning): Finding => ["wrong", warning])
  } catch (error) {
    yield ["wrong", (await errorText(error)) ?? (error as Error).message]
  }
}

async function* examineModels(models: ModelRegistry): AsyncGenerator<Finding> {
  const available = models.list().filter((model) => model.available)
  yield ["ok", doctorText.models(available.map((model) => model.name).join(", "))]
  try {
    yield ["ok", doctorText.defaultModel((await models.get(null)).name)]
  } catch (error) {
    yield ["wrong", (await errorText(error)) ?? (error as Error).message]
  }
}
