import type { EventOf, JournalEvent } from "../../../protocol/events.ts"
import type { MessageId } from "../../../protocol/ids.ts"

export interface FollowedRun {
  /** Where the run began, if that was seen. */
  started: Pick<EventOf<"run_started">, "runId" | "position"> | undefined
  ended: EventOf<"run_ended"> | undefined
  /** To be told every event; true when there is nothing left to wait for. */
  isOver(event: JournalEvent): boolean
}

/**
 * Follows the run that a message starts; without one, the run that is under way or the next to start.
 *
 * It is over when the conversation rests, which whoever watches learns anyway, or sooner, where queued messages keep that
 * from happening: when the next run begins. Not with its last event: the conversation would still be found busy.
 */
export function followRun(message?: MessageId): FollowedRun {
  let newest: EventOf<"run_started"> | undefined
  const isMine = (event: JournalEvent) =>
    message === undefined ? event.type === "run_started" : event.type === "message" && event.id === message
  const followed: FollowedRun = {
    started: undefined,
    ended: undefined,
    isOver(event) {
      if (event.type === "run_started") newest = event
      if (followed.ended) return event.type === "run_started"
      if (isMine(event)) followed.started ??= newest
      // A message that replaces open proposals first ends their run, which is not the one that it starts.
      if (event.type === "run_ended" && (followed.started || message === undefined)) followed.ended = event
      return false
    },
  }
  return followed
}
