import { beforeAll, describe, expect, test } from "vitest"
import type { Embedder } from "../../../core/protocol/workspace.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { noEmbedder } from "../../../core/models/embedders/create.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"
import { WordEmbedder } from "../../support/word-embedder.ts"
import { type OpenAiClient, openAiAs, refusalOf } from "../openai-client.ts"

const { name: model, dimensions } = new WordEmbedder()

describe.each(anyDatabase)("the openai package asks for embeddings on $name", ({ create }) => {
  let face: Face
  let client: OpenAiClient
  const embed = (input: unknown, more: object = {}) => client.embeddings.create({ model, input, ...more })

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: scripted() })
    client = (await openAiAs(face, "ada")).client
    return () => face[Symbol.asyncDispose]()
  })

  test("each text gets the vector of the server's embedder, in base64 or as numbers", async () => {
    const texts = ["A cat sleeps.", "A cat slept.", "Invoices"]
    const answer = await embed(texts)
    const expected = await new WordEmbedder().embed(texts, new AbortController().signal)
    expect(answer.data.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2])
    expect(answer.data.map(({ embedding }: { embedding: number[] }) => Float32Array.from(embedding))).toEqual(expected)
    expect(answer).toMatchObject({ object: "list", model, usage: { total_tokens: expect.any(Number) } })
    const numbers = await embed("A cat sleeps.", { encoding_format: "float", dimensions })
    expect(numbers.data[0].embedding).toEqual([...expected[0]!])
  })

  test("the embedder is a model", async () => {
    expect(await client.models.retrieve(model)).toMatchObject({ id: model, object: "model" })
  })

  test.each<[what: string, input: unknown, more: object, sentence: RegExp]>([
    ["another model", "x", { model: "text-embedding-ada-002" }, new RegExp(model)],
    ["another number of dimensions", "x", { dimensions: 3 }, /dimensions: vectors of .* omit it/],
    ["tokens", [1, 2, 3], {}, /tokens are not supported/],
    ["an empty text", ["x", ""], {}, /none of them empty/],
    ["no text", [], {}, /input/],
    ["too many texts", Array(257).fill("x"), {}, /up to 256 texts/],
  ])("%s is refused", async (_what, input, more, sentence) => {
    const refused = await refusalOf(embed(input, more))
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(sentence)])
  })

  test("one person's requests leave the embedder to others", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const words = new WordEmbedder()
    const embedder: Embedder = {
      ...{ name: model, dimensions },
      embed: async (texts, signal) => {
        if (texts[0] === "slow") await released
        return words.embed(texts, signal)
      },
    }
    await using slow = await Face.open({ url: (await create()).url, model: scripted(), embedder })
    const [ada, bob] = [(await openAiAs(slow, "ada")).client, (await openAiAs(slow, "bob")).client]
    const waiting = Array.from({ length: 5 }, () => ada.embeddings.create({ model, input: "slow" }))
    expect(await refusalOf(Promise.race(waiting))).toMatchObject({ status: 429, code: "too_many_requests" })
    expect((await bob.embeddings.create({ model, input: "quick" })).data).toHaveLength(1)
    release()
    expect((await Promise.allSettled(waiting)).filter(({ status }) => status === "fulfilled")).toHaveLength(4)
  })

  test("a server without an embedder says so", async () => {
    await using without = await Face.open({ url: (await create()).url, model: scripted(), embedder: noEmbedder })
    const { client: other } = await openAiAs(without, "ada")
    const refused = await refusalOf(other.embeddings.create({ model, input: "x" }))
    expect([refused.status, refused.message]).toEqual([400, expect.stringMatching(/no embedder; set OPENAI_API_KEY/)])
  })
})
