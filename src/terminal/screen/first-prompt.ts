import type { ReadStream, WriteStream } from "node:tty"

const PROMPT = "> "
const OPENING = "opening …"

/**
 * The prompt before there is anything to draw it with: Ink takes longer to load than Node to start. Keys that are pressed
 * meanwhile wait in the terminal, unseen, and Ink reads them. Gives what makes room for the real one, which looks the same.
 */
export function drawFirstPrompt(stdin: ReadStream, stdout: WriteStream): () => void {
  stdin.setRawMode(true)
  stdout.write(`\n${PROMPT}\n${OPENING}\x1b[1A\r\x1b[${PROMPT.length}C`)
  return () => void stdout.write("\x1b[1A\r\x1b[J")
}
