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
import { FolderFiles } from "./files/folder-files.ts"
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
import { withStorageErrors, SqlStorage } from "./storage/storage-use.ts"
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
  /** Default: the database's clock if it has one, otherwise this machine's. */
  readonly clock?: Clock | undefined
  /** This machine's clock. Default: the system's. */
  readonly machineClock?: Clock | undefined
  readonly leaseSeconds?: number
  readonly connections?: number
  /** Timeouts for PostgreSQL. */
  readonly waits?: DatabaseTimeouts
  /** The keys for people's secrets. Without them no secrets can be stored. */
  readonly masterKeys?: MasterKeys
  /** A folder for large files, shared by all nodes of this database. Default: the database stores them. */
  readonly filesFolder?: string | undefined
  /** A local folder for data that can be rebuilt from the database, if the database is not a local file. */
  readonly cacheFolder?: string | undefined
  /** The storage limit per person. Default: the one that the database has. */
  readonly personBytes?: number | undefined
  /** A local file: the next process that uses it expires this process's leases if it was killed. */
  readonly nodeFile?: string | undefined
  /** Opens a database of the last checkout before 0.1.0 unchanged, in order to export it. */
  readonly forExport?: boolean | undefined
  /** Receives the failures of threads. */
  readonly log?: Log
}

export interface Store {
  readonly engine: Engine
  /** The clock for timestamps and expiry of everything in this store. */
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
  /** For nodes that share the database; a single node writes to neither. */
  readonly devicePresence: SqlDevicePresence
  readonly nodeMail: NodeMail
  readonly conversations: SqlConversations
  readonly proposals: SqlProposals
  readonly retention: StoreRetention
  readonly deliveries: SqlDeliveries
  readonly messageKeys: SqlMessageKeys
  readonly messageFiles: SqlMessageFiles
  readonly folderFiles: FolderFiles
  /** The folder for large files, if there is one. */
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
  /** To be called now and then: adds the next partition of events. Never rejects. */
  addPartitions(): Promise<void>
  /** Migrates and returns the tables of a pack. */
  openPackTables(of: TablesOfPack): Promise<PackTables>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the database, migrates its schema and joins the nodes that share it. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { machineClock = systemClock, leaseSeconds } = options
  const opened = await openEngine(options)
  const storage = new SqlStorage(opened)
  const engine = withStorageErrors(opened, storage)
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
    () => {}, // a missed heartbeat is noticed at the next claim
  )
  const people = new SqlPeople(engine)
  const folderFiles = new FolderFiles(engine, { place: folder, now, log: options.log })
  const messageFiles = new SqlMessageFiles(engine, folderFiles, now)
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
    deviceOwners: new SqlDeviceOwners(engine, now, sharedClock && (() => sharedClock.exactNow())),
    devicePresence,
    nodeMail,
    deliveries: new SqlDeliveries(engine, proposals),
    retention: openRetention({
      ...{ engine, journal, conversations, proposals, audit, messageFiles, folderFiles, now },
    }),
    messageKeys: new SqlMessageKeys(engine, now),
    messageFiles,
    folderFiles,
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
      await node.leave().catch(() => {}) // otherwise its leases end by their timeout
      await engine.close()
      node.releaseFile()
    },
  }
}

/** Before any timestamp is written. */
async function openSharedClock(engine: Engine, machine: Clock): Promise<SharedClock | undefined> {
  try {
    return await SharedClock.open(engine, machine)
  } catch (error) {
    await engine.close()
    throw withDriverMessage(error)
  }
}

/** Loaded only if a folder is configured. */
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
  // PostgreSQL is loaded on demand. SQLite is loaded always, because it costs almost nothing.
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgres } = await import("./engine/open-postgres.ts").catch(withoutPg)
    const engine = openPostgres({ url, durability, connections, waits, cacheFolder })
    try {
      if (!(options.forExport && (await isLastCheckout(engine))))
        await migrate(engine, { log, newer, ...(clock ? { clock } : {}) })
    } catch (error) {
      await engine.close()
      throw withDriverMessage(error)
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

/** Shows the driver's own message, because the operator may see the database's address. */
function withDriverMessage(error: unknown): unknown {
  const { cause } = error as { cause?: unknown }
  const driverError = cause instanceof AggregateError ? (cause.errors[0] as Error) : cause
  return driverError instanceof Error ? failure("store_unavailable", { problem: driverError.message }) : error
}
