import { failure, jsonLimits, mendText, tryReadJson } from "../../core/pack.ts"
import type { AnswerKind } from "./document-job.ts"
import { type AtomEntry, readAtom } from "./read-atom.ts"
import { readResults } from "./read-results.ts"
import type { WebResult } from "./search-provider.ts"

/** The most results that are shown or requested. */
const MAX_FOUND = 50
const MAX_LINE = 2000
const MAX_SUMMARY = 10_000
const MAX_AUTHORS = 20

/** Reads the results in a response. Throws `document_unreadable` if it has another format. */
export function readAnswer(of: AnswerKind, text: string): readonly (AtomEntry | WebResult)[] {
  switch (of) {
    case "arxiv":
      return readAtom(text).slice(0, MAX_FOUND).map(toBoundedEntry)
    case "duckduckgo":
      return toBounded(readResults(text))
    case "brave": {
      const { web } = toJson(text) as { web?: { results?: unknown } | null }
      return toBounded(toResults(web?.results, "description"))
    }
    case "tavily":
    case "searxng":
      return toBounded(toResults((toJson(text) as { results?: unknown }).results, "content"))
  }
}

const cut = (text: string, most: number) => text.slice(0, most).toWellFormed()

function toBounded(results: readonly WebResult[]): WebResult[] {
  // A truncated address would be another address.
  return results
    .filter(({ url }) => url.length <= MAX_LINE)
    .slice(0, MAX_FOUND)
    .map(({ title, url, snippet }) => ({ title: cut(title, MAX_LINE), url, snippet: cut(snippet, MAX_LINE) }))
}

function toBoundedEntry({ id, title, summary, date, authors }: AtomEntry): AtomEntry {
  const names = authors.slice(0, MAX_AUTHORS).map((name) => cut(name, MAX_LINE))
  return { id, title: cut(title, MAX_LINE), summary: cut(summary, MAX_SUMMARY), date, authors: names }
}

function toJson(text: string): object {
  const value = tryReadJson(text, jsonLimits.answer)
  if (typeof value === "object" && value !== null) return value
  throw failure("document_unreadable", { problem: "its response contains no results" })
}

function toResults(value: unknown, snippetName: string): WebResult[] {
  return (Array.isArray(value) ? (value as unknown[]) : []).flatMap((item) => {
    const fields = (item ?? {}) as Record<string, unknown>
    const { title, url } = fields
    if (typeof url !== "string" || !/^https?:\/\//.test(url)) return []
    return [{ title: plain(title) || url, url: mendText(url), snippet: plain(fields[snippetName]) }]
  })
}

const plain = (value: unknown) =>
  typeof value === "string"
    ? mendText(value.replaceAll(/<[^<>]*>/g, ""))
        .replaceAll(/\s+/g, " ")
        .trim()
    : ""
