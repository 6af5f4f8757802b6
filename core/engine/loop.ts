import type { ConversationId } from "../protocol/ids.ts"
import { askModel } from "./ask/ask-model.ts"
import { endRun, giveUp } from "./end-run.ts"
import { lazySteps } from "./ask/lazy-steps.ts"
import { type NextStep, nextStep, type IdleStep, isIdle, workedMsWithin } from "./next-step.ts"
import type { Ports } from "./ports.ts"
import { propose } from "./gate/propose.ts"
import type { RunSignals, Work } from "./record.ts"
import { recoverCalls, runTools } from "./run-tools.ts"
import { takeInbox } from "./take-inbox.ts"

type Performed = Exclude<NextStep, IdleStep>
type Perform<Step extends Performed = Performed> = (work: Work, step: Step) => Promise<void>

/** One file per kind of step. A new kind does not compile until it has a line here. */
const perform: { [Type in Performed["type"]]: Perform<Extract<Performed, { type: Type }>> } = {
  "take-inbox": takeInbox,
  "recover-calls": recoverCalls,
  "run-tools": runTools,
  propose,
  ...lazySteps,
  "ask-model": askModel,
  "end-run": endRun,
  "give-up": giveUp,
}

/**
 * Works on a conversation until it must wait for a person. The journal is the only state: stop the process between any
 * two lines, call this again, and the work continues after the last recorded event.
 */
export async function runConversation(id: ConversationId, ports: Ports, signals: RunSignals): Promise<void> {
  for (;;) {
    const conversation = await ports.journal.load(id)
    const agent = ports.agents.of(conversation)
    const step = nextStep(conversation, agent, ports.limits)
    if (!ports.journal.mayAppend(conversation)) return
    if (isIdle(step)) {
      // Input that arrived meanwhile gives nothing to do now. Release all the same, or no other node could continue the
      // conversation.
      await ports.journal.append(conversation, [], { release: true })
      if (!ports.journal.mayAppend(conversation)) return
      continue
    }
    const signal = signals.signalFor(conversation.run?.id, workedMsWithin(ports.limits, conversation.run))
    await (perform[step.type] as Perform)({ conversation, agent, ports, signal, pause: signals.pause }, step)
    if (!ports.journal.mayAppend(conversation)) return // the commit after which no work was left has released it
  }
}
