import { createReadStream } from "node:fs"
import { failure } from "../../protocol/errors.ts"

const MAX_CHARACTERS = 16 * 1024 * 1024

/**
 * The lines of a file of any size, one by one. What goes wrong while it is read is thrown where it is waited for: as an
 * event of a stream that nobody listens to it would end the process.
 */
export async function* linesIn(file: string): AsyncGenerator<string> {
  let rest = ""
  for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: 1024 * 1024 })) {
    const lines = (rest + (chunk as string)).split("\n")
    rest = lines.pop() ?? ""
    if (rest.length > MAX_CHARACTERS)
      throw failure("document_too_large", { what: "A line of it", most: `${MAX_CHARACTERS} characters` })
    yield* lines
  }
  if (rest !== "") yield rest
}
