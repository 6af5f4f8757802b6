import type { Entry } from "./script.ts"

/** One runtime under measurement. Every id begins with `conv_`. */
export interface Contender {
  /** One turn to its final text; resolves when all of it is as durable as the variant says. */
  turn(id: string, text: string, first: boolean): Promise<string>
  /** A turn of a new conversation whose text is shown as it comes. */
  stream(id: string, text: string, show: (delta: string) => void): Promise<void>
  /** A new conversation, up to the call that waits for a person. */
  pause(id: string, text: string): Promise<void>
  /** Approves the waiting call, from what is on disk, and runs to the final text. */
  resume(id: string): Promise<string>
  /** How many conversations wait for a person, by a question to the store; undefined where it cannot be asked. */
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
  /** One line for the report: what is on disk when. */
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
