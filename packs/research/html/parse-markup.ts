import { Tokenizer, type TokenizerCallbacks } from "htmlparser2"
import { failure } from "../../../core/pack.ts"
import { IMPLIED_ENDS, VOID } from "./implied-ends.ts"

interface Handlers {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text(text: string): void
  close(name: string): void
}

/** The deepest nesting. Real pages stay below it, even with many unclosed elements. */
const MAX_DEEP = 2000

/** Parses an untrusted page, or XML, in linear time. Throws `document_unreadable` if it is nested too deeply. */
export function parseMarkup(markup: string, handlers: Handlers, xml = false): void {
  const tokenizer = new Tokenizer({ xmlMode: xml, decodeEntities: true }, new Markup(markup, handlers, xml))
  tokenizer.write(markup)
  tokenizer.end()
}

/**
 * The open elements, on top of the package's tokenizer. The package's parser searches all open elements at each
 * unmatched end tag, and moves them at each start tag. Here a count shows whether there is an element to close, and
 * each step closes what it passes.
 */
class Markup implements TokenizerCallbacks {
  readonly #markup: string
  readonly #handlers: Handlers
  readonly #xml: boolean
  readonly #open: string[] = []
  readonly #counts = new Map<string, number>()
  /** The tag that is being read; undefined if it is ignored. */
  #tag: string | undefined
  #attributes: Record<string, string> = {}
  #attribute = ""
  #value = ""
  #text = ""

  constructor(markup: string, handlers: Handlers, xml: boolean) {
    this.#markup = markup
    this.#handlers = handlers
    this.#xml = xml
  }

  ontext(start: number, end: number): void {
    this.#text += this.#markup.slice(start, end)
  }

  ontextentity(code: number): void {
    this.#text += String.fromCodePoint(code)
  }

  onopentagname(start: number, end: number): void {
    this.#sayText()
    const name = this.#nameOf(start, end)
    this.#attributes = {}
    // A form inside a form is ignored, as browsers do.
    this.#tag = !this.#xml && name === "form" && this.#has(name) ? undefined : name
    if (this.#tag !== undefined) this.#endImplied(name)
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#nameOf(start, end)
    this.#value = ""
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#markup.slice(start, end)
  }

  onattribentity(code: number): void {
    this.#value += String.fromCodePoint(code)
  }

  onattribend(): void {
    if (!Object.hasOwn(this.#attributes, this.#attribute)) this.#attributes[this.#attribute] = this.#value
  }

  onopentagend(): void {
    const name = this.#tag
    if (name === undefined) return
    this.#begin(name)
    if (!this.#xml && VOID.has(name)) this.#end()
  }

  onselfclosingtag(): void {
    if (!this.#xml && !this.isInForeignContext()) return this.onopentagend()
    if (this.#tag === undefined) return
    this.#begin(this.#tag)
    this.#end()
  }

  onclosetag(start: number, end: number): void {
    this.#sayText()
    const name = this.#nameOf(start, end)
    if (this.#has(name)) {
      while (this.#open.at(-1) !== name) this.#end()
      this.#end()
    } else if (!this.#xml && (name === "p" || name === "br")) {
      this.#attributes = {}
      this.#endImplied(name)
      this.#begin(name)
      this.#end()
    }
  }

  oncdata(start: number, end: number, offset: number): void {
    if (this.#xml || this.isInForeignContext()) this.#text += this.#markup.slice(start, end - offset)
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}

  onend(): void {
    this.#sayText()
    while (this.#open.length > 0) this.#end()
  }

  /** SVG and MathML follow the rules of XML. */
  isInForeignContext(): boolean {
    return !this.#xml && (this.#has("svg") || this.#has("math"))
  }

  #nameOf(start: number, end: number): string {
    const name = this.#markup.slice(start, end)
    return this.#xml ? name : name.toLowerCase()
  }

  #has(name: string): boolean {
    return (this.#counts.get(name) ?? 0) > 0
  }

  #endImplied(name: string): void {
    const ends = this.#xml ? undefined : IMPLIED_ENDS.get(name)
    while (ends?.has(this.#open.at(-1) ?? "")) this.#end()
  }

  #begin(name: string): void {
    if (this.#open.length >= MAX_DEEP) throw failure("document_unreadable", { problem: "it is nested too deep" })
    this.#open.push(name)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    this.#handlers.open(name, this.#attributes)
  }

  #end(): void {
    const name = this.#open.pop()
    if (name === undefined) return
    const left = (this.#counts.get(name) ?? 1) - 1
    // Names come from the page, so those of closed elements are not stored.
    if (left > 0) this.#counts.set(name, left)
    else this.#counts.delete(name)
    this.#handlers.close(name)
  }

  #sayText(): void {
    if (this.#text !== "") this.#handlers.text(this.#text)
    this.#text = ""
  }
}
