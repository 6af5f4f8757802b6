import { createHash } from "node:crypto"
import type { FoundPassage, Source } from "../../core/pack.ts"
import { ARXIV, isArxivNumber } from "./read-arxiv.ts"

/** The results of a tool, for the page, for grading and for the check of citations. */
export interface Sources {
  readonly kind: "sources"
  readonly sources: readonly Source[]
}

export const toSources = (sources: readonly Source[]): Sources => ({ kind: "sources", sources })

/**
 * Documents in a user's collections were written by others but are private to the user, and a query could send them
 * out. Only abstracts of arXiv are public: records with an abstract, the only ones whose source is named as arXiv's,
 * independent of the file's name.
 */
export const privateTaintOf = (from: readonly From[]): { taint?: "private" } =>
  from.every((each) => abstractOf(each) !== undefined) ? {} : { taint: "private" }

type From = Pick<FoundPassage, "kind" | "source">

/** The arXiv number of the paper, if this is its abstract. */
function abstractOf({ kind, source }: From): string | undefined {
  const number = source.startsWith(ARXIV) ? source.slice(ARXIV.length) : ""
  return kind === "arxiv" && isArxivNumber(number) ? number : undefined
}

/** Lists the results by id. The model receives short numbers in place of ids. */
export function listSources(sources: readonly Source[]): string {
  return sources
    .map(({ id, title, url, passage }) => `[${id}] ${title}${url ? ` (${url})` : ""}\n${passage}`)
    .join("\n\n")
}

export function fromPassage({
  id,
  title,
  headings,
  source,
  kind,
  collectionId,
  collection,
  documentId,
  text,
  ...more
}: FoundPassage): Source {
  const number = abstractOf({ kind, source })
  const under = headings.filter((heading) => heading !== title).join(" › ")
  return {
    id,
    title: under ? `${title}, ${under}` : title,
    passage: text,
    ...bookOf({ ...more, collection }),
    ...{ hash: more.hash, span: more.span, documentId, collection: collectionId, score: more.score },
    ...(/^https?:\/\//.test(source) ? { url: source } : {}),
    ...(number === undefined ? {} : { url: `https://arxiv.org/abs/${number}` }),
  }
}

const MAX_AUTHORS = 10

/** The fields that identify a document in addition to its title. */
export const bookOf = ({ authors, date, collection }: Book): Partial<Source> => ({
  ...(authors.length > 0 ? { authors: authors.slice(0, MAX_AUTHORS) } : {}),
  ...(date === null ? {} : { date }),
  ...(collection === undefined ? {} : { collectionName: collection }),
})

interface Book {
  readonly authors: readonly string[]
  readonly date: string | null
  readonly collection?: string
}

/** A source from the web is stored only in the answer, so its text is complete. */
export function fromOutside(
  id: string,
  { title, url, passage }: Pick<Source, "title" | "passage"> & { url: string },
): Source {
  return { id, title, url, passage, hash: textHash(passage), span: { start: 0, end: passage.length } }
}

export const textHash = (text: string) => createHash("sha256").update(text).digest("hex")
