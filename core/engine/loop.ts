import type { ConversationId } from "../protocol/ids.ts"
import { askModel } from "./ask/ask-model.ts"
import { endRun, giveUp } from "./end-run.ts"
import { lazySteps } from "./ask/lazy-steps.ts"
import { type NextStep, nextStep, type IdleStep, isIdle, countedWorkMs } from "./next-step.ts"
import type { Ports } from "./ports.ts"
import { propose } from "./gate/propose.ts"
import type { RunSignals, Work } from "./record.ts"
import { recoverCalls, runTools } from "./run-tools.ts"
import { takeInbox } from "./take-inbox.ts"

type ActiveStep = Exclude<NextStep, IdleStep>
type StepHandler<Step extends ActiveStep = ActiveStep> = (work: Work, step: Step) => Promise<void>

/** One file per kind of step. A new kind does not compile until it has a line here. */
const handlers: { [Type in ActiveStep["type"]]: StepHandler<Extract<ActiveStep, { type: Type }>> } = {
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
      // No step is possible, even with input that arrived in the meantime. Release the lease anyway, or no other node
      // could continue.
      await ports.journal.append(conversation, [], { release: true })
      if (!ports.journal.mayAppend(conversation)) return
      continue
    }
    const signal = signals.signalFor(conversation.run?.id, countedWorkMs(ports.limits, conversation.run))
    await (handlers[step.type] as StepHandler)({ conversation, agent, ports, signal, pause: signals.pause }, step)
    if (!ports.journal.mayAppend(conversation)) return // the commit that left no work released the lease
  }
}
