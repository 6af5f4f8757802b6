import { type Clock, systemClock } from "../agent/clock.ts"
import type { Log } from "../agent/ports.ts"
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
import { openSqlite, sqliteWords } from "./engine/open-sqlite.ts"
import type { DatabaseWaits } from "./engine/database-waits.ts"
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
import { type LeftStep, migrate } from "./migrations/migrate.ts"
import { sqliteSchema } from "./migrations/sqlite-schema.ts"
import { SqlNews } from "./people/news.ts"
import { NodeMail } from "./journal/node-mail.ts"
import { NodeList } from "./journal/node-list.ts"
import { ThisNode } from "./journal/nodes.ts"
import { SqlBuckets } from "./people/buckets.ts"
import { SqlPeople } from "./people/people.ts"
import { SqlProposals } from "./journal/proposals.ts"
import { SqlProviderKeys } from "./people/provider-keys.ts"
import { Secrets } from "./people/secrets.ts"
import { Readiness } from "./readiness.ts"
import { openRetention, type StoreRetention } from "./retention.ts"
import { SharedClock } from "./shared-clock.ts"
import { SqlQueryResults } from "./databases/query-results.ts"
import { StatementAttempts } from "./databases/statement-attempts.ts"
import { SqlUsage } from "./journal/usage.ts"
import { SqlSharedRuns } from "./people/shared-runs.ts"
import { SqlSessions } from "./people/sessions.ts"
import type { PackTables } from "../protocol/ports/pack-tables.ts"
import { openPackTables, type TablesOfPack } from "./packs/tables.ts"
import type { SqlWorkspace } from "./workspace/workspace.ts"
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
  readonly waits?: DatabaseWaits
  /** What secrets of people are encrypted with; without it none can be stored. */
  readonly masterKeys?: MasterKeys
  /** Where the bytes of large files lie, shared by all that use this database; without, in the database. */
  readonly filesFolder?: string | undefined
  /** A folder of this machine for what can be made of the database again, where that is no file with a place of its own. */
  readonly cacheFolder?: string | undefined
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
  readonly workspaces: SqlWorkspaces
  workspaceOf(user: UserId): SqlWorkspace
  /** Steps of the schema that could not be done, and that nobody needs in order to serve. The log says why. */
  readonly leftSteps: readonly string[]
  /** To be called now and then: the next range of events has a part of its own before anybody writes to it. Never rejects. */
  addPartitions(): Promise<void>
  /** The tables of a pack, brought up to date. */
  openPackTables(of: TablesOfPack): Promise<PackTables>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the database, brings its schema up to date and joins the nodes that share it. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { machineClock = systemClock, leaseSeconds } = options
  const left: LeftStep[] = []
  const engine = await openEngine(options, left)
  const folder = await openFolder(engine, options.filesFolder)
  const sharedClock = options.clock ? undefined : await openSharedClock(engine, machineClock)
  const clock = options.clock ?? sharedClock ?? machineClock
  const node = new ThisNode(engine, { clock, ...(leaseSeconds ? { leaseSeconds } : {}) })
  await node.expireDeadNodes()
  const journal = new SqlJournal(engine, node)
  const now = () => clock.now()
  const secrets = new Secrets(engine, options.masterKeys, now)
  const devicePresence = new SqlDevicePresence(engine, node)
  const nodeMail = new NodeMail(engine, node, { clock, log: options.log })
  node.beat(
    () => journal.held > 0 || devicePresence.holds || nodeMail.isBrisk,
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
  // What has just failed would only fail again.
  if (left[0]) partitions.tellFailure(left[0].error)
  else await partitions.add()
  return {
    engine,
    clock,
    node,
    nodes: new NodeList(engine),
    readiness: new Readiness(engine, node, clock),
    journal,
    people,
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
    workspaces,
    workspaceOf: (user) => workspaces.of(user),
    leftSteps: left.map(({ name }) => name),
    addPartitions: () => partitions.add(),
    openPackTables: (of) => openPackTables(engine, now, of),
    async [Symbol.asyncDispose]() {
      await nodeMail.close()
      sharedClock?.[Symbol.dispose]()
      await node.leave().catch(() => {}) // whoever cannot say goodbye is missed when its sign of life runs out
      await engine.close()
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

async function openEngine(options: StoreOptions, left: LeftStep[]): Promise<Engine> {
  const { url, durability = "full", connections = 10, waits, log, clock, cacheFolder } = options
  // Loaded when used: a fresh start on SQLite does not pay for PostgreSQL. The other way round it is next to nothing, and
  // one file less to find for nearly everybody.
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgres, postgresWords } = await import("./engine/open-postgres.ts")
    const engine = openPostgres({ url, durability, connections, waits, cacheFolder })
    try {
      await migrate(engine, postgresWords, { log, left, ...(clock ? { clock } : {}) })
    } catch (error) {
      await engine.close()
      throw inItsWords(error)
    }
    return engine
  }
  const file = url === ":memory:" ? url : url.startsWith("file:") ? url.slice("file:".length) : undefined
  if (file === undefined)
    throw failure("bad_request", { problem: `"${url}" is neither file:…, :memory: nor postgres://…` })
  const engine = openSqlite({ file, durability, log })
  try {
    await migrate(engine, sqliteWords, { log, whole: sqliteSchema })
  } catch (error) {
    await engine.close()
    throw error
  }
  return engine
}

/** The driver's own message is shown: a person who starts a server may see where its database is expected. */
function inItsWords(error: unknown): unknown {
  const { cause } = error as { cause?: unknown }
  const said = cause instanceof AggregateError ? (cause.errors[0] as Error) : cause
  return said instanceof Error ? failure("store_unavailable", { problem: said.message }) : error
}
