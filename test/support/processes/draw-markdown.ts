/** Draws texts as the page and the terminal do, in a process that can be ended: they come as JSON on its standard input. */
import { text as readAll } from "node:stream/consumers"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { markdownLines, settledLength } from "../../../src/terminal/drawing/markdown-lines.ts"
// @ts-expect-error the page is checked with settings of its own
import { Markdown } from "../../../web/markdown/markdown.tsx"

const texts = JSON.parse(await readAll(process.stdin)) as string[]
const page = (text: string, isOpen: boolean) => renderToStaticMarkup(createElement(Markdown, { text, isOpen })).length
const drawn = texts.flatMap((text) => [
  page(text, false),
  page(text, true),
  markdownLines(text, 80).length,
  settledLength(text),
])
process.stdout.write(`drawn ${drawn.join(", ")}`)
