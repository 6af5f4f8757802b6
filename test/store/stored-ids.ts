import { type isId, slotOf } from "../../core/protocol/ids.ts"
import { type PersonalTable, personalTables } from "../../core/store/personal-tables.ts"
import type { Store } from "../../core/store/store.ts"

export type IdKind = Parameters<typeof isId>[0]

/** Every kind of id that belongs to a person, and where one of it is found. The compiler asks for a line for a new one. */
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
  psg: "answered", // made of its edition's when it is shown
}

/** How a row of a table leads to the id of its person, as SQL. */
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

/** The ids that stand in a text, whether it is one, or a document with some in it. */
export const idsIn = (text: string): string[] =>
  [...text.matchAll(/(?<![0-9A-Za-z_-])([a-z]{2,4})_[0-9A-Za-z]{18,20}(?:_\d+)?(?![0-9A-Za-z_-])/g)]
    .filter(([, kind]) => kind !== undefined && kind in ownedKinds)
    .map(([id]) => id)

export interface Looked {
  /** The kinds of which some id was found. */
  readonly kinds: Set<string>
  /** What is in a row of somebody and does not tell their slot, or another's. */
  readonly wrong: Set<string>
}

export const nothingLooked = (): Looked => ({ kinds: new Set(), wrong: new Set() })

/** Every row that is somebody's, with the table it stands in and the id of its person. */
export async function rowsOfPeople({ engine }: Pick<Store, "engine">): Promise<OwnedRow[]> {
  const found = [CONVERSATION, ...personalTables].map(async ({ table, column, names }) => {
    const sql = `SELECT x.*, ${PERSON[names](column)} AS whose FROM ${table} x`
    const rows = await engine.query<Record<string, unknown>>(sql, [])
    // A row may name no conversation, and is found by its person then.
    return rows.flatMap(({ whose, ...row }) => (typeof whose === "string" ? [{ table, whose, row }] : []))
  })
  return (await Promise.all(found)).flat()
}

export interface OwnedRow {
  readonly table: string
  readonly whose: string
  readonly row: Readonly<Record<string, unknown>>
}

/** Looks at every id in every column of every row that is somebody's. */
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
