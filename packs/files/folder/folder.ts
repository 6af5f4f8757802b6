import { createHash } from "node:crypto"
import type { TaintedFiles } from "./tainted-files.ts"
import { failure } from "../../../core/protocol/errors.ts"

export interface FolderEntry {
  readonly name: string
  readonly type: EntryType
  readonly size: number
}

export interface Listed {
  readonly entries: readonly FolderEntry[]
  readonly more: number
  readonly isCut: boolean
}

/** `other`: a pipe, a socket, a device. It is named, and never opened. */
export type EntryType = "file" | "directory" | "link" | "other"

/** What a path leads to, links followed. */
export interface FoundPath {
  readonly type: EntryType
  /** Where it really lies, from the folder on: what `a/link` stands for. */
  readonly path: string
  readonly size: number
  readonly mode: number
  /** It has other names (hard links) that may lie outside. A write puts another file in the place of this name alone. */
  readonly isShared: boolean
}

export interface FileBytes extends FoundPath {
  readonly bytes: Buffer
  readonly hash: string
}

/** What must be so at the moment of a write, or it is not done: the hash of a file, or that there is none. */
export type Expected = string | "absent"

/** Whether its person trusts what its files say, and which files conversations have written after text of others. */
export interface FolderTrust {
  readonly isTrusted: boolean
  readonly tainted?: TaintedFiles
}

/**
 * The folder that is worked in. Paths are written with `/`, from the folder on, or absolute and inside it. Whatever a path
 * says, and whatever somebody else does to links at that moment, nothing outside is read or written.
 */
export interface Folder extends Disposable {
  /** Its real name, for people. */
  readonly root: string
  /** Short, the same for the same place: what was shown for one folder is not done in another. */
  readonly id: string
  readonly trust: FolderTrust
  /** How paths are held to the folder: by what was opened, or by names looked at before and after. */
  readonly heldBy: "descriptors" | "names"
  /** From it on: what lies in it and is none of it. */
  readonly closed: readonly string[]
  /**
   * Which thing has this name, of all that ever have: two answers differ where another one took its place. Of a link also
   * its text, and which thing it leads to.
   */
  identityOf(path: string): string | undefined
  /** What kind of thing has this name, without following it where it is a link. */
  kindOf(path: string): EntryType | undefined
  /** Undefined where there is nothing. */
  find(path: string): FoundPath | undefined
  /**
   * The real name of what is there or would be, links on the way resolved. `last`: whether one at the end is followed too,
   * as a read or write follows it, or kept, as a move does.
   */
  realPath(path: string, last: "follow" | "keep"): string
  /**
   * In the order of their names; `more` says how many were left out, `isCut` that there were more than are counted. Asking
   * each file for its size takes most of the time: whoever needs only names says so.
   */
  list(path: string, most: number, sizes?: "sizes" | "no-sizes"): Listed
  /** The whole file; refused where it is larger than `most`. */
  read(path: string, most: number): FileBytes
  /**
   * From here on: paths as `realPath` gives them. A link that has come into the way since then is refused, for what was
   * shown is another place. Puts bytes there, all of them or none, only while what is there is what is
   * expected.
   */
  write(path: string, bytes: Buffer, how: { readonly expect: Expected; readonly mode?: number }): void
  remove(path: string, expect: Expected): void
  /** Deletes what an earlier process has left of a write there, in whose middle it died. */
  sweepBeside(path: string): void
  /** What `to` names must not exist. */
  move(from: string, to: string): void
  makeDirectory(path: string): void
  /** Only an empty one. */
  removeDirectory(path: string): void
  /** Takes away what is no file: a link itself, an empty directory, a pipe; only while it is the very thing that is expected. */
  removeEntry(path: string, identity: string): void
  /** Where a link says that it leads; undefined for what is none. */
  linkText(path: string): string | undefined
  /** A descriptor of a directory, to be handed to a process; `close` it. */
  openDirectory(path: string): { readonly fd: number; close(): void }
}

export const fileHash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

/** What a file tool refuses, in a sentence for the model. */
export const fileRefusal = (problem: string) => failure("bad_request", { problem })
