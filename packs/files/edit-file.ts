import { z } from "zod"
import { showHidden, type Tool } from "../../core/pack.ts"
import { type ChangePorts, changeTool } from "./change-tool.ts"
import { fileRefusal } from "./folder/folder.ts"
import { missing } from "./folder/local-folder.ts"
import { MAX_REPLACED } from "./folder/local-writes.ts"
import { isBinary } from "./read-file.ts"
import { displayName } from "./folder/display-name.ts"
import { MAX_WRITTEN } from "./write-file.ts"

/** A position of a text in a file, and its replacement. */
interface Place {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * Finds every position of a text. Models write lines that end with LF. In a file with CR LF a line ending matches
 * either, and the new text gets the ending of the lines that it replaces.
 */
function placesOf(text: string, old: string, replacement: string): Place[] {
  if (!text.includes("\r\n") && (!old.includes("\r\n") || text.includes(old)))
    return findAll(text, old).map((from) => ({ from, to: from + old.length, text: replacement }))
  const [plain, plainOld, plainNew] = [text, old, replacement].map((each) => each.replaceAll("\r\n", "\n")) as [
    string,
    string,
    string,
  ]
  const usual = text.includes("\r\n") ? "\r\n" : "\n"
  let [at, shift] = [0, 0]
  /** Converts a position in `plain` to one in the file. Must be called with rising positions. */
  const inFile = (position: number) => {
    for (let end = plain.indexOf("\n", at); end >= 0 && end < position; end = plain.indexOf("\n", at)) {
      if (text[end + shift] === "\r") shift++
      at = end + 1
    }
    return position + shift
  }
  return findAll(plain, plainOld).map((found) => {
    const [from, to] = [inFile(found), inFile(found + plainOld.length)]
    const first = /\r?\n/.exec(text.slice(from, to))?.[0] ?? usual
    return { from, to, text: plainNew.replaceAll("\n", () => first) }
  })
}

function findAll(text: string, part: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push(at)
  return found
}

function replaceAt(text: string, places: readonly Place[]): string {
  const starts = [0, ...places.map(({ to }) => to)]
  const unchanged = starts.map((from, index) => text.slice(from, places[index]?.from))
  return unchanged.map((each, index) => each + (places[index]?.text ?? "")).join("")
}

const MAX_AROUND = 10_000_000

/** The rest of the lines that contain a text. With the text itself, this is what the diff shows of these lines. */
function linesAround(text: string, places: readonly Place[]): string {
  // With many positions in long lines, the lines would be larger than the file, so the whole file is compared.
  if (places.length * text.length > MAX_AROUND) return text
  const around = places.map(({ from, to }) => {
    const next = text.indexOf("\n", to)
    return [text.slice(text.lastIndexOf("\n", from - 1) + 1, from), text.slice(to, next < 0 ? undefined : next)]
  })
  return JSON.stringify(around)
}

const sum = (places: readonly Place[], of: (place: Place) => number) =>
  places.reduce((total, place) => total + of(place), 0)

/** Replaces a text that occurs exactly once in a file, so that a model that misremembers the file changes nothing. */
export function editFile(ports: ChangePorts): Tool {
  return changeTool(
    {
      name: "edit_file",
      description:
        "Replace a text in a file of the work folder. `old_text` must be exactly what is there, once; take in lines around it until it is unique, or set `all` to replace each of them. Line endings match either way, and the file keeps its own.",
      input: z.strictObject({
        path: z.string().min(1).max(4096),
        old_text: z.string().min(1).max(MAX_WRITTEN),
        new_text: z.string().max(MAX_WRITTEN),
        all: z.boolean().optional().describe("Replace every one of them"),
      }),
      examples: ["replace colour with color in README.md", "in README.md replace colour with color"],
      plan({ path, old_text, new_text, all = false }, look) {
        const { real, before } = look(path)
        if (!before) throw missing(path)
        if (isBinary(before.bytes)) throw fileRefusal(`${displayName(real)} is not text`)
        const text = before.bytes.toString("utf8")
        // Bytes that are not UTF-8 would be changed outside the edited lines.
        if (!Buffer.from(text, "utf8").equals(before.bytes))
          throw fileRefusal(`${displayName(real)} is not UTF-8, so it cannot be edited as text`)
        const places = placesOf(text, old_text, new_text)
        const count = places.length
        // The model sees invisible characters as escapes, but the edit needs the characters themselves.
        if (count === 0 && showHidden(text).includes(old_text))
          throw fileRefusal(
            `${displayName(real)} holds hidden characters there. read_file only counts them (⟨… hidden characters⟩): give a piece of text between them, or write_file the whole file`,
          )
        if (count === 0)
          throw fileRefusal(
            `${displayName(real)} does not hold that text, exactly as given; read_file ${JSON.stringify({ path })} shows what it holds`,
          )
        if (count > 1 && !all)
          throw fileRefusal(
            `${displayName(real)} holds that text ${count} times: give more of what stands around it, or all: true`,
          )
        // A larger file could not be read again, so the edit could not be undone.
        const bytes =
          before.size +
          sum(places, (place) => Buffer.byteLength(place.text)) -
          sum(places, ({ from, to }) => Buffer.byteLength(text.slice(from, to)))
        if (bytes > MAX_REPLACED)
          throw fileRefusal(`${displayName(real)} would have ${bytes} bytes, and at most ${MAX_REPLACED} are written`)
        const after = Buffer.from(replaceAt(text, places), "utf8")
        if (after.equals(before.bytes)) throw fileRefusal("Nothing would change: both texts are the same")
        const where = count === 1 ? "one place" : `${count} places`
        const lines = linesAround(text, places)
        return {
          path: real,
          before,
          after,
          lines,
          summary: `Edit ${displayName(real)} in ${where}`,
          action: "safe_update",
        }
      },
      say: (path) => `${displayName(path)} is changed.`,
    },
    ports,
  )
}
