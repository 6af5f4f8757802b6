/** A plain request the offline model understands, written beside the tool that serves it. */
export interface Phrase {
  /** Matched against the whole message, case-insensitively; named groups are the words that vary. */
  readonly pattern: RegExp
  /** The arguments of the call, from the named groups. */
  arguments(groups: Readonly<Record<string, string | undefined>>): Record<string, unknown>
  /** Shown to people who ask what can be said. */
  readonly example: string
}
