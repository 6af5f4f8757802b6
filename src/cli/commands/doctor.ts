import type { ModelRegistry } from "../../models/registry.ts"
import { hasCode } from "../../protocol/errors.ts"
import { readOnlyFlags } from "../process/command.ts"
import { type Config, readConfig } from "../settings/config.ts"
import { openToOthers } from "../../compose/data-folder.ts"
import { createLog } from "../process/log.ts"
import { migrations } from "../../store/migrations/list.ts"
import { readDone, unknownSteps } from "../../store/migrations/newer-schema.ts"
import { examineBus } from "../doctor/bus.ts"
import { examineDisk } from "../doctor/disk.ts"
import { examineDurability } from "../doctor/durability.ts"
import { examineFiles } from "../doctor/files.ts"
import type { Finding } from "../doctor/finding.ts"
import { examineNodes } from "../doctor/nodes.ts"
import { examineProviders } from "../doctor/providers.ts"
import { examineReservations } from "../doctor/reservations.ts"
import { examineSandbox } from "../doctor/sandbox.ts"
import { examineStatements } from "../doctor/slow-statements.ts"
import { examineTraces } from "../doctor/traces.ts"
import manifest from "../../../package.json" with { type: "json" }
import { type ComposedServer, composeServer } from "../../compose/compose-server.ts"

export const help = `Usage: pawl doctor [--json]

Checks the set-up line by line: versions, settings, database and schema, what durability is in force, disks, the master key, other nodes and
clocks, the bus between them, models, whether the providers that are set up answer, and who is told of traces, the sandbox, slow statements. What is worth a word
or wrong says what to do. Exit code 1 if something is wrong.

  --json  print it as JSON: {"ok", "findings": [{"mark", "what"}]}
`

const NODE = 24

export async function run(words: readonly string[]): Promise<number> {
  const { json } = readOnlyFlags("doctor", words, { json: { type: "boolean" } })
  const findings: { readonly mark: Finding[0]; readonly what: string }[] = []
  for await (const [mark, what] of examine()) {
    findings.push({ mark, what })
    if (!json) process.stdout.write(`${mark.padEnd(5)} ${what}\n`)
  }
  const wrong = findings.filter(({ mark }) => mark === "wrong").length
  const ok = wrong === 0
  // The one line that matters may have gone by: the list is long.
  const verdict = ok ? "Nothing is wrong." : `${wrong === 1 ? "1 thing is" : `${wrong} things are`} wrong.`
  process.stdout.write(json ? `${JSON.stringify({ ok, findings }, null, 2)}\n` : `\n${verdict}\n`)
  return ok ? 0 : 1
}

async function* examine(): AsyncGenerator<Finding> {
  yield ["ok", `Pawl ${manifest.version}`]
  const { node } = process.versions
  yield Number.parseInt(node, 10) >= NODE
    ? ["ok", `Node ${node}`]
    : ["wrong", `Node ${node}: Pawl needs ${NODE} or newer`]
  yield* examineReservations()
  let config: Config
  let opened: ComposedServer
  try {
    config = readConfig()
    yield* config.warnings.map((warning): Finding => ["note", warning])
    yield ["ok", "settings"]
    const log = createLog(config.secrets, undefined, config.log)
    opened = await composeServer(config, { log, indexing: "none" })
  } catch (error) {
    yield ["wrong", (error as Error).message]
    // What a pack has begun while it was loaded may never end, and nobody else can end it.
    if (hasCode(error, "pack_refused")) process.exit(1)
    return
  }
  await using open = opened
  const kind = open.store.engine.name === "sqlite" ? `SQLite in ${config.dataFolder}` : "PostgreSQL (DATABASE_URL)"
  yield ["ok", `database: ${kind}, ${await versionOf(open)}`]
  yield await examineSchema(open)
  yield* examineStore(open)
  yield* examineDurability(open.store.engine, config.durability)
  if (open.store.engine.name === "sqlite") yield* examineDisk("disk", config.dataFolder)
  yield* examineFiles(open.store)
  if (open.store.filesFolder !== undefined) yield* examineDisk("disk of files", open.store.filesFolder)
  yield* examineNodes(open.store, open.clock)
  yield* examineBus(open)
  for (const path of openToOthers(config.dataFolder))
    yield ["note", `${path} can be read by other users of this machine: chmod go= ${path}`]
  if (!(await open.store.people.hasTokens()))
    yield ["note", "nobody has a token yet: pawl token create --user NAME, or pawl invite --user NAME for a browser"]
  if (config.packs.length > 0)
    yield ["ok", `packs: ${open.packs.names.join(", ")} (${config.packs.join(", ")} by PAWL_PACKS)`]
  yield* examineModels(open.personal.shared)
  yield* examineProviders(open.personal.shared)
  yield* examineTraces(config.telemetry)
  yield examineSandbox(config)
  yield* examineStatements(open.store)
  yield ["ok", `editors: ${process.argv.slice(0, 2).join(" ")} acp is the command for their settings (docs/editors.md)`]
}

async function versionOf({ store: { engine } }: ComposedServer): Promise<string> {
  const isFile = engine.name === "sqlite"
  const sql = isFile ? "SELECT sqlite_version() AS version" : "SELECT current_setting('server_version') AS version"
  return `version ${(await engine.query<{ version: string }>(sql, []))[0]?.version}`
}

/** One that this version cannot serve has kept the database from being opened. */
async function examineSchema({ store }: ComposedServer): Promise<Finding> {
  const newer = unknownSteps((await readDone(store.engine)) ?? new Map(), migrations)
  if (newer.length === 0) return ["ok", `schema: that of this version, ${migrations.at(-1)?.name ?? "none"}`]
  return ["note", `schema: a newer Pawl has added ${newer.join(", ")}; this version can serve it`]
}

/** Whether it takes what it is given, and whether it keeps it. */
async function* examineStore({ store }: ComposedServer): AsyncGenerator<Finding> {
  try {
    const { warnings } = await store.readiness.check()
    yield* warnings.map((warning): Finding => ["wrong", warning])
  } catch (error) {
    yield ["wrong", (error as Error).message]
  }
}

async function* examineModels(models: ModelRegistry): AsyncGenerator<Finding> {
  const available = models.list().filter((model) => model.available)
  yield ["ok", `models: ${available.map((model) => model.name).join(", ")}`]
  try {
    yield ["ok", `default model: ${(await models.get(null)).name}`]
  } catch (error) {
    yield ["wrong", (error as Error).message]
  }
}
