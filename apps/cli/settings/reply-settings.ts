import {
  parseSettings,
  type ReplySettings,
  ReplySettings as Schema,
  withSettings,
} from "../../../core/protocol/conversation/reply-settings.ts"
import { readBy } from "./kinds.ts"
import { setting } from "./setting.ts"
import { CommandError } from "../process/command.ts"
import { optionText } from "../../strings/exec.ts"

const FORMS = '`effort=low temperature=0.2` or the same as JSON, `{"effort": "low"}`'

/** Parses reply settings; undefined if the text is not valid. */
function readReplySettings(text: string): ReplySettings | undefined {
  try {
    if (text.startsWith("{")) return Schema.parse(JSON.parse(text))
    return withSettings({}, parseSettings(text.split(/\s+/)))
  } catch {
    return undefined
  }
}

/** The default where neither agent, conversation nor message says otherwise. */
export const replySetting = setting(readBy(readReplySettings, FORMS), {
  description:
    "Default reply settings, for agents, conversations and messages without their own: `effort`, `thinking`, `thinkingTokens`, `temperature`, `maxOutputTokens`, `stop`, `parallelCalls`. Settings that a model does not support are left out.",
  defaultValue: {},
  defaultText: "the defaults of the model's provider",
})

/** The same for the options `--set name=value` of a command. */
export function settingsOfFlags(given: readonly string[] | undefined): ReplySettings | undefined {
  if (given === undefined) return undefined
  try {
    return withSettings({}, parseSettings(given))
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError(optionText.badSetting(error.message))
    throw error
  }
}
