import type { Grade, Grading, Source } from "../../protocol/conversation/stages.ts"
import { mendText } from "../../shared/text/text.ts"
import { askDecision, settle } from "./ask-decision.ts"
import type { Conversation } from "../conversation.ts"
import { record, type Work } from "../record.ts"
import { conversationSoFar } from "./to-request.ts"
import { GRADING, type GradingStage } from "../definition/stages.ts"

/** This much of a passage is enough to judge it. */
const SHOWN_CHARACTERS = 1200
const MAX_REASON = 200
const MAX_REWRITE = 300

/**
 * Grades all passages since the last grading with one model request. If there is too little evidence, another search is
 * requested, a limited number of times.
 */
export async function grade(work: Work): Promise<void> {
  const { conversation, agent } = work
  const stage = agent.stages?.grading
  if (!stage) throw new Error(`${agent.name} does not grade`)
  const { stages } = conversation
  const sources = ungraded(conversation)
  if (sources.length === 0) return record(work, [step(conclude(conversation, stage, { grades: [], rewrite: null }))])
  const answered = await askDecision(work, gradingQuestion(conversation, stage))
  if (!answered) return
  const { value, problem, asked, reservations } = answered
  const rewrites = stages.grading?.rewrites ?? 0
  const detail: Grading = value
    ? conclude(conversation, stage, {
        grades: onePerSource(sources, value.grades, stages.numbers),
        rewrite: value.rewrite,
      })
    : {
        evidence: "ungraded",
        grades: [],
        kept: [...new Set([...(stages.grading?.kept ?? []), ...stages.ungraded])],
        dropped: [],
        rewrite: null,
        rewrites,
        problem: problem ?? "",
      }
  await record(work, [{ ...step(detail), ...(asked ? { asked } : {}) }])
  for (const reservation of reservations) await settle(work, reservation)
}

const ungraded = ({ stages }: Conversation): Source[] => stages.ungraded.flatMap((id) => stages.sources.get(id) ?? [])

/** The request about passages without a grade. */
export function gradingQuestion(conversation: Conversation, { instructions, answer }: GradingStage) {
  const { numbers } = conversation.stages
  const passages = ungraded(conversation).map((source) => inFull(source, numbers.get(source.id)))
  const text = `${questionOf(conversation)}\n\nThe passages:\n${passages.join("\n\n")}`
  return { name: GRADING, instructions, text, answer }
}

const step = (detail: Grading) => ({ type: "step", step: GRADING, detail }) as const

/** Evidence counts over the whole run: earlier passages still count when a second search finds little. */
function conclude(
  { stages }: Conversation,
  { enough, rewrites: most }: GradingStage,
  { grades, rewrite }: { readonly grades: readonly Grade[]; readonly rewrite: string | null },
): Grading {
  const relevant = grades.filter(({ relevant }) => relevant).map(({ id }) => id)
  const dropped = grades.filter(({ relevant }) => !relevant).map(({ id }) => id)
  const earlier = stages.grading?.kept ?? []
  const all = [...new Set([...earlier, ...relevant])]
  const evidence = all.length >= enough ? "enough" : all.length > 0 ? "thin" : "none"
  const rewrites = stages.grading?.rewrites ?? 0
  // If a search found only known passages, searching with other words does not help.
  const again = evidence !== "enough" && rewrites < most && stages.searched !== "nothing_new"
  const words = rewrite?.trim() ? mendText(rewrite.trim().slice(0, MAX_REWRITE)) : "something more general"
  return {
    evidence,
    grades: [...grades],
    kept: all,
    dropped,
    rewrite: again ? words : null,
    rewrites: again ? rewrites + 1 : rewrites,
  }
}

/**
 * The model may omit a passage or invent one: every passage gets one verdict, and an omitted one counts as relevant.
 */
function onePerSource(
  sources: readonly Source[],
  grades: readonly Grade[],
  numbers: ReadonlyMap<string, number>,
): Grade[] {
  const byName = new Map(grades.toReversed().map((grade) => [grade.id.replace(/^\[(.*)\]$/, "$1"), grade]))
  return sources.map(({ id }) => {
    const given = byName.get(String(numbers.get(id))) ?? byName.get(id)
    if (!given) return { id, relevant: true, reason: "It was not judged." }
    return { id, relevant: given.relevant, reason: mendText(given.reason.slice(0, MAX_REASON)) }
  })
}

const inFull = ({ id, title, passage }: Source, number: number | undefined): string =>
  `[${number ?? id}] ${title}\n${passage.slice(0, SHOWN_CHARACTERS)}`

/**
 * The messages of the current run, after those before them, because a message such as "any of 2024?" needs its context.
 */
function questionOf({ history, marks, run }: Conversation): string {
  const isQuestion = (index: number) => run !== undefined && marks[index]?.question === run.question
  const first = history.findIndex((_, index) => isQuestion(index))
  const words = history.flatMap((turn, index) => (turn.role === "user" && isQuestion(index) ? [turn.text] : []))
  return `${conversationSoFar(history.slice(0, Math.max(first, 0)))}The question:\n${words.join("\n\n")}`
}
