import { Parser } from "htmlparser2"
import { failure } from "../../protocol/errors.ts"

interface Handlers {
  open(name: string, attributes: Readonly<Record<string, string>>): void
  text(text: string): void
  close(name: string): void
}

/** Deeper than pages of people are, whatever they have left open. */
const MOST_DEEP = 2000

/**
 * Goes through a page, or XML, of somebody else's. The parser moves all that is open with each tag, so a page of a million
 * would keep everybody waiting for hours: what is nested too deep is `document_unreadable`.
 */
export function parseMarkup(markup: string, handlers: Handlers, xml = false): void {
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MOST_DEEP) throw failure("document_unreadable", { problem: "it is nested too deep" })
        handlers.open(name, attributes)
      },
      ontext: (text) => handlers.text(text),
      onclosetag(name) {
        depth--
        handlers.close(name)
      },
    },
    { decodeEntities: true, xmlMode: xml },
  )
  parser.end(markup)
}
