import { type JobRequest, type DocumentAnswer, MORE } from "./document-job.ts"
import { runDocumentJob } from "./run-document-job.ts"

/**
 * A process that reads documents and responses from the web, one after the other. It has no files and no settings: its
 * input arrives on stdin, and it returns portions, each after the previous one was stored.
 */
process.on("disconnect", () => process.exit())

const next = () => new Promise<unknown>((resolve) => process.once("message", resolve))
const input = process.stdin[Symbol.asyncIterator]() as AsyncIterator<Buffer>

// Subscribes before it reports that it is ready, because the job may arrive immediately.
let nextMessage = next()
process.send?.("ready")
for (;;) {
  const { job, bytes } = (await nextMessage) as JobRequest
  for await (const answer of runDocumentJob(job, await take(bytes))) {
    nextMessage = next()
    process.send?.(answer)
    // After the last portion it waits for the next job, above.
    if (!isLast(answer) && (await nextMessage) !== MORE) process.exit(1)
  }
}

function isLast(answer: DocumentAnswer): boolean {
  return answer.type !== "parts" || answer.last
}

async function take(bytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for (let size = 0; size < bytes;) {
    const { value, done } = await input.next()
    if (done) process.exit() // the parent has ended
    chunks.push(value)
    size += value.length
  }
  const [only] = chunks
  // A copy, because the PDF library takes ownership of its buffer.
  return new Uint8Array(only && chunks.length === 1 ? only : Buffer.concat(chunks))
}
