import { crc32 } from "node:zlib"

/** A frame of Amazon's event streams: lengths, their checksum, headers, payload, total checksum. */
export function eventFrame(headers: Readonly<Record<string, string>>, payload: unknown): Buffer {
  const named = Object.entries(headers).map(([name, value]) => {
    const [key, text] = [Buffer.from(name), Buffer.from(value)]
    const size = Buffer.alloc(2)
    size.writeUInt16BE(text.length)
    // Type 7 is a string.
    return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7]), size, text])
  })
  const [head, body] = [Buffer.concat(named), Buffer.from(JSON.stringify(payload))]
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + head.length + body.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  const all = Buffer.concat([prelude, sum(prelude), head, body])
  return Buffer.concat([all, sum(all)])
}

function sum(bytes: Buffer): Buffer {
  const written = Buffer.alloc(4)
  written.writeUInt32BE(crc32(bytes))
  return written
}

/** An event of Bedrock's Converse stream, with padding that hides its length. */
export const converseEvent = (type: string, payload: object): Buffer =>
  eventFrame(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    { ...payload, p: "abcdefghij" },
  )

export const converseException = (type: string, message: string): Buffer =>
  eventFrame(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    { message },
  )

type Step = readonly [type: string, payload: object]

export const converseStream = (...steps: readonly Step[]): Buffer =>
  Buffer.concat(steps.map(([type, payload]) => converseEvent(type, payload)))

export const converseUsage: Step = [
  "metadata",
  { usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 }, metrics: { latencyMs: 5 } },
]
