import type { UnknownFrame } from "../../protocol/frames.ts"
import type { UiChunk } from "./chunks.ts"
import type { RunChunks } from "./run-chunks.ts"

/** By which clients know that they are told a message and no plain text. */
export const UI_STREAM_HEADER = { "x-vercel-ai-ui-message-stream": "v1" }

/** A run as the events of a UI message stream. */
export class UiStream {
  readonly #chunks: RunChunks

  constructor(chunks: RunChunks) {
    this.#chunks = chunks
  }

  get isOver(): boolean {
    return this.#chunks.isOver
  }

  translate(frame: UnknownFrame): string[] {
    const told = this.#chunks.read(frame).map(toEvent)
    return this.isOver ? [...told, "data: [DONE]\n\n"] : told
  }
}

const toEvent = (chunk: UiChunk): string => `data: ${JSON.stringify(chunk)}\n\n`
