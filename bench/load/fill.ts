import { DatabaseSync } from "node:sqlite"
import { TIME_DIGITS } from "../../core/protocol/ids.ts"
import type { Kind, Templates } from "./templates.ts"

export interface Filling {
  readonly conversations: number
  /** Users in addition to the one who sends requests. They own half of the conversations. */
  readonly people: number
}

export interface Filled {
  readonly conversations: number
  readonly events: number
}

/** Percentages of the kinds of conversations; the rest is plain text. Old waiting proposals were never decided. */
const SHARES: readonly (readonly [Kind, number])[] = [
  ["applied", 4],
  ["rejected", 2],
  ["expired", 2],
  ["waiting", 1],
]
/** Times are shifted by their first digits, so that numbers and texts change alike: a step is 28 hours. */
const STEP_MS = 1e8
const STEPS = 365
/**
 * Placeholders in the templates: the part of an id that differs between copies, the digits of times, the person's id.
 */
const [ID, TIME, NEXT_TIME, PERSON] = ["\u0001", "\u0002", "\u0003", "\u0004"]
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"
/** The digits of an id that number the copy, after those of its time. */
const COPY_DIGITS = 5
const TABLES = ["conversation", "event", "run", "proposal", "audit_entry", "usage", "applied_call"] as const

/**
 * Copies conversations in the database of a stopped server, with everything that a commit writes in addition to events:
 * with other ids, users and times. The server wrote the originals, so the copies have its format.
 */
export function fill(file: string, { ids }: Templates, { conversations, people }: Filling): Filled {
  const database = new DatabaseSync(file)
  database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA cache_size = -400000")
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY; BEGIN")
  const get = <Row>(sql: string, ...values: string[]) => database.prepare(sql).get(...values) as Row
  const ada = get<{ key: number; id: string }>("SELECT key, id FROM person WHERE name = 'ada'")
  const { at: made } = get<{ at: number }>("SELECT max(at) AS at FROM event")
  const epoch = Math.floor(made / STEP_MS)
  const mark = (text: string) =>
    text
      .replaceAll(ada.id, PERSON)
      .replace(/(?<![\w-])(conv|run|msg|call|prop|aud|task)_[0-9A-Za-z]{13}(?=[0-9A-Za-z]{5,7}(?![\w-]))/g, `$1_${ID}`)
      .replace(/(?<!\d)(\d{5})(?=\d{8}(?!\d))/g, (all, first) =>
        Number(first) === epoch ? TIME : Number(first) === epoch + 1 ? NEXT_TIME : all,
      )
  database.function("mark", (text) => (typeof text === "string" ? mark(text) : text))
  const copies = (Object.entries(ids) as [Kind, string][]).map(([kind, id]) => {
    const { key } = get<{ key: number }>("SELECT key FROM conversation WHERE id = ?", id)
    return [kind, TABLES.map((table) => copying(database, { table, kind, key, id }))] as const
  })
  const copyOf = new Map(copies)
  const addPerson = database.prepare("INSERT INTO person (key, id, name, created_at) VALUES (?, ?, ?, ?)")
  const firstKey = get<{ key: number }>("SELECT max(key) AS key FROM person").key + 1
  // They end with the digits of ada's slot, as all copied ids do.
  const others = Array.from({ length: people }, (_, at) => {
    const id = `user_${digits(at, 18)}${ada.id.slice(-2)}`
    addPerson.run(firstKey + at, id, `person ${at}`, made)
    return { key: firstKey + at, id }
  })
  const { key: held } = get<{ key: number }>("SELECT max(key) AS key FROM conversation")
  for (let at = held + 1; at <= conversations; at++) {
    const kind = kindOf(at)
    const back = Math.floor(((conversations - at) * STEPS) / conversations)
    const owner = (at % 2 === 1 && others.length > 0 ? others[(at >> 1) % others.length] : ada) ?? ada
    const id = digits(made - (conversations - at) * 1000, TIME_DIGITS) + digits(at, COPY_DIGITS)
    const day = new Date(made - back * STEP_MS).toISOString().slice(0, 10)
    const values = {
      ...{ key: at, id, person: owner.key, user: owner.id, day, ms: back * STEP_MS },
      ...{ time: String(epoch - back), next: String(epoch + 1 - back) },
    }
    for (const copy of copyOf.get(kind) ?? []) copy(values)
  }
  database.exec("COMMIT; PRAGMA journal_mode = WAL")
  const { events } = get<{ events: number }>("SELECT count(*) AS events FROM event")
  database.close()
  return { conversations, events }
}

interface Copied {
  readonly table: (typeof TABLES)[number]
  readonly kind: Kind
  readonly key: number
  readonly id: string
}

type Values = Readonly<Record<string, string | number>>

/** A statement that writes the rows of one table for one copy, from marked rows in memory. */
function copying(database: DatabaseSync, { table, kind, key, id }: Copied): (values: Values) => void {
  const columns = database.prepare(`SELECT name, type FROM pragma_table_info('${table}')`).all() as {
    name: string
    type: string
  }[]
  const whose: Record<(typeof TABLES)[number], string> = {
    conversation: `key = ${key}`,
    event: `conversation = ${key}`,
    run: `conversation = ${key}`,
    proposal: `conversation = ${key}`,
    audit_entry: `conversation_id = '${id}'`,
    usage: `conversation = '${id}'`,
    applied_call: `call_id IN (SELECT call_id FROM event WHERE conversation = ${key})`,
  }
  const marked = `temp.${table}_${kind}`
  const texts = columns.map(({ name, type }) => (type === "TEXT" ? `mark(${name}) AS ${name}` : name))
  database.exec(`CREATE TABLE ${marked} AS SELECT ${texts.join()} FROM ${table} WHERE ${whose[table]}`)
  const rows = database.prepare(`SELECT * FROM ${marked}`).all() as Record<string, unknown>[]
  const values = columns.map(({ name, type }) => {
    if (type === "TEXT" && name === "day") return "$day"
    if (type === "TEXT") {
      const has = (mark: string) => rows.some((row) => typeof row[name] === "string" && row[name].includes(mark))
      const marks = [
        [ID, "$id"] as const,
        [TIME, "$time"] as const,
        [NEXT_TIME, "$next"] as const,
        [PERSON, "$user"] as const,
      ]
      return marks.reduce(
        (sql, [mark, by]) => (has(mark) ? `replace(${sql}, char(${mark.charCodeAt(0)}), ${by})` : sql),
        name,
      )
    }
    if (name === "key" || name === "conversation") return "$key"
    if (name === "person") return "$person"
    return /(^|_)at$/.test(name) ? `${name} - $ms` : name
  })
  const sql = `INSERT INTO ${table} (${columns.map(({ name }) => name).join()}) SELECT ${values.join()} FROM ${marked}`
  const insert = database.prepare(sql)
  insert.setAllowUnknownNamedParameters(true)
  return (given) => void insert.run(given)
}

function kindOf(at: number): Kind {
  let place = (at * 61) % 100 // spread evenly, and deterministic
  for (const [kind, share] of SHARES) if ((place -= share) < 0) return kind
  return "talk"
}

/** Digits as in ids: their order is that of the number. */
function digits(number: number, length: number): string {
  let text = ""
  for (let rest = number; text.length < length; rest = Math.floor(rest / DIGITS.length))
    text = DIGITS.charAt(rest % DIGITS.length) + text
  return text
}
