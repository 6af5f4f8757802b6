import type { ReplySettings, ReplySettingsPatch } from "./reply-settings.ts"

/** One over the other: what the second says counts, and its null takes away what the first did. */
export function withSettings(first: ReplySettings, second: ReplySettingsPatch | undefined): ReplySettings {
  if (second === undefined || Object.keys(second).length === 0) return first
  const entries = Object.entries({ ...first, ...second }).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries)
}

/** Settings as a person says them: `effort=low temperature=0.2`. */
export function settingWords(settings: ReplySettings): string {
  const words = Object.entries(settings).flatMap(([name, value]) => {
    const all = Array.isArray(value) ? value : [typeof value === "boolean" ? (value ? "on" : "off") : value]
    return all.map((each) => `${name}=${String(each)}`)
  })
  return words.join(" ")
}
