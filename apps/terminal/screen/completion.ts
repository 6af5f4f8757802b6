import { begunPath, type BegunPath, toNamed } from "../naming/file-words.ts"
import { commonStart, findPaths, type NamedPath } from "../naming/find-paths.ts"
import { DIM, type Line, span } from "../line.ts"
import { toShown } from "../shown.ts"
import { widthOf, wrap } from "../wrap.ts"
import type { Writing } from "../input/writing.ts"
import { chatText } from "../../strings/chat.ts"

export interface CompletionPorts {
  readonly writing: Writing
  changed(): void
  tell(words: string): void
}

interface Round {
  readonly begun: BegunPath
  readonly among: readonly NamedPath[]
  readonly index: number
}

/** Lines of names below what is written. */
const MAX_ROWS = 2

/** The files that `@path` could mean while it is written: shown below it, and taken with Tab. */
export class Completion {
  readonly #ports: CompletionPorts
  #found: readonly NamedPath[] = []
  /** For which path they were found; undefined where none is being written. */
  #path: string | undefined
  #looking: AbortController | undefined
  #looked = Promise.resolve()
  /** Tab was pressed before it was known what there is. */
  #isWanted = false
  /** Tab goes round among these, as long as no other key is pressed. */
  #round: Round | undefined

  constructor(ports: CompletionPorts) {
    this.#ports = ports
  }

  /** After each key but Tab: looks for what is being named by now. Resolves when that is known, or is another path by then. */
  look(): Promise<void> {
    this.#round = undefined
    const path = begunPath(this.#ports.writing.editor)?.path
    if (path === this.#path) return this.#looked
    this.#looking?.abort()
    this.#path = path
    this.#isWanted = false
    this.#looked = path === undefined ? Promise.resolve(this.#close()) : this.#find(path)
    return this.#looked
  }

  async #find(path: string): Promise<void> {
    const looking = new AbortController()
    this.#looking = looking
    const found = await findPaths(path, looking.signal)
    if (looking.signal.aborted) return
    this.#looking = undefined
    this.#found = found
    if (this.#isWanted) this.complete()
    this.#ports.changed()
  }

  #close(): void {
    this.#found = []
    this.#looking = undefined
  }

  /** Tab: the rest of the name where there is one only, what all of them have in common, or one after the other. */
  complete(): void {
    const begun = begunPath(this.#ports.writing.editor)
    if (this.#round) return this.#goRound(this.#round)
    if (!begun) return
    if (this.#looking) return void (this.#isWanted = true)
    this.#isWanted = false
    const [only, ...more] = this.#found
    if (!only) return this.#ports.tell(chatText.noFileStartsWith(toShown(begun.path)))
    if (more.length === 0) {
      this.#put(begun, only, only.isFolder ? "" : " ")
      return void this.look()
    }
    const common = commonStart(this.#found.map(({ path }) => path))
    if (common.length > begun.path.length) {
      this.#replace(begun, toNamed(common, true, begun.isQuoted))
      return void this.look()
    }
    this.#goRound({ begun, among: this.#found, index: -1 })
  }

  #goRound({ begun, among, index }: Round): void {
    const next = (index + 1) % among.length
    this.#put(begun, among[next]!, "")
    this.#round = { begun, among, index: next }
  }

  /** A folder stays open, so that what is in it can be written behind it. */
  #put(begun: BegunPath, { path, isFolder }: NamedPath, behind: string): void {
    this.#replace(begun, `${toNamed(path, isFolder, begun.isQuoted)}${behind}`)
  }

  #replace({ from }: BegunPath, words: string): void {
    const { writing } = this.#ports
    const { text, at } = writing.editor
    // What was put there a moment ago goes with it.
    writing.editor = { ...writing.editor, text: text.slice(0, from) + words + text.slice(at), at: from + words.length }
  }

  lines(columns: number): Line[] {
    const among = this.#round?.among ?? this.#found
    if (among.length === 0 || (this.#round === undefined && begunPath(this.#ports.writing.editor) === undefined))
      return []
    const room = columns * MAX_ROWS - 20
    let used = 0
    const shown = among.filter(({ name }) => (used += widthOf(toShown(name)) + 2) <= room)
    const left = among.length - shown.length
    const names = shown.map((each) =>
      span(`${toShown(each.name)}  `, each === among[this.#round?.index ?? -1] ? {} : DIM),
    )
    return wrap([...names, span(left > 0 ? chatText.moreFiles(left) : "", DIM)], columns).slice(0, MAX_ROWS + 1)
  }
}
