import { diffWordsWithSpace } from "diff"
import type { ReactNode } from "react"
import { Plain } from "../parts/plain.tsx"
import { count, humanName } from "../parts/words.ts"
import { LongText } from "./long-text.tsx"

interface ChangesProps {
  readonly diff: { readonly before: unknown; readonly after: unknown }
}

/** What there was and what there would be, field by field; texts word by word. */
export function Changes({ diff: { before, after } }: ChangesProps) {
  if (!isRecord(before ?? {}) || !isRecord(after ?? {})) {
    return <Field name="value" change={<Change before={before} after={after} />} />
  }
  const [was, will] = [(before ?? {}) as Fields, (after ?? {}) as Fields]
  const names = [...new Set([...Object.keys(was), ...Object.keys(will)])].sort((a, b) => rank(a) - rank(b))
  const changed = names.filter((name) => !isSame(was[name], will[name]))
  const kept = names.filter((name) => isSame(was[name], will[name]) && !isEmpty(was[name]))
  return (
    <>
      <dl className="grid gap-x-4 gap-y-1.5 text-sm sm:grid-cols-[minmax(5rem,auto)_1fr]">
        {changed
          .filter((name) => !(isEmpty(was[name]) && isEmpty(will[name])))
          .map((name) => (
            <Field
              key={name}
              name={name}
              change={<Change before={was[name]} after={will[name]} isGone={after === null} />}
            />
          ))}
      </dl>
      {kept.length > 0 && before !== null && after !== null && (
        <details className="mt-2 text-[13px] text-faint">
          <summary className="w-fit rounded hover:text-ink">{count(kept.length, "field")} stay as they are</summary>
          <dl className="mt-1 grid gap-x-4 gap-y-1 sm:grid-cols-[minmax(5rem,auto)_1fr]">
            {kept.map((name) => (
              <Field key={name} name={name} change={<Plain text={toText(was[name])} />} />
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

/** `isAiSuggested` is read as "AI suggested", to which the value says yes or no. */
function labelOf(name: string): string {
  const words = name.replace(/^is(?=[A-Z])/, "").replaceAll(/([a-z])([A-Z])/g, "$1 $2")
  return humanName(words.toLowerCase()).replaceAll(/\bai\b/gi, "AI")
}

function Field({ name, change }: { readonly name: string; readonly change: ReactNode }) {
  return (
    <>
      <dt className="text-soft">
        <Plain text={labelOf(name)} />
      </dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{change}</dd>
    </>
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
