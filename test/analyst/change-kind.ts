import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import type { DatabaseChange, DatabaseKind, DatabaseUse } from "../../packs/analyst/database/kind.ts"
import { postgresKind } from "../../packs/analyst/postgres/kind.ts"
import { sqliteKind } from "../../packs/analyst/sqlite/kind.ts"
import { PostgresTarget, SqliteTarget, type Target } from "../../core/protocol/databases/connections.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import { type ChangeTarget, changeTargets, type kinds } from "./change-targets.ts"

/** A user's database and its change kind, without a server. */
export interface OpenChanges {
  readonly target: ChangeTarget
  readonly kind: DatabaseKind
  readonly place: DatabaseUse<Target>
  rehearse(sql: string): Promise<DatabaseChange>
  apply(sql: string, expected?: string, record?: (mark: string) => Promise<void>): Promise<DatabaseChange>
  close(): Promise<void>
}

export async function openChanges(name: (typeof kinds)[number]): Promise<OpenChanges> {
  const root = mkdtempSync(join(tmpdir(), inject("testRun"), "kind-"))
  const user = "user_ada" as UserId
  mkdirSync(join(root, "shared"))
  const target = await changeTargets[name](root, user)
  const postgres = () => postgresKind({ hosts: new OutboundPolicy(["127.0.0.1"]), superuserConnections: false })
  const kind = (name === "sqlite" ? sqliteKind({ root }) : postgres()) as DatabaseKind
  const schema = name === "sqlite" ? SqliteTarget : PostgresTarget
  const place = { target: schema.parse(target.connection), user, signal: new AbortController().signal }
  const rehearse = (sql: string) => kind.rehearse(place, sql)
  return {
    target,
    kind,
    place,
    rehearse,
    async apply(sql, expected, record = async () => {}) {
      return kind.apply(place, sql, { expected: expected ?? (await rehearse(sql)).revision, record })
    },
    async close() {
      await kind.close()
      await target.close()
    },
  }
}
