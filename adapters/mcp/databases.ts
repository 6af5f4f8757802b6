import * as words from "./text.ts"
import { z } from "zod"
import { toResult, defineMcpTool, type McpToolCall } from "./tool.ts"
import { isTimeZone } from "../../core/adapter.ts"
import { type ConnectionId, failure, isId } from "../../core/protocol/index.ts"

const Connection = z.string().max(100).describe("Its id, such as conn_…")

export const listConnections = defineMcpTool({
  name: "list_connections",
  title: "List database connections",
  description: "The databases that the person has connected.",
  needs: "read",
  reads: true,
  input: z.strictObject({
    cursor: z.string().max(200).optional(),
    limit: z.number().int().min(1).max(100).default(20),
  }),
  async run({ cursor, limit }, { caller, ports }) {
    const { items, nextCursor } = await ports.databases.list(caller.person.id, { cursor, limit })
    const lines = items.map(({ id, name, kind }) => `${id}: ${words.toShortLine(name)} (${kind})`)
    return toResult(lines.join("\n") || "No database is connected.", {
      connections: items.map(({ id, name, kind }) => ({ id, name, kind })),
      next_cursor: nextCursor,
    })
  },
})

export const readSchema = defineMcpTool({
  name: "read_database_schema",
  title: "Read a database's schema",
  description: "Tables, columns, keys and a few rows of a connected database: read it before you write SQL.",
  needs: "read",
  reads: true,
  input: z.strictObject({
    connection: Connection,
    question: z
      .string()
      .max(2000)
      .optional()
      .describe("If not all tables fit, those that match the question are listed first"),
  }),
  async run({ connection, question }, call) {
    const { markdown, tables, shown } = await call.ports.databases.schema(scopeOf(connection, call), { question })
    return toResult(markdown, { tables, shown })
  },
})

export const queryDatabase = defineMcpTool({
  name: "query_database",
  title: "Query a database",
  description:
    "Runs one SELECT on a connected database, read-only and bounded in time and size. To change data, ask an agent.",
  needs: "chat",
  reads: true,
  input: z.strictObject({
    connection: Connection,
    sql: z.string().min(1).max(100_000).describe("One statement that only reads, in the SQL of that database"),
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, "expected an IANA time zone")
      .optional()
      .describe("In which PostgreSQL counts days, such as Europe/Berlin"),
  }),
  async run({ connection, sql, timeZone }, call) {
    const { ports } = call
    const request = { ...scopeOf(connection, call), timeZone }
    const answer = await ports.databases.query(request, sql)
    const { id } = await ports.results.keep(request.user, {
      ...{ connectionId: request.id, conversationId: null, sql, answer },
    })
    const { columns, rows, warnings = [], timeZone: zone } = answer
    const shownLines = words.firstThatFit(rows, (row) => JSON.stringify(row))
    const truncated = answer.truncated || shownLines.length < rows.length
    const facts = {
      columns: columns.map(({ name }) => name),
      rows: shownLines,
      truncated,
      result: id,
      warnings,
      ...(zone ? { timeZone: zone } : {}),
    }
    return toResult(JSON.stringify(facts), facts)
  },
})

function scopeOf(connection: string, { caller, signal }: McpToolCall) {
  if (!isId("conn", connection)) throw failure("not_found")
  return { user: caller.person.id, id: connection satisfies ConnectionId, signal }
}
