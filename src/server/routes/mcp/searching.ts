import { z } from "zod"
import { toResult } from "../../../dialects/mcp/result.ts"
import * as words from "../../../dialects/mcp/words.ts"
import { MIN_NOTE_SCORE } from "../../../protocol/ports/workspace.ts"
import { PassageSearch } from "../../../protocol/library.ts"
import { defineMcpTool } from "./tool.ts"
import { lazily } from "../../../protocol/lazily.ts"

const Query = lazily(() => z.string().trim().min(1).max(2000).describe("What it should be about, in any words"))

export const searchNotesTool = defineMcpTool({
  name: "search_notes",
  title: "Search notes",
  description: "The person's notes on this server by meaning, best first.",
  needs: "read",
  reads: true,
  input: lazily(() => z.strictObject({ query: Query, limit: z.number().int().min(1).max(20).default(5) })),
  async run({ query, limit }, { caller, ports, signal }) {
    const { embedder, workspaces } = ports
    const workspace = workspaces.of(caller.person.id)
    const [numbers] = await embedder.embed([query], signal)
    const near = await workspace.nearest({ embedder: embedder.name, numbers: [...numbers!] }, { limit })
    const notes = await Promise.all(
      near.filter(({ score }) => score >= MIN_NOTE_SCORE).map(({ id }) => workspace.get("notes", id)),
    )
    const found = notes.flatMap((note) => (note ? [note] : []))
    const toText = ({ id, title, content }: (typeof found)[number]) =>
      `${id}: ${words.toShortLine(title)}\n${words.toShortLine(content)}`
    const { waiting = 0 } = (await workspace.indexing?.()) ?? {}
    const unfinished = waiting > 0 ? [`${waiting} note(s) are still being indexed; ask again in a while.`] : []
    return toResult([...found.map(toText), ...unfinished].join("\n") || "No notes found.", {
      notes: found.map(({ id, title, content }) => ({ id, title, content: content.slice(0, 4000) })),
    })
  },
})

export const searchLibraryTool = defineMcpTool({
  name: "search_library",
  title: "Search the library",
  description: "Passages of the person's documents, by words and by meaning, best first.",
  needs: "read",
  reads: true,
  input: lazily(() =>
    z.strictObject({
      query: Query,
      from: PassageSearch.shape.from.describe("Only documents from this date on, such as 2024 or 2024-05"),
      to: PassageSearch.shape.to.describe("Only documents up to this date"),
      limit: z.number().int().min(1).max(50).default(10),
    }),
  ),
  async run(search, { caller, ports, signal }) {
    const { items, wordsOnly } = await ports.library.search(caller.person.id, search, signal)
    const told = words.firstThatFit(items, words.passageLine)
    const remark = wordsOnly ? ["Found by words alone: meaning cannot be searched now."] : []
    return toResult([...told.map(words.passageLine), ...remark].join("\n\n") || "Nothing found.", {
      passages: told.map(({ id, documentId, title, source }) => ({ id, documentId, title, source })),
    })
  },
})
