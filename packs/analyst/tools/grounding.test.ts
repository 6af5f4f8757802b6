import { expect, test } from "vitest"
import { type ConnectionView, type Grounding, newId, systemClock } from "../../../core/pack.ts"
import { type ReadableDatabases, grounding } from "./grounding.ts"
import type { Narrowing } from "../markdown/schema-markdown.ts"

const connectionId = newId("conn")
const sqlResult = {
  ...{ resultId: newId("res"), connectionId, sql: "SELECT 1 AS n", hash: "h" },
  ...{ columns: [{ name: "n", type: null }], rows: [[1]], rowCount: 1, truncated: false },
}

function databaseOf(tables: number, narrowed: Narrowing[] = []): ReadableDatabases {
  const names = ["orders"]
  return {
    find: async () => ({ name: "Shop", kind: "sqlite" }) as ConnectionView,
    list: async () => ({ items: [], nextCursor: null }),
    narrow: async (_, query) => {
      narrowed.push(query)
      return { markdown: "## orders", tables, shown: 1, names, readAt: "" }
    },
    query: async () => ({ columns: [], rows: [], truncated: false }),
  }
}

const asked = (more: Partial<Grounding> = {}): Grounding => ({
  ...{ conversation: newId("conv"), user: newId("user"), connectionId, state: { sqlResult } },
  ...{ question: "How many?", hasResult: () => false, room: 10_000, signal: new AbortController().signal },
  ...more,
})

test("the last result is included only if the history no longer has it", async () => {
  const tell = grounding(databaseOf(1), systemClock)
  expect(await tell(asked())).toMatch(/# The last result[^]*SELECT 1 AS n/)
  const hasResult = (words: string) => words === sqlResult.sql
  expect(await tell(asked({ hasResult }))).not.toContain("# The last result")
  // The result of another database is marked as that, in any position.
  const elsewhere = await tell(asked({ hasResult, connectionId: newId("conn") }))
  expect(elsewhere).toContain("of another database than the one chosen now")
})

test("a conversation about a large database continues with the tables that it was shown, another one does not", async () => {
  const narrowed: Narrowing[] = []
  const tell = grounding(databaseOf(200, narrowed), systemClock)
  const mine = asked()
  await tell(mine)
  await tell(mine)
  await tell(asked())
  expect(narrowed.map(({ keep }) => keep)).toEqual([undefined, ["orders"], undefined])
})
