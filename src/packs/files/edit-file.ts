import { z } from "zod"
import type { Tool } from "../../agent/definition/tool.ts"
import { lazily } from "../../protocol/lazily.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import { type ChangePorts, changeTool } from "./change-tool.ts"
import { fileRefusal } from "./folder/folder.ts"
import { missing } from "./folder/local-folder.ts"
import { MAX_REPLACED } from "./folder/local-writes.ts"
import { filePhrase } from "./phrase.ts"
import { isBinary } from "./read-file.ts"
import { shown } from "./folder/shown.ts"
import { MAX_WRITTEN } from "./write-file.ts"

function countOf(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** Replaces a text that stands in a file exactly once: a model that misremembers what is there changes nothing. */
export function editFile(ports: ChangePorts): Tool {
  return changeTool(
    {
      name: "edit_file",
      description:
        "Replace a text in a file of the work folder. `old_text` must be exactly what is there, once; take in lines around it until it is unique, or set `all` to replace each of them.",
      input: lazily(() =>
        z.strictObject({
          path: z.string().min(1).max(4096),
          old_text: z.string().min(1).max(MAX_WRITTEN),
          new_text: z.string().max(MAX_WRITTEN),
          all: z.boolean().optional().describe("Replace every one of them"),
        }),
      ),
      phrases: [
        filePhrase(
          "(?:replace|change)(?<all> all| every)? (?<old>.+?) (?:with|by|to) (?<text>.+) in (?<path>[^ ]+)",
          "replace colour with color in README.md",
          (said) => ({
            path: said("path"),
            old_text: said("old"),
            new_text: said("text"),
            all: said("all") !== "" || undefined,
          }),
        ),
        filePhrase(
          "in (?<path>[^ ]+),? (?:replace|change) (?<old>.+?) (?:with|by|to) (?<text>.+)",
          "in README.md replace colour with color",
          (said) => ({ path: said("path"), old_text: said("old"), new_text: said("text") }),
        ),
      ],
      plan({ path, old_text, new_text, all = false }, look) {
        const { real, before } = look(path)
        if (!before) throw missing(path)
        if (isBinary(before.bytes)) throw fileRefusal(`${shown(real)} is no text`)
        const text = before.bytes.toString("utf8")
        // What is no UTF-8 would come back changed where nobody has looked.
        if (!Buffer.from(text, "utf8").equals(before.bytes))
          throw fileRefusal(`${shown(real)} is not UTF-8, so it cannot be edited as text`)
        const count = countOf(text, old_text)
        // A model is shown how many characters hide there; what is edited is the file as it is.
        if (count === 0 && showHidden(text).includes(old_text))
          throw fileRefusal(
            `${shown(real)} holds hidden characters there, which read_file only counts (⟨… hidden characters⟩): give a piece of text between them, or write_file the whole file`,
          )
        if (count === 0)
          throw fileRefusal(
            `${shown(real)} does not hold that text, exactly as given; read_file ${JSON.stringify({ path })} shows what it holds`,
          )
        if (count > 1 && !all)
          throw fileRefusal(
            `${shown(real)} holds that text ${count} times: give more of what stands around it, or all: true`,
          )
        if (old_text === new_text) throw fileRefusal("Nothing would change: both texts are the same")
        // What is larger could not be read again, and so not be taken back.
        const bytes = before.size + count * (Buffer.byteLength(new_text) - Buffer.byteLength(old_text))
        if (bytes > MAX_REPLACED)
          throw fileRefusal(`${shown(real)} would have ${bytes} bytes, and at most ${MAX_REPLACED} are written`)
        const after = Buffer.from(
          text.replaceAll(old_text, () => new_text),
          "utf8",
        )
        const places = count === 1 ? "one place" : `${count} places`
        return { path: real, before, after, summary: `Edit ${shown(real)} in ${places}`, action: "safe_update" }
      },
      say: (path) => `${shown(path)} is changed.`,
    },
    ports,
  )
}
