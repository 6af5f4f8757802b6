import type { Proposal } from "../../src/protocol/index.ts"
import { Plain } from "../parts/plain.tsx"
import { count } from "../parts/words.ts"
import { type AnyBlock, blocksOf } from "./blocks.ts"
import { Cut } from "./cut.tsx"
import { FieldChange } from "./field-change.tsx"
import { isWide } from "./is-long.ts"
import { RowsChange } from "./rows-change.tsx"
import { toText } from "./value-words.ts"

interface ChangesProps {
  readonly diff: NonNullable<Proposal["diff"]>
}

/** What there was and what there would be, field by field; texts word by word. */
export function Changes({ diff }: ChangesProps) {
  const { blocks, folded } = blocksOf(diff)
  const isWhole = diff.before === null || diff.after === null
  return (
    <>
      <Blocks blocks={blocks} />
      {folded.length > 0 && (
        <details className="mt-2 text-[13px] text-faint">
          <summary className="w-fit rounded hover:text-ink">
            {isWhole ? `${count(folded.length, "more field")}` : `${count(folded.length, "field")} stay as they are`}
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

/** Names and their values; what is a list or a table stands below its name. */
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
            <Cut block={block} size={sizeOf(block)}>
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

function sizeOf(block: AnyBlock): string {
  switch (block.type) {
    case "field":
      return count(Math.max(textLength(block.before), textLength(block.after)), "character")
    case "list":
      return count(block.items.length, "entry", "entries")
    case "rows":
      return count(Math.max(block.before?.length ?? 0, block.after?.length ?? 0), "row")
    case "sent":
      return count(block.text.length, "character")
  }
}

const textLength = (value: unknown): number => (value === null || value === undefined ? 0 : toText(value).length)
