import { mendText } from "../../../core/pack.ts"
import { raisedText, type RaisedTag } from "../html/raised-text.ts"
import { refuseMany, type Section } from "../passages/cut-passages.ts"

const MAX_HEADING = 200

/** Collects the paragraphs of a document, with an empty line between two of them. */
export class RtfParagraphs {
  readonly #done: string[] = []
  readonly #sections: Section[] = []
  #length = 0
  #start = 0
  #saying: string[] = []
  /** Superscript or subscript text that may continue. */
  #raised: { readonly tag: RaisedTag; text: string } | undefined
  #open: { readonly level: number; readonly text: string }[] = []

  say(text: string, raised?: RaisedTag): void {
    if (text === "") return
    if (raised !== this.#raised?.tag) this.#endRaised()
    if (raised === undefined) this.#saying.push(text)
    else if (this.#raised) this.#raised.text += text
    else this.#raised = { tag: raised, text }
  }

  #endRaised(): void {
    if (!this.#raised) return
    this.#saying.push(raisedText({ ...this.#raised, before: this.#saying.at(-1) ?? "" }))
    this.#raised = undefined
  }

  /** Ends the paragraph. `level`: its outline level if it is a heading. */
  end(level: number | undefined): void {
    this.#endRaised()
    // Repaired as a whole, because surrogates may have arrived separately.
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
