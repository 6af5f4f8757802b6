import type { SharedRun } from "../../src/protocol/index.ts"
import { client } from "../state/client.ts"
import type { RunSource } from "./followed-run.ts"

/** Between two looks at a run that goes on: nobody tells of a conversation whose owner is somebody else. */
const LOOK_MS = 3000

/** A run of somebody else, as far as their link shows it. */
export const sharedRun = (secret: string): RunSource<SharedRun["run"]> => ({
  read: (after) => client.openSharedRun({ body: { secret, after } }),
  async follow(_run, _after, changed, signal) {
    const timer = setInterval(() => {
      // A tab behind others looks when somebody looks at it.
      if (document.visibilityState === "visible") changed()
    }, LOOK_MS)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
    clearInterval(timer)
  },
})
