import {
  Generation,
  Grading,
  Guardrail,
  Question,
  QUESTION,
  QUESTION_SETTLED,
  RouterChoice,
  RouterDecision,
  SettledQuestion,
} from "../../../../core/protocol/index.ts"
import { humanName } from "../../../../client/index.ts"
import { t } from "../../strings/strings.ts"

const VERDICTS = {
  in_scope: "conversation.inScope",
  out_of_scope: "conversation.outOfScope",
  follow_up: "conversation.followUp",
  open: "conversation.notJudged",
} as const

const EVIDENCE = {
  enough: "conversation.evidenceEnough",
  thin: "conversation.evidenceThin",
  none: "conversation.evidenceNone",
  ungraded: "conversation.evidenceUngraded",
} as const

const OUTCOMES = {
  accept: "conversation.questionAnswered",
  decline: "conversation.questionDeclined",
  cancel: "conversation.questionDismissed",
  expired: "conversation.questionExpired",
} as const

/** The result of a step, in short phrases. */
export function describeStepResult(step: string, detail: unknown): string[] {
  switch (step) {
    case "guardrail": {
      const found = Guardrail.safeParse(detail).data
      if (!found) return []
      const { verdict, score } = found
      return [t(VERDICTS[verdict]), ...(score === null ? [] : [t("conversation.scoreOf100", { score })])]
    }
    case "routing": {
      const choice = RouterChoice.safeParse(detail).data
      if (choice) return [choice.tool === null ? t("conversation.answersDirectly") : humanName(choice.tool)]
      return RouterDecision.safeParse(detail).data?.profiles ?? []
    }
    case "grading": {
      const found = Grading.safeParse(detail).data
      if (!found) return []
      const relevant = found.grades.filter((grade) => grade.relevant).length
      const count = found.grades.length
      return [
        ...(count > 0 ? [t("conversation.passagesKept", { relevant, count })] : []),
        t(EVIDENCE[found.evidence]),
        ...(found.rewrite === null ? [] : [t("conversation.searchesAgain")]),
      ]
    }
    case "generation": {
      const found = Generation.safeParse(detail).data
      if (!found) return []
      const { citations, flagged, unmarked = 0, citesNothing = false, unchecked = 0 } = found
      return [
        t("conversation.citations", { count: citations }),
        ...(flagged > 0 ? [t("conversation.flagged", { count: flagged })] : []),
        ...(unmarked > 0 ? [t("conversation.quotesWithoutSource", { count: unmarked })] : []),
        ...(citesNothing ? [t("conversation.noCitations")] : []),
        ...(unchecked > 0 ? [t("conversation.unchecked", { count: unchecked })] : []),
      ]
    }
    case "asked_model": {
      const tool = (detail as { readonly tool?: unknown } | null)?.tool
      return typeof tool === "string" ? [t("conversation.forTool", { tool: humanName(tool) })] : []
    }
    case QUESTION: {
      const asked = Question.safeParse(detail).data
      return asked ? [`${asked.server}: ${asked.message}`] : []
    }
    case QUESTION_SETTLED: {
      const settled = SettledQuestion.safeParse(detail).data
      return settled ? [t(OUTCOMES[settled.outcome])] : []
    }
    default:
      return []
  }
}
