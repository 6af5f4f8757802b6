import { defineTool, openPawl, type Pawl } from "pawl"
import { z } from "zod"

const tasks: string[] = []

const listTasks = defineTool({
  name: "list_tasks",
  description: "Returns the user's tasks.",
  effect: "read",
  input: z.object({}),
  run: () => tasks.join("\n") || "There are no tasks.",
})
const createTask = defineTool({
  name: "create_task",
  description: "Adds a task to the user's list.",
  effect: "write", // waits for approval
  input: z.object({ title: z.string() }),
  preview: ({ title }) => ({ summary: `Create task "${title}"`, action: "safe_create" }),
  run({ title }) {
    tasks.push(title)
    return `"${title}" is on the list.`
  },
})

const { ANTHROPIC_API_KEY: apiKey, OLLAMA_HOST: baseUrl = "http://127.0.0.1:11434" } = process.env

const open = () =>
  openPawl({
    store: process.env.DATABASE_URL ?? "pawl.db",
    agents: [{ name: "assistant", instructions: "You keep a task list.", tools: [listTasks, createTask] }],
    models: apiKey ? { anthropic: { apiKey } } : { ollama: { baseUrl } },
    // Your own sign-in goes here: read the session of the request, and return its user.
    http: { user: (_request) => "ada" },
  })

// Next.js loads this file again after each edit; there is one Pawl for all of them.
const shared = globalThis as { pawl?: Promise<Pawl> }

/** Opens Pawl with the first request. */
export const pawl = (): Promise<Pawl> => (shared.pawl ??= open())
