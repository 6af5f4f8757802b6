import { type Clock, systemClock } from "../shared/time/clock.ts"
import type { Log } from "../shared/log.ts"
import { failure } from "../protocol/errors.ts"
import type { UserId } from "../protocol/ids.ts"
import { SqlAudit } from "./journal/audit.ts"
import { SqlConnections } from "./databases/connections.ts"
import { SqlConversations } from "./journal/conversations.ts"
import { SqlDeliveries } from "./journal/deliveries.ts"
import { SqlAuthorizationCodes } from "./people/authorization-codes.ts"
import { SqlCredentials } from "./people/credentials.ts"
import { SqlIssuerIdentities } from "./people/issuer-identities.ts"
import { SqlDeviceOwners } from "./people/device-owners.ts"
import { SqlDevicePresence } from "./people/device-presence.ts"
import type { Engine } from "./engine/engine.ts"
import { openSqlite } from "./engine/open-sqlite.ts"
import type { DatabaseTimeouts } from "./engine/engine.ts"
import { EventPartitions } from "./event-partitions.ts"
import { SqlQueue } from "./journal/inbox.ts"
import { SqlJournal } from "./journal/journal.ts"
import type { BytesFolder } from "./files/bytes-folder.ts"
import { PlacedFiles } from "./files/placed-files.ts"
import { SqlMessageFiles } from "./files/message-files.ts"
import { SqlMcpPins } from "./mcp/pins.ts"
import { SqlMcpServers } from "./mcp/servers.ts"
import { SqlMcpSignIns } from "./mcp/sign-ins.ts"
import { SqlMessageKeys } from "./journal/message-keys.ts"
import type { MasterKeys } from "./people/master-keys.ts"
import { migrate } from "./schema/migrate.ts"
import { inNewerSchema, isLastCheckout } from "./schema/recorded-migrations.ts"
import { SqlNews } from "./people/news.ts"
import { NodeMail } from "./journal/node-mail.ts"
import { NodeList } from "./journal/node-list.ts"
import { ThisNode } from "./journal/nodes.ts"
import { SqlChosenModels } from "./people/chosen-models.ts"
import { SqlBuckets } from "./people/buckets.ts"
import { SqlPeople } from "./people/people.ts"
import { SqlProposals } from "./journal/proposals.ts"
import { SqlProviderKeys } from "./people/provider-keys.ts"
import { Secrets } from "./people/secrets.ts"
import { Readiness } from "./readiness.ts"
import { openRetention, type StoreRetention } from "./retention.ts"
import { SharedClock } from "./shared-clock.ts"
import { explained, SqlStorage } from "./storage/storage-use.ts"
import { SqlQueryResults } from "./databases/query-results.ts"
import { StatementAttempts } from "./databases/statement-attempts.ts"
import { SqlUsage } from "./journal/usage.ts"
import { SqlSharedRuns } from "./people/shared-runs.ts"
import { SqlSessions } from "./people/sessions.ts"
import type { PackTables } from "../engine/pack-services.ts"
import { openPackTables, type TablesOfPack } from "./packs/tables.ts"
import type { SqlWorkspace } from "./workspace/workspace.ts"
import { SqlTaintedRows } from "./workspace/tainted-rows.ts"
import { SqlWorkspaces } from "./workspace/workspaces.ts"

export interface StoreOptions {
  /** `file:/path/pawl.db`, `:memory:` or `postgres://…`. */
  readonly url: string
  readonly durability?: "full" | "normal"
  /** Taken as it is, by whoever turns it. Without, it is the database's where that has one, and otherwise this machine's. */
  readonly clock?: Clock | undefined
  /** The clock of this machine, where not the system's. */
  readonly machineClock?: Clock | undefined
  readonly leaseSeconds?: number
  readonly connections?: number
  /** How long a PostgreSQL is waited for, where not as long as usual. */
  readonly waits?: DatabaseTimeouts
  /** What secrets of people are encrypted with; without it none can be stored. */
  readonly masterKeys?: MasterKeys
  /** Where the bytes of large files lie, shared by all that use this database; without, in the database. */
  readonly filesFolder?: string | undefined
  /** A folder of this machine for what can be made of the database again, where that is no file with a place of its own. */
  readonly cacheFolder?: string | undefined
  /** How many bytes each person may store; without, as many as the database says. */
  readonly personBytes?: number | undefined
  /** In a folder of this machine: the next process that names it ends the leases of this one if this one was killed. */
  readonly nodeFile?: string | undefined
  /** Opens a database of the last checkout before 0.1.0 as it is, in order to export it. */
  readonly forExport?: boolean | undefined
  /** Where a thread of its own that dies is told of. */
  readonly log?: Log
}

export interface Store {
  readonly engine: Engine
  /** What rows are stamped with, and what in them expires by. Everything over this store goes by it. */
  readonly clock: Clock
  readonly node: ThisNode
  readonly nodes: NodeList
  readonly readiness: Readiness
  readonly journal: SqlJournal
  readonly people: SqlPeople
  readonly chosenModels: SqlChosenModels
  readonly news: SqlNews
  readonly sessions: SqlSessions
  readonly buckets: SqlBuckets
  readonly credentials: SqlCredentials
  readonly authorizationCodes: SqlAuthorizationCodes
  readonly issuerIdentities: SqlIssuerIdentities
  readonly deviceOwners: SqlDeviceOwners
  /** For processes that share the database; one that is alone writes nothing to either. */
  readonly devicePresence: SqlDevicePresence
  readonly nodeMail: NodeMail
  readonly conversations: SqlConversations
  readonly proposals: SqlProposals
  readonly retention: StoreRetention
  readonly deliveries: SqlDeliveries
  readonly messageKeys: SqlMessageKeys
  readonly messageFiles: SqlMessageFiles
  readonly placedFiles: PlacedFiles
  /** Where it is, where one is named. */
  readonly filesFolder: string | undefined
  readonly queue: SqlQueue
  readonly sharedRuns: SqlSharedRuns
  readonly audit: SqlAudit
  readonly secrets: Secrets
  readonly providerKeys: SqlProviderKeys
  readonly connections: SqlConnections
  readonly mcpPins: SqlMcpPins
  readonly ownMcpServers: SqlMcpServers
  readonly mcpSignIns: SqlMcpSignIns
  readonly results: SqlQueryResults
  readonly attempts: StatementAttempts
  readonly usage: SqlUsage
  readonly storage: SqlStorage
  readonly workspaces: SqlWorkspaces
  readonly taintedRows: SqlTaintedRows
  workspaceOf(user: UserId): SqlWorkspace
  /** Call it now and then: it adds the partition of the next range of events before a writer needs it. Never rejects. */
  addPartitions(): Promise<void>
  /** The tables of a pack, brought up to date. */
  openPackTables(of: TablesOfPack): Promise<PackTables>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the database, brings its schema up to date and joins the nodes that share it. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { machineClock = systemClock, leaseSeconds } = options
  const opened = await openEngine(options)
  const storage = new SqlStorage(opened)
  const engine = explained(opened, storage)
  const folder = await openFolder(engine, options.filesFolder)
  const sharedClock = options.clock ? undefined : await openSharedClock(engine, machineClock)
  const clock = options.clock ?? sharedClock ?? machineClock
  const node = new ThisNode(engine, { clock, nodeFile: options.nodeFile, ...(leaseSeconds ? { leaseSeconds } : {}) })
  await node.expireDeadNodes()
  await storage.setLimit(options.personBytes)
  const journal = new SqlJournal(engine, node)
  const now = () => clock.now()
  const secrets = new Secrets(engine, options.masterKeys, now)
  const devicePresence = new SqlDevicePresence(engine, node)
  const nodeMail = new NodeMail(engine, node, { clock, log: options.log })
  node.keepAlive(
    () => journal.held > 0 || devicePresence.holds || nodeMail.isActive,
    () => {}, // a missed beat shows where it matters: at the next claim
  )
  const people = new SqlPeople(engine)
  const placedFiles = new PlacedFiles(engine, { place: folder, now, log: options.log })
  const messageFiles = new SqlMessageFiles(engine, placedFiles, now)
  const conversations = new SqlConversations(engine)
  const proposals = new SqlProposals(engine, now)
  const audit = new SqlAudit(engine)
  const workspaces = new SqlWorkspaces(engine, now)
  const partitions = new EventPartitions(engine, options.log)
  await partitions.add()
  return {
    engine,
    clock,
    node,
    nodes: new NodeList(engine),
    readiness: new Readiness(engine, node, clock),
    journal,
    people,
    chosenModels: new SqlChosenModels(engine),
    news: new SqlNews(engine),
    conversations,
    proposals,
    sessions: new SqlSessions(engine),
    buckets: new SqlBuckets(engine),
    credentials: new SqlCredentials(engine),
    authorizationCodes: new SqlAuthorizationCodes(engine),
    issuerIdentities: new SqlIssuerIdentities(engine, people),
    deviceOwners: new SqlDeviceOwners(engine, now, sharedClock && (() => sharedClock.askedNow())),
    devicePresence,
    nodeMail,
    deliveries: new SqlDeliveries(engine, proposals),
    retention: openRetention({
      ...{ engine, journal, conversations, proposals, audit, messageFiles, placedFiles, now },
    }),
    messageKeys: new SqlMessageKeys(engine, now),
    messageFiles,
    placedFiles,
    filesFolder: folder?.path,
    queue: new SqlQueue(engine),
    sharedRuns: new SqlSharedRuns(engine, now),
    audit,
    secrets,
    providerKeys: new SqlProviderKeys(engine, secrets, now),
    connections: new SqlConnections(engine, secrets, now),
    mcpPins: new SqlMcpPins(engine, now),
    ownMcpServers: new SqlMcpServers(engine, secrets, now),
    mcpSignIns: new SqlMcpSignIns(engine, secrets, now),
    results: new SqlQueryResults(engine, now),
    attempts: new StatementAttempts(engine, now),
    usage: new SqlUsage(engine, now),
    storage,
    workspaces,
    taintedRows: new SqlTaintedRows(engine, now),
    workspaceOf: (user) => workspaces.of(user),
    addPartitions: () => partitions.add(),
    openPackTables: (of) => openPackTables(engine, now, of),
    async [Symbol.asyncDispose]() {
      await nodeMail.close()
      sharedClock?.[Symbol.dispose]()
      await node.leave().catch(() => {}) // whoever cannot say goodbye is missed when its sign of life runs out
      await engine.close()
      node.releaseFile()
    },
  }
}

/** Asked before anything is stamped. */
async function openSharedClock(engine: Engine, machine: Clock): Promise<SharedClock | undefined> {
  try {
    return await SharedClock.open(engine, machine)
  } catch (error) {
    await engine.close()
    throw inItsWords(error)
  }
}

/** Loaded where one is named: hardly anybody does. */
async function openFolder(engine: Engine, path: string | undefined): Promise<BytesFolder | undefined> {
  if (path === undefined) return undefined
  try {
    const { openBytesFolder } = await import("./files/open-bytes-folder.ts")
    return await openBytesFolder(engine, path)
  } catch (error) {
    await engine.close()
    throw error
  }
}

async function openEngine(options: StoreOptions): Promise<Engine> {
  const { url, durability = "full", connections = 10, waits, log, clock, cacheFolder } = options
  const newer: string[] = []
  // Loaded when used: a fresh start on SQLite does not pay for PostgreSQL. The other way round it is next to nothing, and
  // one file less to find for nearly everybody.
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgres } = await import("./engine/open-postgres.ts").catch(withoutPg)
    const engine = openPostgres({ url, durability, connections, waits, cacheFolder })
    try {
      if (!(options.forExport && (await isLastCheckout(engine))))
        await migrate(engine, { log, newer, ...(clock ? { clock } : {}) })
    } catch (error) {
      await engine.close()
      throw inItsWords(error)
    }
    return inNewerSchema(engine, newer)
  }
  const file = url === ":memory:" ? url : url.startsWith("file:") ? url.slice("file:".length) : undefined
  if (file === undefined)
    throw failure("bad_request", {
      problem: `"${url}" is not a database address: use file:…, :memory: or postgres://…`,
    })
  const engine = openSqlite({ file, durability, log })
  try {
    if (!(options.forExport && (await isLastCheckout(engine)))) await migrate(engine, { log, newer })
  } catch (error) {
    await engine.close()
    throw error
  }
  return inNewerSchema(engine, newer)
}

/** `pg` is an optional peer dependency of `@pawl/core`, because SQLite needs nothing. */
function withoutPg(error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("'pg'")) throw error
  throw failure("store_unavailable", { problem: "PostgreSQL needs the package pg, so run npm install pg" })
}

/** The driver's own message is shown: a person who starts a server may see where its database is expected. */
function inItsWords(error: unknown): unknown {
  const { cause } = error as { cause?: unknown }
  const said = cause instanceof AggregateError ? (cause.errors[0] as Error) : cause
  return said instanceof Error ? failure("store_unavailable", { problem: said.message }) : error
}
