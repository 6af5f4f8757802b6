import { type JobRequest, type DocumentAnswer, MORE } from "./document-job.ts"
import { runDocumentJob } from "./run-document-job.ts"

/**
 * A process that reads documents and answers from the web, one after the other. It has no file and no settings: what it reads comes
 * through its input, and goes back in portions, each when the one before was put away.
 */
process.on("disconnect", () => process.exit())

const next = () => new Promise<unknown>((resolve) => process.once("message", resolve))
const input = process.stdin[Symbol.asyncIterator]() as AsyncIterator<Buffer>

// It listens before it speaks: the answer may come at once.
let heard = next()
process.send?.("ready")
for (;;) {
  const { job, bytes } = (await heard) as JobRequest
  for await (const answer of runDocumentJob(job, await take(bytes))) {
    heard = next()
    process.send?.(answer)
    // With the last the next job is waited for, above.
    if (!isLast(answer) && (await heard) !== MORE) process.exit(1)
  }
}

function isLast(answer: DocumentAnswer): boolean {
  return answer.type !== "parts" || answer.last
}

async function take(bytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for (let size = 0; size < bytes;) {
    const { value, done } = await input.next()
    if (done) process.exit() // the parent is gone
    chunks.push(value)
    size += value.length
  }
  const [only] = chunks
  // A copy of its own: what reads PDFs takes over the memory that it is given.
  return new Uint8Array(only && chunks.length === 1 ? only : Buffer.concat(chunks))
}
