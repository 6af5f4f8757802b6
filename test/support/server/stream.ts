import { parseCursor } from "../../../core/protocol/cursor.ts"
import { feedFrames, frames as schemas, type FrameType } from "../../../core/protocol/frames.ts"

export interface SeenFrame {
  readonly id: string
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into it freely
  readonly data: any
}

/** The frames in a text of server-sent events, those that are whole; each fits its schema. */
export function framesIn(text: string): SeenFrame[] {
  const blocks = text.split("\n\n").slice(0, -1)
  return blocks.flatMap((block) => {
    const fields = block.split("\n").filter((line) => !line.startsWith(":"))
    if (fields.length === 0) return []
    const field = (name: string) => fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ""
    const frame = { id: field("id"), type: field("event"), data: JSON.parse(field("data")) as unknown }
    const schema = { ...schemas, ...feedFrames }[frame.type as FrameType]
    if (!schema) throw new Error(`no schema for ${frame.type}`)
    schema.parse(frame.data)
    if (!parseCursor(frame.id)) throw new Error(`${frame.type} has the id "${frame.id}"`)
    return [frame]
  })
}

/** Reads a stream until `enough`, or to its end. */
export async function readFrames(response: Response, enough: (seen: SeenFrame[]) => boolean): Promise<SeenFrame[]> {
  if (!response.body || response.status !== 200) throw new Error(await response.text())
  let text = ""
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (enough(framesIn(text))) break
  }
  return framesIn(text)
}

/** Whether the run has ended. A title that is set after the run may arrive in the same chunk. */
export const isOver = (seen: readonly SeenFrame[]): boolean =>
  ["done", "error"].includes(seen.findLast(({ type }) => type !== "settings")?.type ?? "")

/** The rows among frames, and for each reply the text that was shown before it. */
export function transcriptOf(frames: readonly SeenFrame[]): { rows: SeenFrame[]; shown: string[] } {
  const rows: SeenFrame[] = []
  const shown: string[] = []
  let text = ""
  for (const frame of frames) {
    if (frame.type === "text_delta") text += frame.data.text
    else if (["usage", "done", "error"].includes(frame.type)) continue
    else {
      if (frame.type === "message" && frame.data.message.role === "assistant") shown.push(text)
      text = ""
      rows.push(frame)
    }
  }
  return { rows, shown }
}
