import { type Clock, definePack, type Log, type QueryResults, type SharedFiles } from "../../core/pack.ts"
import { analystAgent } from "./agent.ts"
import { askAnalyst } from "./tools/ask-analyst.ts"
import { askDatabase } from "./tools/ask-database.ts"
import { type Attempts, changeDatabase } from "./tools/change-database.ts"
import { ChartCheck } from "./charts/check.ts"
import { openDatabases } from "./connections/open-databases.ts"
import type { QueryLimits } from "./database/sql-guards.ts"
import type { HostRules } from "./postgres/hosts.ts"
import type { ConnectionRecords } from "./connections/user-databases.ts"

export interface AnalystServices {
  readonly connections: ConnectionRecords
  readonly results: QueryResults
  readonly attempts: Attempts
  /** The hosts that people may connect this server to. */
  readonly hosts: HostRules
  readonly sqliteRoot: string
  /** Set if several machines share the store: files that all of them can read. */
  readonly sharedFiles?: SharedFiles | undefined
  readonly superuserConnections: boolean
  /** Limits of one query. Default: `queryLimits`. */
  readonly queryLimits?: QueryLimits | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Also opens people's databases, which the server's routes use too. */
export const analystPack = definePack({
  name: "analyst",
  async open({ connections, results, attempts, ...services }: AnalystServices) {
    const { clock, log } = services
    const databases = openDatabases({ records: connections, ...services })
    await databases.sweep().catch((error: unknown) => log.warn("uploads_not_cleaned_up", { error }))
    const checker = new ChartCheck(log)
    const charts = askAnalyst({ results, checker, ask: askDatabase({ databases, results }) })
    const changes = changeDatabase({ databases, attempts })
    return {
      agents: [analystAgent({ databases, results, clock, extra: [charts, changes] })],
      databases,
      async close() {
        await databases[Symbol.asyncDispose]()
        await checker.close()
      },
    }
  },
})
