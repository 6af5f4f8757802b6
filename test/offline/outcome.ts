import { quote } from "../../core/shared/text/quote.ts"

/** The expected result of a request to the offline model. Any other result is wrong. */
export type Outcome =
  /** These changes are proposed, all of them and no other, with this text. */
  | { readonly proposes: readonly string[] }
  /** It reads, with these calls and no other, and its answer contains this. */
  | { readonly looks: readonly string[]; readonly says?: RegExp }
  /** It asks a question, and proposes nothing. */
  | { readonly asks: RegExp }
  /** It says honestly what it is, or that it cannot do this; nothing is proposed. */
  | { readonly says: RegExp }

/** The messages, in order (`[yes]` approves the proposal, `[no]` rejects it), and the expected result of the last one. */
export type Row = readonly [said: string | readonly string[], outcome: Outcome]

export const proposes = (...changes: string[]): Outcome => ({ proposes: changes })
export const looks = (...calls: (string | RegExp)[]): Outcome => {
  const says = calls.find((each) => typeof each !== "string")
  return { looks: calls.filter((each) => typeof each === "string"), ...(says ? { says } : {}) }
}
export const asks = (words: RegExp): Outcome => ({ asks: words })
export const says = (words: RegExp): Outcome => ({ says: words })

interface Traits {
  readonly priority?: string
  readonly due?: string
  readonly project?: string
}

/** The text of a proposal for a new task. */
export function task(title: string, { priority = "medium", due, project }: Traits = {}): string {
  const traits = [
    ...["status: todo", `priority: ${priority}`],
    ...(due ? [`due: ${due}`] : []),
    ...(project ? [`project: ${project}`] : []),
  ]
  return `Create task ${quote(title)} (${traits.join(", ")})`
}

export const project = (name: string, client = ""): string =>
  `Create project "${name}" (${client ? `client: ${client}, ` : ""}status: active)`

/** Days as proposals name them, seen from Sunday 15 November 2026, half past six in the evening in Berlin. */
export const MONDAY = "Monday 16 November 2026"
export const TUESDAY = "Tuesday 17 November 2026"
export const WEDNESDAY = "Wednesday 18 November 2026"
export const FRIDAY = "Friday 20 November 2026"
export const NOT_UNDERSTOOD = /^I did not understand that/
