import type { Conversation, RunState } from "../conversation.ts"

/** What a resume goes on with: the last run, where it has failed or was stopped; before a summary the question behind it. */
export function unfinishedRun({ run }: Conversation): RunState["before"] {
  if (!run || run.status === "running") return undefined
  return [run.before, run].find((each) => each?.status === "failed" || each?.status === "cancelled")
}
