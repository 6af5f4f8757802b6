import type { HistoryMessage, ModelRequest, ToolTurn } from "../../core/engine/model.ts"
import { answer, defineTool, type Tool } from "../../core/engine/definition/tool.ts"
import { parse } from "../../core/engine/definition/schema.ts"
import { offlineModel } from "../../labs/offline-model/model.ts"
import { workspaceAgent } from "../../packs/workspace/agent.ts"
import { contextAt, Memory } from "../workspace/in-memory-workspace.ts"
import { startOfDay } from "../../core/workspace/time-zone.ts"
import type { CallId } from "../../core/protocol/ids.ts"
import { newId } from "../../core/protocol/ids.ts"
import { z } from "zod"
import { rows } from "./requests.ts"

interface Call {
  readonly id: CallId
  readonly name: string
  readonly input: Record<string, unknown>
}

/** The outcome of the last message. */
export interface Came {
  readonly proposed: readonly string[]
  readonly looked: readonly string[]
  readonly words: string
  /** How often a tool was called for it. */
  readonly calls: number
}

/** Sends messages to the offline model as the loop would, over a workspace in memory, from Sunday evening in Berlin. */
export async function drive(said: readonly string[]): Promise<Came> {
  const memory = filled()
  const search = defineTool({
    ...{ name: "search_notes", description: "Finds notes.", effect: "read", afterCrash: "run-again" },
    ...{ input: z.object({ query: z.string() }), run: () => answer("Found 1 note(s).") },
  } as never) as Tool
  const agent = workspaceAgent(() => memory.workspace, { note: [search] })
  const tools = agent.tools.visibleIn("confirm")
  const model = offlineModel(tools.map(({ name, examples = [] }) => ({ name, examples })))
  const history: HistoryMessage[] = []
  let open: Call[] = []
  let came: Came = { proposed: [], looked: [], words: "", calls: 0 }

  const settle = async (status: "ok" | "rejected" | "superseded") => {
    const results: ToolTurn["results"][number][] = []
    for (const call of open) results.push(await result(call, status))
    open = []
    history.push({ role: "tool", results })
  }
  const result = async ({ id, name, input }: Call, status: "ok" | "rejected" | "superseded" = "ok") => {
    if (status !== "ok") return { callId: id, name, status, text: "The person did not agree." }
    const done = await agent.tools.find(name)?.run(input, contextAt({ callId: id }))
    return { callId: id, name, status: done?.status ?? "error", text: done?.text ?? "" } as const
  }

  for (const words of said) {
    const decision = words === "[yes]" ? "ok" : words === "[no]" ? "rejected" : undefined
    if (open.length > 0) await settle(decision ?? "superseded")
    if (!decision) history.push({ role: "user", text: words })
    came = await goOn()
  }
  return came

  async function goOn(): Promise<Came> {
    const looked: string[] = []
    let called = 0
    for (let iteration = 0; iteration < 6; iteration++) {
      const request: ModelRequest = {
        ...{ system: "", history: [...history], toolChoice: iteration < 5 ? "auto" : "none" },
        tools: tools.map(({ declaration }) => declaration),
      }
      const { text, calls } = await reply(request)
      history.push({
        role: "assistant",
        parts: [...(text ? [{ type: "text" as const, text }] : []), ...calls.map(toPart)],
      })
      if (calls.length === 0) return { proposed: [], looked, words: text, calls: called }
      called += calls.length
      const [results, proposed]: [ToolTurn["results"][number][], string[]] = [[], []]
      for (const call of calls) {
        const tool = agent.tools.find(call.name) as Tool
        const parsed = await parse(tool.input, call.input)
        const problem = "problem" in parsed ? parsed.problem : undefined
        if (tool.effect === "read") {
          looked.push(`${call.name} ${JSON.stringify(call.input)}`)
          results.push(problem === undefined ? await result(call) : unfit(call, problem))
          continue
        }
        const shown = problem ?? (await summaryOf(tool, call).catch((error: Error) => error))
        if (typeof shown === "string" && problem === undefined) proposed.push(shown)
        else results.push(problem === undefined ? failed(call, (shown as Error).message) : unfit(call, problem))
      }
      if (proposed.length > 0) {
        open = calls.filter(({ id }) => !results.some(({ callId }) => callId === id))
        return { proposed: proposed.map(plain), looked, words: text, calls: called }
      }
      history.push({ role: "tool", results })
    }
    throw new Error("it went on for too long")
  }

  async function reply(request: ModelRequest): Promise<{ text: string; calls: Call[] }> {
    const calls: Call[] = []
    let text = ""
    for await (const part of model.stream(request, new AbortController().signal)) {
      if (part.type === "text") text += part.text
      if (part.type === "call") calls.push({ id: newId("call"), name: part.name, input: JSON.parse(part.input) })
    }
    return { text, calls }
  }
}

const toPart = ({ id, name, input }: Call) => ({ type: "call" as const, id, name, input })
const failed = ({ id, name }: Call, text: string) =>
  ({ callId: id, name, status: "error", text: `${name} failed: ${text}` }) as const
/** In the loop's own text, which is written for a model. */
const unfit = (call: Call, problem: string) => ({
  ...failed(call, ""),
  text: `The arguments of ${call.name} do not fit: ${problem}. Mend them and call again.`,
})

async function summaryOf(tool: Tool, { input, id }: Call): Promise<string> {
  const preview = tool.effect === "write" ? await tool.preview?.(input, contextAt({ callId: id })) : undefined
  if (!preview) throw new Error(`${tool.name} shows nothing`)
  return preview.summary
}

/** The text of a proposal without ids and zones. */
const plain = (summary: string) =>
  summary
    .replaceAll(/ \((?:id: )?(?:task|proj|note|cli)_\d+\)|, id: \w+| \(Europe\/Berlin\)/g, "")
    .replaceAll(/ \(id: \w+\)/g, "")

function filled(): Memory {
  const memory = new Memory()
  for (const each of rows.clients) memory.add("clients", each)
  const projects = rows.projects.map((each) => memory.add("projects", each))
  const idOf = (name: string | undefined) => projects.find((row) => row.name === name)?.id ?? null
  for (const { project, dueDate, ...each } of rows.tasks as readonly Record<string, string>[])
    memory.add("tasks", { ...each, projectId: idOf(project), dueDate: dueDate ? dayOf(dueDate) : null })
  for (const { project, ...each } of rows.notes as readonly Record<string, string>[])
    memory.add("notes", { ...each, projectId: idOf(project) })
  return memory
}

const dayOf = (day: string) => startOfDay(Date.parse(`${day}T12:00Z`), "Europe/Berlin")
