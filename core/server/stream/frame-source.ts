import type { UserId } from "../../protocol/ids.ts"

export interface SentFrame {
  readonly id: string
  readonly type: string
  readonly data: unknown
}

/** Frames in batches, pulled by the reader. */
export interface FrameSource<Frame extends SentFrame = SentFrame> {
  /** Undefined at the end. */
  next(): Promise<readonly Frame[] | undefined>
  close(): void
}

/** A source that others may end, not only its reader. */
export interface OpenSource<Frame extends SentFrame = SentFrame> extends FrameSource<Frame> {
  /** The person who watches. */
  readonly user: UserId
  /** Set by the reader: called when the credential is no longer valid, or the server shuts down. */
  onEnded?: () => void
}

/** A source that can announce frames before they are taken, so that a reader without room need not buffer them. */
export interface WaitingSource<Frame extends SentFrame = SentFrame> {
  /** Resolves when there may be frames; false at the end. */
  wait(): Promise<boolean>
  /** The available frames, possibly none. */
  take(): Promise<readonly Frame[]>
  close(): void
}
