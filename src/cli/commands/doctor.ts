import type { ModelRegistry } from "../../models/registry.ts"
import { hasCode } from "../../protocol/errors.ts"
import { readFlags } from "../process/command.ts"
import { type Config, readConfig } from "../settings/config.ts"
import { openToOthers } from "../../compose/data-folder.ts"
import { createLog } from "../process/log.ts"
import { migrations } from "../../store/migrations/list.ts"
import { readDone, unknownSteps } from "../../store/migrations/newer-schema.ts"
import { examineBus } from "./doctor-bus.ts"
import { examineFiles } from "./doctor-files.ts"
import { examineNodes, type Finding } from "./doctor-nodes.ts"
import { type ComposedServer, composeServer } from "../../compose/compose-server.ts"

export const help = `Usage: pawl doctor

Checks the set-up line by line: Node, settings, database, the folder of files, other nodes, the bus between them, models. Exit code 1 if something keeps Pawl from working.
`

const NODE = 24

export async function run(words: readonly string[]): Promise<number> {
  readFlags("doctor", words, {})
  let wrong = false
  for await (const [mark, what] of examine()) {
    process.stdout.write(`${mark.padEnd(5)} ${what}\n`)
    wrong ||= mark === "wrong"
  }
  return wrong ? 1 : 0
}

async function* examine(): AsyncGenerator<Finding> {
  const { node } = process.versions
  yield Number.parseInt(node, 10) >= NODE
    ? ["ok", `Node ${node}`]
    : ["wrong", `Node ${node}: Pawl needs ${NODE} or newer`]
  let config: Config
  let opened: ComposedServer
  try {
    config = readConfig()
    yield* config.warnings.map((warning): Finding => ["note", warning])
    yield ["ok", "settings"]
    opened = await composeServer(config, { log: createLog(config.secrets, undefined, config.log) })
  } catch (error) {
    yield ["wrong", (error as Error).message]
    // What a pack has begun while it was loaded may never end, and nobody else can end it.
    if (hasCode(error, "pack_refused")) process.exit(1)
    return
  }
  await using open = opened
  const kind = open.store.engine.name === "sqlite" ? `SQLite in ${config.dataFolder}` : "PostgreSQL (DATABASE_URL)"
  yield ["ok", `database: ${kind}`]
  yield await examineSchema(open)
  yield* examineStore(open)
  yield* examineFiles(open.store)
  yield* examineNodes(open.store, open.clock)
  yield* examineBus(open)
  for (const path of openToOthers(config.dataFolder))
    yield ["note", `${path} can be read by other users of this machine: chmod go= ${path}`]
  if (!(await open.store.people.hasTokens()))
    yield ["note", "nobody has a token yet: pawl token create --user NAME, or pawl invite --user NAME for a browser"]
  if (config.packs.length > 0)
    yield ["ok", `packs: ${open.packs.names.join(", ")} (${config.packs.join(", ")} by PAWL_PACKS)`]
  yield* examineModels(open.personal.shared)
  yield ["ok", `editors: ${process.argv.slice(0, 2).join(" ")} acp is the command for their settings (docs/editors.md)`]
}

/** One that this version cannot serve has kept the database from being opened. */
async function examineSchema({ store }: ComposedServer): Promise<Finding> {
  const newer = unknownSteps((await readDone(store.engine)) ?? new Map(), migrations)
  if (newer.length === 0) return ["ok", "schema: that of this version"]
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
