import type { ConversationId } from "../protocol/ids.ts"
import { STREAM_HEADERS } from "../server/stream/event-stream.ts"
import type { PartialAnswer } from "./partial-answer.ts"
import type { PawlEvent, PersonalParts } from "./parts.ts"

/**
 * Converts the events of a run to the response that `useChat` of the AI SDK reads. The run continues if the client
 * disconnects.
 */
export function toUIMessageStreamResponse(
  parts: PersonalParts,
  events: AsyncIterable<PawlEvent | PartialAnswer>,
  init: ResponseInit = {},
): Response {
  const encoder = new TextEncoder()
  const texts = uiMessageEvents(parts, events)
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await texts.return(undefined)
    },
  })
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(STREAM_HEADERS)) headers.set(name, value)
  headers.set("x-vercel-ai-ui-message-stream", "v1")
  return new Response(body, { ...init, headers })
}

async function* uiMessageEvents(
  parts: PersonalParts,
  events: AsyncIterable<PawlEvent | PartialAnswer>,
): AsyncGenerator<string, void, undefined> {
  const [{ UiStream }, { RunChunks }] = await Promise.all([
    import("../../adapters/ai-sdk/stream-run.ts"),
    import("../../adapters/ai-sdk/run-chunks.ts"),
  ])
  let stream: InstanceType<typeof UiStream> | undefined
  for await (const event of events) {
    // The first event of a run names it, and its row names the conversation.
    if (!stream && event.type === "run_started")
      stream = new UiStream(new RunChunks(await conversationOfRun(parts, event.data.runId)))
    const text = stream?.translate(event).join("")
    if (text) yield text
    if (stream?.isOver) return
  }
  yield "data: [DONE]\n\n" // sub-agents wait for a decision: the run has not ended
}

async function conversationOfRun(parts: PersonalParts, id: Parameters<typeof parts.store.conversations.run>[1]) {
  const run = await parts.store.conversations.run(await parts.user(), id)
  return (run?.conversationId ?? "") as ConversationId
}
