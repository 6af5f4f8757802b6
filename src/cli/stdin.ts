import { CommandError } from "./command.ts"

const MAX_BYTES = 1024 * 1024

/** What is piped in, or nothing where a person sits at a terminal. */
export async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) return ""
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    size += (chunk as Buffer).length
    if (size > MAX_BYTES) throw new CommandError(`What comes in on standard input is larger than ${MAX_BYTES} bytes.`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString("utf8").trim()
}
