import {
  type FeedFrame,
  feedFrames,
  type FeedFrameType,
  type Frame,
  type FrameType,
  frames,
  type UnknownFrame,
} from "../protocol/frames.ts"

const schemas = { ...frames, ...feedFrames }

/**
 * Whether a frame is of this type and says what such a frame says. One of a newer server that only bears the name is
 * not: it is to be shown as it is, or passed over (LOOP-12).
 */
export function isFrame<Type extends FrameType>(frame: UnknownFrame, type: Type): frame is Frame<Type>
export function isFrame<Type extends FeedFrameType>(frame: UnknownFrame, type: Type): frame is FeedFrame<Type>
export function isFrame(frame: UnknownFrame, type: FrameType | FeedFrameType): boolean {
  return frame.type === type && schemas[type].safeParse(frame.data).success
}

/** The frame with its type, where this build knows it; undefined for one of a newer server. */
export function toKnownFrame(frame: UnknownFrame): Frame | undefined {
  if (!Object.hasOwn(frames, frame.type)) return undefined
  const parsed = frames[frame.type as FrameType].safeParse(frame.data)
  return parsed.success ? ({ ...frame, data: parsed.data } as Frame) : undefined
}
