import type { ConversationId } from "../protocol/ids.ts"
import { askModel } from "./ask/ask-model.ts"
import { endRun, giveUp } from "./end-run.ts"
import { lateSteps } from "./ask/late-steps.ts"
import { type NextStep, nextStep, type Rest, rests, workedMsWithin } from "./next-step.ts"
import type { Ports } from "./ports.ts"
import { propose } from "./gate/propose.ts"
import type { RunSignals, Work } from "./record.ts"
import { recoverCalls, runTools } from "./run-tools.ts"
import { takeInbox } from "./take-inbox.ts"

type Performed = Exclude<NextStep, Rest>
type Perform<Step extends Performed = Performed> = (work: Work, step: Step) => Promise<void>

/** One file per kind of step. A new kind does not compile until it has a line here. */
const perform: { [Type in Performed["type"]]: Perform<Extract<Performed, { type: Type }>> } = {
  "take-inbox": takeInbox,
  "recover-calls": recoverCalls,
  "run-tools": runTools,
  propose,
  ...lateSteps,
  "ask-model": askModel,
  "end-run": endRun,
  "give-up": giveUp,
}

/**
 * Works on a conversation until it must wait for someone. The journal is the only state: stop the process between any two
 * lines, call this again, and the work continues where the last recorded event left it.
 */
export async function runConversation(id: ConversationId, ports: Ports, signals: RunSignals): Promise<void> {
  for (;;) {
    const conversation = await ports.journal.load(id)
    const agent = ports.agents.of(conversation)
    const step = nextStep(conversation, agent, ports.limits)
    if (!ports.journal.mayAppend(conversation)) return
    if (rests(step)) {
      // What arrived as we let go is nothing to do now: let go all the same, or no other node could ever take it up.
      await ports.journal.append(conversation, [], { release: true })
      if (!ports.journal.mayAppend(conversation)) return
      continue
    }
    const signal = signals.signalFor(conversation.run?.id, workedMsWithin(ports.limits, conversation.run))
    await (perform[step.type] as Perform)({ conversation, agent, ports, signal, pause: signals.pause }, step)
    if (!ports.journal.mayAppend(conversation)) return // the commit that left nothing to do has let go
  }
}
