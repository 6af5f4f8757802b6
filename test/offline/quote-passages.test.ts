import { expect, test } from "vitest"
import { cite } from "../../packs/research/citations/cite.ts"
import type { Source } from "../../core/protocol/conversation/stages.ts"
import { quotePassages } from "../../labs/offline-model/quote-passages.ts"
import { listSources } from "../../packs/research/sources.ts"

const said = (sources: readonly Source[]) => {
  const text = quotePassages(`Found:\n\n${listSources(sources)}`)
  return { text, citations: cite(text, new Map(sources.map((source) => [source.id, source]))) }
}

test("a list of references in a document is quoted as text, not as sources", () => {
  const passage =
    "Lift grows with the angle.\n\n[12] Smith, On wings\nA journal of wings, 1990.\n[a_1] Doe\nMore of it."
  const { text, citations } = said([{ id: "psg_1", title: "Wings", passage }])
  expect(text.match(/^- /gm)).toHaveLength(1)
  expect(citations).toMatchObject([{ marker: "psg_1", quote: "Lift grows with the angle." }])
})

test("quotation marks in a title make no quote, and those in a passage do not end ours", () => {
  const passage = "Lift grows with the angle of attack „up to a point“ and more."
  const { citations } = said([{ id: "psg_1", title: 'On "the theory of wings" ‘as it was’ [3]', passage }])
  expect(citations).toMatchObject([{ marker: "psg_1", quote: "Lift grows with the angle of attack" }])
  expect(citations[0]?.problem).toBeUndefined()
})

test("the sentence of a passage that answers the question is quoted, not its first", () => {
  const passage =
    "Pawl keeps what waits. A proposal expires after fifteen minutes. Then it is over, and nothing was done. Ask for it again."
  const other = "A proposal is shown first. The colours of the page can be chosen."
  const listed = listSources([
    { id: "psg_1", title: "Proposals", passage: `${passage} ${"More is said of it. ".repeat(30)}` },
    { id: "psg_2", title: "Page", passage: `${other} ${"More is said of it. ".repeat(30)}` },
  ])
  const text = quotePassages(`Found:\n\n${listed}`, "When does a proposal expire?")
  expect(text).toContain("“A proposal expires after fifteen minutes.")
  expect(text).toContain("“A proposal is shown first.")
})
