import type { EventOf } from "../../protocol/events.ts"
import { Generation, Grading, Guardrail, RouterChoice } from "../../protocol/conversation/stages.ts"
import type { ServerMetrics } from "./server-metrics.ts"

/** Counts what stages have decided (PAPERS-06). Details are read as anybody's: a step of a newer Pawl counts as none. */
export function countStep(metrics: ServerMetrics, { step, detail }: EventOf<"step">, nameOf: (tool: string) => string) {
  const { verdicts, choices, grades, citations } = metrics
  switch (step) {
    case "guardrail": {
      const verdict = Guardrail.safeParse(detail).data?.verdict
      if (verdict) verdicts.add(1, { verdict })
      return
    }
    case "routing": {
      const choice = RouterChoice.safeParse(detail).data
      if (choice) choices.add(1, { action: choice.action, tool: choice.tool === null ? "none" : nameOf(choice.tool) })
      return
    }
    case "grading":
      for (const { relevant } of Grading.safeParse(detail).data?.grades ?? [])
        grades.add(1, { relevant: String(relevant) })
      return
    case "generation": {
      const { citations: all = 0, flagged = 0, unmarked = 0 } = Generation.safeParse(detail).data ?? {}
      if (all > flagged) citations.add(all - flagged, { is: "bound" })
      if (flagged > 0) citations.add(flagged, { is: "flagged" })
      if (unmarked > 0) citations.add(unmarked, { is: "unmarked" })
    }
  }
}
