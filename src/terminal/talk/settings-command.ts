import { readSettingWords } from "../../protocol/conversation/reply-settings.ts"
import { settingWords, withSettings } from "../../protocol/conversation/with-settings.ts"
import { DIM, type Line, line } from "../line.ts"
import { toShown } from "../shown.ts"
import type { Talk } from "./talk.ts"

const HOW = "/settings effort=low temperature=0.2 sets some; effort=default takes one back."

/** How the model replies in this conversation: shows it, or sets it with words such as `effort=low`. */
export async function settingsCommand({ talk }: { readonly talk: Talk }, words: string): Promise<void> {
  if (words === "") return talk.print(shownSettings(talk), line(HOW, DIM))
  let given: ReturnType<typeof readSettingWords>
  try {
    given = readSettingWords(words.split(/\s+/))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return talk.print(line(`! ${toShown(error.message)}`))
  }
  const { conversation, choices } = talk
  if (conversation) await talk.client.changeConversation({ params: { id: conversation.id }, body: { settings: given } })
  talk.choices = { ...choices, settings: withSettings(settingsNow(talk), given) }
  talk.print(shownSettings(talk, talk.choices.settings))
}

/** Those of the conversation, or what one will begin with. */
const settingsNow = ({ conversation, choices }: Talk) => conversation?.transcript.settings ?? choices.settings ?? {}

function shownSettings(talk: Talk, settings = settingsNow(talk)): Line {
  const said = settingWords(settings)
  return line(said === "" ? "Settings: as the server and the agent say." : `Settings: ${toShown(said)}`, DIM)
}
