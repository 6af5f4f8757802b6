import { z } from "zod"
import { boundedList } from "./bounded-list.ts"
import { PAPER_DATE } from "./time/paper-date.ts"
import { ids, PersonText } from "./schema.ts"
import { lazily } from "./lazily.ts"

/** Collections of documents: what people send and what they see of them. */

const Name = lazily(() => PersonText.trim().min(1).max(200))

/** A day, a month or a year: what is known of it. */
export const PaperDate = lazily(() =>
  z.string().regex(PAPER_DATE, {
    message: "must be a date such as 2024, 2024-05 or 2024-05-31",
  }),
)

export const documentKinds = ["markdown", "text", "html", "pdf", "arxiv"] as const
export const DocumentKind = lazily(() => z.enum(documentKinds))
export type DocumentKind = z.infer<typeof DocumentKind>

/** How far a collection is of which something is not found by meaning yet; by its words all of it is found. */
export const IngestProgress = lazily(() =>
  z.object({
    /** Documents that are not `ready` yet. */
    documents: z.number().int(),
    /** Of all passages of the collection, how many are found by meaning. */
    embedded: z.number().int(),
    passages: z.number().int(),
    /** By how fast it went in the last minutes; left out until that was seen, and while it stands still. */
    secondsLeft: z.number().int().optional(),
    /** Why nothing is done at the moment, where that is known, and when it is tried again. Nothing is lost meanwhile. */
    problem: z.string().optional(),
    retryAt: z.string().optional(),
  }),
)
export type IngestProgress = z.infer<typeof IngestProgress>

export const CollectionView = lazily(() =>
  z.object({
    id: ids.collection,
    name: z.string(),
    documents: z.number().int(),
    passages: z.number().int(),
    createdAt: z.string(),
    updatedAt: z.string(),
    /** Left out when all of it is found by meaning. */
    progress: IngestProgress.optional(),
  }),
)
export type CollectionView = z.infer<typeof CollectionView>

/** A collection that is being read in, as a feed tells of it. */
export const IngestingCollection = lazily(() =>
  z.object({ collectionId: ids.collection, name: z.string(), progress: IngestProgress }),
)
export type IngestingCollection = z.infer<typeof IngestingCollection>

export const DocumentView = lazily(() =>
  z.object({
    id: ids.document,
    collectionId: ids.collection,
    title: z.string(),
    /** The name of its file, its address or its number at arXiv: sent again, it takes this one's place. */
    source: z.string(),
    authors: z.array(z.string()),
    date: z.string().nullable(),
    kind: DocumentKind,
    /** SHA-256 of what was sent. */
    hash: z.string(),
    /** `ingesting` until all of it is found by meaning; by its words it is found from the start. */
    status: z.enum(["ingesting", "ready", "failed"]),
    /** Why it could not be read; of one that was read, which part of it could not, such as scanned pages. */
    reason: z.string().nullable(),
    characters: z.number().int(),
    passages: z.number().int(),
    /** How many passages are found by meaning. */
    embedded: z.number().int(),
    createdAt: z.string(),
    updatedAt: z.string(),
  }),
)
export type DocumentView = z.infer<typeof DocumentView>

export const NewCollection = lazily(() => z.strictObject({ name: Name }))

export const NewDocument = lazily(() =>
  z.strictObject({
    /** A file's name; its ending says what it is. */
    name: PersonText.trim().min(1).max(500),
    content: z.string().min(1).optional(),
    /** Instead of the content: a file that was uploaded for a message (POST /api/files). */
    file: ids.file.optional(),
    encoding: z.enum(["text", "base64"]).default("text"),
    title: Name.optional(),
    authors: boundedList(Name, 200).optional(),
    date: PaperDate.optional(),
  }),
)
export type NewDocument = z.infer<typeof NewDocument>

/** What became of what was sent: one document, or one for each line of arXiv's. */
export const IngestAnswer = lazily(() =>
  z.object({
    added: z.number().int(),
    replaced: z.number().int(),
    unchanged: z.number().int(),
    failed: z.number().int(),
    /** The first hundred of them. */
    items: z.array(DocumentView),
  }),
)
export type IngestAnswer = z.infer<typeof IngestAnswer>

export const TextQuery = lazily(() =>
  z.object({
    start: z.coerce.number().int().min(0).default(0),
    length: z.coerce.number().int().min(1).max(100_000).default(20_000),
  }),
)
export type TextQuery = z.infer<typeof TextQuery>

/** A stretch of a document's text; offsets are UTF-16 units. */
export const TextWindow = lazily(() =>
  z.object({ text: z.string(), start: z.number().int(), characters: z.number().int() }),
)
export type TextWindow = z.infer<typeof TextWindow>

export const PassageSearch = lazily(() =>
  z.strictObject({
    query: PersonText.trim().min(1).max(2000),
    collectionIds: boundedList(ids.collection, 100).optional(),
    /** Documents without a date are left out where one of these is given. */
    from: PaperDate.optional(),
    to: PaperDate.optional(),
    limit: z.number().int().min(1).max(50).default(10),
  }),
)
export type PassageSearch = z.infer<typeof PassageSearch>

export const PassageView = lazily(() =>
  z.object({
    id: ids.passage,
    documentId: ids.document,
    collectionId: ids.collection,
    title: z.string(),
    authors: z.array(z.string()),
    source: z.string(),
    kind: DocumentKind,
    date: z.string().nullable(),
    /** What the person calls the collection. */
    collection: z.string(),
    ordinal: z.number().int(),
    headings: z.array(z.string()),
    text: z.string(),
    /** Where it stands in the document's text. */
    span: z.object({ start: z.number().int(), end: z.number().int() }),
    /** SHA-256 of its text. */
    hash: z.string(),
  }),
)
export type PassageView = z.infer<typeof PassageView>

export const FoundPassage = lazily(() => PassageView.extend({ score: z.number() }))
export type FoundPassage = z.infer<typeof FoundPassage>

export const SearchAnswer = lazily(() =>
  z.object({
    items: z.array(FoundPassage),
    /** By words alone, because the embedder did not answer. */
    wordsOnly: z.boolean(),
  }),
)
export type SearchAnswer = z.infer<typeof SearchAnswer>

/** 20240531 for a day; noughts for what is not known, and `last` in their place for the end of what is meant. */
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
