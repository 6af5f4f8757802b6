import type { AnswerExpectation } from "../file/expectation.ts"
import type { HappenedAnswer, Unmet } from "../happened.ts"
import { checkSequence } from "./sequence.ts"
import { checkAnswerText } from "./text.ts"

/** What of an answer, and of the calls and proposals on the way to it, is not as it is expected. */
export function checkAnswer(expected: AnswerExpectation, happened: HappenedAnswer): Unmet[] {
  const { answer, calls, proposals, ends } = expected
  const { status, error } = happened
  const of = (expectation: string, problems: readonly string[]) => problems.map((problem) => ({ expectation, problem }))
  const why = error === undefined ? "" : `: ${error}`
  const isEnded = ends === undefined ? status !== "failed" : status === ends
  return [
    ...of("ends", isEnded ? [] : [`its run ended as ${status}${why}`]),
    ...of("answer", answer ? checkAnswerText(answer, happened.text) : []),
    ...of("calls", calls ? checkSequence(calls, happened.calls, "calls") : []),
    ...of("proposals", proposals ? checkSequence(proposals, happened.proposals, "proposals") : []),
  ]
}
