import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { printable } from "../printable.ts"
import { chatText } from "../../strings/chat.ts"

/** `@path`, or `@"a path"` in which `\"` is a quotation mark, at the beginning of a word. */
const REFERENCE = /(?:^|\s)@(?:"((?:[^"\\\n]|\\.){1,1000})"|([^\s"@]{1,1000}))/g
/** The same, unfinished, up to the cursor. */
const UNFINISHED_QUOTED = /(?:^|\s)@"((?:[^"\\\n]|\\.){0,1000})$/
const UNFINISHED = /(?:^|\s)@([^\s"@]{0,1000})$/
const MAX_UNFINISHED = 1010
/** Characters that would end the path, or be read as the end of a sentence. */
const NEEDS_QUOTES = /[\s"@]|[.,;:!?)]$/

/** The files of a message, such as "with a.csv (3 KB)". */
export const describeFiles = (files: readonly MessageFile[]): string =>
  chatText.attachments(files.map(({ name, path = name, size }) => ({ path: printable(path), bytes: size })))

/** The distinct paths that a text names with `@`. */
export function referencedPaths(text: string): string[] {
  const paths = [...text.matchAll(REFERENCE)].map(([, quoted, plain = ""]) =>
    quoted === undefined ? plain.replace(/[.,;:!?)]$/, "") : unquoted(quoted),
  )
  return [...new Set(paths)]
}

const unquoted = (words: string): string => words.replaceAll('\\"', '"')

/** Writes a path as `@path`. `isOpen`: the person will type more of it. */
export function toReference(path: string, isOpen: boolean, wasQuoted = false): string {
  if (!wasQuoted && !NEEDS_QUOTES.test(isOpen ? path.replace(/[.,;:!?)]$/, "") : path)) return `@${path}`
  return `@"${path.replaceAll('"', '\\"')}${isOpen ? "" : '"'}`
}

export interface UnfinishedReference {
  /** The index of its `@`. */
  readonly from: number
  readonly path: string
  readonly isQuoted: boolean
}

/** The unfinished path at the cursor. */
export function unfinishedReference({
  text,
  at,
}: {
  readonly text: string
  readonly at: number
}): UnfinishedReference | undefined {
  const before = text.slice(Math.max(0, at - MAX_UNFINISHED), at)
  const quoted = UNFINISHED_QUOTED.exec(before)?.[1]
  if (quoted !== undefined) return { from: at - quoted.length - 2, path: unquoted(quoted), isQuoted: true }
  const plain = UNFINISHED.exec(before)?.[1]
  return plain === undefined ? undefined : { from: at - plain.length - 1, path: plain, isQuoted: false }
}

/** Resolves a path that a person typed. */
export const resolvePath = (path: string): string =>
  resolve(path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(2)) : path)

const MAX_DROPPED = 8000
const WORD = /'[^']{0,1000}'|"(?:[^"\\]|\\.){0,1000}"|\\.|[^\s'"\\]/gsu

/**
 * The paths that a terminal types when files are dropped on it: quoted, escaped or as URLs, separated by spaces.
 * Undefined for any other text. Only absolute paths: a word that is also the name of a file stays a word.
 */
export function droppedPaths(text: string): readonly string[] | undefined {
  const dropped = text.trim()
  if (dropped === "" || dropped.length > MAX_DROPPED) return undefined
  const paths = shellWords(dropped).map(toPath)
  return paths.every((path) => path !== undefined) ? paths : undefined
}

/** Splits like a shell, without expansions. */
function shellWords(text: string): string[] {
  const words: string[] = []
  let end = -1
  for (const { 0: part, index } of text.matchAll(WORD)) {
    const plain = /^['"]/.test(part)
      ? part.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1")
      : part.replace(/^\\(.)/s, "$1")
    if (index === end) words[words.length - 1] += plain
    else words.push(plain)
    end = index + part.length
  }
  return words
}

function toPath(word: string): string | undefined {
  try {
    if (/^file:\/\//i.test(word)) return fileURLToPath(word)
  } catch {
    return undefined // of another machine
  }
  return /^(?:\/|~\/|[A-Za-z]:[\\/])/.test(word) && !/\p{Cc}/u.test(word) ? word : undefined
}
