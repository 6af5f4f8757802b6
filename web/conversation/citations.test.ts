import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import ReactMarkdown from "react-markdown"
import remarkGfm from "remark-gfm"
import { expect, test } from "vitest"
import { citationMarks } from "./citations.ts"

const marked = (text: string) => {
  const remarkPlugins = [remarkGfm, citationMarks(new Set(["1", "psg_1", "psg_12", "p.3"]))]
  const html = renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins }, text))
  return [...html.matchAll(/<cite data-marker="([^"]*)">|<a /g)].map(([tag, marker]) => marker ?? tag.trim())
}

test.each<[what: string, text: string, found: string[]]>([
  ["a marker", "So [1] and [psg_1, psg_12].", ["1", "psg_1", "psg_12"]],
  ["one with a definition of its own", "So [1].\n\n[1]: https://example.org", ["1"]],
  ["also in its other ways of writing", "So [1][], [words][psg_1].\n\n[1]: x\n[psg_1]: y", ["1", "psg_1"]],
  ["a footnote, and what it says", "So [^1].\n\n[^1]: As [psg_1] says.", ["1", "1", "psg_1"]],
  ["our ids without brackets and among words", "So (psg_1), [see psg_12, p. 3], psg_1.", ["psg_1", "psg_12", "psg_1"]],
  ["any marker among words in brackets", "So [1, above].", ["1"]],
  ["other words are words, links links", "So 1 and p.3, psg_1x, [psg_1](x) [here].\n\n[here]: x", ["<a", "<a"]],
  ["code is code", "`[psg_1]` and `psg_1`", []],
])("%s", (_, text, found) => {
  expect(marked(text)).toEqual(found)
})
