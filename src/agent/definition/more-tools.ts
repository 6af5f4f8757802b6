import type { Profile } from "./profile.ts"
import type { Schema } from "./schema.ts"
import { answer, defineTool, type Tool } from "./tool.ts"

export const MORE_TOOLS = "more_tools"

/** The way back from a wrong guess. The fold takes note of its result, and from then on the run sees everything. */
export function moreTools(profiles: readonly Profile[]): Tool {
  const others = profiles.map(({ name, description }) => `${name} (${description})`).join("; ")
  return defineTool({
    name: MORE_TOOLS,
    description:
      "You are shown only the tools that seemed to fit. Call this when none of them does what the person wants: " +
      `then you see all of them. There are tools for: ${others}.`,
    input: NOTHING,
    effect: "read",
    afterCrash: "run-again",
    run: () => answer("You see all of your tools now. Go on with what the person asked for."),
  })
}

/** Takes whatever it is given: a model that says why it asks has asked all the same. */
const NOTHING: Schema<unknown> = {
  "~standard": {
    validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ type: "object", properties: {} }) },
  },
}
