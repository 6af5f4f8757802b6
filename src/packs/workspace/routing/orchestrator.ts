import type { Clock } from "../../../agent/clock.ts"
import type { HistoryMessage } from "../../../agent/model.ts"
import type { Routed, Router, Routing } from "../../../agent/definition/router.ts"
import type { Embedder } from "../../../protocol/ports/workspace.ts"
import { Likeness } from "./likeness.ts"
import { addsUnnamed, headOf, isBroad, namedProfiles, pointsBack, lowercaseWords } from "./words.ts"

export interface OrchestratorOptions {
  /** One that runs on this machine: what people say is sent nowhere only to choose tools (LOOP-05). */
  readonly embedder?: Embedder
  readonly clock?: Clock
}

/** More is no plain request, and nothing here may take long. */
const MAX_WORDS = 1000
/** Exchanges in which a request may have its subject, counted back from the newest. */
const LOOKED_BACK = 3

// Measured on test/support/workspace/utterances.ts with the embedder that ships: see test/workspace/orchestrator.slow.test.ts.
/** Below this, words are like none of the examples. */
const LIKE = 0.5
/** Profiles whose score is within this distance of the best are chosen as well. */
const NEAR = 0.12

/**
 * Says which profiles of the workspace a request needs (WORK-05): by the words in it and what was spoken of before, then
 * by what it is like. It would rather be unsure than leave something out, for then the model sees every tool.
 */
export function orchestrator({ embedder, clock }: OrchestratorOptions = {}): Router {
  const likeness = embedder && new Likeness(embedder, clock)
  return async (routing, signal) => {
    const words = lowercaseWords(routing.words.slice(0, MAX_WORDS + 1))
    if (routing.words.length > MAX_WORDS) return unsure("This is long, and may be about anything.")
    if (words.length === 0) return unsure("There are no words in it.")
    const ruled = byRules(routing, words)
    if (ruled) return ruled
    if (isBroad(words)) return unsure("It may be about all there is.")
    const scores = await likeness?.scores(routing.words, routing.profiles, signal)
    if (!scores) return unsure("It names nothing that there are tools for.")
    return byLikeness(scores, [...namedProfiles(words).keys()])
  }
}

function byRules(routing: Routing, words: readonly string[]): Routed | undefined {
  const found = namedProfiles(words)
  const recent = pointsBack(words) ? recentProfiles(routing) : []
  // What is named in a title alone says nothing about what is to be done with it.
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

function byLikeness(scores: Record<string, number>, inTitle: readonly string[]): Routed {
  const best = Math.max(...Object.values(scores))
  if (!(best >= LIKE)) return { ...unsure("It is like none of the examples."), scores }
  const near = Object.entries(scores).filter(([, score]) => score >= best - NEAR)
  const profiles = [...new Set([...near.sort(([, a], [, b]) => b - a).map(([name]) => name), ...inTitle])]
  return { profiles, reason: `It is like what is said about: ${profiles.join(", ")}.`, scores, by: "embedder" }
}

const unsure = (reason: string): Routed => ({ profiles: [], reason, scores: {}, by: "unsure" })

const quoted = (words: readonly string[]) => words.map((word) => `"${word}"`).join(", ")

/** What the newest exchange that was about something was about: by the tools that were called in it and by its words. */
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

/** What a tool is about: as its name says, for a read that serves several profiles is still about one. */
function profilesOf(tool: string, profiles: Routing["profiles"]): string[] {
  const said = [...namedProfiles(tool.split("_")).keys()]
  return said.length > 0 ? said : profiles.flatMap(({ name, tools }) => (tools.includes(tool) ? [name] : []))
}

function calledIn(turns: readonly HistoryMessage[]): string[] {
  return turns.flatMap((turn) =>
    turn.role === "assistant" ? turn.parts.flatMap((part) => (part.type === "call" ? [part.name] : [])) : [],
  )
}
