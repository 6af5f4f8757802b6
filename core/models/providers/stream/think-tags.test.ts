import { expect, test } from "vitest"
import { ModelRegistry } from "../../registry.ts"
import { chatChunk, collect, ProviderServer, sse, streamHead } from "../server.fixture.ts"

/** The reply that is read from these pieces of text, as a self-hosted server streams them. */
async function read(
  pieces: readonly string[],
  settings = (url: string): object => ({ vllmEndpoint: url }),
  name = "vllm/m",
) {
  const chunks = pieces.map((content) => chatChunk({ content }))
  await using server = await ProviderServer.open((response) =>
    streamHead(response).end(sse(...chunks, chatChunk({}, "stop"), "[DONE]")),
  )
  const parts = await collect(await new ModelRegistry(settings(server.url)).get(name))
  const said = (type: string) => parts.flatMap((part) => (part.type === type && "text" in part ? [part.text] : []))
  return { thoughts: said("reasoning"), text: said("text").join(""), order: parts.map(({ type }) => type) }
}

const whole = "<think>Is <b> a tag? </thin… no.</think>\n\nYes: `<think>` is one, too."

test.each([1, 2, 3, 5, 7, 11, 100])("reasoning in tags is not text, in chunks of %d", async (size) => {
  const pieces = whole.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
  expect(await read(pieces)).toMatchObject({
    thoughts: ["Is <b> a tag? </thin… no."],
    text: "Yes: `<think>` is one, too.",
  })
})

test("several blocks of reasoning before the text stay separate", async () => {
  const { thoughts, text, order } = await read(["\n<think>One.</think> ", "<think>Two.</think>Hello"])
  expect([thoughts, text]).toEqual([["One.", "Two."], "Hello"])
  expect(order).toEqual(["reasoning", "reasoning", "text", "finish"])
})

test("leading blanks are held back for a while, and then passed on", async () => {
  const blank = " ".repeat(150)
  const { text } = await read([blank, blank, "<think>x"])
  expect(text).toBe(`${blank}${blank}<think>x`)
})

test.each([
  [["<th"], "<th"],
  [["  <thought>a"], "  <thought>a"],
  [["A <think>b</think>"], "A <think>b</think>"],
  [["", " ", "x"], " x"],
])("%j is unchanged text", async (pieces, text) => {
  expect(await read(pieces)).toMatchObject({ thoughts: [], text })
})

test("reasoning without an end is still reasoning", async () => {
  expect(await read(["<think>I wonder", " </thi"])).toMatchObject({ thoughts: ["I wonder </thi"], text: "" })
})

test("a provider without this quirk keeps its text", async () => {
  const settings = (url: string) => ({ xaiApiKey: "k", xaiBaseUrl: url })
  expect(await read(["<think>a</think>b"], settings, "xai/m")).toMatchObject({
    thoughts: [],
    text: "<think>a</think>b",
  })
})
