import type { ClientBase } from "pg"
import type { Commit, Committed } from "../operations.ts"
import { type CommitPart, commitParts } from "./commit-parts.ts"
import { type LeaseColumn, leaseColumns, leaseKindOf, leaseSql, type LeaseKind } from "./lease.ts"
import { runNamed, type TextRow } from "./run-named.ts"
import type { NamedStatement, Scalar, WireValue } from "./wire-messages.ts"

/** How a commit is written: which lease it needs, and the parts of which it has rows. */
export interface CommitShape {
  readonly name: string
  readonly lease: LeaseKind
  /** What the lease is asked for; PostgreSQL takes no value that its statement does not use. */
  readonly columns: readonly LeaseColumn[]
  readonly parts: readonly CommitPart[]
  /** Its statements, made when first needed: for a group, and for one commit by how many rows its parts have. */
  readonly statements: Map<"group" | number, Pick<NamedStatement, "name" | "text">>
}

/** Always the same object for the same shape. There are as many as there are parts that go together: some dozens. */
export function shapeOf(operation: Commit): CommitShape {
  const lease = leaseKindOf(operation)
  let has = 0
  for (const { rows } of commitParts) has = has * 2 + (rows(operation).length > 0 ? 1 : 0)
  return (shapes[lease][has] ??= newShape(
    lease,
    commitParts.filter(({ rows }) => rows(operation).length > 0),
  ))
}

/** By their parts, a digit of two for each. */
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
  leaseSql[lease]({ ...asked(parts), given: (column) => (used.add(column), column), group: undefined })
  const columns = leaseColumns[lease].filter((column) => used.has(column.name))
  return { name: [lease, ...parts.map((part) => part.name)].join("-"), lease, columns, parts, statements: new Map() }
}

/**
 * Commits of one shape, each of another conversation, as ONE statement: the lease rows are locked, checked and changed,
 * and everything else hangs on them. Tried and found wanting: a check before the insert, and an insert with the check in
 * its WHERE but without the lock; both let the row of a zombie through during a takeover.
 *
 * Only the parts that have rows are in it: a part without any costs PostgreSQL as much as one row. A single commit has a
 * statement of its own, which is cheaper than that for a group of one, and waits for whoever holds the conversation.
 *
 * Answers in the order of the operations; undefined where the lease, the fence or the place does not fit any more, and in
 * a group also where somebody else holds the conversation.
 */
export async function commit(client: ClientBase, operations: readonly Commit[]): Promise<(Committed | undefined)[]> {
  const [rows = []] = await runNamed(client, [toCommitStatement(operations)])
  if (operations.length === 1) return rows.map(toCommitted)
  const found = new Map(rows.map((row) => [row[WHOSE], toCommitted(row)]))
  return operations.map((operation) => found.get(String(whoseIs(operation))))
}

/** A single commit, in one transaction with a statement before it, and on one way to the server with it. */
export async function commitBehind(
  client: ClientBase,
  first: NamedStatement,
  operation: Commit,
): Promise<Committed | undefined> {
  const [, [row] = []] = await runNamed(client, [first, toCommitStatement([operation])])
  return row && toCommitted(row)
}

/** What the statement of a commit answers; of conversations that are born their ids say whose it is. */
const ANSWER = "key, fence, arrivals, released"
const WHOSE = 4

const toCommitted = ([key, fence, arrivals, released]: TextRow): Committed => ({
  key: Number(key),
  fence: Number(fence),
  arrivals: Number(arrivals),
  released: released === "t",
})

/** What identifies the conversation of a commit: one that is not born yet has no key. */
export const whoseIs = ({ lease, key, born }: Commit): number | string => (lease === "create" ? (born?.id ?? "") : key)

function toCommitStatement(operations: readonly Commit[]): NamedStatement {
  const [first] = operations as [Commit]
  return operations.length === 1 ? toSingle(first) : toGroup(operations)
}

/**
 * So many rows of a part stand in a statement as they are. Others come as arrays, for which PostgreSQL sets up a function,
 * and a place to keep what it gives, for each column: a quarter of what the statement of a usual commit costs.
 */
const FEW_ROWS = 4

function toSingle(operation: Commit): NamedStatement {
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
    shape.statements.set(counts, (statement = { name, text: toSingleText(shape, sizes) }))
  }
  return { ...statement, values }
}

function toSingleText({ lease, columns, parts }: CommitShape, sizes: readonly number[]): string {
  const place = places()
  const given = new Map(columns.map(({ name, type }) => [name, place(type)]))
  const written = [leaseSql[lease]({ ...asked(parts), given: (name) => given.get(name) ?? name, group: undefined })]
  parts.forEach((part, index) => {
    const size = sizes[index] ?? 0
    const row = () => part.columns.map(({ type }) => place(type)).join(", ")
    if (size === 1) return written.push(toPart(part, "lease", row()))
    const names = part.columns.map((column) => column.name).join(", ")
    const some = () => `(VALUES ${Array.from({ length: size }, () => `(${row()})`).join(", ")}) AS part (${names})`
    written.push(toPart(part, `lease, ${size <= FEW_ROWS ? some() : arraysOf(part.columns, "part", place)}`))
  })
  return `WITH ${written.join(",\n    ")}\n    SELECT ${ANSWER} FROM lease`
}

/** The same text for any number of them. */
function toGroup(operations: readonly Commit[]): NamedStatement {
  const [first] = operations as [Commit]
  const shape = shapeOf(first)
  const values: WireValue[] = shape.columns.map(({ of }) => operations.map(of))
  for (const part of shape.parts) values.push(...toArrays(operations, part))
  let statement = shape.statements.get("group")
  if (!statement) shape.statements.set("group", (statement = { name: `${shape.name}-group`, text: toGroupText(shape) }))
  return { ...statement, values }
}

function toGroupText({ lease, columns, parts }: CommitShape): string {
  const place = places()
  const group = arraysOf(columns, "given", place)
  const written = [leaseSql[lease]({ ...asked(parts), given: (name) => `given.${name}`, group })]
  const [type, known] = lease === "create" ? (["text", "id"] as const) : (["bigint", "key"] as const)
  for (const part of parts) {
    const rows = arraysOf([{ name: "whose", type }, ...part.columns], "part", place)
    written.push(toPart(part, `lease JOIN ${rows} ON part.whose = lease.${known}`))
  }
  return `WITH ${written.join(",\n    ")}\n    SELECT ${ANSWER}, ${known} FROM lease`
}

type Place = (type: string) => string

function places(): Place {
  let count = 0
  return (type) => `$${++count}::${type}`
}

const arraysOf = (columns: CommitPart["columns"], name: string, place: Place) =>
  `unnest(${columns.map(({ type }) => place(`${type}[]`)).join(", ")}) AS ${name} (${columns.map((each) => each.name).join(", ")})`

const toPart = (
  { name, columns, sql }: CommitPart,
  from: string,
  values = columns.map((column) => `part.${column.name}`).join(", "),
) => `${name} AS (${sql(from, values)})`

function asked(parts: readonly CommitPart[]) {
  const has = (name: string) => parts.some((part) => part.name === name)
  return { takes: has("taken"), adds: has("events") }
}

/** The rows of all of them, column by column; the first says whose each is. */
function toArrays(operations: readonly Commit[], { columns, rows }: CommitPart): Scalar[][] {
  const arrays: Scalar[][] = Array.from({ length: columns.length + 1 }, () => [])
  for (const operation of operations) {
    const whose = whoseIs(operation)
    for (const row of rows(operation)) {
      arrays[0]?.push(whose)
      row.forEach((value, column) => arrays[column + 1]?.push(value))
    }
  }
  return arrays
}
