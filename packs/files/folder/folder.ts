import { createHash } from "node:crypto"
import type { ProjectRules } from "./project-rules.ts"
import type { TaintedFiles } from "./tainted-files.ts"
import { failure } from "../../../core/pack.ts"

export interface FolderEntry {
  readonly name: string
  readonly type: EntryType
  readonly size: number
}

export interface Listed {
  readonly entries: readonly FolderEntry[]
  readonly more: number
  readonly isTruncated: boolean
}

/** `other`: a pipe, a socket, a device. It is listed but never opened. */
export type EntryType = "file" | "directory" | "link" | "other"

/** The target of a path, with links followed. */
export interface FoundPath {
  readonly type: EntryType
  /** Its real path, relative to the folder, such as the target of `a/link`. */
  readonly path: string
  readonly size: number
  readonly mode: number
  /** It has other names (hard links) that may be outside. A write replaces the file of this name only. */
  readonly hasOutsideLinks: boolean
}

export interface FileBytes extends FoundPath {
  readonly bytes: Buffer
  readonly hash: string
}

/** The condition of a write: the hash of the current file, or that there is none. */
export type Expected = string | "absent"

/**
 * Whether the person trusts the folder's text, and which files conversations wrote after they had read untrusted text.
 */
export interface FolderTrust {
  readonly isTrusted: boolean
  readonly tainted?: TaintedFiles
  /** The instructions for agents that apply. Default: those of the folder if it is trusted. `none`: the person wants none. */
  readonly rules?: ProjectRules | "none"
}

/**
 * The work folder. Paths use `/` and are relative to the folder, or absolute and inside it. Whatever a path contains,
 * and even if links change at the same time, nothing outside is read or written.
 */
export interface Folder extends Disposable {
  /** Its real path, for people. */
  readonly root: string
  /** Short, and the same for the same path. A change that was shown for one folder does not run in another. */
  readonly id: string
  readonly trust: FolderTrust
  /** How the folder prevents escapes: by open descriptors, or by checking names before and after. */
  readonly lookup: "descriptors" | "names"
  /** Excluded paths, relative to the folder, such as Pawl's own data. */
  readonly excluded: readonly string[]
  /**
   * Identifies the entry itself: the value changes if another entry takes its name. For a link it includes the text and
   * the target.
   */
  identityOf(path: string): string | undefined
  /** Returns the type of the entry with this name, without following links. */
  kindOf(path: string): EntryType | undefined
  /** Undefined if the path does not exist. */
  find(path: string): FoundPath | undefined
  /**
   * The real path of an existing or new entry, with links resolved. `last`: whether a link at the end is followed, as a
   * read or write does, or not, as a move does.
   */
  realPath(path: string, last: "follow" | "keep"): string
  /**
   * Sorted by name; `more` is the number of omitted entries. `isTruncated`: the directory has more names than were read. Reading the
   * sizes takes most of the time, so callers that need only names pass `no-sizes`.
   */
  list(path: string, most: number, sizes?: "sizes" | "no-sizes"): Listed
  /** Reads the whole file. Throws if it is larger than `most`. */
  read(path: string, most: number): FileBytes
  /**
   * The following methods take paths from `realPath`. They refuse a path that has become a link since then, because
   * another file was shown. `write` writes all bytes or none, and only if the current file is the expected one.
   */
  write(path: string, bytes: Buffer, how: { readonly expect: Expected; readonly mode?: number }): void
  remove(path: string, expect: Expected): void
  /** Deletes drafts that a crashed process left next to this path. */
  deleteStaleDrafts(path: string): void
  /** `to` must not exist. */
  move(from: string, to: string): void
  makeDirectory(path: string): void
  /** Removes an empty directory. */
  removeDirectory(path: string): void
  /**
   * Deletes an entry that is not a file: a link itself, an empty directory, a pipe. Only if `identity` still matches.
   */
  removeEntry(path: string, identity: string): void
  /** The target of a link; undefined for other entries. */
  linkText(path: string): string | undefined
  /** A descriptor of a directory, to be handed to a process; `close` it. */
  openDirectory(path: string): { readonly fd: number; close(): void }
}

export const fileHash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

/** A refusal of a file tool, as a sentence for the model. */
export const fileRefusal = (problem: string) => failure("bad_request", { problem })
