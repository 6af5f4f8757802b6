import type { CallId, UserId } from "../ids.ts"

/** A table that a pack keeps. Its rows have a column `id TEXT NOT NULL`, unique for each person: an export goes by it. */
export type PackTable = PersonalPackTable | SharedPackTable

export interface PersonalPackTable {
  /** `pack_<pack>_…` */
  readonly name: string
  /** The column, `TEXT NOT NULL`, with the id of the person whose row it is: by it rows are exported and erased. */
  readonly person: string
  /** The columns that an export shows: everything but secrets. */
  readonly exported: readonly string[]
}

export interface SharedPackTable {
  readonly name: string
  /** Why no row of it is anybody's. */
  readonly shared: string
}

/** A step of a pack's schema. What was done once is never done again, so a step is added and never changed. */
export interface PackMigration {
  readonly name: string
  /** Plain SQL, one statement each, that both engines read alike; or what each of them reads. */
  readonly statements: readonly string[] | Readonly<Record<"sqlite" | "postgres", readonly string[]>>
}

export type PackValue = string | number | null

export interface PackStatement {
  /** INSERT, UPDATE or DELETE in a table of the pack, with `?` for values. */
  readonly sql: string
  readonly values?: readonly PackValue[]
  /** Where it changes no row, nothing of what goes with it is done. */
  readonly mustChange?: boolean
}

/** The tables of one pack, on whichever engine the server has. */
export interface PackTables {
  /** The rows of a SELECT, with `?` for values. */
  query<Row>(sql: string, values?: readonly PackValue[]): Promise<Row[]>
  /** All of it or nothing. False where a statement that must change rows has changed none. */
  change(statements: readonly PackStatement[]): Promise<boolean>
  /**
   * The same for a write of a tool, once for each call however often it is tried: that it was done, and what it came to,
   * is noted in the same commit. Gives back what the call came to the first time, or undefined where nothing was done.
   * A tool that writes by this alone may say `afterCrash: "run-again"`.
   */
  applyOnce<Came>(
    call: { readonly callId: CallId; readonly user: UserId },
    statements: readonly PackStatement[],
    came: Came,
  ): Promise<Came | undefined>
}
