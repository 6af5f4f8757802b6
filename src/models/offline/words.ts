import type { CallResult, ModelRequest, ToolTurn } from "../../agent/model.ts"
import { withoutMarks } from "../../agent/outside-words.ts"
import { firstRequests, spread, type ToolPhrases } from "../../agent/definition/phrases.ts"
import { leastVariables } from "../providers/settings.ts"

type History = ModelRequest["history"]
type Table = readonly ToolPhrases[]

/** A screenful: who wants all of them finds them in the documentation. */
const MAX_EXAMPLES = 14
const FEW_TOOLS = 4
const FIRST_EXAMPLES = 5
/** What people say to each other is short; nothing longer is looked at. */
const MAX_TALK = 80

const HELLO = "(?:hi|hello|hey|hallo|howdy|greetings|good (?:morning|afternoon|evening|day))(?: there| pawl| again)?"
const ASKS_HELP =
  "help(?: me)?(?:,? please)?|(?:so |and )?what (?:can|do|could) (?:you|i|we) (?:do|say|ask|know|understand|try)(?: (?:you|here|for me|with (?:you|this|it)))?" +
  "|(?:who|what) are you|what is this|how (?:does (?:this|it) work|do i start|do i use (?:this|it))|where do i start"
const THANKS =
  "(?:(?:ok|okay|great|good|cool|perfect),? )?(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:a lot|very much|so much|pawl))?"

const TALK = {
  thanks: new RegExp(`^${THANKS}$`, "i"),
  hello: new RegExp(`^${HELLO}$`, "i"),
  help: new RegExp(`^(?:${HELLO}[,.!]? )?(?:${ASKS_HELP})$`, "i"),
} as const

export type TalkTopic = keyof typeof TALK

/** What is said to anybody rather than to a tool, and so is in no tool's phrases; undefined for a request. */
export function kindOfTalk(message: string): TalkTopic | undefined {
  const text = message.trim().replace(/(?<![\s.!?…])[\s.!?…]+$/, "")
  if (text.length > MAX_TALK) return undefined
  // A bare question mark asks for help too.
  if (text === "" && message.includes("?")) return "help"
  return (Object.keys(TALK) as TalkTopic[]).find((kind) => TALK[kind].test(text))
}

export const YOU_ARE_WELCOME = "You are welcome."

/** What it is, and what can be said here, to whoever has come or asks. */
export function greeting(talk: Exclude<TalkTopic, "thanks">, table: Table, history: History): string {
  const tools = table.map(({ tool, phrases }) => ({ name: tool, phrases }))
  const shown = talk === "hello" ? firstRequests(tools, FIRST_EXAMPLES).map(asItem) : examples(table, history)
  const hello = talk === "hello" ? "Hello! " : ""
  return `${hello}${I_AM} ${shown.length > 0 ? `What I understand here are plain requests like these:\n\n${shown.join("\n")}` : NO_TOOLS}\n\n${CONNECT}`
}

/** The same to a request that it does not understand. */
export function lost(table: Table, history: History): string {
  const shown = examples(table, history)
  const understood = shown.length > 0 ? `I understand only plain requests like these:\n\n${shown.join("\n")}` : NO_TOOLS
  return `I did not understand that. ${I_AM} ${understood}\n\n${CONNECT}`
}

const I_AM = "I am the offline model: a small table of phrases, not a language model."
const NO_TOOLS = "None of my tools can be used here."
const CONNECT =
  `To talk freely, connect a real model: set ${leastVariables.slice(0, -1).join(", ")} or ${leastVariables.at(-1)}, ` +
  "restart, and choose it for this conversation."

const asItem = (example: string) => `- ${example}`

function examples(table: Table, history: History): string[] {
  const has = answeredIn(history)
  const sayable = table.map(({ phrases }) =>
    phrases.filter(({ after }) => after === undefined || has.has(after)).map(({ example }) => example),
  )
  const all = sayable.flat()
  // Of tools all along the table: they show what can be done, and not in how many words.
  const chosen = spread(
    sayable.flatMap((each) => each.slice(0, 1)),
    MAX_EXAMPLES,
  )
  // Of a tool or two there is room for more of their words.
  if (sayable.length < FEW_TOOLS) chosen.push(...sayable.flatMap((each) => each.slice(1)))
  const shown = chosen.slice(0, MAX_EXAMPLES).map(asItem)
  if (all.length > shown.length) shown.push(`- and ${all.length - shown.length} more of this kind`)
  return shown
}

/** Which tools have answered something that can be talked about. */
function answeredIn(history: History): ReadonlySet<string> {
  const results = history.flatMap((turn) => (turn.role === "tool" ? turn.results : []))
  return new Set(results.filter(({ status }) => status === "ok").map(({ name }) => name))
}

/** What the tools have answered, for a person. */
export function retold({ results }: ToolTurn, table: Table, question: string): string {
  // Ten changes that were rejected are one sentence.
  const isFirst = ({ status }: CallResult, at: number) => results.findIndex((each) => each.status === status) === at
  const told = results.flatMap((result, at) => {
    const { text, name, status } = result
    if (status !== "ok" && status !== "error") return isFirst(result, at) ? INSTEAD[status] : []
    const words = withoutMarks(text).trim()
    const retell = status === "ok" ? table.find(({ tool }) => tool === name)?.retell : undefined
    return (retell ? retell(words, question) : words) || `${name}: ${status}`
  })
  return told.join("\n\n")
}

/** The loop's own words for these tell a model what not to do. A person has done it, or wants to know where things stand. */
const INSTEAD: Record<Exclude<CallResult["status"], "ok" | "error">, string> = {
  rejected: "All right, I have left it as it was. Say what you would like instead.",
  denied: "Nothing was changed: this conversation only looks. Change its mode, and I can propose it to you.",
  expired: "Nobody decided in time, so nothing was changed. Say it again if you still want it.",
  superseded: "I have left that as it was, because you said something else.",
  cancelled: "That was stopped before it was done.",
  timed_out: "That took too long, and I have given it up. Say it again to try once more.",
  interrupted: "That was broken off, and I do not know what became of it. Look before you say it again.",
  in_doubt: "That was broken off, and nobody knows whether it was done. Look before you say it again.",
}
