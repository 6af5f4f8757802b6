import { createHash } from "node:crypto"
import type { FoundPassage } from "../../core/protocol/library.ts"
import type { Source } from "../../core/protocol/conversation/stages.ts"
import { ARXIV, isArxivNumber } from "./read-arxiv.ts"

/** Sources that a tool found, for the page, for grading and for the check of citations. */
export interface Sources {
  readonly kind: "sources"
  readonly sources: readonly Source[]
}

export const toSources = (sources: readonly Source[]): Sources => ({ kind: "sources", sources })

/**
 * What lies in a person's collections was written by others and is that person's own all the same, and a query could carry
 * it out. Only the abstracts of papers are everybody's: lines of arXiv's with an abstract, which alone get such a name. A
 * file may be called what it likes.
 */
export const ownWords = (from: readonly From[]): { taint?: "private" } =>
  from.every((each) => abstractOf(each) !== undefined) ? {} : { taint: "private" }

type From = Pick<FoundPassage, "kind" | "source">

/** The number at arXiv of the paper whose abstract this is. */
function abstractOf({ kind, source }: From): string | undefined {
  const number = source.startsWith(ARXIV) ? source.slice(ARXIV.length) : ""
  return kind === "arxiv" && isArxivNumber(number) ? number : undefined
}

/** What was found, each under its id; the fold gives the model short numbers in their place. */
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

/** What a person knows a document by, beside its title. */
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

/** Something from elsewhere is kept nowhere but in the answer itself: its words are its whole. */
export function fromOutside(
  id: string,
  { title, url, passage }: Pick<Source, "title" | "passage"> & { url: string },
): Source {
  return { id, title, url, passage, hash: textHash(passage), span: { start: 0, end: passage.length } }
}

export const textHash = (text: string) => createHash("sha256").update(text).digest("hex")
