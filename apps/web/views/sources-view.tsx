import { useContext, useEffect, useRef, useState } from "react"
import { ExternalLink } from "../components/icons.tsx"
import { ShownSource } from "../markdown/citation-mark.tsx"
import { Markdown } from "../markdown/markdown.tsx"
import { toSafeAddress } from "../markdown/safe-link.tsx"
import { toProse } from "../markdown/split-blocks.ts"
import { Plain } from "../components/plain.tsx"
import { rich, t } from "../strings/strings.ts"
import { defineView } from "./define-view.ts"

interface Source {
  readonly id: string
  /** Its number in the conversation, if the server sent one. */
  readonly number: number | undefined
  readonly title: string
  /** Its address on the web; empty if it has none. */
  readonly address: string
  /** Its authors, date, collection and host, as far as known. */
  readonly about: readonly string[]
  readonly passage: string
}

const MAX_SOURCES = 50
const MAX_PASSAGE = 4000
const MAX_AUTHORS = 3

/** `{ kind: "sources", sources: [{ id, title, url?, authors?, date?, collectionName?, passage }] }`: the sources of a reply. */
export const sourcesView = defineView<readonly Source[]>({
  kind: "sources",
  isFolded: true,
  read({ sources }) {
    if (!Array.isArray(sources)) return undefined
    const read = sources.slice(0, MAX_SOURCES).map(toSource)
    return read.every((source) => source !== undefined) ? read : undefined
  },
  Draw: ({ data }) => (
    <div role="group" aria-label={t("views.sources")} className="my-3">
      <h4 className="mb-1.5 text-xs text-faint">{t("views.sourceCount", { count: data.length })}</h4>
      <ol className="grid items-start gap-2 sm:grid-cols-2">
        {data.map((source, index) => (
          <SourceCard key={index} source={source} number={source.number ?? index + 1} />
        ))}
      </ol>
    </div>
  ),
})

function SourceCard({ source, number }: { readonly source: Source; readonly number: number }) {
  const { id, title, address, about, passage } = source
  const { shown } = useContext(ShownSource)
  const [isOpen, setOpen] = useState(false)
  const card = useRef<HTMLLIElement>(null)
  const isShown = shown?.source === id
  // Runs each time a citation mark is clicked, also another mark of the same source, or the same one after a close.
  useEffect(() => {
    if (!isShown) return
    setOpen(true)
    card.current?.focus({ preventScroll: true })
    card.current?.scrollIntoView({ block: "nearest" })
  }, [isShown, shown])
  return (
    <li
      ref={card}
      data-source={id}
      tabIndex={-1}
      aria-current={isShown || undefined}
      className={`min-w-0 scroll-m-3 rounded-xl border px-3.5 py-2.5 text-sm ${isOpen ? "sm:col-span-2" : ""} ${isShown ? "border-accent bg-accent-soft" : "border-line bg-surface"}`}
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
            <ExternalLink className="ml-1 inline size-3" aria-label={t("markdown.newTab")} />
          </a>
        )}
      </p>
      {about.length > 0 && (
        <p className="text-xs text-faint [overflow-wrap:anywhere]">
          <Plain text={about.join(" · ")} />
        </p>
      )}
      {isOpen ? (
        <div className="passage mt-1.5 text-soft">
          <Markdown text={passage} />
        </div>
      ) : (
        <p className="mt-1 line-clamp-3 text-soft [overflow-wrap:anywhere]">
          <Plain text={toProse(passage)} />
        </p>
      )}
      <button
        type="button"
        aria-expanded={isOpen}
        className="mt-1 rounded text-[13px] font-medium text-accent hover:underline"
        onClick={() => setOpen(!isOpen)}
      >
        {rich(isOpen ? "views.showLess" : "views.showPassage", {
          number,
          more: (inner) => <span className="sr-only">{inner}</span>,
        })}
      </button>
    </li>
  )
}

function toSource(given: unknown): Source | undefined {
  if (typeof given !== "object" || given === null) return undefined
  const { id, number, title, url, authors, date, collectionName, passage } = given as Readonly<Record<string, unknown>>
  if (typeof passage !== "string") return undefined
  const address = /^https?:/i.test(text(url)) ? toSafeAddress(text(url)) : ""
  const about = [toNames(authors), text(date), text(collectionName), address && new URL(address).host]
  return {
    id: text(id),
    number: Number.isSafeInteger(number) ? (number as number) : undefined,
    title: text(title) || t("common.untitled"),
    address,
    about: about.filter((each) => each !== ""),
    passage: passage.length > MAX_PASSAGE ? `${passage.slice(0, MAX_PASSAGE).toWellFormed()}…` : passage,
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")

function toNames(authors: unknown): string {
  const names = Array.isArray(authors) ? authors.filter((name) => typeof name === "string") : []
  const first = names.slice(0, MAX_AUTHORS).join(", ")
  return names.length > MAX_AUTHORS ? t("views.andOthers", { names: first }) : first
}
