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
  readonly isCut: boolean
}

/** `other`: a pipe, a socket, a device. It is named, and never opened. */
export type EntryType = "file" | "directory" | "link" | "other"

/** The target of a path, with links followed. */
export interface FoundPath {
  readonly type: EntryType
  /** Its real path, relative to the folder, such as the target of `a/link`. */
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

/** The condition of a write: the hash of the current file, or that there is none. */
export type Expected = string | "absent"

/** Whether its person trusts what its files say, and which files conversations have written after text of others. */
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
  /** Returns the type of the entry with this name, without following links. */
  kindOf(path: string): EntryType | undefined
  /** Undefined where there is nothing. */
  find(path: string): FoundPath | undefined
  /**
   * The real name of what is there or would be, links on the way resolved. `last`: whether one at the end is followed too,
   * as a read or write follows it, or kept, as a move does.
   */
  realPath(path: string, last: "follow" | "keep"): string
  /**
   * Sorted by name; `more` is the number of omitted entries, `isCut` that there are more than are counted. Reading the
   * sizes takes most of the time, so callers that need only names pass `no-sizes`.
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
  /** `to` must not exist. */
  move(from: string, to: string): void
  makeDirectory(path: string): void
  /** Only an empty one. */
  removeDirectory(path: string): void
  /** Takes away what is no file: a link itself, an empty directory, a pipe; only while it is the very thing that is expected. */
  removeEntry(path: string, identity: string): void
  /** The target of a link; undefined for other entries. */
  linkText(path: string): string | undefined
  /** A descriptor of a directory, to be handed to a process; `close` it. */
  openDirectory(path: string): { readonly fd: number; close(): void }
}

export const fileHash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

/** A refusal of a file tool, as a sentence for the model. */
export const fileRefusal = (problem: string) => failure("bad_request", { problem })
