import type { DatabaseChange } from "../database/kind.ts"
import { problemInside } from "./rules.ts"
import { type InsertTree, isMoving, type SetColumn, setsOf, type ValueSource, sourcesOfInsert } from "./sources.ts"
import { own } from "../../../core/program.ts"

/** A statement that changes rows of one table, as parsed by PostgreSQL's grammar. */
export interface PostgresPlan {
  readonly verb: DatabaseChange["verb"]
  /** The statement without its terminator. */
  readonly text: string
  /** The table's name, and its alias in the statement. */
  readonly table: string
  readonly alias: string
  /** The columns that it fills in new rows; undefined if it lists none, which means all. */
  readonly fills: readonly string[] | undefined
  /** The source of each value, by position. */
  readonly sources: readonly ValueSource[]
  /** A `*` fills an unknown number of further columns. */
  readonly open: boolean
  /** Some values come from a part of the statement that differs at each run. */
  readonly restless: boolean
  /** Generated numbers replace those of the statement. */
  readonly givesNumbers: boolean
  /** The columns that it sets in existing rows. */
  readonly sets: readonly SetColumn[]
  /** An INSERT that changes existing rows. */
  readonly overwrites: boolean
}

const VERBS: Readonly<Record<string, DatabaseChange["verb"]>> = {
  InsertStmt: "INSERT",
  UpdateStmt: "UPDATE",
  DeleteStmt: "DELETE",
}

interface Tree {
  readonly stmts?: readonly {
    readonly stmt?: Readonly<Record<string, Statement>>
    readonly stmt_location?: number
    readonly stmt_len?: number
  }[]
}

interface Statement extends InsertTree {
  readonly relation?: {
    readonly catalogname?: string
    readonly schemaname?: string
    readonly relname?: string
    readonly alias?: { readonly aliasname: string }
  }
  readonly cols?: readonly Named[]
  readonly targetList?: readonly Named[]
  readonly onConflictClause?: { readonly action?: string; readonly targetList?: readonly Named[] }
  readonly fromClause?: unknown
  readonly override?: string
  readonly returningClause?: unknown
}

interface Named {
  readonly ResTarget: { readonly name?: string; readonly val?: Readonly<Record<string, unknown>> }
}

/** The plan of a parsed text, or the reason why it is not a single statement that only changes rows. */
export function planOf(tree: unknown, sql: string): PostgresPlan | string {
  const [first, ...rest] = (tree as Tree).stmts ?? []
  if (!first?.stmt) return "there is no statement in it"
  if (rest.length > 0) return "there is more than one statement in it"
  const [type = ""] = Object.keys(first.stmt)
  const verb = own(VERBS, type)
  const statement = first.stmt[type]
  if (!verb || !statement?.relation) return `it is a ${type.replace(/Stmt$/, "")} statement`
  if (statement.returningClause) return "it has a RETURNING, but the changed rows are shown in any case"
  const { relation, ...inside } = statement
  const { catalogname, schemaname = "", relname = "", alias } = relation
  if (catalogname !== undefined || /^(pg_|information_schema$)/.test(schemaname) || relname.startsWith("pg_"))
    return `${relname} is no table of yours`
  // Without the node itself, so that a second one, in a WITH, is found and refused.
  const problem = problemInside(inside)
  if (problem !== undefined) return problem
  const bytes = Buffer.from(sql)
  const start = first.stmt_location ?? 0
  const text = bytes.subarray(start, first.stmt_len ? start + first.stmt_len : undefined).toString()
  const { cols, targetList, onConflictClause, fromClause, withClause, override } = statement
  const { places, open, around } = sourcesOfInsert(verb === "INSERT" ? statement : {})
  return {
    verb,
    text,
    table: schemaname === "" ? quoted(relname) : `${quoted(schemaname)}.${quoted(relname)}`,
    alias: quoted(alias?.aliasname ?? relname),
    fills: cols && namesOf(cols),
    sources: places,
    open,
    restless: verb !== "DELETE" && isMoving([around, fromClause, withClause]),
    givesNumbers: override === "OVERRIDING_USER_VALUE",
    sets: setsOf((verb === "UPDATE" ? targetList : onConflictClause?.targetList) ?? []),
    overwrites: onConflictClause?.action === "ONCONFLICT_UPDATE",
  }
}

const namesOf = (list: readonly Named[]) => [...new Set(list.flatMap(({ ResTarget: { name } }) => name ?? []))]

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
