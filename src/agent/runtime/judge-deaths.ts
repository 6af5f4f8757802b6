import type { ConversationId } from "../../protocol/ids.ts"
import { sleep } from "../clock.ts"
import { pauseReason } from "../conversation.ts"
import type { Death, Judged, Judgement } from "../journal.ts"
import { nextStep } from "../next-step.ts"
import type { Ports } from "../ports.ts"

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
 *
 * Each death is judged once, before anything that it left is taken up: a node that finds only a part of it, because another
 * was quicker, goes by the judgement that is on record. In the order in which they are to be taken up.
 */
export async function judgeDeaths(ports: Ports): Promise<Map<ConversationId, Judged>> {
  const judged: (readonly [ConversationId, Judged])[] = []
  for (const death of await ports.journal.suspected()) {
    const left = new Set(death.ids)
    const known = death.judged ?? (await judgeOnce(ports, death))
    judged.push(...known.filter(([id]) => left.has(id)))
  }
  return new Map(judged)
}

/** How long another node is given to judge, and how often it is asked: what it folds need not be folded here too. */
const [ASKED_EVERY_MS, ASKED_AT_MOST] = [100, 20]

/** Where several nodes find the same death the one that gets its mark on the first conversation judges, the others wait. */
async function judgeOnce(ports: Ports, death: Death): Promise<Judgement> {
  const { journal, clock } = ports
  const judge = async () => journal.judge(death.node, await examineAll(ports, death))
  if (!journal.sharesWork) return judge()
  const first = death.ids.toSorted().slice(0, 1)
  for (let asked = 0; asked < ASKED_AT_MOST; asked++) {
    const marked = await journal.earmark(first, 1)
    try {
      const now = (await journal.suspected()).find(({ node }) => node === death.node)
      if (!now || now.judged) return now?.judged ?? []
      if (marked.length > 0) return await judge()
    } finally {
      if (marked.length > 0) await journal.unmark(marked)
    }
    await sleep(clock, ASKED_EVERY_MS)
  }
  return judge()
}

async function examineAll(ports: Ports, { ids }: Death): Promise<Judgement> {
  const group = (await Promise.all(ids.map((id) => examine(ports, id)))).filter((one) => one !== undefined)
  const inTools = group.filter(({ doing }) => doing === "tool").length
  const order = ({ doing, blames }: Suspect) => (doing === "tool" ? 0 : 1000) + blames
  const ordered = group.toSorted((a, b) => order(a) - order(b))
  return ordered.map((one) => [one.id, toJudged(one, ports.limits.restarts, [inTools, group.length])])
}

function toJudged({ doing, deaths }: Suspect, restarts: number, [inTools, all]: [number, number]): Judged {
  if (doing === "tool") return { ...(inTools > 1 ? { blame: "shared" } : {}), alone: deaths > 0 }
  return { ...(all > 1 ? { blame: "none" } : {}), alone: deaths + 1 >= 2 * restarts }
}

/** Undefined where nothing was broken off, or where it cannot be read: taking it up finds out. */
async function examine({ journal, agents, limits }: Ports, id: ConversationId): Promise<Suspect | undefined> {
  const conversation = await journal.load(id, true).catch(() => undefined)
  const run = conversation?.run
  if (!conversation || run?.status !== "running" || pauseReason(conversation)) return undefined
  const step = nextStep(conversation, agents.of(conversation), limits)
  return { id, doing: TOOL_STEPS.has(step.type) ? "tool" : "waiting", deaths: run.deaths, blames: run.blames }
}

const TOOL_STEPS: ReadonlySet<string> = new Set(["recover-calls", "run-tools", "propose"])
