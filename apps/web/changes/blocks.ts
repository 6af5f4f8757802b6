import { createContext, use, useCallback } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { Store, useStore } from "../state/store.ts"
import { t } from "../strings/strings.ts"
import { type Fields, inWords, isEmpty, isLongText, isRecord, labelOf, toText } from "./value-words.ts"

interface Block<Type extends string> {
  readonly type: Type
  /** The same whenever the same proposal is shown. */
  readonly key: string
  readonly label: string
}

/** A field and what becomes of it. */
export interface FieldBlock extends Block<"field"> {
  readonly before: unknown
  readonly after: unknown
  /** All of it goes, not only this field. */
  readonly isGone: boolean
}

/** Things by name, such as what is deleted along with a row. */
export interface ListBlock extends Block<"list"> {
  readonly items: readonly string[]
  readonly isGone: boolean
}

/** Rows of a database. */
export interface RowsBlock extends Block<"rows"> {
  readonly columns: readonly string[]
  readonly before: readonly (readonly unknown[])[] | null
  readonly after: readonly (readonly unknown[])[] | null
  /** Those before became the first of those after; the others are new. */
  readonly isPaired: boolean
  /** How many there are, of which those before and after may be the first. */
  readonly rowCount: number
}

/** An argument, exactly. */
export type SentBlock = Block<"sent"> & { readonly text: string }

export type AnyBlock = FieldBlock | ListBlock | RowsBlock | SentBlock

export interface Shown {
  readonly blocks: readonly AnyBlock[]
  /** What stays as it is, and what only the system cares about: there for whoever opens it. */
  readonly folded: readonly FieldBlock[]
}

type Diff = NonNullable<Proposal["diff"]>

/** What a card shows of a change, in order. The card draws this list, and what of it is cut is read off this list. */
export function blocksOf({ before, after }: Diff): Shown {
  const rows = toRows(before, after)
  if (rows) return { blocks: [rows], folded: [] }
  if (!isRecord(before ?? {}) || !isRecord(after ?? {})) {
    const value: FieldBlock = {
      type: "field",
      key: "value",
      label: t("changes.value"),
      before,
      after,
      isGone: after === null,
    }
    return { blocks: [value], folded: [] }
  }
  const [was, will] = [(before ?? {}) as Fields, (after ?? {}) as Fields]
  const isWhole = isEmpty(before) || isEmpty(after)
  const isGone = isEmpty(after)
  const names = [...new Set([...Object.keys(was), ...Object.keys(will)])].sort((a, b) => rank(a) - rank(b))
  const blocks: AnyBlock[] = []
  const folded: FieldBlock[] = []
  for (const name of names) {
    const [old, now] = [inWords(name, was[name]), inWords(name, will[name])]
    if (isEmpty(old) && isEmpty(now)) continue
    const lists = isWhole ? toLists(name, old ?? now, isGone) : []
    const field: FieldBlock = { type: "field", key: name, label: labelOf(name), before: old, after: now, isGone }
    if (lists.length > 0) blocks.push(...lists)
    else if (isSame(old, now) || (isWhole && MINOR.test(name))) folded.push(field)
    else blocks.push(field)
  }
  return { blocks, folded }
}

/** Whether it is cut until somebody asks for all of it. */
export function isLongBlock(block: AnyBlock): boolean {
  switch (block.type) {
    case "field":
      return isLongText(toText(block.before)) || isLongText(toText(block.after))
    case "list":
      return block.items.length > MAX_ITEMS || block.items.some(isLongText)
    case "rows": {
      const rows = [...(block.before ?? []), ...(block.after ?? [])]
      const isTall = Math.max(block.before?.length ?? 0, block.after?.length ?? 0) > MAX_ITEMS
      return isTall || rows.some((row) => row.some((cell) => isLongText(toText(cell))))
    }
    case "sent":
      return isLongText(block.text)
  }
}

const MAX_ITEMS = 12
/** Of a row that comes or goes as a whole: what the system keeps about it. */
const MINOR = /^(id|is[A-Z]\w*|createdAt|updatedAt)$/

/** What it is called comes first, what is only marked (`isApproved`) and what goes along last; the others stay in their order. */
const rank = (name: string): number =>
  /^(title|name)$/.test(name) ? 0 : /^is[A-Z]/.test(name) ? 2 : name === "with" ? 3 : 1

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** `with: { tasks: […], notes: […] }`: what goes, or comes back, along with a row, by table. */
function toLists(name: string, value: unknown, isGone: boolean): ListBlock[] {
  if (name !== "with" || !isRecord(value)) return []
  return Object.entries(value).map(([table, items]) => {
    const label = t(isGone ? "changes.deletedWith" : "changes.addedWith", { table: labelOf(table) })
    return {
      type: "list",
      key: `with ${table}`,
      label,
      items: (Array.isArray(items) ? items : [items]).map(toText),
      isGone,
    }
  })
}

function toRows(before: unknown, after: unknown): RowsBlock | undefined {
  const [old, now] = [readRows(before), readRows(after)]
  const some = now ?? old
  if (!some || (before !== null && !old) || (after !== null && !now)) return undefined
  const { columns, rowCount } = some
  return {
    type: "rows",
    key: "rows",
    label: t("changes.rows"),
    columns,
    before: old?.rows ?? null,
    after: now?.rows ?? null,
    isPaired: isRecord(after) && after.paired === true,
    rowCount,
  }
}

function readRows(value: unknown): { columns: string[]; rows: unknown[][]; rowCount: number } | undefined {
  if (!isRecord(value) || !Array.isArray(value.columns) || !Array.isArray(value.rows)) return undefined
  if (!value.rows.every(Array.isArray)) return undefined
  const { columns, rows } = value
  return {
    columns: columns.map(String),
    rows,
    rowCount: typeof value.rowCount === "number" ? value.rowCount : rows.length,
  }
}

/** What somebody has asked to see all of: a card's id for everything about it, or its id and the key of one part. */
export const opened = new Store<ReadonlySet<string>>(new Set())

/** The proposal whose card is being drawn; undefined where nobody has to agree to anything. */
export const CardContext = createContext<string | undefined>(undefined)

/** Whether a part is shown whole, and showing it. */
export function useOpened(key: string): readonly [isOpened: boolean, open: () => void] {
  const id = use(CardContext) ?? "elsewhere"
  const set = useStore(opened)
  const isOpened = set.has(id) || set.has(`${id} ${key}`)
  return [isOpened, useCallback(() => showWhole([`${id} ${key}`]), [id, key])]
}

export const showWhole = (names: readonly string[]) => opened.set(new Set([...opened.value, ...names]))
