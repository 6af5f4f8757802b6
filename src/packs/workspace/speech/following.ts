import { readWhen } from "./dates.ts"
import { type Meaning, inWords } from "./meaning.ts"
import type { Mentioned } from "./mentioned.ts"
import { newTasks } from "./new-tasks.ts"
import { periodOf } from "./periods.ts"
import { readPriority } from "./priorities.ts"
import { resolvePointing } from "./resolving.ts"
import { isToDo } from "./splitting.ts"
import { beginsWith, part, type RequestText, toPlainWords as inSmall } from "./words.ts"

const AGREES = new Set([
  ...["yes", "yeah", "yep", "ok", "okay", "do it", "go ahead", "confirm", "confirmed", "yes please", "sure", "approve"],
  ...["yes do it", "commit", "apply it", "accept", "sounds good", "go for it"],
])
const DECLINES = new Set([
  "no",
  "nope",
  "never mind",
  "nevermind",
  "forget it",
  "cancel",
  "cancel that",
  "stop",
  "no thanks",
])
const CORRECTING = [
  "no",
  "no i meant",
  "i meant",
  "i mean",
  "no i mean",
  "sorry i meant",
  "sorry",
  "rather",
  "better",
  "for",
  "with",
]

/** Words that mean something only after what was said before: `and friday`, `urgent`, `yes`. */
export function following(phrase: RequestText, mentioned: Mentioned): Meaning | undefined {
  const said = inSmall(phrase)
  const { rows, drafts, used } = mentioned
  if (AGREES.has(said)) return drafts.length > 0 ? again(mentioned) : undefined
  if (DECLINES.has(said)) return { says: "All right, I have changed nothing more." }
  const last = used.at(-1) ?? ""
  const rest = part(phrase, Math.min(beginsWith(phrase, CORRECTING), phrase.words.length - 1))
  const period = periodOf(rest, 0)
  if (/^list_tasks/.test(last) && period?.end === rest.words.length)
    return { calls: [{ name: "list_tasks", input: { due: period.means } }] }
  if (last === "create_task" && isToDo(phrase)) return newTasks(phrase)
  if (!/^(?:create|update)_task$/.test(last) || rows.length + drafts.length !== 1) return undefined
  const [when, priority] = [readWhen(rest), readPriority(rest)]
  if (when && !when.wide && !when.readings) return pointing({ due_date: when.words }, mentioned)
  return priority ? pointing({ priority }, mentioned) : undefined
}

const pointing = (updates: Record<string, unknown>, mentioned: Mentioned): Meaning =>
  resolvePointing({ target: { kind: "it" }, table: "tasks", action: "update", updates }, mentioned)

/** Nobody agrees by words: what was left is proposed once more, where it can be agreed to. */
function again({ drafts }: Mentioned): Meaning {
  return drafts.length > 10 ? inWords("Say it again, please.") : { calls: drafts }
}
