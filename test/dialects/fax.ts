import { z } from "zod"
import { defineTool } from "../../core/engine/definition/tool.ts"
import type { TurnedClock } from "../support/loop/world.ts"

/** The longest wait for a write: its time limit and the grace period. */
const TOOL_AND_GRACE_MS = 32_000

/** A write whose outcome is never reported: once its time is over, it is in doubt. */
export class Fax {
  #begun = Promise.withResolvers<void>()

  readonly tool = defineTool({
    ...{ name: "fax", description: "Sends a fax.", input: z.object({}) },
    ...{ effect: "write", afterCrash: "in-doubt", inverse: false },
    run: () => {
      this.#begun.resolve()
      return new Promise(() => {})
    },
  })

  /** Runs `act`, which starts the write, and lets the write's time pass. */
  async lost<Done>(clock: TurnedClock, act: () => Promise<Done>): Promise<Done> {
    this.#begun = Promise.withResolvers()
    const done = act()
    await this.#begun.promise
    await clock.turn(TOOL_AND_GRACE_MS)
    return done
  }
}
