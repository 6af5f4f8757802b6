import type { MessageFile, UploadedFile } from "../conversation/message-file.ts"
import type { CallId, ConversationId, FileId, MessageId, UserId } from "../ids.ts"

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
