import { join } from "node:path"
import type { Model, ModelRequest, ReplyPart } from "../engine.ts"
import { answer, defineAgent, newId, openEngine, type Tool } from "../engine.ts"
import { workspaceAgent } from "../../packs/workspace/agent.ts"
import { orchestrator } from "../../packs/workspace/routing/orchestrator.ts"
import { check, type Numbers } from "../meters.ts"

/** The price of a cached token relative to a new one. */
const CACHED = 0.1

/** Half an hour of a user's requests, each with the tool that a model would call. */
const TURNS: readonly (readonly [words: string, tool: string])[] = [
  ["what's due today?", "list_tasks_due_today"],
  ["list my tasks", "list_tasks"],
  ["which of them are high priority?", "list_tasks"],
  ["any comments on the first task?", "list_task_comments"],
  ["what is still in progress?", "list_tasks"],
  ["list my projects", "list_projects"],
  ["tell me about the project Website", "get_project"],
  ["which tasks belong to it?", "list_tasks"],
  ["what are the milestones of Website?", "list_checkpoints"],
  ["is anything late there?", "list_tasks"],
  ["find my notes about the launch", "list_notes"],
  ["read me the second note", "get_note"],
  ["what did we decide about the price?", "list_notes"],
  ["thanks. who is the client of that project?", "list_clients"],
  ["list all clients", "list_clients"],
  ["which projects are for Acme?", "list_projects"],
  ["and the archived ones?", "list_all_projects"],
  ["tasks of the Acme project", "list_tasks"],
  ["which are done?", "list_tasks"],
  ["what about next week?", "list_tasks"],
  ["show the notes of that project", "list_notes"],
  ["anything about hosting in them?", "list_notes"],
  ["milestones in march", "list_checkpoints"],
  ["what do you know about Ada?", "list_clients"],
  ["list her tasks", "list_tasks"],
  ["which task is the oldest?", "list_tasks"],
  ["are there comments on it?", "list_task_comments"],
  ["projects without a client", "list_projects"],
  ["what's due tomorrow?", "list_tasks"],
  ["anything I have forgotten?", "list_tasks"],
]

const FOUND = Array.from(
  { length: 6 },
  (_, n) => `- Row ${n} of what was found (in_progress, high, id ${n}00${n})`,
).join("\n")

/**
 * W10: the cost of a conversation of 30 turns at a provider that caches the start of requests. Ours is the workspace
 * agent; the floor sends every tool in every request, so that nothing before the newest message changes.
 */
export async function promptCost(isFloor: boolean, folder: string): Promise<Numbers> {
  const requests: string[][] = []
  const served = workspaceAgent(() => ({}) as never, {}, isFloor ? undefined : orchestrator)
  const { profiles, route, ...rest } = served
  const tools = served.tools.visibleIn("confirm").filter(({ name }) => name !== "more_tools")
  const agent = defineAgent({ ...rest, ...(route ? { profiles: profiles ?? [], route } : {}), tools: tools.map(quiet) })
  await using pawl = await openEngine({
    store: { url: `file:${join(folder, "pawl.db")}`, durability: "normal" },
    agents: [agent],
    models: lookingUp((request) => requests.push(toPieces(request))),
  })
  const { id: user } = await pawl.store.people.ensure("ada", Date.now())
  const say = (text: string) => ({ type: "message", id: newId("msg"), text, when: "queue" }) as const
  const { id } = await pawl.runtime.begin({ user, agent: agent.name })
  for (const [words] of TURNS) {
    await pawl.runtime.submit(id, say(words))
    await pawl.runtime.rest(id)
  }
  check(requests.length >= TURNS.length * 2, `requests of ${TURNS.length} turns: ${requests.length}`)
  const lists = requests.map(([first]) => first)
  return { ...costOf(requests), lists: lists.filter((list, n) => n > 0 && list !== lists[n - 1]).length }
}

/** The declaration of a tool, with a fixed result. */
const quiet = (tool: Tool): Tool => ({ ...tool, run: () => answer(`Found 6:\n${FOUND}`) }) as Tool

function lookingUp(heard: (request: ModelRequest) => void): Model {
  async function* stream(request: ModelRequest): AsyncGenerator<ReplyPart> {
    heard(request)
    const last = request.history.at(-1)
    const [, tool] = TURNS[request.history.filter(({ role }) => role === "user").length - 1] ?? []
    if (last?.role === "user" && tool) yield { type: "call", name: tool, input: "{}" }
    else
      yield {
        type: "text",
        text: "There are six of them; the first is the one that you asked about, the rest can wait.",
      }
    const usage = { inputTokens: null, outputTokens: null }
    yield { type: "finish", finish: last?.role === "user" ? "calls" : "stop", usage }
  }
  return { name: "looking-up", provider: "bench", contextTokens: 200_000, stream }
}

/** The parts of a request in the order in which providers cache them: tools, instructions, messages. */
const toPieces = ({ tools, system, history }: ModelRequest): string[] => [
  JSON.stringify(tools),
  system,
  ...history.map((message) => JSON.stringify(message)),
]

/** The cost: each piece in full, or at the cached price if an earlier request starts in the same way. */
function costOf(requests: readonly string[][]): Numbers {
  const cached = new Set<string>()
  let [paid, read] = [0, 0]
  for (const pieces of requests) {
    let prefix = ""
    for (const piece of pieces) {
      prefix += `${piece}\n`
      const tokens = Buffer.byteLength(piece) / 4
      read += tokens
      paid += cached.has(prefix) ? tokens * CACHED : tokens
    }
    prefix = ""
    for (const piece of pieces) cached.add((prefix += `${piece}\n`))
  }
  return { paidTokens: Math.round(paid), readTokens: Math.round(read) }
}
