import type { ReadStream, WriteStream } from "node:tty"
import { chatText } from "../../strings/chat.ts"

const ERASE_DOWN = "\x1b[J"

/**
 * Erases from the beginning of the cursor's line to the end of the screen. tmux takes the plain sequence in the first column of the
 * first row for a cleared screen and moves what stood there into its scrollback: a card that was decided, or a frame that
 * was drawn anew. So the line is erased first, and the rest from its second column.
 */
export const ERASE_BELOW = `\x1b[2K\x1b[1C${ERASE_DOWN}\x1b[1D`

/** The same stream for Ink, which erases from the first column only. */
export function erasingQuietly(stdout: WriteStream): WriteStream {
  return new Proxy(stdout, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      if (name !== "write") return value.bind(target) as unknown
      return (chunk: unknown, ...rest: unknown[]) =>
        (value as (...given: unknown[]) => boolean).call(target, quiet(chunk), ...rest)
    },
  })
}

const quiet = (chunk: unknown): unknown =>
  typeof chunk === "string" ? chunk.replaceAll(ERASE_DOWN, ERASE_BELOW) : chunk

const PROMPT = "> "

/**
 * The prompt before there is anything to draw it with: Ink takes longer to load than Node to start. Keys that are pressed
 * meanwhile wait in the terminal, unseen, and Ink reads them. Gives what makes room for the real one, which looks the same.
 */
export function drawFirstPrompt(stdin: ReadStream, stdout: WriteStream): () => void {
  stdin.setRawMode(true)
  stdout.write(`\n${PROMPT}\n${chatText.opening}\x1b[1A\r\x1b[${PROMPT.length}C`)
  return () => void stdout.write(`\x1b[1A\r${ERASE_BELOW}`)
}
