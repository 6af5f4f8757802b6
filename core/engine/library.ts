import type { Page } from "../protocol/answers.ts"
import type { CollectionId, DocumentId, PassageId, UserId } from "../protocol/ids.ts"
import type {
  SearchAnswer,
  CollectionView,
  DocumentKind,
  DocumentView,
  FoundPassage,
  IngestingCollection,
  PassageView,
  TextQuery,
  TextWindow,
} from "../protocol/library.ts"
import type { PageQuery } from "../protocol/requests.ts"
import type { Vector } from "../protocol/workspace.ts"

export interface PassageQuery {
  readonly text: string
  /** What the text means; without it passages are found by their words alone. */
  readonly vector?: Vector
  readonly collectionIds?: readonly CollectionId[]
  /** `2024`, `2024-05`, `2024-05-31`. Documents without a date are left out where one of these is given. */
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

/** People's collections of documents, as they are read. What is somebody else's is like what does not exist. */
export interface Library {
  /** Searches by words and by meaning and merges both by rank (reciprocal rank fusion), best first. */
  search(user: UserId, query: PassageQuery): Promise<FoundPassage[]>
  /** How many passages of unfinished collections have a vector; undefined if every searched passage has one. */
  progress(user: UserId, among?: readonly CollectionId[]): Promise<SearchAnswer["progress"]>
  passage(user: UserId, id: PassageId): Promise<PassageView | undefined>
  collections(user: UserId, page: PageQuery): Promise<Page<CollectionView>>
  document(user: UserId, id: DocumentId): Promise<DocumentView | undefined>
  read(user: UserId, id: DocumentId, window: TextQuery): Promise<TextWindow | undefined>
}

/** What of a person's collections is being read in: how far it is now, and when to look again. */
export interface Ingests {
  /** Those of which something is not found by meaning yet. */
  of(user: UserId): Promise<IngestingCollection[]>
  /** Told when there may be something to see of the person's that was not there before. */
  watch(user: UserId, listener: () => void): () => void
}

/** A passage as it was cut. */
export interface NewPassage {
  readonly headings: readonly string[]
  readonly start: number
  readonly end: number
}

export interface ReadDocument {
  readonly source: string
  /** What it was called by an earlier version of ours: what is there under that name is taken over. */
  readonly formerly?: string
  readonly kind: DocumentKind
  readonly title: string
  readonly authors: readonly string[]
  readonly date: string | null
  /** SHA-256 of what it was read from. */
  readonly hash: string
  readonly text: string
  readonly passages: readonly NewPassage[]
  /** What could not be read of it, where that is a part only. */
  readonly remark?: string
}

export type Kept = "added" | "replaced" | "unchanged"

/** The same under the hand that fills it. */
export interface LibraryRecords extends Library {
  collection(user: UserId, id: CollectionId): Promise<CollectionView | undefined>
  /** Throws `name_taken`, or `too_many`. */
  createCollection(user: UserId, name: string): Promise<CollectionView>
  /** The one of this name, made where there is none. */
  ensureCollection(user: UserId, name: string): Promise<CollectionId>
  /** Throws `not_found`. */
  removeCollection(user: UserId, id: CollectionId): Promise<void>
  documents(user: UserId, collection: CollectionId, page: PageQuery): Promise<Page<DocumentView>>
  /** Throws `not_found`. */
  removeDocument(user: UserId, collection: CollectionId, id: DocumentId): Promise<void>
  /** Whether the collection has this very content, under whatever name, and nothing else under this one. */
  isKept(
    user: UserId,
    collection: CollectionId,
    of: Pick<ReadDocument, "source" | "hash">,
  ): Promise<DocumentId | undefined>
  /**
   * In place of what was there under its name, all at once. The same content is one document, under whichever name it came
   * first. Throws `not_found`, or `library_full`.
   */
  keep(user: UserId, collection: CollectionId, document: ReadDocument): Promise<{ id: DocumentId; kept: Kept }>
  /** Notes why something could not be read; what was there under its name before stays. */
  fail(
    user: UserId,
    collection: CollectionId,
    failed: Pick<ReadDocument, "source" | "kind" | "title" | "hash"> & { readonly reason: string },
  ): Promise<DocumentId>
}

/** Of one person, in all collections: what is in memory while it is searched, and what a search may cost. */
export const MAX_PASSAGES = 250_000
