import { z } from "zod"
import {
  answer,
  type Answer,
  type CallContext,
  codeOf,
  defineTool,
  type Embedder,
  failed,
  type OpenWorkspace,
  type Tool,
  type Workspace,
} from "../../core/pack.ts"
import { inOneLine } from "./describe-row.ts"
import { openDesk } from "./tables/desk.ts"
import { findRowByName } from "./tables/find-row.ts"
import { type SimilarNote, similarNotes } from "./similar-notes.ts"
import { describeMalformedRows } from "./device/malformed-rows.ts"
import { orSentence } from "./or-sentence.ts"

const USUAL = 5
const MAX = 20
const SNIPPET = 240

const Input = z.strictObject({
  query: z.string().trim().min(1).max(2000).describe("What the notes should be about, in your own words"),
  project_id: z.string().trim().max(1000).nullish().describe("Only notes of this project: its id or exact name"),
  limit: z.number().int().min(1).max(MAX).nullish().describe(`How many at most; ${USUAL} unless said`),
})

/** Searches notes by meaning, on the server or on the person's device. */
export function searchNotes(open: OpenWorkspace, embedder: Embedder): Tool {
  return defineTool<z.infer<typeof Input>>({
    name: "search_notes",
    description: "Find the person's notes by meaning, also if they use other words.",
    input: Input,
    effect: "read",
    onSite: "workspace",
    taint: "private",
    afterCrash: "run-again",
    examples: [
      "find notes about deployment",
      "search my notes for deployment",
      "what do my notes say about deployment",
    ],
    run: (given, context) => orSentence(() => search(given, context, { open, embedder })),
  })
}

async function search(
  { query, project_id, limit }: z.infer<typeof Input>,
  context: CallContext,
  { open, embedder }: { open: OpenWorkspace; embedder: Embedder },
): Promise<Answer> {
  const desk = openDesk(open, context)
  const { workspace } = desk
  const projectId = project_id ? String((await findRowByName(desk, "projects", project_id)).id) : null
  const vectors = await embedder.embed([query], context.signal).catch((error: unknown) => {
    if (codeOf(error) === undefined || context.signal.aborted) throw error
    return error as Error
  })
  if (vectors instanceof Error)
    return failed(`Notes cannot be searched by meaning now: ${vectors.message} list_notes shows their titles.`)
  const vector = { embedder: embedder.name, numbers: [...vectors[0]!] }
  const { found, odd } = await similarNotes(workspace, vector, { limit: limit ?? USUAL, projectId })
  const where = projectId ? ` in project ${desk.names.get(projectId) ?? projectId}` : ""
  const head =
    found.length === 0
      ? `No notes found about "${inOneLine(query)}"${where}.`
      : [`Found ${found.length} note(s)${where}:`, ...found.map(describe)].join("\n")
  const data = { notes: found.map(({ note: { id, title }, score }) => ({ id, title, score })) }
  const text = head + describeMalformedRows(odd, "note") + (await unfinished(workspace))
  return answer(text, { data: { ...data, ...(odd.length > 0 ? { odd } : {}) } })
}

const describe = ({ note: { id, title, content }, score }: SimilarNote) =>
  `- ${inOneLine(title)} (id: ${id}, score: ${score.toFixed(2)}): ${inOneLine(content, SNIPPET)}`

async function unfinished(workspace: Workspace): Promise<string> {
  const { waiting, all } = (await workspace.indexing?.()) ?? { waiting: 0, all: 0 }
  if (waiting === 0) return ""
  return `\n${waiting} of ${all} note(s) cannot be found by meaning yet, because they are being indexed. Try again later.`
}
