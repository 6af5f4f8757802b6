import { diffWordsWithSpace } from "diff"
import type { ReactNode } from "react"
import { Plain } from "../parts/plain.tsx"
import { count, humanName } from "../parts/words.ts"
import { isWide } from "./is-long.ts"
import { LongText } from "./long-text.tsx"

interface ChangesProps {
  readonly diff: { readonly before: unknown; readonly after: unknown }
}

/** What there was and what there would be, field by field; texts word by word. */
export function Changes({ diff: { before, after } }: ChangesProps) {
  if (!isRecord(before ?? {}) || !isRecord(after ?? {})) {
    return (
      <dl className="fields text-sm">
        <Field name="value" wide change={<Change before={before} after={after} />} />
      </dl>
    )
  }
  const [was, will] = [inWords((before ?? {}) as Fields), inWords((after ?? {}) as Fields)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(will)])].sort((a, b) => rank(a) - rank(b))
  const changed = names.filter((name) => !isSame(was[name], will[name]))
  const kept = names.filter((name) => isSame(was[name], will[name]) && !isEmpty(was[name]))
  return (
    <>
      <dl className="fields gap-y-1.5 text-sm">
        {changed
          .filter((name) => !(isEmpty(was[name]) && isEmpty(will[name])))
          .map((name) => (
            <Field
              key={name}
              name={name}
              wide={isWide(toText(was[name]) + toText(will[name]))}
              change={<Change before={was[name]} after={will[name]} isGone={after === null} />}
            />
          ))}
      </dl>
      {kept.length > 0 && before !== null && after !== null && (
        <details className="mt-2 text-[13px] text-faint">
          <summary className="w-fit rounded hover:text-ink">{count(kept.length, "field")} stay as they are</summary>
          <dl className="fields mt-1 gap-y-1">
            {kept.map((name) => (
              <Field
                key={name}
                name={name}
                wide={isWide(toText(was[name]))}
                change={<Plain text={toText(was[name])} />}
              />
            ))}
          </dl>
        </details>
      )}
    </>
  )
}

type Fields = Readonly<Record<string, unknown>>

/** What it is called comes first, what is only marked (`isApproved`) last; the others stay in their order. */
const rank = (name: string): number => (/^(title|name)$/.test(name) ? 0 : /^is[A-Z]/.test(name) ? 2 : 1)

/** Rows hold marks as 0 and 1, and times as milliseconds: nobody reads those. What is sent is shown as it is sent. */
function inWords(fields: Fields): Fields {
  const word = (name: string, value: unknown): unknown => {
    if (/^is[A-Z]/.test(name) && (value === 0 || value === 1)) return value === 1
    if (/(^date|Date|At)$/.test(name) && typeof value === "number" && value > 1e11 && value < 1e14)
      return new Date(value).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
    return value
  }
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, word(name, value)]))
}

/** `isAiSuggested` is read as "AI suggested", to which the value says yes or no. */
function labelOf(name: string): string {
  const words = name.replace(/^is(?=[A-Z])/, "").replaceAll(/([a-z])([A-Z])/g, "$1 $2")
  return humanName(words.toLowerCase()).replaceAll(/\bai\b/gi, "AI")
}

interface FieldProps {
  readonly name: string
  readonly wide: boolean
  readonly change: ReactNode
}

function Field({ name, wide, change }: FieldProps) {
  return (
    <div className="contents" data-wide={wide || undefined}>
      <dt className="text-soft">
        <Plain text={labelOf(name)} />
      </dt>
      <dd>{change}</dd>
    </div>
  )
}

/** Longer texts are compared word by word; it would take too long for books. */
const MAX_COMPARED = 20_000

interface ChangeProps {
  readonly before: unknown
  readonly after: unknown
  /** All of it goes, not only this field: then a line through every word would say it too often. */
  readonly isGone?: boolean
}

function Change({ before, after, isGone = false }: ChangeProps) {
  if (isEmpty(before)) return <LongText text={toText(after)} tone="added" />
  if (isEmpty(after)) return <LongText text={toText(before)} tone={isGone ? "gone" : "removed"} />
  const [was, will] = [toText(before), toText(after)]
  const isText = typeof before === "string" && typeof after === "string" && /\s/.test(was + will)
  if (!isText || was.length + will.length > MAX_COMPARED) {
    return (
      <span className="flex flex-wrap items-baseline gap-x-2">
        <LongText text={was} tone="removed" />
        <span className="text-faint" aria-label="becomes">
          →
        </span>
        <LongText text={will} tone="added" />
      </span>
    )
  }
  const parts = diffWordsWithSpace(was, will)
  return (
    <LongText text={parts.map(({ value }) => value).join("")}>
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
    </LongText>
  )
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export function toText(value: unknown): string {
  if (typeof value === "string") return value
  if (typeof value === "boolean") return value ? "yes" : "no"
  return value === undefined ? "nothing" : JSON.stringify(value)
}
