import {
  type FeedFrame,
  feedFrames,
  type FeedFrameType,
  type Frame,
  type FrameType,
  frames,
  type UnknownFrame,
} from "../core/protocol/frames.ts"

const schemas = { ...frames, ...feedFrames }

/**
 * Returns true if a frame has this type and valid data. A frame of a newer server with the same type but other data
 * returns false; show it unchanged or ignore it.
 */
export function isFrame<Type extends FrameType>(frame: UnknownFrame, type: Type): frame is Frame<Type>
export function isFrame<Type extends FeedFrameType>(frame: UnknownFrame, type: Type): frame is FeedFrame<Type>
export function isFrame(frame: UnknownFrame, type: FrameType | FeedFrameType): boolean {
  return frame.type === type && schemas[type].safeParse(frame.data).success
}

/** Returns the frame with its type; undefined if this build does not know it. */
export function toKnownFrame(frame: UnknownFrame): Frame | undefined {
  if (!Object.hasOwn(frames, frame.type)) return undefined
  const parsed = frames[frame.type as FrameType].safeParse(frame.data)
  return parsed.success ? ({ ...frame, data: parsed.data } as Frame) : undefined
}
