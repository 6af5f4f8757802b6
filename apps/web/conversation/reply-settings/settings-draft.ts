import type { Item } from "../../../../client/index.ts"
import {
  LeftOut,
  type ListedModel,
  ReplySettings,
  type ReplySettingsPatch,
  type SettingName,
  efforts,
  settingNames,
} from "../../../../core/protocol/index.ts"
import { t } from "../../strings/strings.ts"

/** The contents of the fields as text; empty if not set. */
export type SettingsDraft = Readonly<Record<SettingName, string>>

export function toSettingsDraft(settings: ReplySettings): SettingsDraft {
  const text = (name: SettingName): string => {
    const value = settings[name]
    if (Array.isArray(value)) return value.map((each: string) => each.replaceAll("\n", "\\n")).join("\n")
    return value === undefined ? "" : String(value)
  }
  return Object.fromEntries(settingNames.map((name) => [name, text(name)])) as SettingsDraft
}

export const emptySettings: SettingsDraft = toSettingsDraft({})

/** The allowed values of a field, for its error message. */
const TAKES: Readonly<Record<SettingName, () => string>> = {
  effort: () => t("conversation.takesEffort", { values: efforts.join(", ") }),
  thinking: () => t("conversation.takesThinking"),
  thinkingTokens: () => t("conversation.takesThinkingTokens", { min: 1024, max: 1_000_000 }),
  temperature: () => t("conversation.takesTemperature"),
  maxOutputTokens: () => t("conversation.takesMaxOutput", { min: 1, max: 1_000_000 }),
  stop: () => t("conversation.takesStop"),
  parallelCalls: () => t("conversation.takesParallelCalls"),
}

export type ReadDraft =
  | { readonly settings: ReplySettings; readonly problems?: undefined }
  | { readonly problems: Partial<Record<SettingName, string>> }

/** Parses the fields, or returns the errors by field. */
export function readSettingsDraft(draft: SettingsDraft): ReadDraft {
  const entries = settingNames.flatMap((name) =>
    draft[name].trim() === "" ? [] : [[name, toValue(name, draft[name])]],
  )
  const read = ReplySettings.safeParse(Object.fromEntries(entries))
  if (read.success) return { settings: read.data }
  const wrong = new Set(read.error.issues.map(({ path }) => path[0] as SettingName))
  return { problems: Object.fromEntries([...wrong].map((name) => [name, TAKES[name]()])) }
}

function toValue(name: SettingName, text: string): unknown {
  switch (name) {
    case "stop":
      // One per line, so that a line break can be written as `\n`.
      return text.split("\n").flatMap((line) => (line === "" ? [] : [line.replaceAll("\\n", "\n")]))
    case "thinking":
    case "parallelCalls":
      return text === "true"
    case "effort":
      return text
    default:
      // A comma is accepted as the decimal separator.
      return /^[\d.,]{1,20}$/.test(text.trim()) ? Number(text.trim().replace(",", ".")) : text
  }
}

/** The patch from the first to the second; settings that are gone become null. */
export function settingsPatch(before: ReplySettings, after: ReplySettings): ReplySettingsPatch {
  const changed = settingNames.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

/** The settings as a short text. */
export function settingsInShort(settings: ReplySettings): string {
  const { effort, thinking, thinkingTokens, temperature, maxOutputTokens, stop, parallelCalls } = settings
  const words = [
    effort === undefined ? "" : t("conversation.shortEffort", { effort }),
    thinking === undefined ? "" : t(thinking ? "conversation.shortThinking" : "conversation.shortNoThinking"),
    thinkingTokens === undefined ? "" : t("conversation.shortThinkingTokens", { count: thinkingTokens }),
    temperature === undefined ? "" : t("conversation.shortTemperature", { value: temperature }),
    maxOutputTokens === undefined ? "" : t("conversation.shortMaxOutput", { count: maxOutputTokens }),
    stop === undefined ? "" : t("conversation.shortStop"),
    parallelCalls === undefined ? "" : t(parallelCalls ? "conversation.shortParallel" : "conversation.shortOneCall"),
  ]
  return words.filter((each) => each !== "").join(" · ")
}

/** Notes on what the chosen model does with each setting. */
export type SettingNotes = Partial<Record<SettingName, string>>

const THINKING: readonly SettingName[] = ["effort", "thinking", "thinkingTokens"]

/** Settings that the model ignores: from its facts, and from the steps of this conversation. */
export function settingNotes(model: ListedModel | undefined, items: readonly Item[]): SettingNotes {
  const notes: SettingNotes = {}
  if (model?.can && !model.can.reasoning) {
    const isAssumed = model.sources?.reasoning === "assumed"
    const says = t(isAssumed ? "conversation.noteThinkingUnknown" : "conversation.noteNoThinking")
    for (const name of THINKING) notes[name] = says
  }
  if (model?.can && !model.can.tools) notes.parallelCalls = t("conversation.noteNoTools")
  for (const item of items) {
    const left = item.type === "step" && item.step === "left_out" ? LeftOut.safeParse(item.detail).data : undefined
    if (left?.model !== model?.name) continue
    for (const { name, because } of left?.settings ?? [])
      notes[name as SettingName] = t("conversation.noteIgnored", { reason: because })
  }
  return notes
}
