/** A part of what an agent can do: what is asked of it sounds like its examples, and needs these of the agent's tools. */
export interface Profile {
  readonly name: string
  readonly description: string
  readonly examples: readonly string[]
  readonly tools: readonly string[]
}
