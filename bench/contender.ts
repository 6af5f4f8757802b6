import type { Entry } from "./script.ts"

/** One measured runtime. Every id starts with `conv_`. */
export interface Contender {
  /** Runs one turn to its final text. Resolves when all of it is durable, as the variant describes. */
  turn(id: string, text: string, first: boolean): Promise<string>
  /** Runs a turn of a new conversation and shows its text as it arrives. */
  stream(id: string, text: string, show: (delta: string) => void): Promise<void>
  /** Starts a new conversation and stops at the call that waits for a person. */
  pause(id: string, text: string): Promise<void>
  /** Approves the waiting call, reading its state from disk, and runs to the final text. */
  resume(id: string): Promise<string>
  /** The number of conversations that wait for a person, by a query; undefined if the store cannot be queried. */
  countPaused(): Promise<number | undefined>
  /** Returns the entries in the store. */
  transcript(id: string): Promise<Entry[]>
  close(): Promise<void>
}

/** The storage of a contender: a new folder and, if it needs one, an empty PostgreSQL database. */
export interface Place {
  readonly folder: string
  readonly postgresUrl?: string
}

export interface Variant {
  readonly durability: "normal" | "full"
  /** One line for the report: what is on disk, and when. */
  readonly says: string
  readonly postgres?: true
  /** Every turn reads its history from the store again. */
  readonly reload?: true
  /** Rows of one turn of the event loop share a commit. */
  readonly group?: true
}

export const variants = {
  "floor-normal": { durability: "normal", says: "SQLite WAL, a row per message, no fsync" },
  "floor-full": { durability: "full", says: "the same with an fsync per row" },
  "floor-full-group": { durability: "full", group: true, says: "the same with an fsync per turn of the event loop" },
  "floor-reload": { durability: "normal", reload: true, says: "as floor-normal, every turn reads its history again" },
  "floor-postgres": { durability: "full", postgres: true, says: "raw pg, an insert per message" },
  "floor-route": { durability: "normal", says: "bare routes of the same framework around our runtime, no fsync" },
  "pawl-normal": { durability: "normal", says: "PAWL_DURABILITY=normal on SQLite" },
  "pawl-full": { durability: "full", says: "PAWL_DURABILITY=full on SQLite, the default" },
  "pawl-reload": { durability: "normal", reload: true, says: "as pawl-normal, the fold dropped before every turn" },
  "pawl-postgres": { durability: "full", postgres: true, says: "PAWL_DURABILITY=full on PostgreSQL" },
} as const satisfies Record<string, Variant>

export type VariantName = keyof typeof variants
export type OursName = Extract<VariantName, `pawl-${string}`>
export type FloorName = Extract<VariantName, `floor-${string}`>

export const isVariant = (name: string): name is VariantName => Object.hasOwn(variants, name)
export const needsPostgres = (name: VariantName): boolean => name.endsWith("-postgres")

export interface OpenOptions {
  readonly place: Place
  /** Every call of the tool waits for a person. */
  readonly approval?: boolean
}
