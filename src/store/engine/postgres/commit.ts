import type { ClientBase } from "pg"
import type { Commit, Committed } from "../operations.ts"
import { type CommitPart, commitParts } from "./commit-parts.ts"
import { type LeaseColumn, leaseColumns, leaseSql, type LeaseKind } from "./lease.ts"

/** How a commit is written: which lease it needs, and the parts of which it has rows. */
export interface CommitShape {
  readonly name: string
  readonly lease: LeaseKind
  /** What the lease is asked for; PostgreSQL takes no value that its statement does not use. */
  readonly columns: readonly LeaseColumn[]
  readonly parts: readonly CommitPart[]
  /** Of its statements, for one and for many; made when first needed. */
  readonly texts: { alone?: string; group?: string }
}

/** Always the same object for the same shape. There are as many as there are parts that go together: some dozens. */
export function shapeOf(operation: Commit): CommitShape {
  const lease: LeaseKind = operation.lease === "hold" && operation.head ? "change" : operation.lease
  const parts = commitParts.filter(({ rows }) => rows(operation).length > 0)
  const name = [lease, ...parts.map((part) => part.name)].join("-")
  const known = shapes.get(name)
  if (known) return known
  const used = new Set<string>()
  leaseSql[lease]({ ...asked(parts), given: (column) => (used.add(column), column), group: undefined })
  const columns = leaseColumns[lease].filter((column) => used.has(column.name))
  const shape = { name, lease, columns, parts, texts: {} }
  shapes.set(name, shape)
  return shape
}

const shapes = new Map<string, CommitShape>()

/**
 * Commits of one shape, each of another conversation, as ONE statement: the lease rows are locked, checked and changed,
 * and everything else hangs on them. Tried and found wanting: a check before the insert, and an insert with the check in
 * its WHERE but without the lock; both let the row of a zombie through during a takeover.
 *
 * Only the parts that have rows are in it: a part without any costs PostgreSQL as much as one row. A single commit has a
 * statement of its own, which costs two thirds of that for a group of one, and waits for whoever holds the conversation.
 *
 * Answers in the order of the operations; undefined where the lease, the fence or the place does not fit any more, and in
 * a group also where somebody else holds the conversation.
 */
export async function commit(client: ClientBase, operations: readonly Commit[]): Promise<(Committed | undefined)[]> {
  const { rows } = await client.query<LeaseRow>(toCommitQuery(operations))
  if (operations.length === 1) return [rows[0]]
  const found = new Map(rows.map((row) => [row.id ?? row.key, row]))
  return operations.map((operation) => found.get(whoseIs(operation)))
}

/** `id` where it was born just now. */
type LeaseRow = Committed & { readonly id?: string }

/** What identifies the conversation of a commit: one that is not born yet has no key. */
export const whoseIs = ({ lease, key, born }: Commit): number | string => (lease === "create" ? (born?.id ?? "") : key)

/** The same text for the same shape, however many there are, so that it stays prepared under its name. */
export function toCommitQuery(operations: readonly Commit[]): { name: string; text: string; values: unknown[] } {
  const [first] = operations as [Commit]
  const shape = shapeOf(first)
  const { columns } = shape
  if (operations.length === 1) {
    const values = columns.map(({ of }) => of(first))
    for (const part of shape.parts) values.push(...toArrays(operations, part).slice(1))
    return { name: shape.name, text: (shape.texts.alone ??= toText(shape, "alone")), values }
  }
  const values: unknown[] = columns.map(({ of }) => operations.map(of))
  for (const part of shape.parts) values.push(...toArrays(operations, part))
  return { name: `${shape.name}-group`, text: (shape.texts.group ??= toText(shape, "group")), values }
}

function toText({ lease, columns, parts }: CommitShape, size: "alone" | "group"): string {
  let values = 0
  const place = (type: string) => `$${++values}::${type}`
  const rowsOf = (given: CommitPart["columns"], name: string) =>
    `unnest(${given.map(({ type }) => place(`${type}[]`)).join(", ")}) AS ${name} (${given.map((each) => each.name).join(", ")})`
  const toPart = ({ name, columns, sql }: CommitPart, from: string) =>
    `${name} AS (${sql(from, columns.map((column) => `part.${column.name}`).join(", "))})`
  const written: string[] = []
  if (size === "alone") {
    const places = new Map(columns.map(({ name, type }) => [name, place(type)]))
    written.push(leaseSql[lease]({ ...asked(parts), given: (name) => places.get(name) ?? name, group: undefined }))
    for (const part of parts) written.push(toPart(part, `lease, ${rowsOf(part.columns, "part")}`))
  } else {
    written.push(
      leaseSql[lease]({ ...asked(parts), given: (name) => `given.${name}`, group: rowsOf(columns, "given") }),
    )
    const [type, known] = lease === "create" ? (["text", "id"] as const) : (["bigint", "key"] as const)
    for (const part of parts) {
      const rows = rowsOf([{ name: "whose", type }, ...part.columns], "part")
      written.push(toPart(part, `lease JOIN ${rows} ON part.whose = lease.${known}`))
    }
  }
  return `WITH ${written.join(",\n    ")}\n    SELECT * FROM lease`
}

function asked(parts: readonly CommitPart[]) {
  const has = (name: string) => parts.some((part) => part.name === name)
  return { takes: has("taken"), adds: has("events") }
}

/** The rows of all of them, column by column; the first says whose each is. */
function toArrays(operations: readonly Commit[], { columns, rows }: CommitPart): unknown[][] {
  const arrays: unknown[][] = Array.from({ length: columns.length + 1 }, () => [])
  for (const operation of operations) {
    const whose = whoseIs(operation)
    for (const row of rows(operation)) {
      arrays[0]?.push(whose)
      row.forEach((value, column) => arrays[column + 1]?.push(value))
    }
  }
  return arrays
}
