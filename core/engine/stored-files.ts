import type { MessageFile, UploadedFile } from "../protocol/conversation/message.ts"
import type { CallId, ConnectionId, ConversationId, FileId, MessageId, UserId } from "../protocol/ids.ts"

/** Bytes in the store. Without a file that uses them they are not visible, and are deleted after a while. */
export interface StoredBytes {
  /** Identifies these bytes: a file whose bytes are replaced has another id. */
  readonly id: string
  /** SHA-256, hexadecimal. */
  readonly hash: string
  readonly size: number
}

/** A file on this machine. */
export interface LocalFile {
  readonly stored: StoredBytes
  /** Its path, within the user's `folderOf`. */
  readonly local: string
}

/** New bytes for a file, replacing those with the id `from`. */
export interface Replacement {
  readonly user: UserId
  readonly path: string
  readonly from: string
  readonly to: StoredBytes
}

/** Users' files that every node can read: stored in the store, and cached on a node's disk while they are used. */
export interface StoredFiles {
  /** The folder of a user's files on this machine. */
  folderOf(user: UserId): string
  /** The current bytes of a file. */
  find(user: UserId, path: string): Promise<StoredBytes | undefined>
  /** Returns the current file for reading, which must end within minutes. Undefined if it does not exist. */
  fetch(user: UserId, path: string): Promise<LocalFile | undefined>
  /** Calls `work` with a copy that it may change. The copy is deleted afterwards. */
  withCopy<T>(user: UserId, path: string, work: (copy: LocalFile) => Promise<T>): Promise<T | undefined>
  put(user: UserId, local: string): Promise<StoredBytes>
  /** Deletes bytes that are not needed after all, unless a file uses them. */
  drop(stored: Pick<StoredBytes, "id">): Promise<void>
  /** Moves a stored file into the cache, so that it need not be fetched. */
  adopt(user: UserId, stored: StoredBytes, local: string): Promise<void>
  /** Creates a file for an existing connection. False if the connection does not exist or has a file. */
  add(user: UserId, path: string, stored: StoredBytes, of: ConnectionId): Promise<boolean>
  /** The total size of a user's files. */
  bytesOf(user: UserId): Promise<number>
  /** Deletes a user's files from this machine's disk. The store is not changed. */
  forget(user: UserId): Promise<void>
  /** Periodically deletes bytes that no file uses, and cached files that are no longer in the store. */
  sweep(): Promise<void>
}

/** Records on which disk files are that are changed in place, because they are not in the store. */
export interface FileDisks {
  /** Undefined for a file that was not changed. */
  diskOf(user: UserId, path: string): Promise<string | undefined>
  /** Records this disk if none is recorded, and returns the recorded one. */
  claimDisk(user: UserId, path: string, disk: string): Promise<string>
}

/** File services for packs if several machines share the store. */
export interface SharedFiles {
  readonly kept: StoredFiles
  readonly disks: FileDisks
}

/** A file that passed the checks. */
export interface NewMessageFile {
  readonly name: string
  readonly type: string
  readonly width?: number
  readonly height?: number
  readonly bytes: Uint8Array
  /** SHA-256, hexadecimal. */
  readonly sha256: string
  /** A program chose the name. If the bytes are already stored, they keep the name that the user chose. */
  readonly isNamedByProgram?: true
}

/** The text of a file, or why it cannot be read. */
export interface FileText {
  readonly text: string
  /** For a document with pages. */
  readonly pages?: number
  readonly problem?: string
}

/** The use of a file: in a message or in the result of a call. Without either: anywhere in the conversation. */
export interface FileUse {
  readonly conversation: ConversationId
  readonly message?: MessageId | CallId
}

export interface FilePage {
  readonly limit: number
  readonly order: "asc" | "desc"
  readonly after?: FileId | undefined
}

/** Files of messages and results. Another user's file is undefined, as if it did not exist. */
export interface MessageFiles {
  /** Stores a file, or finds the one with these bytes. Throws `files_full` if the user has more than `most` bytes. */
  keep(user: UserId, file: NewMessageFile, most: number): Promise<UploadedFile>
  find(user: UserId, id: FileId): Promise<UploadedFile | undefined>
  /** The user's files in the order of their ids, after this one. */
  list(user: UserId, page: FilePage): Promise<UploadedFile[]>
  /** The bytes in chunks, at most `most`. Ends early if they are deleted in the meantime. */
  read(user: UserId, id: FileId, most?: number): AsyncIterable<Uint8Array>
  /**
   * Records that a message or a result uses these files, before it is recorded itself. They are not deleted from then
   * on. Undefined if one does not exist.
   */
  use(user: UserId, use: FileUse, files: readonly FileId[]): Promise<MessageFile[] | undefined>
  /** Records that the second conversation uses the files of the first, too. */
  shareUses(user: UserId, from: ConversationId, to: ConversationId): Promise<void>
  remove(user: UserId, id: FileId): Promise<boolean>
  readText(user: UserId, id: FileId): Promise<FileText | undefined>
  /** Stores the text of a file. The first text that is stored is final. */
  keepText(user: UserId, id: FileId, text: FileText): Promise<void>
  /** Periodically deletes interrupted uploads, and files that no message has used for a day. */
  sweep(): Promise<void>
}
