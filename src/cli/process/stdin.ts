import { CommandError } from "./command.ts"

const MAX_BYTES = 1024 * 1024
const PATIENCE_MS = 3000

/** What is piped in, or nothing where a person sits at a terminal. */
export async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) return ""
  // Whoever starts us may have left its end of the pipe open; without a word that would look like a hang.
  const hint = setTimeout(
    () => process.stderr.write("reading standard input to its end; `< /dev/null` skips it\n"),
    PATIENCE_MS,
  )
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    size += (chunk as Buffer).length
    if (size > MAX_BYTES) throw new CommandError(`What comes in on standard input is larger than ${MAX_BYTES} bytes.`)
    chunks.push(chunk as Buffer)
  }
  clearTimeout(hint)
  return Buffer.concat(chunks).toString("utf8").trim()
}
