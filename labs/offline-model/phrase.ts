/** The arguments of a tool call. */
export type Arguments = Readonly<Record<string, unknown>>

/** A call to make. */
export interface PlannedCall {
  readonly name: string
  readonly input: Arguments
}

/** Understands one kind of request: returns the calls to make, or undefined. */
export type Phrase = (request: string) => readonly PlannedCall[] | undefined

/** The text of a named group without quotes around it; empty if the group did not match. */
export type Group = (name: string) => string

/**
 * A request that calls one tool. `source` must match the whole request, in any case. Arguments that are undefined or
 * empty are left out.
 */
export function phrase(tool: string, source: string, toArguments: (group: Group) => Arguments = () => ({})): Phrase {
  const pattern = new RegExp(`^(?:${source})$`, "isu")
  return (request) => {
    const groups = pattern.exec(request)
    if (!groups) return undefined
    return [{ name: tool, input: given(toArguments((name) => unquote(groups.groups?.[name] ?? ""))) }]
  }
}

const unquote = (text: string) => text.trim().replace(/^["'“`](.*)["'”`]$/s, "$1")

const given = (all: Arguments): Arguments =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ""))

/** The same request for several sources or tools. */
export const call = (name: string, input: Arguments = {}): PlannedCall => ({ name, input })
