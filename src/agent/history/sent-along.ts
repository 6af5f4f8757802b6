import { type Brought, CLIENT_HISTORY } from "../../protocol/conversation/brought.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import type { MessageId } from "../../protocol/ids.ts"
import type { Conversation } from "../conversation.ts"
import type { MessageInput } from "../input.ts"
import { asOutside } from "../outside-words.ts"

/**
 * What of it the model does not know yet: what stands in its history unchanged is not told again with each message, and a
 * conversation that goes on remembers by itself what was said in it.
 */
function newlyBrought({ brought, seq }: Conversation, given: readonly Brought[] = []): Brought[] {
  return given.filter(({ name, text }) => brought.get(name) !== text && (name !== CLIENT_HISTORY || seq === 0))
}

/** What a message says beside its words, as its event keeps it: only what was said, and what is news. */
export function besideWords(conversation: Conversation, input: MessageInput) {
  const { settings, schema, asks, approves, files = [] } = input
  const brought = newlyBrought(conversation, input.brought)
  return {
    ...(settings ? { settings } : {}),
    ...(schema ? { schema } : {}),
    ...(asks ? { asks } : {}),
    ...(approves === undefined ? {} : { approves }),
    ...(brought.length > 0 ? { brought } : {}),
    ...(files.length > 0 ? { files: [...files] } : {}),
  }
}

/** As the model is shown it: words from outside, between marks that name the message. Nobody who wrote them knew its id. */
export function broughtWords(id: MessageId, given: readonly Brought[]): string {
  const sections = given.map(({ name, text }) => `${name}:\n${text}`)
  return asOutside(id, showHidden(`Sent along by the person's program.\n\n${sections.join("\n\n")}`))
}
