import type { LeftOut } from "../protocol/conversation/stages.ts"

/** What a person knows when they were told that settings were left out, to tell it once. */
export const toldSettings = ({ model, settings }: LeftOut): string[] =>
  settings.map(({ name, because }) => `${model} ${name} ${because}`)
