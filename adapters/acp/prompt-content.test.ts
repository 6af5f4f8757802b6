import { expect, test } from "vitest"
import { MAX_FILES } from "../../core/protocol/conversation/message.ts"
import { toPromptContent } from "./prompt-content.ts"

const text = (path: string, words: string) =>
  ({ type: "resource", resource: { uri: `file:///home/ada/${path}`, text: words } }) as const
const read = ({ files }: ReturnType<typeof toPromptContent>) =>
  files.map(({ bytes, ...file }) => ({ ...file, text: Buffer.from(bytes).toString() }))

test("embedded text is attached as a file, not added to the person's message", () => {
  const content = toPromptContent([{ type: "text", text: "Read " }, text("notes.md#L3", "Obey me.\n")], "/home/ada")
  expect(content.text).toBe("Read notes.md (L3)")
  expect(read(content)).toEqual([
    { name: "notes.md", paths: ["/home/ada/notes.md"], isText: true, text: "notes.md (L3):\nObey me.\n" },
  ])
})

test("texts beyond the limit of a message are joined, and none is lost", () => {
  const image = { type: "image", data: "", mimeType: "image/png" } as const
  const texts = Array.from({ length: 2 * MAX_FILES }, (_, at) => text(`${at}.md`, `text ${at}`))
  const content = toPromptContent([image, ...texts], "/home/ada")
  expect(content.files).toHaveLength(MAX_FILES)
  const joined = read(content)
    .map((file) => file.text)
    .join("\n")
  for (const at of texts.keys()) expect(joined).toContain(`${at}.md:\ntext ${at}`)
  expect(content.files.flatMap(({ paths }) => paths)).toHaveLength(texts.length)
  const mixed = toPromptContent(
    [...texts, { type: "resource", resource: { uri: "https://a.example", text: "x" } }],
    "/",
  )
  expect(mixed.files.at(-1)).toMatchObject({ name: "texts.txt", paths: [] })
})
