import { DIM, line } from "../line.ts"
import { toShown } from "../shown.ts"
import type { Talk } from "./talk.ts"

interface Talking {
  readonly talk: Talk
}

/** `/fallback`: who answers where the model is out of reach, overloaded or out of quota. */
export async function fallbackCommand({ talk }: Talking, words: string): Promise<void> {
  if (words === "") return show({ talk })
  const names = words.split(/[\s,]+/).filter((name) => name !== "")
  const fallback = words === "usual" ? null : words === "none" ? [] : names
  const { conversation, client } = talk
  if (conversation) await client.changeConversation({ params: { id: conversation.id }, body: { fallback } })
  talk.choices = { ...talk.choices, fallback }
  if (fallback === null) return talk.print(line("Who answers instead is the server's choice again.", DIM))
  if (fallback.length === 0) return talk.print(line("Nobody answers instead of the model.", DIM))
  talk.print(line(`Where the model cannot answer: ${toShown(fallback.join(", then "))}`, DIM))
}

async function show({ talk }: Talking): Promise<void> {
  const { conversation } = talk
  const told = conversation && (await talk.client.readModel({ params: { id: conversation.id } })).fallback
  const models = told?.models ?? talk.choices.fallback ?? []
  const who =
    models.length > 0 ? `Where the model cannot answer: ${models.join(", then ")}.` : "Nobody answers instead."
  const whose = told && told.from !== "conversation" ? ` That is how the ${told.from} has it.` : ""
  talk.print(line(toShown(who + whose)))
  talk.print(line("/fallback NAME, NAME chooses them; none: nobody; usual: as the server has it.", DIM))
}
