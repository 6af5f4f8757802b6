import { z } from "zod"
import type { Stages } from "../../../core/engine/definition/stages.ts"
import { answer, defineTool } from "../../../core/engine/definition/tool.ts"
import { says } from "../../../core/models/scripted/script.ts"
import type { ModelRequest } from "../../../core/engine/model.ts"
import type { Script } from "../../../core/models/scripted/script.ts"
import type { ScriptedReply } from "../../../core/models/scripted/model.ts"
import { Grade, type Source } from "../../../core/protocol/conversation/stages.ts"
import { researchStages } from "../../../packs/research/stages.ts"

/** Stages that check citations and decide nothing else. */
export const citing: Stages = { citations: researchStages.citations! }

/** The stages of an agent for tests, with texts of their own. */
export const stages: Stages = {
  ...citing,
  guardrail: {
    threshold: 75,
    instructions: "Score how much this is about papers.",
    answer: z.object({ score: z.number().min(0).max(100), reason: z.string() }),
    decline: ({ reason }) => `I only know about papers. ${reason}`,
  },
  grading: {
    instructions: "Say which passages are relevant.",
    answer: z.object({ grades: z.array(Grade), rewrite: z.string().nullable() }),
    enough: 2,
    rewrites: 2,
  },
}

export const source = (id: string, passage = `What ${id} says.`): Source => ({ id, title: `Paper ${id}`, passage })

/** A search over a fixed shelf: its query lists the ids that it finds. */
export function search(shelf: readonly Source[], asked: string[] = []) {
  return defineTool({
    name: "retrieve_chunks",
    description: "Finds passages.",
    input: z.object({ query: z.string() }),
    effect: "read",
    afterCrash: "run-again",
    run({ query }) {
      asked.push(query)
      const sources = shelf.filter(({ id }) => query.includes(id))
      const text = sources.map(({ id, passage }) => `[${id}] ${passage}`).join("\n") || "Nothing found."
      return answer(text, { data: { kind: "sources", sources } })
    },
  })
}

/**
 * A reply to a request for this decision; throws for another one, so that an error shows if the script is out of
 * step.
 */
export const decides =
  (name: string, value: unknown): ScriptedReply =>
  ({ answers }: ModelRequest): Script => {
    if (answers !== name)
      throw new Error(`The script decides ${name} here, but the request is for ${answers ?? "a reply"}.`)
    return says(typeof value === "string" ? value : JSON.stringify(value))
  }

export const scores = (score: number, reason = "So it seems.") => decides("guardrail", { score, reason })

/** Grades: ids that are relevant, and those that are not. */
export const grades = (relevant: readonly string[], not: readonly string[] = [], rewrite: string | null = null) =>
  decides("grading", {
    grades: [
      ...relevant.map((id) => ({ id, relevant: true, reason: "It is about this." })),
      ...not.map((id) => ({ id, relevant: false, reason: "Off the point." })),
    ],
    rewrite,
  })
