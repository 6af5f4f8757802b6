export interface Profile {
  readonly name: string
  readonly description: string
  readonly examples: readonly string[]
  readonly tools: readonly string[]
}
