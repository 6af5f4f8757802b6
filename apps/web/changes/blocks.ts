import { createContext, use, useCallback } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { Store, useStore } from "../state/store.ts"
import { t } from "../strings/strings.ts"
import { type Fields, displayValue, isEmpty, isLongText, isRecord, labelOf, toText } from "./display-value.ts"

interface Block<Type extends string> {
  readonly type: Type
  /** Stable for a proposal, however often it is shown. */
  readonly key: string
  readonly label: string
}

/** A field with its value before and after. */
export interface FieldBlock extends Block<"field"> {
  readonly before: unknown
  readonly after: unknown
  /** The whole row is deleted, not only this field. */
  readonly isGone: boolean
}

/** Names, such as those of the rows deleted along with a row. */
export interface ListBlock extends Block<"list"> {
  readonly items: readonly string[]
  readonly isGone: boolean
}

export interface RowsBlock extends Block<"rows"> {
  readonly columns: readonly string[]
  readonly before: readonly (readonly unknown[])[] | null
  readonly after: readonly (readonly unknown[])[] | null
  /** The rows before correspond to the first rows after; the others are new. */
  readonly isPaired: boolean
  /** The total number; before and after may contain only the first of them. */
  readonly rowCount: number
}

/** An argument as it is sent. */
export type SentBlock = Block<"sent"> & { readonly text: string }

export type AnyBlock = FieldBlock | ListBlock | RowsBlock | SentBlock

export interface Shown {
  readonly blocks: readonly AnyBlock[]
  /** Unchanged and internal fields, shown on request. */
  readonly folded: readonly FieldBlock[]
}

type Diff = NonNullable<Proposal["diff"]>

/** The contents of a change card, in order. What counts as cut is computed from the same list that the card draws. */
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
    const [old, now] = [displayValue(name, was[name]), displayValue(name, will[name])]
    if (isEmpty(old) && isEmpty(now)) continue
    const lists = isWhole ? toLists(name, old ?? now, isGone) : []
    const field: FieldBlock = { type: "field", key: name, label: labelOf(name), before: old, after: now, isGone }
    if (lists.length > 0) blocks.push(...lists)
    else if (isSame(old, now) || (isWhole && MINOR.test(name))) folded.push(field)
    else blocks.push(field)
  }
  return { blocks, folded }
}

/** Whether the block is cut until the person opens it. */
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
/** Internal fields of a row that is created or deleted as a whole. */
const MINOR = /^(id|is[A-Z]\w*|createdAt|updatedAt)$/

/** Names first, flags (`isApproved`) after other fields, related rows last. */
const rank = (name: string): number =>
  /^(title|name)$/.test(name) ? 0 : /^is[A-Z]/.test(name) ? 2 : name === "with" ? 3 : 1

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** `with: { tasks: […], notes: […] }`: related rows that are deleted or restored with a row, by table. */
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

/** The cards and blocks that a person has opened: the id of a whole card, or the id and the key of one block. */
export const opened = new Store<ReadonlySet<string>>(new Set())

/** The proposal whose card is drawn; undefined if nothing has to be decided. */
export const CardContext = createContext<string | undefined>(undefined)

/** Whether a block is shown completely, and a function that opens it. */
export function useOpened(key: string): readonly [isOpened: boolean, open: () => void] {
  const id = use(CardContext) ?? "elsewhere"
  const set = useStore(opened)
  const isOpened = set.has(id) || set.has(`${id} ${key}`)
  return [isOpened, useCallback(() => showWhole([`${id} ${key}`]), [id, key])]
}

export const showWhole = (names: readonly string[]) => opened.set(new Set([...opened.value, ...names]))
