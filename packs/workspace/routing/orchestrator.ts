import type { HistoryMessage, Routed, Router, Routing } from "../../../core/pack.ts"
import { addsUnnamed, headOf, namedProfiles, pointsBack, lowercaseWords } from "./words.ts"

/** Longer messages are not routed, because they are seldom simple requests and routing must be fast. */
const MAX_WORDS = 1000
/** Recent exchanges that are searched for the subject of a request. */
const LOOKED_BACK = 3

/**
 * Chooses the profiles of the workspace that a request needs by its words and by the subject of recent exchanges.
 * If the rules are unsure, the model sees every tool: that costs tokens the provider caches, and a wrong guess costs a turn.
 */
export const orchestrator: Router = (routing) => {
  const words = lowercaseWords(routing.words.slice(0, MAX_WORDS + 1))
  if (routing.words.length > MAX_WORDS) return unsure("This is long, and may be about anything.")
  if (words.length === 0) return unsure("There are no words in it.")
  return byRules(routing, words) ?? unsure("It names nothing that there are tools for.")
}

function byRules(routing: Routing, words: readonly string[]): Routed | undefined {
  const found = namedProfiles(words)
  const recent = pointsBack(words) ? recentProfiles(routing) : []
  // A table that is named only in a title does not tell what to do.
  if (recent.length === 0 && namedProfiles(lowercaseWords(headOf(routing.words))).size === 0) return undefined
  const profiles = [...new Set([...found.keys(), ...recent])]
  if (addsUnnamed(routing.words) && recent.length === 0)
    return unsure("A part of it adds something without saying what.")
  const says = found.size > 0 ? [`It says ${quoted([...new Set(found.values())])}.`] : []
  const back = recent.length > 0 ? [`It points back to what was spoken of: ${recent.join(", ")}.`] : []
  return {
    profiles,
    reason: [...says, ...back].join(" "),
    scores: Object.fromEntries(profiles.map((name) => [name, 1])),
    by: "rules",
  }
}

const unsure = (reason: string): Routed => ({ profiles: [], reason, scores: {}, by: "unsure" })

const quoted = (words: readonly string[]) => words.map((word) => `"${word}"`).join(", ")

/** The profiles of the newest exchange with any, by the tools that were called and by its text. */
function recentProfiles({ history, profiles }: Routing): string[] {
  let [exchanges, end] = [0, history.length]
  for (let index = history.length - 1; index >= 0 && exchanges < LOOKED_BACK; index--) {
    const turn = history[index]
    if (turn?.role !== "user") continue
    const called = calledIn(history.slice(index, end))
    const used = called.flatMap((tool) => profilesOf(tool, profiles))
    const found = [...new Set([...used, ...namedProfiles(lowercaseWords(turn.text.slice(0, MAX_WORDS))).keys()])]
    if (found.length > 0) return found
    exchanges++
    end = index
  }
  return []
}

/** The profiles of a tool by its name, because a read that serves several profiles is still about one table. */
function profilesOf(tool: string, profiles: Routing["profiles"]): string[] {
  const named = [...namedProfiles(tool.split("_")).keys()]
  return named.length > 0 ? named : profiles.flatMap(({ name, tools }) => (tools.includes(tool) ? [name] : []))
}

function calledIn(turns: readonly HistoryMessage[]): string[] {
  return turns.flatMap((turn) =>
    turn.role === "assistant" ? turn.parts.flatMap((part) => (part.type === "call" ? [part.name] : [])) : [],
  )
}
