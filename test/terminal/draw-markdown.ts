/** Draws texts as the page and the terminal do, in a process that can be killed: each line is a JSON list of texts, and gets one answer. */
import { createInterface } from "node:readline"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { markdownLines, settledLength } from "../../apps/terminal/drawing/markdown-lines.ts"
// @ts-expect-error the page is checked with settings of its own
import { Markdown } from "../../apps/web/markdown/markdown.tsx"

const page = (text: string, isOpen: boolean) => renderToStaticMarkup(createElement(Markdown, { text, isOpen })).length

for await (const line of createInterface(process.stdin)) {
  const drawn = (JSON.parse(line) as string[]).flatMap((text) => [
    page(text, false),
    page(text, true),
    markdownLines(text, 80).length,
    settledLength(text),
  ])
  process.stdout.write(`drawn ${drawn.join(", ")}\n`)
}
