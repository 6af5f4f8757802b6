import { setTimeout as wait } from "node:timers/promises"
import { defineAgent, definePack, defineTool } from "pawl"
import { z } from "zod"

const STEP_MS = 500

const count = defineTool({
  name: "count",
  description: "Counts slowly.",
  input: z.object({ to: z.number().int().min(1).max(50) }),
  effect: "read",
  afterCrash: "run-again", // a read may run twice
  examples: ["count to 10"],
  async run({ to }, { signal }) {
    for (let number = 1; number <= to; number++) await wait(STEP_MS, undefined, { signal })
    return `Counted to ${to}.`
  },
})

export default definePack({
  name: "slow",
  open: () => ({
    agents: [defineAgent({ name: "counter", description: "Counts.", instructions: "You count.", tools: [count] })],
  }),
})
