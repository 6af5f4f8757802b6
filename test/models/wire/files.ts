import type { FileContents } from "../../../core/engine/ports.ts"
import type { MessageFile } from "../../../core/protocol/conversation/message.ts"
import type { FileId } from "../../../core/protocol/ids.ts"
import { pdf, png } from "../../support/message-files/images.ts"

interface StoryFile {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
  readonly text: string
  readonly pages?: number
  readonly problem?: string
  readonly gone?: true
}

const files: readonly StoryFile[] = [
  { name: "tree.png", type: "image/png", bytes: png(20, 20), text: "" },
  { name: "a  plan: [v2].final.pdf", type: "application/pdf", bytes: pdf("A plan."), text: "A plan.", pages: 1 },
  { name: "a  plan: [v2].final.pdf", type: "application/pdf", bytes: pdf("Another."), text: "Another.", pages: 1 },
  { name: "notes.txt", type: "text/plain", bytes: Buffer.from("Milk."), text: "Milk. ".repeat(200) },
  { name: "broken.pdf", type: "application/pdf", bytes: Buffer.from("%PDF"), text: "", problem: "it is torn" },
  { name: "removed.png", type: "image/png", bytes: png(5, 5), text: "", gone: true },
  { name: "empty.txt", type: "text/plain", bytes: Buffer.from(""), text: "" },
]

/** Files of a user: an image, texts, two with the same malformed name, a damaged one, an empty one, and one removed since. */
export const storyFiles: readonly MessageFile[] = files.map(({ name, type, bytes }, at) => {
  const size = type.startsWith("image/") ? { width: 20, height: 20 } : {}
  return { id: `file_${at}` as FileId, name, type, size: bytes.length, ...size }
})

const named = (id: FileId) => files[storyFiles.findIndex((file) => file.id === id)]

export const fileContents: FileContents = {
  async bytes(_, id) {
    const file = named(id)
    return file && !file.gone ? file.bytes : undefined
  },
  async text({ id }, { most }) {
    const file = named(id)
    if (!file || file.gone) return undefined
    const { text, pages, problem } = file
    return { text: text.slice(0, most), ...(pages ? { pages } : {}), ...(problem ? { problem } : {}) }
  },
}
