import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import ReactMarkdown from "react-markdown"
import { expect, test } from "vitest"
import { gfmMarks } from "./math-marks.ts"
import { citationMarks } from "./citations.ts"

const placed = (text: string, marker: string) =>
  Array.from(text.matchAll(new RegExp(marker.replace(".", "\\."), "g")), ({ index: at }) => ({ marker, at }))

const marked = (text: string) => {
  const all = ["1", "psg_1", "psg_12", "p.3"].flatMap((marker) => placed(text, marker))
  const remarkPlugins = [gfmMarks, citationMarks(all.map((each, index) => ({ ...each, index })))]
  const html = renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins }, text))
  return [...html.matchAll(/<cite data-marker="([^"]*)"[^>]*>|<a /g)].map(([tag, marker]) => marker ?? tag.trim())
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

test("text that only looks like another marker is not changed", () => {
  const text = "Take a[1] of [0, 1], or so [1]; then [1-2]."
  const places = [
    { marker: "1", at: text.indexOf("[1];") + 1 },
    ...["1-2", "1-2"].map((marker) => ({ marker, at: text.indexOf("1-2") })),
  ]
  const remarkPlugins = [gfmMarks, citationMarks(places.map((each, index) => ({ ...each, index })))]
  const html = renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins }, text))
  const marks = [...html.matchAll(/<cite data-marker="([^"]*)" data-index="(\d)"/g)].map(([, ...told]) =>
    told.join(":"),
  )
  expect(marks).toEqual(["1:0", "1-2:1", "1-2:2"])
  expect(html).toContain("Take a[1] of [0, 1], or so ")
})

test.each([
  ["in a sentence", "So [psg_1], so [psg_1], so [psg_1]."],
  ["behind what is escaped, in emphasis and in a list", "\\*a\\* [psg_1]\n\n- **b [psg_1]**\n- \\[x\\] [psg_1]"],
  ["with code between that names it too", "[psg_1] `[psg_1]` [psg_1] [psg_1](x) and [psg_1]"],
  ["with a definition of its own", "[psg_1] and [psg_1][], and\n[words psg_1][psg_1].\n\n[psg_1]: x"],
  ["in a footnote", "[psg_1] and [^1].\n\n[^1]: psg_1 and psg_1."],
])("each mark is bound to what the server says of this very place: %s", (_, text) => {
  const shown = [...text.matchAll(/psg_1/g)].map(({ index }) => index)
  const hidden = /`[^`]*`|\]\([^)]*\)|^\[psg_1\]:/gm
  const places = shown.filter(
    (at) =>
      !Array.from(text.matchAll(hidden)).some(({ 0: { length }, index }) => {
        const start = text[index] === "]" ? index - 6 : index
        return at >= start && at < start + Math.max(length, 7)
      }),
  )
  const all = [...places.map((at) => ({ marker: "psg_1", at })), { marker: "1", at: text.indexOf("^1") + 1 }]
  const remarkPlugins = [gfmMarks, citationMarks(all.map((each) => ({ ...each, index: each.at })))]
  const html = renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins }, text))
  const found = [...html.matchAll(/<cite data-marker="psg_1" data-index="(\d+)"/g)].map(([, index]) => Number(index))
  expect(found).toEqual(places)
  expect(found.length).toBeGreaterThan(1)
})
