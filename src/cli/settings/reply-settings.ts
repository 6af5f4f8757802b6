import {
  readSettingWords,
  type ReplySettings,
  ReplySettings as Schema,
} from "../../protocol/conversation/reply-settings.ts"
import { withSettings } from "../../protocol/conversation/with-settings.ts"
import { CommandError } from "../process/command.ts"

export const REPLY_SETTINGS_FORMS = '`effort=low temperature=0.2` or the same as JSON, `{"effort": "low"}`'

/** How models are to reply, as the environment says it; undefined for what says nothing of the kind. */
export function readReplySettings(text: string): ReplySettings | undefined {
  try {
    if (text.startsWith("{")) return Schema.parse(JSON.parse(text))
    return withSettings({}, readSettingWords(text.split(/\s+/)))
  } catch {
    return undefined
  }
}

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
