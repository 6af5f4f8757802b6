import {
  readSettingWords,
  type ReplySettings,
  ReplySettings as Schema,
} from "../../protocol/conversation/reply-settings.ts"
import { withSettings } from "../../protocol/conversation/with-settings.ts"
import { readBy } from "./kinds.ts"
import { setting } from "./setting.ts"
import { CommandError } from "../process/command.ts"

const FORMS = '`effort=low temperature=0.2` or the same as JSON, `{"effort": "low"}`'

/** How models are to reply, as the environment says it; undefined for what says nothing of the kind. */
function readReplySettings(text: string): ReplySettings | undefined {
  try {
    if (text.startsWith("{")) return Schema.parse(JSON.parse(text))
    return withSettings({}, readSettingWords(text.split(/\s+/)))
  } catch {
    return undefined
  }
}

/** What counts where neither agent, conversation nor message says otherwise. */
export const replySetting = setting(readBy(readReplySettings, FORMS), {
  says: "How models reply where neither agent, conversation nor message says otherwise: `effort`, `thinking`, `thinkingTokens`, `temperature`, `maxOutputTokens`, `stop`, `parallelCalls`. A model that does not know one is asked without it.",
  usually: {},
  usuallyInWords: "as the model's provider would",
})

/** The same of a command's `--set name=value`, given once or several times. */
export function settingsOfFlags(given: readonly string[] | undefined): ReplySettings | undefined {
  if (given === undefined) return undefined
  try {
    return withSettings({}, readSettingWords(given))
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError(`--set: ${error.message}`)
    throw error
  }
}
