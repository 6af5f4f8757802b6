import type { UnknownFrame } from "../../../protocol/frames.ts"
import type { FrameSource } from "../../stream/event-stream.ts"

const encoder = new TextEncoder()

/** `data:` lines and nothing else, not even comments: clients of the dialect take every line for one. */
export function toDataStream(
  source: FrameSource,
  translate: (frame: UnknownFrame) => readonly object[],
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const frames = await source.next()
          if (!frames) {
            source.close()
            return controller.close()
          }
          const lines = frames.flatMap(translate).map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
          if (lines.length > 0) return controller.enqueue(encoder.encode(lines.join("")))
        }
      } catch (error) {
        source.close()
        throw error
      }
    },
    cancel: () => source.close(),
  })
}
