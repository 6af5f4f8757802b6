import type { UiPart } from "../../protocol/dialects/ai-sdk.ts"
import type { Message } from "../../protocol/conversation/message.ts"

/** A person's words as parts of a message: their files first, as `sendMessage` puts them. */
export function toUserParts({ content, files = [] }: Pick<Message, "content" | "files">): UiPart[] {
  const named = files.map(({ id, name, type }) => ({
    ...{ type: "file", mediaType: type, filename: name, url: `/api/files/${id}` },
  }))
  return [...named, { type: "text", text: content }]
}
