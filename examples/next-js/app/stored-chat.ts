import type { UIMessage } from "ai"

/** A page of a stored chat. */
export interface StoredChat {
  readonly messages: UIMessage[]
  /** The cursor of the page before; null if there is none. */
  readonly nextCursor: string | null
}

const address = (id: string) => `/ai-sdk/${encodeURIComponent(id)}`

/** Reads the newest messages of a chat, or those before a cursor. Throws an `Error` with the server's answer. */
export async function readChat(id: string, cursor?: string): Promise<StoredChat> {
  const page = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`
  const response = await fetch(`${address(id)}${page}`)
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as StoredChat
}

/** Stops the run of this message, but no later one. Its stream then ends. */
export async function stopRun(id: string, last: UIMessage | undefined): Promise<void> {
  await fetch(`${address(id)}/stop`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ activeStreamId: last?.role === "assistant" ? last.id : undefined }),
  })
}

/** The sentence of an error. Pawl answers refused requests with problem JSON. */
export function describeError(error: Error): string {
  try {
    const { detail } = JSON.parse(error.message) as { readonly detail?: string }
    return detail ?? error.message
  } catch {
    return error.message
  }
}
