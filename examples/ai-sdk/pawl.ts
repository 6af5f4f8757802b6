import type { UIMessage } from "ai"

/** What the page asks Pawl for beside the stream that `useChat` asks for. */

export interface ToldChat {
  readonly messages: UIMessage[]
  /** Leads to what was said before these. */
  readonly nextCursor: string | null
}

const address = (id: string) => `/ai-sdk/${encodeURIComponent(id)}`
export const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })

export async function readChat(id: string, token: string, cursor?: string): Promise<ToldChat> {
  const page = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`
  const response = await fetch(`${address(id)}${page}`, { headers: headersOf(token) })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as ToldChat
}

/** Stops the run, and none that has begun since. Its stream says so, and ends. */
export async function stopRun(id: string, token: string, last: UIMessage | undefined): Promise<void> {
  await fetch(`${address(id)}/stop`, {
    method: "POST",
    headers: { ...headersOf(token), "content-type": "application/json" },
    body: JSON.stringify({ activeStreamId: last?.role === "assistant" ? last.id : undefined }),
  })
}

/** What is wrong, in words: what Pawl refuses comes as a problem in JSON. */
export function wordsOf(error: Error): string {
  try {
    const { detail } = JSON.parse(error.message) as { readonly detail?: string }
    return detail ?? error.message
  } catch {
    return error.message
  }
}
