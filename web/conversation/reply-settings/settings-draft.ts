import {
  efforts,
  ReplySettings,
  type ReplySettingsPatch,
  type SettingName,
  settingNames,
} from "../../../src/protocol/index.ts"

/** What stands in the fields: text each, and nothing where nothing is set. */
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

/** What a field takes, for whoever has written something else into it. */
const TAKES: Readonly<Record<SettingName, string>> = {
  effort: `Effort is one of ${efforts.join(", ")}.`,
  thinking: "Thinking is on or off.",
  thinkingTokens: "To think with it may have 1,024 to 1,000,000 tokens: a whole number.",
  temperature: "Temperature is a number from 0 to 2.",
  maxOutputTokens: "The longest answer is 1 to 1,000,000 tokens: a whole number.",
  stop: "It can stop at four texts at most, of 100 characters each.",
  parallelCalls: "It calls several tools at a time, or one.",
}

export type ReadDraft =
  | { readonly settings: ReplySettings; readonly problems?: undefined }
  | { readonly problems: Partial<Record<SettingName, string>> }

/** The settings that are written down, or what is wrong with which. */
export function readSettingsDraft(draft: SettingsDraft): ReadDraft {
  const entries = settingNames.flatMap((name) =>
    draft[name].trim() === "" ? [] : [[name, toValue(name, draft[name])]],
  )
  const read = ReplySettings.safeParse(Object.fromEntries(entries))
  if (read.success) return { settings: read.data }
  const wrong = new Set(read.error.issues.map(({ path }) => path[0] as SettingName))
  return { problems: Object.fromEntries([...wrong].map((name) => [name, TAKES[name]])) }
}

function toValue(name: SettingName, text: string): unknown {
  switch (name) {
    case "stop":
      // A line each, so that one that is itself the end of a line is written as in a program.
      return text.split("\n").flatMap((line) => (line === "" ? [] : [line.replaceAll("\\n", "\n")]))
    case "thinking":
    case "parallelCalls":
      return text === "true"
    case "effort":
      return text
    default:
      // Whoever writes a comma means the same.
      return /^[\d.,]{1,20}$/.test(text.trim()) ? Number(text.trim().replace(",", ".")) : text
  }
}

/** What turns the first into the second; what is not set any more is taken back. */
export function settingsPatch(before: ReplySettings, after: ReplySettings): ReplySettingsPatch {
  const changed = settingNames.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}

/** What is set, in the few words that there is room for. */
export function settingsInShort(settings: ReplySettings): string {
  const { effort, thinking, thinkingTokens, temperature, maxOutputTokens, stop, parallelCalls } = settings
  const words = [
    effort === undefined ? "" : effort === "none" ? "no effort" : `${effort} effort`,
    thinking === undefined ? "" : thinking ? "thinks" : "no thinking",
    thinkingTokens === undefined ? "" : `thinks with ${thinkingTokens.toLocaleString("en")}`,
    temperature === undefined ? "" : `temperature ${temperature}`,
    maxOutputTokens === undefined ? "" : `at most ${maxOutputTokens.toLocaleString("en")} tokens`,
    stop === undefined ? "" : "stops early",
    parallelCalls === undefined ? "" : parallelCalls ? "calls together" : "one call at a time",
  ]
  return words.filter((each) => each !== "").join(" · ")
}
