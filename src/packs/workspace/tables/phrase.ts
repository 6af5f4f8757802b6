import type { Phrase } from "../../../agent/definition/phrases.ts"

type Arguments = Record<string, unknown>

/**
 * A plain request. Of two free texts in a pattern the first ends at the first of the words between them: no pattern looks
 * at a text more than once for each of its places, however hostile it is.
 */
export function tablePhrase(source: string, example: string, toArguments: ToArguments = () => ({})): Phrase {
  return {
    pattern: new RegExp(`(?:please |can you |could you )?${source}`, "s"),
    arguments: (groups) =>
      toArguments(
        (group) => unquote(groups[group] ?? ""),
        (group) => (groups[group] ?? "").trim(),
      ),
    example,
  }
}

/** What was said in a group, without the quotes around it and with them; empty where nothing was. */
export type GroupText = (group: string) => string
type ToArguments = (said: GroupText, quoted: GroupText) => Arguments

export const unquote = (text: string) => text.trim().replace(/^["'“](.*)["'”]$/s, "$1")

/** Only the arguments that were said. */
export const given = (all: Arguments): Arguments =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ""))

export interface Endings {
  readonly rest: string
  readonly found: Readonly<Record<string, string>>
}

/**
 * Takes endings like ` due tomorrow` and ` in project Website` off a text, in whatever order they stand. A text in quotes
 * ends with them, whatever words it holds.
 */
export function takeEndings(text: string, markers: Readonly<Record<string, readonly string[]>>): Endings {
  const quoted = /^["“](?<name>[^"”]+)["”](?<after>.*)$/s.exec(text)?.groups
  let rest = quoted ? (quoted.after ?? "") : text
  const found: Record<string, string> = {}
  for (;;) {
    const last = lastMarker(rest, markers, found)
    if (!last) return { rest: quoted?.name ?? rest, found }
    found[last.name] = unquote(rest.slice(last.at + last.marker.length))
    rest = rest.slice(0, last.at)
  }
}

function lastMarker(text: string, markers: Readonly<Record<string, readonly string[]>>, found: object) {
  const lower = text.toLowerCase()
  const places = Object.entries(markers)
    .filter(([name]) => !(name in found))
    .flatMap(([name, words]) => words.map((marker) => ({ name, marker, at: lower.lastIndexOf(marker) })))
  // What stands first is what the request is about, and no ending.
  return places.filter(({ at }) => at >= 0 && (at > 0 || text.startsWith(" "))).sort((a, b) => b.at - a.at)[0]
}
