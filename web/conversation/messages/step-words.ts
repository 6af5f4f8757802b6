import { questionWords } from "../../../src/client/index.ts"
import { Generation, Grading, Guardrail, RouterChoice, RouterDecision } from "../../../src/protocol/index.ts"
import { count, humanName } from "../../parts/words.ts"

const VERDICTS = {
  in_scope: "fits",
  out_of_scope: "does not fit",
  follow_up: "a follow-up",
  open: "not judged",
} as const

const EVIDENCE = {
  enough: "enough evidence",
  thin: "thin evidence",
  none: "no evidence",
  ungraded: "not graded",
} as const

/** What a step has decided, in a few words for its line. */
export function stepWords(step: string, detail: unknown): string[] {
  switch (step) {
    case "guardrail": {
      const found = Guardrail.safeParse(detail).data
      if (!found) return []
      return [VERDICTS[found.verdict], ...(found.score === null ? [] : [`${found.score} of 100`])]
    }
    case "routing": {
      const choice = RouterChoice.safeParse(detail).data
      if (choice) return [choice.tool === null ? "answers" : humanName(choice.tool)]
      return RouterDecision.safeParse(detail).data?.profiles ?? []
    }
    case "grading": {
      const found = Grading.safeParse(detail).data
      if (!found) return []
      const relevant = found.grades.filter((grade) => grade.relevant).length
      const graded = found.grades.length > 0 ? [`${relevant} of ${count(found.grades.length, "passage")} kept`] : []
      return [...graded, EVIDENCE[found.evidence], ...(found.rewrite === null ? [] : ["searches again"])]
    }
    case "generation": {
      const found = Generation.safeParse(detail).data
      if (!found) return []
      const { citations, flagged, unmarked = 0, citesNothing = false, unchecked = 0 } = found
      return [
        count(citations, "citation"),
        ...(flagged > 0 ? [`${flagged} flagged`] : []),
        ...(unmarked > 0 ? [`${count(unmarked, "quote")} of no source`] : []),
        ...(citesNothing ? ["cites nothing of what was found"] : []),
        ...(unchecked > 0 ? [`${unchecked} not checked`] : []),
      ]
    }
    case "asked_model": {
      const tool = (detail as { readonly tool?: unknown } | null)?.tool
      return typeof tool === "string" ? [`for ${humanName(tool)}`] : []
    }
    default:
      return questionWords(step, detail)
  }
}
