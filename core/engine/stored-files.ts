import type { MessageFile, UploadedFile } from "../protocol/conversation/message.ts"
import type { CallId, ConnectionId, ConversationId, FileId, MessageId, UserId } from "../protocol/ids.ts"

/** Bytes that the store has taken in. Until a file is made of them nobody sees them, and they are swept up after a while. */
export interface StoredBytes {
  /** Of these bytes and no others: a file whose bytes are replaced has another id. */
  readonly id: string
  /** SHA-256, in hexadecimal digits. */
  readonly hash: string
  readonly size: number
}

/** The bytes of a file on this machine. */
export interface LocalFile {
  readonly stored: StoredBytes
  /** Where they are, within `folderOf` its person. */
  readonly local: string
}

/** New bytes for a file, in place of those with the id `from`. */
export interface Replacement {
  readonly user: UserId
  readonly path: string
  readonly from: string
  readonly to: StoredBytes
}

/** Files of people that every machine has to reach: kept in the store, and on each machine's disk for as long as they are used. */
export interface KeptFiles {
  /** All that is on this machine's disk of a person's files lies in here. */
  folderOf(user: UserId): string
  /** Which bytes a file has now. */
  find(user: UserId, path: string): Promise<StoredBytes | undefined>
  /** A file as it is now, to be read. Whoever reads it has some minutes; undefined where there is none. */
  fetch(user: UserId, path: string): Promise<LocalFile | undefined>
  /** The same as a copy of one's own, to be changed; gone when the work ends. */
  withCopy<T>(user: UserId, path: string, work: (copy: LocalFile) => Promise<T>): Promise<T | undefined>
  put(user: UserId, local: string): Promise<StoredBytes>
  /** Removes bytes that were put and are not wanted after all; not where a file has been made of them. */
  drop(stored: Pick<StoredBytes, "id">): Promise<void>
  /** Moves the file that was put to where it is looked for first, so that it need not be fetched. */
  adopt(user: UserId, stored: StoredBytes, local: string): Promise<void>
  /** Makes a file of bytes for a connection that is there. False where it is not, or has a file already. */
  add(user: UserId, path: string, stored: StoredBytes, of: ConnectionId): Promise<boolean>
  /** What the files of a person take together. */
  bytesOf(user: UserId): Promise<number>
  /** Removes a person's files from this machine's disk; the store is not touched. */
  forget(user: UserId): Promise<void>
  /** Now and then: clears away what nobody has made a file of, and on this disk what is no longer in the store. */
  sweep(): Promise<void>
}

/** On which disk files are that are changed where they lie, because nobody has put them into the store. */
export interface FileDisks {
  /** Undefined for a file that nobody has changed. */
  diskOf(user: UserId, path: string): Promise<string | undefined>
  /** Says that it is this one, where nobody has said so before; answers which one it is. */
  claimDisk(user: UserId, path: string, disk: string): Promise<string>
}

/** What packs get where several machines share the store. */
export interface SharedFiles {
  readonly kept: KeptFiles
  readonly disks: FileDisks
}

/** A file that was looked at and found good. */
export interface NewMessageFile {
  readonly name: string
  readonly type: string
  readonly width?: number
  readonly height?: number
  readonly bytes: Uint8Array
  /** SHA-256, in hexadecimal digits. */
  readonly sha256: string
  /** Nobody has called it so but a program: bytes that are there already keep the name that their person gave them. */
  readonly isNamedByProgram?: true
}

/** What is read out of a file: its text, or what keeps it from being read, in words. */
export interface FileText {
  readonly text: string
  /** Of a document that has pages. */
  readonly pages?: number
  readonly problem?: string
}

/** Where a file is named: by a message, or by the result of a call. Without either it is all of the conversation. */
export interface FileUse {
  readonly conversation: ConversationId
  readonly message?: MessageId | CallId
}

/** Files of messages and of results. Each is seen by its person only: another's is undefined, like one that is not there. */
export interface MessageFiles {
  /** Keeps a file, or finds the one with these bytes. Throws `files_full` where the person has more than `most` bytes. */
  keep(user: UserId, file: NewMessageFile, most: number): Promise<UploadedFile>
  find(user: UserId, id: FileId): Promise<UploadedFile | undefined>
  /** The bytes, in portions, as far as `most`. Ends early where they are removed meanwhile. */
  read(user: UserId, id: FileId, most?: number): AsyncIterable<Uint8Array>
  /** Says that a message or a result names these files, before it does; from then on they stay. Undefined where one is not there. */
  use(user: UserId, use: FileUse, files: readonly FileId[]): Promise<MessageFile[] | undefined>
  /** Says that what one conversation names, another one names too. */
  shareUses(user: UserId, from: ConversationId, to: ConversationId): Promise<void>
  remove(user: UserId, id: FileId): Promise<boolean>
  readText(user: UserId, id: FileId): Promise<FileText | undefined>
  /** The first text that is kept for a file is the one that counts. */
  keepText(user: UserId, id: FileId, text: FileText): Promise<void>
  /** Now and then: clears away what was cut off, and what no message has named for a day. */
  sweep(): Promise<void>
}
