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
  /** The embedding of the text. Without it, passages are found by words only. */
  readonly vector?: Vector
  readonly collectionIds?: readonly CollectionId[]
  /** `2024`, `2024-05`, `2024-05-31`. If one is set, documents without a date are left out. */
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

/** Reads users' collections of documents. Another user's collection is treated as missing. */
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

/** Progress of ingestions: which collections are incomplete. */
export interface Ingests {
  /** Collections with passages that cannot be found by meaning yet. */
  of(user: UserId): Promise<IngestingCollection[]>
  /** Calls the listener when a user's collections may have new content. */
  watch(user: UserId, listener: () => void): () => void
}

/** A passage as it was split. */
export interface NewPassage {
  readonly headings: readonly string[]
  readonly start: number
  readonly end: number
}

export interface ReadDocument {
  readonly source: string
  /** The id that a previous version used for it. The passage stored under that id is reused. */
  readonly formerly?: string
  readonly kind: DocumentKind
  readonly title: string
  readonly authors: readonly string[]
  readonly date: string | null
  /** SHA-256 of the source. */
  readonly hash: string
  readonly text: string
  readonly passages: readonly NewPassage[]
  /** A remark about unread parts, if only a part could be read. */
  readonly remark?: string
}

/** How a stored document changed the collection. */
export type DocumentChange = "added" | "replaced" | "unchanged"

/** Adds writes to `Library`. */
export interface LibraryRecords extends Library {
  collection(user: UserId, id: CollectionId): Promise<CollectionView | undefined>
  /** Throws `name_taken`, or `too_many`. */
  createCollection(user: UserId, name: string): Promise<CollectionView>
  /** Returns the collection of this name, and creates it if it does not exist. */
  ensureCollection(user: UserId, name: string): Promise<CollectionId>
  /** Throws `not_found`. */
  removeCollection(user: UserId, id: CollectionId): Promise<void>
  documents(user: UserId, collection: CollectionId, page: PageQuery): Promise<Page<DocumentView>>
  /** Throws `not_found`. */
  removeDocument(user: UserId, collection: CollectionId, id: DocumentId): Promise<void>
  /** True if the collection has exactly this content under any name, and no other content under this name. */
  isKept(
    user: UserId,
    collection: CollectionId,
    of: Pick<ReadDocument, "source" | "hash">,
  ): Promise<DocumentId | undefined>
  /**
   * Replaces the document of this name in one transaction. The same content is one document, under the name that came
   * first. Throws `not_found`, or `library_full`.
   */
  keep(
    user: UserId,
    collection: CollectionId,
    document: ReadDocument,
  ): Promise<{ id: DocumentId; kept: DocumentChange }>
  /** Records why something could not be read. A previous document of this name stays. */
  fail(
    user: UserId,
    collection: CollectionId,
    failed: Pick<ReadDocument, "source" | "kind" | "title" | "hash"> & { readonly reason: string },
  ): Promise<DocumentId>
}

/** The limit per user for all collections, because a search keeps them in memory. */
export const MAX_PASSAGES = 250_000
