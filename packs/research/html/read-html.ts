import { isPaperDate, mendText } from "../../../core/pack.ts"
import { refuseMany, type Section } from "../passages/cut-passages.ts"
import { isPlausibleTitle } from "../passages/plausible-about.ts"
import { FormulaReader } from "./formula.ts"
import { VOID } from "./implied-ends.ts"
import { parseMarkup } from "./parse-markup.ts"
import { MAX_RAISED, raisedText } from "./raised-text.ts"
import type { ReadText } from "../passages/read-plain.ts"

/** Elements without readable text. */
const DROPPED = new Set(
  "script style noscript template nav footer aside form svg iframe object button select dialog head".split(" "),
)
const BLOCKS = new Set(
  "address article blockquote dd div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tr ul".split(
    " ",
  ),
)

/** True for elements without text, and for KaTeX's second, visual copy of a formula. */
const isDropped = (name: string, attributes: Readonly<Record<string, string>>) =>
  DROPPED.has(name) || (attributes["aria-hidden"] === "true" && attributes.class === "katex-html")

const MAX_TITLE = 500

/** Returns the text of a page without scripts, decoration and navigation. */
export function readHtml(html: string): ReadText {
  const page = new PageText()
  parseMarkup(html, {
    open: (name, attributes) => page.open(name, attributes),
    text: (text) => page.say(text),
    close: (name) => page.close(name),
  })
  return page.end()
}

class PageText {
  readonly #parts: string[] = []
  readonly #sections: Section[] = []
  #length = 0
  #start = 0
  /** The nesting depth within dropped elements. */
  #dropped = 0
  #pre = 0
  #formula: { readonly made: FormulaReader; readonly block: boolean } | undefined
  /** The open superscript and subscript elements. */
  readonly #raised: { readonly from: number; readonly at: number; readonly before: string }[] = []
  #last = "\n"
  #open: { readonly level: number; readonly text: string }[] = []
  #heading: { readonly level: number; readonly from: number } | undefined
  #inTitle = false
  #title = ""
  readonly #authors: string[] = []
  #date: string | undefined

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === "meta") return this.#meta(attributes)
    if (this.#formula) return this.#formula.made.open(name, attributes)
    if (name === "title") this.#inTitle = true
    if (isDropped(name, attributes) || (this.#dropped > 0 && !VOID.has(name))) this.#dropped++
    if (this.#dropped > 0) return
    if (name === "math") {
      this.#formula = { made: new FormulaReader(), block: attributes.display === "block" }
      return this.#formula.made.open(name, attributes)
    }
    if (name === "sup" || name === "sub")
      this.#raised.push({ from: this.#parts.length, at: this.#length, before: this.#last })
    if (name === "br") this.#add("\n")
    if (BLOCKS.has(name)) this.#break()
    if (name === "li") this.#add("- ")
    if (name === "td" || name === "th") this.#add(" ")
    if (name === "pre") this.#pre++
    if (/^h[1-6]$/.test(name)) {
      this.#endSection()
      this.#heading = { level: Number(name[1]), from: this.#parts.length }
    }
  }

  say(text: string): void {
    if (this.#formula) return this.#formula.made.say(text)
    if (this.#inTitle) this.#title = (this.#title + text.slice(0, MAX_TITLE)).slice(0, MAX_TITLE)
    if (this.#dropped > 0) return
    if (this.#pre > 0) return this.#add(text)
    const words = text.replaceAll(/\s+/g, " ")
    this.#add(/\s$/.test(this.#last) ? words.trimStart() : words)
  }

  close(name: string): void {
    if (this.#formula) return this.#closeFormula(this.#formula)
    if (name === "title") this.#inTitle = false
    if (this.#dropped > 0) {
      if (!VOID.has(name)) this.#dropped--
      return
    }
    if (name === "sup" || name === "sub") this.#raise(name)
    if (name === "pre" && this.#pre > 0) this.#pre--
    if (this.#heading && /^h[1-6]$/.test(name)) {
      const { level, from } = this.#heading
      const text = this.#parts.slice(from).join("").trim().slice(0, 200).toWellFormed()
      this.#open = [...this.#open.filter((each) => each.level < level), { level, text }]
      this.#heading = undefined
    }
    if (BLOCKS.has(name)) this.#break()
  }

  #closeFormula({ made, block }: { readonly made: FormulaReader; readonly block: boolean }): void {
    const whole = made.close()
    if (whole === undefined) return
    this.#formula = undefined
    if (block) this.#break()
    this.#add(whole)
    if (block) this.#break()
  }

  #raise(tag: "sup" | "sub"): void {
    const raised = this.#raised.pop()
    // Not if a section started inside of it, because the position of the section is recorded already.
    if (!raised || this.#length - raised.at > MAX_RAISED || this.#start > raised.at) return
    const parts = this.#parts.splice(raised.from)
    this.#length = raised.at
    this.#last = raised.before
    this.#add(raisedText({ tag, before: raised.before, text: parts.join("") }))
  }

  end(): ReadText {
    this.#endSection()
    const named = this.#title.replaceAll(/\s+/g, " ").trim()
    const title = isPlausibleTitle(named) ? named : this.#sections.flatMap(({ headings }) => headings[0] ?? [])[0]
    return {
      text: this.#parts.join(""),
      sections: this.#sections,
      ...(title ? { title: mendText(title.slice(0, MAX_TITLE)) } : {}),
      ...(this.#authors.length > 0 ? { authors: this.#authors.slice(0, 200) } : {}),
      ...(this.#date ? { date: this.#date } : {}),
    }
  }

  /** Reads metadata in the forms that papers and newspapers use. */
  #meta({ name, property, content = "" }: Readonly<Record<string, string>>): void {
    const what = (name ?? property ?? "").toLowerCase()
    if (["citation_author", "dc.creator", "author"].includes(what) && content.trim())
      this.#authors.push(mendText(content.trim().slice(0, 200)))
    if (["citation_title", "dc.title"].includes(what) && content.trim())
      this.#title = content.trim().slice(0, MAX_TITLE)
    if (["citation_date", "citation_publication_date", "article:published_time", "dc.date"].includes(what)) {
      const date = content.trim().slice(0, 10).replaceAll("/", "-")
      if (isPaperDate(date)) this.#date = date
    }
  }

  #break(): void {
    if (this.#length > 0 && this.#last !== "\n\n") this.#add(this.#last.endsWith("\n") ? "\n" : "\n\n")
  }

  #add(text: string): void {
    if (text === "") return
    const mended = mendText(text)
    this.#parts.push(mended)
    this.#length += mended.length
    this.#last = (this.#last + mended).slice(-2)
  }

  #endSection(): void {
    refuseMany(this.#sections)
    if (this.#length > this.#start)
      this.#sections.push({ headings: this.#open.map(({ text }) => text), start: this.#start, end: this.#length })
    this.#start = this.#length
  }
}
