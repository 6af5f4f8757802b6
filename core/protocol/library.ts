import { z } from "zod"
import { boundedList } from "../shared/text/bounded-list.ts"
import { PAPER_DATE } from "../shared/time/day.ts"
import { ids, PersonText } from "./schema.ts"

/** Collections of documents: requests and responses. */

const Name = PersonText.trim().min(1).max(200)

/** A day, a month or a year, depending on what is known. */
export const PaperDate = z.string().regex(PAPER_DATE, {
  message: "must be a date such as 2024, 2024-05 or 2024-05-31",
})

export const documentKinds = ["markdown", "text", "html", "pdf", "arxiv"] as const
export const DocumentKind = z.enum(documentKinds)
export type DocumentKind = z.infer<typeof DocumentKind>

/**
 * The indexing progress of a collection. Until it ends, semantic search misses some passages; keyword search finds all.
 */
export const IngestProgress = z.object({
  /** Documents that are not `ready` yet. */
  documents: z.number().int(),
  /** How many of the collection's passages are indexed for semantic search. */
  embedded: z.number().int(),
  passages: z.number().int(),
  /** Estimated from the speed of the last minutes; omitted until it is known, and while indexing is interrupted. */
  secondsLeft: z.number().int().optional(),
  /** Why indexing is interrupted, if that is known, and when it is retried. It then continues where it stopped. */
  problem: z.string().optional(),
  retryAt: z.string().optional(),
})
export type IngestProgress = z.infer<typeof IngestProgress>

/** A collection of documents in the user's library, with the number of documents and indexed passages. */
export const CollectionView = z.object({
  id: ids.collection,
  name: z.string(),
  documents: z.number().int(),
  passages: z.number().int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Omitted when indexing is complete. */
  progress: IngestProgress.optional(),
})
export type CollectionView = z.infer<typeof CollectionView>

/** A collection of documents that is being indexed now, with the progress. */
export const IngestingCollection = z.object({
  collectionId: ids.collection,
  name: z.string(),
  progress: IngestProgress,
})
export type IngestingCollection = z.infer<typeof IngestingCollection>

/** A document in the user's library. */
export const DocumentView = z.object({
  id: ids.document,
  collectionId: ids.collection,
  title: z.string(),
  /** The file name, address or arXiv id. Sending a document with the same source again replaces it. */
  source: z.string(),
  authors: z.array(z.string()),
  date: z.string().nullable(),
  kind: DocumentKind,
  /** SHA-256 of the content that was sent. */
  hash: z.string(),
  /** `ingesting` until semantic search covers the document. Keyword search finds it immediately. */
  status: z.enum(["ingesting", "ready", "failed"]),
  /** Why the document could not be read, or which part could not, such as scanned pages. */
  reason: z.string().nullable(),
  characters: z.number().int(),
  passages: z.number().int(),
  /** How many passages are indexed for semantic search. */
  embedded: z.number().int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export type DocumentView = z.infer<typeof DocumentView>

export const NewCollection = z.strictObject({ name: Name })

export const NewDocument = z.strictObject({
  /** The file name. Its extension determines the type. */
  name: PersonText.trim().min(1).max(500),
  content: z.string().min(1).optional(),
  /** A file uploaded with POST /api/files, instead of `content`. */
  file: ids.file.optional(),
  encoding: z.enum(["text", "base64"]).default("text"),
  title: Name.optional(),
  authors: boundedList(Name, 200).optional(),
  date: PaperDate.optional(),
})
export type NewDocument = z.infer<typeof NewDocument>

/** The result of an upload: one document, or one for each line of an arXiv list. */
export const IngestAnswer = z.object({
  added: z.number().int(),
  replaced: z.number().int(),
  unchanged: z.number().int(),
  failed: z.number().int(),
  /** The first hundred. */
  items: z.array(DocumentView),
})
export type IngestAnswer = z.infer<typeof IngestAnswer>

export const TextQuery = z.object({
  start: z.coerce.number().int().min(0).default(0),
  length: z.coerce.number().int().min(1).max(100_000).default(20_000),
})
export type TextQuery = z.infer<typeof TextQuery>

/** A section of a document's text. Offsets are in UTF-16 units. */
export const TextWindow = z.object({ text: z.string(), start: z.number().int(), characters: z.number().int() })
export type TextWindow = z.infer<typeof TextWindow>

export const PassageSearch = z.strictObject({
  query: PersonText.trim().min(1).max(2000),
  collectionIds: boundedList(ids.collection, 100).optional(),
  /** If `from` or `to` is set, documents without a date are excluded. */
  from: PaperDate.optional(),
  to: PaperDate.optional(),
  limit: z.number().int().min(1).max(50).default(10),
})
export type PassageSearch = z.infer<typeof PassageSearch>

export const PassageView = z.object({
  id: ids.passage,
  documentId: ids.document,
  collectionId: ids.collection,
  title: z.string(),
  authors: z.array(z.string()),
  source: z.string(),
  kind: DocumentKind,
  date: z.string().nullable(),
  /** The name of the collection. */
  collection: z.string(),
  ordinal: z.number().int(),
  headings: z.array(z.string()),
  text: z.string(),
  /** Its position in the document's text. */
  span: z.object({ start: z.number().int(), end: z.number().int() }),
  /** SHA-256 of its text. */
  hash: z.string(),
})
export type PassageView = z.infer<typeof PassageView>

export const FoundPassage = PassageView.extend({ score: z.number() })
export type FoundPassage = z.infer<typeof FoundPassage>

export const SearchAnswer = z.object({
  items: z.array(FoundPassage),
  /** True if only keyword search was used, because the embedder did not respond. */
  wordsOnly: z.boolean(),
  /** Set while passages of the collections are not indexed for semantic search. Keyword search finds them. */
  progress: z.object({ embedded: z.number().int(), passages: z.number().int() }).optional(),
})
export type SearchAnswer = z.infer<typeof SearchAnswer>

/** Returns a sentence for the user and the model if semantic search did not cover every passage. */
export function searchNotice({ wordsOnly, progress }: SearchAnswer): string | undefined {
  if (wordsOnly) return "Searched by words only: the embedder did not answer."
  if (!progress) return undefined
  const { embedded, passages } = progress
  return `${passages - embedded} of ${passages} passages are still being indexed; these were searched by words only.`
}

/**
 * Converts a date to a number: 20240531 for a day. Unknown parts are zeros or, with `last`, nines for the end of the
 * period.
 */
export function toDayNumber(date: string, last = false): number {
  const [year, month, day] = date.split("-")
  const missing = last ? "99" : "00"
  return Number(`${year}${month ?? missing}${day ?? missing}`)
}

export function fromDay(day: number | null): string | null {
  if (day === null) return null
  const digits = String(day).padStart(8, "0")
  return [digits.slice(0, 4), digits.slice(4, 6), digits.slice(6)].filter((part) => part !== "00").join("-")
}
