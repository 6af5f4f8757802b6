import { ExternalLink } from "lucide-react"
import { toSafeAddress } from "../conversation/written-link.tsx"
import { Plain } from "../parts/plain.tsx"
import { count } from "../parts/words.ts"
import { defineView } from "./define-view.ts"

interface Source {
  readonly id: string
  readonly title: string
  /** Where it can be read; empty where it is nowhere on the web. */
  readonly address: string
  readonly collection: string
  readonly passage: string
  readonly score: number | undefined
  readonly isCited: boolean
}

/** More than anybody follows up. */
const MAX_SOURCES = 50
const MAX_PASSAGE = 4000

/** `{ kind: "sources", sources: [{ id, title, url?, collection?, passage, score?, cited? }] }`: what an answer rests on. */
export const sourcesView = defineView<readonly Source[]>({
  kind: "sources",
  read({ sources }) {
    if (!Array.isArray(sources)) return undefined
    const read = sources.slice(0, MAX_SOURCES).map(toSource)
    return read.every((source) => source !== undefined) ? read : undefined
  },
  Draw: ({ data }) => (
    <section aria-label="Sources" className="my-2">
      <h4 className="mb-1.5 text-xs text-faint">{count(data.length, "source")}</h4>
      <ol className="grid gap-2 sm:grid-cols-2">
        {data.map((source, index) => (
          <SourceCard key={index} source={source} number={index + 1} />
        ))}
      </ol>
    </section>
  ),
})

function SourceCard({ source, number }: { readonly source: Source; readonly number: number }) {
  const { title, address, collection, passage, score, isCited } = source
  const about = [collection, address && new URL(address).host, score === undefined ? "" : `fits ${score.toFixed(2)}`]
  return (
    <li
      data-source={source.id}
      tabIndex={-1}
      className={`min-w-0 rounded-xl border bg-surface px-3.5 py-2.5 text-sm ${isCited ? "border-accent" : "border-line"}`}
    >
      <p className="font-medium [overflow-wrap:anywhere]">
        <span className="text-faint tabular-nums">{number}. </span>
        {address === "" ? (
          <Plain text={title} />
        ) : (
          <a
            href={address}
            target="_blank"
            rel="noopener noreferrer"
            className="text-accent underline underline-offset-2"
          >
            <Plain text={title} />
            <ExternalLink className="ml-1 inline size-3" aria-label="opens in a new tab" />
          </a>
        )}
      </p>
      <p className="text-xs text-faint [overflow-wrap:anywhere]">
        <Plain text={about.filter(Boolean).join(" · ")} />
        {isCited && <span className="text-accent"> cited</span>}
      </p>
      <details className="group/source mt-1">
        <summary className="line-clamp-3 text-soft [overflow-wrap:anywhere] group-open/source:line-clamp-none">
          <Plain text={passage} />
        </summary>
      </details>
    </li>
  )
}

function toSource(given: unknown): Source | undefined {
  if (typeof given !== "object" || given === null) return undefined
  const { id, title, url, collection, passage, score, cited } = given as Readonly<Record<string, unknown>>
  if (typeof passage !== "string") return undefined
  const text = (value: unknown) => (typeof value === "string" ? value : "")
  const address = /^https?:/i.test(text(url)) ? toSafeAddress(text(url)) : ""
  return {
    id: text(id),
    title: text(title) || text(id) || "Without a title",
    address,
    collection: text(collection),
    passage: passage.length > MAX_PASSAGE ? `${passage.slice(0, MAX_PASSAGE)}…` : passage,
    score: typeof score === "number" && Number.isFinite(score) ? score : undefined,
    isCited: cited === true,
  }
}
