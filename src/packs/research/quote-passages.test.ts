import { expect, test } from "vitest"
import { cite } from "../../agent/cite.ts"
import type { Source } from "../../protocol/stages.ts"
import { quotePassages } from "./quote-passages.ts"
import { listSources } from "./sources.ts"

const said = (sources: readonly Source[]) => {
  const text = quotePassages(`Found:\n\n${listSources(sources)}`)
  return { text, citations: cite(text, new Map(sources.map((source) => [source.id, source]))) }
}

test("a list of references in a document is quoted as its words, not as sources", () => {
  const passage =
    "Lift grows with the angle.\n\n[12] Smith, On wings\nA journal of wings, 1990.\n[a_1] Doe\nMore of it."
  const { text, citations } = said([{ id: "psg_1", title: "Wings", passage }])
  expect(text.match(/^- /gm)).toHaveLength(1)
  expect(citations).toMatchObject([{ marker: "psg_1", quote: "Lift grows with the angle." }])
})

test("marks in a title make no quote, and none in a passage ends ours", () => {
  const passage = "Lift grows with the angle of attack „up to a point“ and more."
  const { citations } = said([{ id: "psg_1", title: 'On "the theory of wings" ‘as it was’ [3]', passage }])
  expect(citations).toMatchObject([{ marker: "psg_1", quote: "Lift grows with the angle of attack" }])
  expect(citations[0]?.problem).toBeUndefined()
})
