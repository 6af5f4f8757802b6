import { unfinishedReference, type UnfinishedReference, toReference } from "../attachments/file-references.ts"
import { commonStart, findPaths, type PathMatch } from "../attachments/find-paths.ts"
import { DIM, type Line, span } from "../line.ts"
import { printable } from "../printable.ts"
import { widthOf, wrap } from "../wrap.ts"
import type { InputLine } from "../input/input-line.ts"
import { chatText } from "../../strings/chat.ts"

export interface CompletionOptions {
  readonly input: InputLine
  changed(): void
  showHint(words: string): void
}

interface CycleState {
  readonly typed: UnfinishedReference
  readonly matches: readonly PathMatch[]
  readonly index: number
}

const MAX_ROWS = 2

/** Completes `@path` while it is typed: shows the matching files below the line and inserts one with Tab. */
export class PathCompletion {
  readonly #ports: CompletionOptions
  #matches: readonly PathMatch[] = []
  /** The path that was searched for; undefined if none is being typed. */
  #searchedPath: string | undefined
  #search: AbortController | undefined
  #searchDone = Promise.resolve()
  /** Tab was pressed before the search had ended. */
  #isTabPending = false
  /** Tab cycles through these until another key is pressed. */
  #cycleState: CycleState | undefined

  constructor(ports: CompletionOptions) {
    this.#ports = ports
  }

  /**
   * Called after each key but Tab: searches for the path at the cursor. Resolves when the search has ended or was
   * replaced.
   */
  update(): Promise<void> {
    this.#cycleState = undefined
    const path = unfinishedReference(this.#ports.input.editor)?.path
    if (path === this.#searchedPath) return this.#searchDone
    this.#search?.abort()
    this.#searchedPath = path
    this.#isTabPending = false
    this.#searchDone = path === undefined ? Promise.resolve(this.#close()) : this.#find(path)
    return this.#searchDone
  }

  async #find(path: string): Promise<void> {
    const search = new AbortController()
    this.#search = search
    const matches = await findPaths(path, search.signal)
    if (search.signal.aborted) return
    this.#search = undefined
    this.#matches = matches
    if (this.#isTabPending) this.complete()
    this.#ports.changed()
  }

  #close(): void {
    this.#matches = []
    this.#search = undefined
  }

  /** Tab inserts the only match, or the common prefix, or cycles through the matches. */
  complete(): void {
    const typed = unfinishedReference(this.#ports.input.editor)
    if (this.#cycleState) return this.#cycle(this.#cycleState)
    if (!typed) return
    if (this.#search) return void (this.#isTabPending = true)
    this.#isTabPending = false
    const [only, ...more] = this.#matches
    if (!only) return this.#ports.showHint(chatText.noFileStartsWith(printable(typed.path)))
    if (more.length === 0) {
      this.#setText(typed, only, only.isFolder ? "" : " ")
      return void this.update()
    }
    const common = commonStart(this.#matches.map(({ path }) => path))
    if (common.length > typed.path.length) {
      this.#replace(typed, toReference(common, true, typed.isQuoted))
      return void this.update()
    }
    this.#cycle({ typed, matches: this.#matches, index: -1 })
  }

  #cycle({ typed, matches, index }: CycleState): void {
    const next = (index + 1) % matches.length
    this.#setText(typed, matches[next]!, "")
    this.#cycleState = { typed, matches, index: next }
  }

  /** A folder stays open so that the person can continue with its content. */
  #setText(typed: UnfinishedReference, { path, isFolder }: PathMatch, behind: string): void {
    this.#replace(typed, `${toReference(path, isFolder, typed.isQuoted)}${behind}`)
  }

  #replace({ from }: UnfinishedReference, words: string): void {
    const { input } = this.#ports
    const { text, at } = input.editor
    // Replaces the previous insertion too.
    input.editor = { ...input.editor, text: text.slice(0, from) + words + text.slice(at), at: from + words.length }
  }

  lines(columns: number): Line[] {
    const matches = this.#cycleState?.matches ?? this.#matches
    if (
      matches.length === 0 ||
      (this.#cycleState === undefined && unfinishedReference(this.#ports.input.editor) === undefined)
    )
      return []
    const room = columns * MAX_ROWS - 20
    let used = 0
    const shown = matches.filter(({ name }) => (used += widthOf(printable(name)) + 2) <= room)
    const left = matches.length - shown.length
    const names = shown.map((each) =>
      span(`${printable(each.name)}  `, each === matches[this.#cycleState?.index ?? -1] ? {} : DIM),
    )
    return wrap([...names, span(left > 0 ? chatText.moreFiles(left) : "", DIM)], columns).slice(0, MAX_ROWS + 1)
  }
}
