import type { ReadStream, WriteStream } from "node:tty"
import { chatText } from "../../strings/chat.ts"

const ERASE_DOWN = "\x1b[J"

/**
 * Erases from the start of the cursor's line to the end of the screen. In the first column of the first row tmux reads
 * the plain sequence as a cleared screen and moves its content into the scrollback, for example a card that was
 * decided. So the line is erased first, then the rest from its second column.
 */
export const ERASE_BELOW = `\x1b[2K\x1b[1C${ERASE_DOWN}\x1b[1D`

/** The stream for Ink, which erases from the first column only. */
export function erasingForTmux(stdout: WriteStream): WriteStream {
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
 * Draws a prompt before Ink is loaded, which takes longer than starting Node. Keys that are pressed in the meantime
 * wait in the terminal until Ink reads them. Returns a function that makes room for the real prompt, which looks the
 * same.
 */
export function drawFirstPrompt(stdin: ReadStream, stdout: WriteStream): () => void {
  stdin.setRawMode(true)
  stdout.write(`\n${PROMPT}\n${chatText.opening}\x1b[1A\r\x1b[${PROMPT.length}C`)
  return () => void stdout.write(`\x1b[1A\r${ERASE_BELOW}`)
}
