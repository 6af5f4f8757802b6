import { AsyncLocalStorage } from "node:async_hooks"
import type { NotedCall } from "./life-files.ts"

/** A call of a tool that is at work. */
export interface RunningCall {
  readonly call: NotedCall
  /** Right before it does something that stays. Answers with what is to be called right after it. */
  reach(what: string): () => void
}

const working = new AsyncLocalStorage<RunningCall | undefined>()

/** For which call the code at hand works: what it does outside is that call's doing. */
export const runningCall = (): RunningCall | undefined => working.getStore()

export const runAs = <Made>(call: RunningCall, make: () => Made): Made => working.run(call, make)

/** What is done inside of something that counts as one does not count once more. */
export const uncounted = <Made>(make: () => Made): Made => working.run(undefined, make)
