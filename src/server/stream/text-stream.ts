import type { UnknownFrame } from "../../protocol/frames.ts"
import { type FrameSource, SIGN_OF_LIFE } from "./event-stream.ts"
import type { KeepAlive } from "./keep-alive.ts"

/** What the frames of a run are in another's words: texts to be sent as they are. */
export interface Translation {
  translate(frame: UnknownFrame): readonly string[]
  /** It has come to its end, good or bad. */
  readonly isOver: boolean
}

const encoder = new TextEncoder()

/** A run in another's words, pulled as fast as its listener reads; a comment whenever nothing was said for a while. */
export function toTextStream(
  source: FrameSource,
  translation: Translation,
  pulse: KeepAlive,
): ReadableStream<Uint8Array> {
  let leavePulse = () => {}
  let quiet = false
  const end = () => {
    leavePulse()
    source.close()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      leavePulse = pulse.join(() => {
        if (quiet && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(SIGN_OF_LIFE))
        quiet = true
      })
    },
    async pull(controller) {
      try {
        for (;;) {
          const frames = translation.isOver ? undefined : await source.next()
          // Broken off by us: a listener that found a proper end would take half an answer for a whole one.
          if (!frames && !translation.isOver) throw new Error("the answer broke off")
          const text = (frames ?? []).flatMap((frame) => translation.translate(frame)).join("")
          quiet = false
          if (text !== "") return controller.enqueue(encoder.encode(text))
          if (frames) continue
          end()
          return controller.close()
        }
      } catch (error) {
        end()
        throw error
      }
    },
    cancel: end,
  })
}
