import { expect, test } from "vitest"
import { converseStream, converseUsage } from "./event-frames.fixture.ts"
import { framedFetch } from "./event-frames.ts"

const frames = [converseStream(["messageStart", { role: "assistant" }]), converseStream(converseUsage)]

/** The frames as they are handed on, of bytes that come like this. */
async function read(pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void) {
  const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
  const response = await framedFetch(async () => new Response(body))("http://x")
  return await Array.fromAsync(response.body ?? [], (each) => Buffer.from(each))
}

test("frames that arrive a byte at a time retain no chunks", async () => {
  const bytes = Buffer.concat(frames)
  const piece = new Uint8Array(1)
  let at = 0
  const found = await read((controller) => {
    if (at === bytes.length) return controller.close()
    // The same buffer each time: a reader that stored it would see the last byte everywhere.
    piece.set(bytes.subarray(at, ++at))
    controller.enqueue(piece)
  })
  expect(found).toEqual(frames)
})

test("passed on frames do not change while more arrive", async () => {
  const [one, other] = frames as [Buffer, Buffer]
  const pieces = [Buffer.concat([one, other.subarray(0, 5)]), other.subarray(5, 9), other.subarray(9)]
  const found = await read((controller) => {
    const piece = pieces.shift()
    return piece ? controller.enqueue(piece) : controller.close()
  })
  expect(found).toEqual(frames)
})
