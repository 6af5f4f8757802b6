import { type isId, slotOf } from "../../core/protocol/ids.ts"
import { type PersonalTable, personalTables } from "../../core/store/personal-tables.ts"
import type { Store } from "../../core/store/store.ts"

export type IdKind = Parameters<typeof isId>[0]

/**
 * Every kind of id that belongs to a user, and where one of it is found. The compiler asks for a line for a new one.
 */
export const ownedKinds: Readonly<Record<Exclude<IdKind, "user" | "node">, "stored" | "answered">> = {
  conv: "stored",
  msg: "stored",
  run: "stored",
  call: "stored",
  prop: "stored",
  tok: "stored",
  sess: "stored",
  in: "stored",
  task: "stored",
  proj: "stored",
  chk: "stored",
  note: "stored",
  cmt: "stored",
  cli: "stored",
  dev: "stored",
  dreq: "stored",
  aud: "stored",
  hold: "stored",
  conn: "stored",
  res: "stored",
  col: "stored",
  doc: "stored",
  ed: "stored",
  file: "stored",
  mcp: "stored",
  ques: "stored",
  shr: "stored",
  psg: "answered", // derived from its edition's when it is shown
}

/** How a row of a table leads to the id of its user, as SQL. */
const PERSON: Readonly<Record<PersonalTable["names"], (column: string) => string>> = {
  "conversation key": (column) =>
    `(SELECT p.id FROM conversation c JOIN person p ON p.key = c.person WHERE c.key = x.${column})`,
  "conversation id": (column) =>
    `(SELECT p.id FROM conversation c JOIN person p ON p.key = c.person WHERE c.id = x.${column})`,
  "person key": (column) => `(SELECT p.id FROM person p WHERE p.key = x.${column})`,
  "person id": (column) => `x.${column}`,
  "call of a conversation": (column) =>
    `(SELECT p.id FROM event e JOIN conversation c ON c.key = e.conversation JOIN person p ON p.key = c.person
      WHERE e.call_id = x.${column} LIMIT 1)`,
}

const CONVERSATION = { table: "conversation", column: "person", names: "person key" } as const

/** The ids in a text that is an id, or a document that contains some. */
export const idsIn = (text: string): string[] =>
  [...text.matchAll(/(?<![0-9A-Za-z_-])([a-z]{2,4})_[0-9A-Za-z]{18,20}(?:_\d+)?(?![0-9A-Za-z_-])/g)]
    .filter(([, kind]) => kind !== undefined && kind in ownedKinds)
    .map(([id]) => id)

export interface Looked {
  /** The kinds with at least one id. */
  readonly kinds: Set<string>
  /** Ids in a user's row that lack their slot, or contain another user's. */
  readonly wrong: Set<string>
}

export const nothingLooked = (): Looked => ({ kinds: new Set(), wrong: new Set() })

/** Every row of a user, with its table and the id of its user. */
export async function rowsOfPeople({ engine }: Pick<Store, "engine">): Promise<OwnedRow[]> {
  const found = [CONVERSATION, ...personalTables].map(async ({ table, column, names }) => {
    const sql = `SELECT x.*, ${PERSON[names](column)} AS whose FROM ${table} x`
    const rows = await engine.query<Record<string, unknown>>(sql, [])
    // A row may name no conversation, and is found by its user then.
    return rows.flatMap(({ whose, ...row }) => (typeof whose === "string" ? [{ table, whose, row }] : []))
  })
  return (await Promise.all(found)).flat()
}

export interface OwnedRow {
  readonly table: string
  readonly whose: string
  readonly row: Readonly<Record<string, unknown>>
}

/** Checks every id in every column of every user's row. */
export async function lookAtIds(store: Store, looked: Looked): Promise<Looked> {
  for (const { table, whose, row } of await rowsOfPeople(store)) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== "string") continue
      for (const id of idsIn(value)) {
        looked.kinds.add(id.slice(0, id.indexOf("_")))
        if (slotOf(id) !== slotOf(whose)) looked.wrong.add(`${table}.${name}: ${id} of ${whose}`)
      }
    }
  }
  return looked
}
