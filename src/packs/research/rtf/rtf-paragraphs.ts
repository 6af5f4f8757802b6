import { mendText } from "../../../protocol/text/text.ts"
import { refuseMany, type Section } from "../passages/cut-passages.ts"

const MAX_HEADING = 200

/** The text of a document as it comes, paragraph by paragraph, with an empty line between two of them. */
export class RtfParagraphs {
  readonly #done: string[] = []
  readonly #sections: Section[] = []
  #length = 0
  #start = 0
  #saying: string[] = []
  #open: { readonly level: number; readonly text: string }[] = []

  say(text: string): void {
    if (text !== "") this.#saying.push(text)
  }

  /** With the level of the outline that it has, where it is a heading. */
  end(level: number | undefined): void {
    // Mended as a whole: the halves of a letter may have come one by one.
    const text = mendText(this.#saying.join("")).replaceAll("\t\n", "\n").trim()
    this.#saying = []
    if (text === "") return
    if (level !== undefined) this.#endSection()
    const whole = this.#length === 0 ? text : `\n\n${text}`
    this.#done.push(whole)
    this.#length += whole.length
    if (level === undefined) return
    const heading = { level, text: text.slice(0, MAX_HEADING).toWellFormed() }
    this.#open = [...this.#open.filter((each) => each.level < level), heading]
  }

  finish(): { readonly text: string; readonly sections: readonly Section[] } {
    this.#endSection()
    return { text: this.#done.join(""), sections: this.#sections }
  }

  #endSection(): void {
    refuseMany(this.#sections)
    if (this.#length > this.#start)
      this.#sections.push({ headings: this.#open.map(({ text }) => text), start: this.#start, end: this.#length })
    this.#start = this.#length
  }
}
