import type { ClientBase } from "pg"
import type { Commit, Committed } from "../operations.ts"
import { type CommitPart, commitParts } from "./commit-parts.ts"
import { type LeaseColumn, leaseColumns, leaseKindOf, leaseSql, type LeaseKind } from "./lease.ts"
import { runNamed, type TextRow } from "./run-named.ts"
import type { NamedStatement, Scalar, WireValue } from "./wire-messages.ts"

/** The shape of a commit's SQL: the kind of lease and the parts that have rows. */
export interface CommitShape {
  readonly name: string
  readonly lease: LeaseKind
  /** The columns that the lease uses. PostgreSQL rejects parameters that a statement does not use. */
  readonly columns: readonly LeaseColumn[]
  readonly parts: readonly CommitPart[]
  /** Created on demand: one for groups, and for single commits one per number of rows. */
  readonly statements: Map<"group" | number, Pick<NamedStatement, "name" | "text">>
}

/** The same object for the same shape. There are some dozens. */
export function shapeOf(operation: Commit): CommitShape {
  const lease = leaseKindOf(operation)
  let has = 0
  for (const { rows } of commitParts) has = has * 2 + (rows(operation).length > 0 ? 1 : 0)
  return (shapes[lease][has] ??= newShape(
    lease,
    commitParts.filter(({ rows }) => rows(operation).length > 0),
  ))
}

/** Indexed by a bit per part. */
const shapes: Record<LeaseKind, CommitShape[]> = {
  create: [],
  claim: [],
  hold: [],
  change: [],
  decide: [],
  "decide-expired": [],
}

function newShape(lease: LeaseKind, parts: readonly CommitPart[]): CommitShape {
  const used = new Set<string>()
  leaseSql[lease]({ ...requirementsOf(parts), input: (column) => (used.add(column), column), group: undefined })
  const columns = leaseColumns[lease].filter((column) => used.has(column.name))
  return { name: [lease, ...parts.map((part) => part.name)].join("-"), lease, columns, parts, statements: new Map() }
}

/**
 * Runs commits of one shape, each of another conversation, as ONE statement: it locks, checks and changes the lease
 * rows, and everything else joins them. Rejected alternatives: a check before the insert, and an insert with the check
 * in its WHERE but without the lock; both let the row of a zombie through during a takeover.
 *
 * The statement contains only the parts that have rows, because an empty part costs PostgreSQL as much as one row. A
 * single commit has a statement of its own: it is cheaper than a group of one, and it waits for the holder of the
 * conversation.
 *
 * Returns results in the order of the operations; undefined if the lease, the fence or the position does not match, and
 * in a group also if another transaction holds the conversation.
 */
export async function commit(client: ClientBase, operations: readonly Commit[]): Promise<(Committed | undefined)[]> {
  const [rows = []] = await runNamed(client, [toCommitStatement(operations)])
  if (operations.length === 1) return rows.map(toCommitted)
  const found = new Map(rows.map((row) => [row[CONVERSATION], toCommitted(row)]))
  return operations.map((operation) => found.get(String(conversationOfCommit(operation))))
}

/** A single commit in one transaction and one round trip with a statement before it. */
export async function commitAfter(
  client: ClientBase,
  first: NamedStatement,
  operation: Commit,
): Promise<Committed | undefined> {
  const [, [row] = []] = await runNamed(client, [first, toCommitStatement([operation])])
  return row && toCommitted(row)
}

/** The result columns. For new conversations the id identifies the operation. */
const RESULT_COLUMNS = "key, fence, arrivals, released"
const CONVERSATION = 4

const toCommitted = ([key, fence, arrivals, released]: TextRow): Committed => ({
  key: Number(key),
  fence: Number(fence),
  arrivals: Number(arrivals),
  released: released === "t",
})

/** Identifies the conversation of a commit: a new one has no key yet. */
export const conversationOfCommit = ({ lease, key, born }: Commit): number | string =>
  lease === "create" ? (born?.id ?? "") : key

function toCommitStatement(operations: readonly Commit[]): NamedStatement {
  const [first] = operations as [Commit]
  return operations.length === 1 ? singleStatement(first) : groupStatement(operations)
}

/**
 * Up to this many rows of a part are written as parameters. More are passed as arrays, for which PostgreSQL sets up a
 * function per column: a quarter of the cost of a typical commit.
 */
const FEW_ROWS = 4

function singleStatement(operation: Commit): NamedStatement {
  const shape = shapeOf(operation)
  const values: WireValue[] = shape.columns.map(({ of }) => of(operation))
  let counts = 0
  for (const part of shape.parts) {
    const rows = part.rows(operation)
    const isFew = rows.length <= FEW_ROWS
    counts = counts * (FEW_ROWS + 2) + (isFew ? rows.length : FEW_ROWS + 1)
    if (isFew) for (const row of rows) values.push(...row)
    else values.push(...toArrays([operation], part).slice(1))
  }
  let statement = shape.statements.get(counts)
  if (!statement) {
    const sizes = shape.parts.map((part) => Math.min(part.rows(operation).length, FEW_ROWS + 1))
    const name = [shape.lease, ...shape.parts.map((part, index) => `${part.name}${sizes[index]}`)].join("-")
    shape.statements.set(counts, (statement = { name, text: singleText(shape, sizes) }))
  }
  return { ...statement, values }
}

function singleText({ lease, columns, parts }: CommitShape, sizes: readonly number[]): string {
  const placeholder = placeholders()
  const input = new Map(columns.map(({ name, type }) => [name, placeholder(type)]))
  const clauses = [
    leaseSql[lease]({ ...requirementsOf(parts), input: (name) => input.get(name) ?? name, group: undefined }),
  ]
  parts.forEach((part, index) => {
    const size = sizes[index] ?? 0
    const row = () => part.columns.map(({ type }) => placeholder(type)).join(", ")
    if (size === 1) return clauses.push(toPart(part, "lease", row()))
    const names = part.columns.map((column) => column.name).join(", ")
    const some = () => `(VALUES ${Array.from({ length: size }, () => `(${row()})`).join(", ")}) AS part (${names})`
    clauses.push(toPart(part, `lease, ${size <= FEW_ROWS ? some() : arraysOf(part.columns, "part", placeholder)}`))
  })
  return `WITH ${clauses.join(",\n    ")}\n    SELECT ${RESULT_COLUMNS} FROM lease`
}

/** The same text for any number of operations. */
function groupStatement(operations: readonly Commit[]): NamedStatement {
  const [first] = operations as [Commit]
  const shape = shapeOf(first)
  const values: WireValue[] = shape.columns.map(({ of }) => operations.map(of))
  for (const part of shape.parts) values.push(...toArrays(operations, part))
  let statement = shape.statements.get("group")
  if (!statement) shape.statements.set("group", (statement = { name: `${shape.name}-group`, text: groupText(shape) }))
  return { ...statement, values }
}

function groupText({ lease, columns, parts }: CommitShape): string {
  const placeholder = placeholders()
  const group = arraysOf(columns, "input", placeholder)
  const clauses = [leaseSql[lease]({ ...requirementsOf(parts), input: (name) => `input.${name}`, group })]
  const [type, known] = lease === "create" ? (["text", "id"] as const) : (["bigint", "key"] as const)
  for (const part of parts) {
    const rows = arraysOf([{ name: "conversation", type }, ...part.columns], "part", placeholder)
    clauses.push(toPart(part, `lease JOIN ${rows} ON part.conversation = lease.${known}`))
  }
  return `WITH ${clauses.join(",\n    ")}\n    SELECT ${RESULT_COLUMNS}, ${known} FROM lease`
}

type Placeholder = (type: string) => string

function placeholders(): Placeholder {
  let count = 0
  return (type) => `$${++count}::${type}`
}

const arraysOf = (columns: CommitPart["columns"], name: string, placeholder: Placeholder) =>
  `unnest(${columns.map(({ type }) => placeholder(`${type}[]`)).join(", ")}) AS ${name} (${columns.map((each) => each.name).join(", ")})`

const toPart = (
  { name, columns, sql }: CommitPart,
  from: string,
  values = columns.map((column) => `part.${column.name}`).join(", "),
) => `${name} AS (${sql(from, values)})`

function requirementsOf(parts: readonly CommitPart[]) {
  const has = (name: string) => parts.some((part) => part.name === name)
  return { consumes: has("taken"), appends: has("events") }
}

/** The rows of all operations by column; the first column identifies the operation. */
function toArrays(operations: readonly Commit[], { columns, rows }: CommitPart): Scalar[][] {
  const arrays: Scalar[][] = Array.from({ length: columns.length + 1 }, () => [])
  for (const operation of operations) {
    const conversation = conversationOfCommit(operation)
    for (const row of rows(operation)) {
      arrays[0]?.push(conversation)
      row.forEach((value, column) => arrays[column + 1]?.push(value))
    }
  }
  return arrays
}
