import { diffWordsWithSpace } from "diff"
import { type ReactNode, useMemo } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { Plain } from "../components/plain.tsx"
import { t } from "../strings/strings.ts"
import { type AnyBlock, type FieldBlock, type RowsBlock, blocksOf, isLongBlock, useOpened } from "./blocks.ts"
import { isEmpty, isWide, toText } from "./display-value.ts"

interface ChangesProps {
  readonly diff: NonNullable<Proposal["diff"]>
}

/** The values before and after, field by field; texts word by word. */
export function Changes({ diff }: ChangesProps) {
  const { blocks, folded } = blocksOf(diff)
  const isWhole = diff.before === null || diff.after === null
  return (
    <>
      <Blocks blocks={blocks} />
      {folded.length > 0 && (
        <details className="mt-2 text-[13px] text-faint">
          <summary className="w-fit rounded hover:text-ink">
            {t(isWhole ? "changes.moreFields" : "changes.unchangedFields", { count: folded.length })}
          </summary>
          <dl className="fields mt-1 gap-y-1">
            {folded.map(({ key, label, before, after }) => (
              <div key={key} className="contents">
                <dt>
                  <Plain text={label} />
                </dt>
                <dd>
                  <Plain text={toText(after ?? before)} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}

/** Labels and values; lists and tables go below their label. */
export function Blocks({ blocks }: { readonly blocks: readonly AnyBlock[] }) {
  return (
    <dl className="fields gap-y-1.5 text-sm">
      {blocks.map((block) => (
        <div
          key={block.key}
          className="contents"
          data-wide={isWideBlock(block) || undefined}
          data-own={block.type === "rows" || undefined}
        >
          <dt className={block.type === "rows" ? "sr-only" : "text-soft"}>
            <Plain text={block.label} />
          </dt>
          <dd className="min-w-0">
            <Cut block={block} showAll={showAllOf(block)}>
              <Drawn block={block} />
            </Cut>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Drawn({ block }: { readonly block: AnyBlock }) {
  switch (block.type) {
    case "field":
      return <FieldChange block={block} />
    case "list":
      return (
        <ul className={`list-disc space-y-0.5 pl-4 ${block.isGone ? "text-danger" : ""}`}>
          {block.items.map((item, index) => (
            <li key={index}>
              <Plain text={item} />
            </li>
          ))}
        </ul>
      )
    case "rows":
      return <RowsChange block={block} />
    case "sent":
      return (
        <span className="font-mono text-[12.5px] whitespace-pre-wrap">
          <Plain text={block.text} />
        </span>
      )
  }
}

function isWideBlock(block: AnyBlock): boolean {
  if (block.type === "field") return isWide(toText(block.before) + toText(block.after))
  return block.type === "sent" ? isWide(block.text) : true
}

function showAllOf(block: AnyBlock): string {
  switch (block.type) {
    case "field":
      return t("changes.showAllCharacters", { count: Math.max(textLength(block.before), textLength(block.after)) })
    case "list":
      return t("changes.showAllEntries", { count: block.items.length })
    case "rows":
      return t("changes.showAllRows", { count: Math.max(block.before?.length ?? 0, block.after?.length ?? 0) })
    case "sent":
      return t("changes.showAllCharacters", { count: block.text.length })
  }
}

const textLength = (value: unknown): number => (value === null || value === undefined ? 0 : toText(value).length)

/** Longer texts are shown one after the other, because a word diff would take too long. */
const MAX_COMPARED = 20_000

function FieldChange({ block: { before, after, isGone } }: { readonly block: FieldBlock }) {
  if (isEmpty(before)) return <Text text={toText(after)} />
  // If the whole row is deleted, its fields are not struck through.
  if (isEmpty(after)) return isGone ? <Text text={toText(before)} /> : <Removed text={toText(before)} />
  const [was, will] = [toText(before), toText(after)]
  const isText = typeof before === "string" && typeof after === "string" && /\s/.test(was + will)
  if (isText && was.length + will.length <= MAX_COMPARED) return <WordChange was={was} will={will} />
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <Removed text={was} />
      <span className="text-faint" aria-label={t("changes.becomes")} role="img">
        →
      </span>
      <Text text={will} />
    </span>
  )
}

function WordChange({ was, will }: { readonly was: string; readonly will: string }) {
  const parts = useMemo(() => diffWordsWithSpace(was, will), [was, will])
  return (
    <span className="whitespace-pre-wrap">
      {parts.map(({ value, added, removed }, index) =>
        added ? (
          <ins key={index} className="rounded bg-good-soft text-good no-underline">
            <Plain text={value} />
          </ins>
        ) : removed ? (
          <del key={index} className="rounded bg-danger-soft text-danger">
            <Plain text={value} />
          </del>
        ) : (
          <Plain key={index} text={value} />
        ),
      )}
    </span>
  )
}

const Text = ({ text }: { readonly text: string }) => (
  <span className="whitespace-pre-wrap">
    <Plain text={text} />
  </span>
)

const Removed = ({ text }: { readonly text: string }) => (
  <del className="whitespace-pre-wrap text-danger decoration-1">
    <Plain text={text} />
  </del>
)

/** Rows of a database before and after in one table, with the changes marked. */
function RowsChange({ block }: { readonly block: RowsBlock }) {
  const { columns, rowCount } = block
  const rows = pairRows(block)
  return (
    <div
      className="overflow-x-auto rounded-lg border border-line"
      tabIndex={0}
      role="group"
      aria-label={t("changes.rows")}
    >
      <table className="w-full text-left text-[13px]">
        <thead>
          <tr className="border-b border-line text-xs text-soft">
            {columns.map((name, index) => (
              <th key={index} scope="col" className="px-2.5 py-1.5 font-medium whitespace-nowrap">
                <Plain text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} className="border-b border-line align-top last:border-0">
              {columns.map((_, place) => (
                <td key={place} className="max-w-80 px-2.5 py-1.5 [overflow-wrap:anywhere]">
                  <Cell row={row} place={place} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rowCount > rows.length && (
        <p className="px-2.5 py-1.5 text-[13px] text-faint">
          {t("changes.firstRows", { shown: rows.length, total: rowCount })}
        </p>
      )}
    </div>
  )
}

function Cell({ row: { was, now }, place }: { readonly row: ShownRow; readonly place: number }) {
  const [old, next] = [was && cellText(was[place]), now && cellText(now[place])]
  if (old === next) return <Plain text={next ?? ""} />
  return (
    <>
      {old !== undefined && (
        <del className={`text-danger ${now ? "decoration-1" : "no-underline"}`}>
          <Plain text={old} />
        </del>
      )}{" "}
      {next !== undefined && (
        <ins className={was ? "rounded bg-good-soft text-good no-underline" : "no-underline"}>
          <Plain text={next} />
        </ins>
      )}
    </>
  )
}

const cellText = (value: unknown): string => (value === null || value === undefined ? "–" : toText(value))

/** A row before and after the change. A new row has no `was`, a deleted one no `now`. */
interface ShownRow {
  readonly was?: readonly unknown[]
  readonly now?: readonly unknown[]
}

/** Pairs old and new rows if they correspond; otherwise lists one after the other. */
export function pairRows({ before, after, isPaired }: Pick<RowsBlock, "before" | "after" | "isPaired">): ShownRow[] {
  const [olds, news] = [before ?? [], after ?? []]
  if (after !== null && before !== null && (isPaired || olds.length === news.length))
    return news.map((now, index) => {
      const was = olds[index]
      return was ? { was, now } : { now }
    })
  return [...olds.map((was) => ({ was })), ...news.map((now) => ({ now }))]
}

interface CutProps {
  readonly block: AnyBlock
  /** The label of the button, with how much there is: "Show all 4,000 characters". */
  readonly showAll: string
  readonly children: ReactNode
}

/** A long part of a card, with a button to show all of it: nothing can be approved that could not be read. */
function Cut({ block, showAll, children }: CutProps) {
  const [isOpened, open] = useOpened(block.key)
  if (!isLongBlock(block) || isOpened) return children
  return (
    <div>
      <div className="max-h-28 overflow-hidden [mask-image:linear-gradient(black_55%,transparent)]">{children}</div>
      <button
        type="button"
        onClick={open}
        className="mt-1 text-[13px] font-medium text-accent underline underline-offset-2"
      >
        {showAll}
      </button>
    </div>
  )
}
