import { type Clock, systemClock } from "../agent/clock.ts"
import { failure } from "../protocol/errors.ts"
import type { UserId } from "../protocol/ids.ts"
import { SqlConversations } from "./conversations.ts"
import { Credentials } from "./credentials.ts"
import type { Engine } from "./engine.ts"
import { SqlJournal } from "./journal.ts"
import { migrate } from "./migrate.ts"
import { ThisNode } from "./nodes.ts"
import { People } from "./people.ts"
import { SqlProposals } from "./proposals.ts"
import { Sessions } from "./sessions.ts"
import { SqlWorkspace } from "./workspace.ts"

export interface StoreOptions {
  /** `file:/path/pawl.db`, `:memory:` or `postgres://…`. */
  readonly url: string
  readonly durability?: "full" | "normal"
  readonly clock?: Clock
  readonly leaseSeconds?: number
  readonly connections?: number
}

export interface Store {
  readonly engine: Engine
  readonly node: ThisNode
  readonly journal: SqlJournal
  readonly people: People
  readonly sessions: Sessions
  readonly credentials: Credentials
  readonly conversations: SqlConversations
  readonly proposals: SqlProposals
  workspaceOf(user: UserId): SqlWorkspace
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the database, brings its schema up to date and joins the nodes that share it. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { clock = systemClock, leaseSeconds } = options
  const engine = await openEngine(options)
  const node = new ThisNode(engine, { clock, ...(leaseSeconds ? { leaseSeconds } : {}) })
  await node.bury()
  const journal = new SqlJournal(engine, node)
  const now = () => clock.now()
  node.beat(
    () => journal.holding,
    () => {}, // a missed beat shows where it matters: at the next claim
  )
  return {
    engine,
    node,
    journal,
    people: new People(engine),
    sessions: new Sessions(engine),
    credentials: new Credentials(engine),
    conversations: new SqlConversations(engine),
    proposals: new SqlProposals(engine, now),
    workspaceOf: (user) => new SqlWorkspace(engine, user, now),
    async [Symbol.asyncDispose]() {
      await node.leave()
      await engine.close()
    },
  }
}

async function openEngine({ url, durability = "full", connections = 10 }: StoreOptions): Promise<Engine> {
  // Drivers are loaded when used: a fresh start on SQLite does not pay for PostgreSQL.
  if (/^postgres(ql)?:/.test(url)) {
    const { openPostgres, postgresWords } = await import("./open-postgres.ts")
    const engine = openPostgres({ url, durability, connections })
    await migrate(engine, postgresWords)
    return engine
  }
  const file = url === ":memory:" ? url : url.startsWith("file:") ? url.slice("file:".length) : undefined
  if (file === undefined)
    throw failure("bad_request", { problem: `"${url}" is neither file:…, :memory: nor postgres://…` })
  const { openSqlite, sqliteWords } = await import("./open-sqlite.ts")
  const engine = openSqlite({ file, durability })
  await migrate(engine, sqliteWords)
  return engine
}
