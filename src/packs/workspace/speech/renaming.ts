import type { SpokenChange } from "./changes.ts"
import { readTarget } from "./targets.ts"
import { beginsWith, part, type RequestText, spelled } from "./words.ts"

const RENAME = ["rename", "retitle", "change the name of", "change the title of", "change title of", "change name of"]

/** Every way to read a new name out of a request: `rename Go to gym to Swim` has two. None where it is no such request. */
export function readRenamings(phrase: RequestText): SpokenChange[] {
  const called = beginsWith(phrase, ["call"]) && /^(?:it|that)$/.test(phrase.words[1]?.is ?? "") ? 2 : 0
  if (called) return renamed(part(phrase, 1, 2), part(phrase, called))
  const verb = beginsWith(phrase, RENAME)
  if (verb === 0) return []
  return phrase.words.flatMap((word, at) =>
    (word.is === "to" || word.is === "as") && at > verb ? renamed(part(phrase, verb, at), part(phrase, at + 1)) : [],
  )
}

function renamed(what: RequestText, to: RequestText): SpokenChange[] {
  const target = readTarget(what)
  const name = spelled(to)
  if (!target || name === "") return []
  const table = "table" in target ? target.table : undefined
  return [{ target, action: "update", updates: { name }, ...(table ? { table } : {}) }]
}
