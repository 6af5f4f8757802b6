import type { ConversationId } from "../protocol/ids.ts"
import { pauseReason } from "./conversation.ts"
import { nextStep } from "./next-step.ts"
import type { Ports } from "./ports.ts"

/** What is held against a run whose process died, and how it is taken up again. */
export interface Judged {
  /** As the event `restarted` says it: undefined where nothing else can have been the cause. */
  readonly blame: "shared" | "none" | undefined
  /** Is taken up while no other suspect is at work, so that the next death tells which of them it was. */
  readonly alone: boolean
}

type Doing = "tool" | "waiting"

interface Suspect {
  readonly id: ConversationId
  readonly doing: Doing
  readonly deaths: number
  readonly blames: number
}

/**
 * Judges what dead processes have left, where a step broke off that had broken off before. Runs in a tool call are suspects,
 * and from their second death on taken up one at a time. Waiting for a provider is none: such a run is blamed only for a
 * death at which nothing else was at work, and stands alone only when death after death has found no other culprit.
 * In the order in which they are to be taken up.
 */
export async function judge(ports: Ports): Promise<Map<ConversationId, Judged>> {
  const judged: [Suspect, Judged][] = []
  for (const ids of await ports.journal.suspected()) {
    const group = (await Promise.all(ids.map((id) => examine(ports, id)))).filter((one) => one !== undefined)
    const inTools = group.filter(({ doing }) => doing === "tool").length
    for (const suspect of group)
      judged.push([suspect, toJudged(suspect, ports.limits.restarts, [inTools, group.length])])
  }
  const order = ([{ doing, blames }]: [Suspect, Judged]) => (doing === "tool" ? 0 : 1000) + blames
  return new Map(judged.sort((a, b) => order(a) - order(b)).map(([{ id }, one]) => [id, one]))
}

function toJudged({ doing, deaths }: Suspect, restarts: number, [inTools, all]: [number, number]): Judged {
  if (doing === "tool") return { blame: inTools > 1 ? "shared" : undefined, alone: deaths > 0 }
  return { blame: all > 1 ? "none" : undefined, alone: deaths + 1 >= 2 * restarts }
}

/** Undefined where nothing was broken off, or where it cannot be read: taking it up finds out. */
async function examine({ journal, agents, limits }: Ports, id: ConversationId): Promise<Suspect | undefined> {
  const conversation = await journal.load(id, true).catch(() => undefined)
  const run = conversation?.run
  if (!conversation || run?.status !== "running" || pauseReason(conversation)) return undefined
  const step = nextStep(conversation, agents.orEmpty(conversation.agent), limits)
  return { id, doing: TOOL_STEPS.has(step.type) ? "tool" : "waiting", deaths: run.deaths, blames: run.blames }
}

const TOOL_STEPS: ReadonlySet<string> = new Set(["recover-calls", "run-tools", "propose"])
