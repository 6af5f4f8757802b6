import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import { toShown } from "../shown.ts"
import { chatText } from "../../strings/chat.ts"

/** `@path`, or `@"a path"` in which `\"` is a quotation mark, at the beginning of a word. */
const NAMED = /(?:^|\s)@(?:"((?:[^"\\\n]|\\.){1,1000})"|([^\s"@]{1,1000}))/g
/** The same while it is written, up to the cursor. */
const BEGUN_QUOTED = /(?:^|\s)@"((?:[^"\\\n]|\\.){0,1000})$/
const BEGUN = /(?:^|\s)@([^\s"@]{0,1000})$/
const MAX_BEGUN = 1010
/** What would end the path, or be taken for the end of a sentence. */
const NEEDS_QUOTES = /[\s"@]|[.,;:!?)]$/

/** What goes along with a message, for its person to see: "with a.csv (3 KB)". */
export const filesWords = (files: readonly MessageFile[]): string =>
  chatText.attachments(files.map(({ name, path = name, size }) => ({ path: toShown(path), bytes: size })))

/** The paths that words name, each once. */
export function namedPaths(text: string): string[] {
  const paths = [...text.matchAll(NAMED)].map(([, quoted, plain = ""]) =>
    quoted === undefined ? plain.replace(/[.,;:!?)]$/, "") : unquoted(quoted),
  )
  return [...new Set(paths)]
}

const unquoted = (words: string): string => words.replaceAll('\\"', '"')

/** How a path is named. `isOpen`: more of it is still to be written. */
export function toNamed(path: string, isOpen: boolean, wasQuoted = false): string {
  if (!wasQuoted && !NEEDS_QUOTES.test(isOpen ? path.replace(/[.,;:!?)]$/, "") : path)) return `@${path}`
  return `@"${path.replaceAll('"', '\\"')}${isOpen ? "" : '"'}`
}

export interface BegunPath {
  /** Where its `@` stands. */
  readonly from: number
  readonly path: string
  readonly isQuoted: boolean
}

/** The path that is being written where the cursor stands. */
export function begunPath({ text, at }: { readonly text: string; readonly at: number }): BegunPath | undefined {
  const before = text.slice(Math.max(0, at - MAX_BEGUN), at)
  const quoted = BEGUN_QUOTED.exec(before)?.[1]
  if (quoted !== undefined) return { from: at - quoted.length - 2, path: unquoted(quoted), isQuoted: true }
  const plain = BEGUN.exec(before)?.[1]
  return plain === undefined ? undefined : { from: at - plain.length - 1, path: plain, isQuoted: false }
}

/** Where a path leads that a person has written. */
export const toPlace = (path: string): string =>
  resolve(path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(2)) : path)

const MAX_DROPPED = 8000
const WORD = /'[^']{0,1000}'|"(?:[^"\\]|\\.){0,1000}"|\\.|[^\s'"\\]/gsu

/**
 * The paths that a terminal writes when files are dropped on it: quoted, escaped, or as addresses, one behind the other.
 * Undefined where it is anything else. Only whole paths: a word that happens to be the name of a file is a word.
 */
export function droppedPaths(text: string): readonly string[] | undefined {
  const dropped = text.trim()
  if (dropped === "" || dropped.length > MAX_DROPPED) return undefined
  const paths = wordsOf(dropped).map(toPath)
  return paths.every((path) => path !== undefined) ? paths : undefined
}

/** As a shell would take them apart, where nothing in them means more than itself. */
function wordsOf(text: string): string[] {
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
