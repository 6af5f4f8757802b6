import { z } from "zod"
import { binaryKind, type Tool } from "../../core/pack.ts"
import { readTool } from "./file-tool.ts"
import { type EditorBuffers, editorText } from "./editor-buffers.ts"
import { type Folder, fileRefusal } from "./folder/folder.ts"
import { displayName } from "./folder/display-name.ts"
import { rulesOf } from "./project-context.ts"
import { stateOfRules } from "./folder/project-rules.ts"

export const MAX_READ_BYTES = 10 * 1024 * 1024
const MAX_LINES = 1000
const MAX_CHARACTERS = 40_000
const MAX_IN_LINE = 4000

export function readFile(folder: Folder, buffers?: EditorBuffers): Tool {
  const rules = rulesOf(folder)
  return readTool(folder, {
    name: "read_file",
    description: `Read a text file of the work folder: its text as it is, at most ${MAX_LINES} lines at a time. What is cut says how to read on.`,
    input: z.strictObject({
      path: z.string().min(1).max(4096),
      start_line: z.int().min(1).optional().describe("The first line wanted, 1 by default"),
      lines: z.int().min(1).max(MAX_LINES).optional().describe("How many"),
    }),
    examples: ["read README.md", 'read "a name with spaces.txt"', "show src/index.ts", "what does package.json say"],
    state: ({ path }) => stateOfRules(rules?.subfoldersOf(path) ?? []),
    async read({ path, start_line = 1, lines = MAX_LINES }) {
      const found = folder.find(path)
      if (found && found.size > MAX_READ_BYTES) throw tooLarge(path, found.size)
      const { bytes } = folder.read(path, MAX_READ_BYTES)
      if (isBinary(bytes)) {
        const kind = binaryKind(bytes)
        throw fileRefusal(`${displayName(path)} is not a text (${bytes.length} bytes of it)${kind ? `: ${kind}` : ""}`)
      }
      // The text in the user's editor is the file, saved or not.
      const unsaved = buffers && (await editorText(folder, path, buffers))
      return partOf(unsaved ?? bytes.toString("utf8"), { path, start: start_line, lines })
    },
  })
}

const tooLarge = (path: string, size: number) =>
  fileRefusal(
    `${displayName(path)} has ${size} bytes, which is more than is read. search_in_files ${JSON.stringify({ path, pattern: "…" })} finds lines in files up to 1 MB; run_command ${JSON.stringify({ command: `head -c 20000 -- ${path}` })} shows a part of any`,
  )

/** Uses git's rule: text has no NUL near its start. */
export const isBinary = (bytes: Buffer) => bytes.subarray(0, 8000).includes(0)

interface Wanted {
  readonly path: string
  readonly start: number
  readonly lines: number
}

function partOf(text: string, { path, start, lines }: Wanted): string {
  if (text === "") return `${displayName(path)} is empty.`
  const all = text.split("\n")
  if (all.at(-1) === "") all.pop()
  if (start > all.length)
    throw fileRefusal(`${displayName(path)} has ${all.length} lines, so none from line ${start} on`)
  const taken: string[] = []
  let characters = 0
  for (const line of all.slice(start - 1, start - 1 + lines)) {
    const cut = line.length > MAX_IN_LINE ? `${line.slice(0, MAX_IN_LINE)} [line cut: ${line.length} characters]` : line
    if (taken.length > 0 && characters + cut.length > MAX_CHARACTERS) break
    characters += cut.length + 1
    taken.push(cut)
  }
  const next = start + taken.length
  const whole = taken.join("\n")
  if (next > all.length && start === 1) return whole
  const range = `lines ${start} to ${next - 1} of ${all.length}`
  if (next > all.length) return `${whole}\n[${range}: the end]`
  return `${whole}\n[${range}. read_file ${JSON.stringify({ path, start_line: next })} reads on.]`
}
