import { expect, test } from "vitest"
import type { MessageFile } from "../../protocol/conversation/message.ts"
import type { Model, ModelRequest } from "../model.ts"
import type { Work } from "../record.ts"
import { withFiles } from "./with-files.ts"

type Given = Partial<MessageFile> & { readonly pages?: number }

const image = (more: Given = {}): Given => ({ type: "image/png", size: 1000, width: 10, height: 10, ...more })
const pdf = (pages: number): Given => ({ type: "application/pdf", size: 1000, pages })

/** How each of these files is shown to a model with vision, in the order of the messages. */
async function shownOf(...given: readonly Given[]): Promise<string[]> {
  const files = given.map((file, index) => ({ id: `file_${index}`, name: `${index}`, ...file }))
  const ports = {
    files: {
      bytes: async () => new Uint8Array(1),
      text: async ({ id }: { id: string }) => ({ text: "Words.", pages: files.find((file) => file.id === id)?.pages }),
    },
  }
  const work = { conversation: { hasFiles: true, user: "user_1" }, ports, signal: new AbortController().signal }
  const history = files.map((file) => ({ role: "user", text: "Look.", files: { message: "msg_1", items: [file] } }))
  const model = { contextTokens: 200_000, sees: { images: true, files: true } }
  const shown = await withFiles(work as unknown as Work, model as Model, { history } as unknown as ModelRequest)
  return (shown?.history ?? [])
    .flatMap((turn) => (turn.role === "user" ? (turn.shown ?? []) : []))
    .map(({ type }) => type)
}

test("the documents of one request together have at most the pages that providers accept, newest first", async () => {
  expect(await shownOf(pdf(100))).toEqual(["bytes"])
  expect(await shownOf(pdf(101))).toEqual(["words"])
  expect(await shownOf(pdf(60), pdf(40))).toEqual(["bytes", "bytes"])
  expect(await shownOf(pdf(61), pdf(40))).toEqual(["words", "bytes"])
  // Behind one that does not fit none is shown, not even a small one. One that can never fit takes no space.
  expect(await shownOf(pdf(1), pdf(61), pdf(40))).toEqual(["words", "words", "bytes"])
  expect(await shownOf(pdf(60), pdf(500), pdf(40))).toEqual(["bytes", "words", "bytes"])
})

test("an image is shown up to the size that every provider accepts", async () => {
  expect(await shownOf(image({ size: 3_750_000 }), image({ width: 8000, height: 8000 }))).toEqual(["bytes", "bytes"])
  expect(await shownOf(image({ size: 3_750_001 }), image({ height: 8001 }))).toEqual(["words", "words"])
})

test("the twenty newest of many files are shown, as far as their bytes fit", async () => {
  const many = await shownOf(...Array.from({ length: 25 }, () => image()))
  expect([many.indexOf("bytes"), many.filter((type) => type === "bytes").length]).toEqual([5, 20])
  const large = await shownOf(image(), ...Array.from({ length: 6 }, () => image({ size: 3_700_000 })))
  expect(large).toEqual(["words", "words", "words", "bytes", "bytes", "bytes", "bytes"])
})
