import { attempt } from "../../parts/explain.ts"
import { client } from "../../state/client.ts"

/** What a person may write in the place of words, as in the terminal. */
export const COMPACT = "/compact"

/** Has what was said summed up: now, or before the next reply. A line in the conversation tells when it is done. */
export const sumUp = (id: string): Promise<boolean> => attempt(() => client.compactConversation({ params: { id } }))
