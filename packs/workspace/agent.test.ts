import { describe, expect, test } from "vitest"
import { workspaceProfiles } from "./agent.ts"
import { openMemory } from "../../test/workspace/in-memory-workspace.ts"

const { tools } = openMemory()

/** The name and the parameters of each tool; parameters with a mark are optional. */
const ARGUMENTS: Record<string, string> = {
  list_tasks: "project_id? status? priority? due? search? order_by?",
  list_tasks_due_today: "",
  create_task: "title description? status? priority? assignees? due_date? project_id? is_ai_suggested? is_approved?",
  update_task:
    "task_id title? description? status? priority? assignees? due_date? project_id? is_ai_suggested? is_approved?",
  delete_task: "task_id",
  list_task_comments: "task_id",
  add_task_comment: "task_id author content",
  delete_task_comment: "comment_id",
  list_projects: "client_id? include_archived?",
  list_all_projects: "",
  get_project: "project_id",
  create_project: "name client_id?",
  update_project: "project_id name? client_id? status? ai_summary?",
  delete_project: "project_id",
  list_checkpoints: "project_id",
  create_checkpoint: "project_id title date is_ai_suggested? is_approved?",
  update_checkpoint: "checkpoint_id project_id? title? date? is_ai_suggested? is_approved?",
  delete_checkpoint: "checkpoint_id",
  list_notes: "project_id?",
  get_note: "note_id",
  create_note: "title content project_id?",
  update_note: "note_id title? content? project_id?",
  delete_note: "note_id",
  list_clients: "",
  create_client: "name industry? parent_id?",
  update_client: "client_id name? industry? parent_id?",
  delete_client: "client_id",
}

describe("the tools of the workspace", () => {
  test("are these, with these arguments", () => {
    const found = tools.visibleIn("auto").map(({ name, declaration: { inputSchema } }) => {
      const { properties, required = [] } = inputSchema as { properties: object; required?: string[] }
      return [
        name,
        Object.keys(properties)
          .map((key) => (required.includes(key) ? key : `${key}?`))
          .join(" "),
      ]
    })
    expect(Object.fromEntries(found)).toEqual(ARGUMENTS)
  })

  test("describe the defaults of a new row, and never as if an update would set them again", () => {
    const said = (name: string) => {
      const { properties } = tools.find(name)?.declaration.inputSchema as { properties: Record<string, unknown> }
      return JSON.stringify(properties)
    }
    const updates = tools.visibleIn("auto").filter(({ name }) => name.startsWith("update_"))
    expect(updates.map(({ name }) => name)).toEqual(Object.keys(ARGUMENTS).filter((name) => name.startsWith("update_")))
    for (const { name, description } of updates) {
      expect([name, said(name)]).toEqual([name, expect.not.stringMatching(/"default"|default|nothing is said|unless/i)])
      expect(description).toContain("only the arguments you pass are changed")
    }
    for (const unsaid of ["todo", "medium", "true"]) expect(said("create_task")).toContain(`default: ${unsaid}`)
  })

  test("take nothing that they do not know", () => {
    for (const { declaration } of tools.visibleIn("auto"))
      expect(declaration.inputSchema).toMatchObject({ additionalProperties: false })
  })

  test("ask their target after a crash, can all be taken back, and bring nothing that may leave unseen", () => {
    for (const tool of tools.visibleIn("auto")) {
      expect([tool.name, tool.taint, tool.onSite]).toEqual([tool.name, "private", "workspace"])
      if (tool.effect === "read") continue
      expect([tool.name, tool.afterCrash, typeof tool.inverse]).toEqual([tool.name, "ask-target", "function"])
    }
  })

  test("that put back are nothing a model knows of", () => {
    for (const noun of ["task", "task_comment", "project", "checkpoint", "note", "client"]) {
      expect(tools.find(`restore_${noun}`)).toMatchObject({ onlyUndoes: true })
      expect(tools.names).not.toContain(`restore_${noun}`)
    }
  })

  test("are each served by one profile, and every profile has a description and tools", () => {
    expect(workspaceProfiles.map(({ name }) => name)).toEqual(["task", "project", "checkpoint", "note", "client"])
    const served = workspaceProfiles.flatMap((profile) => profile.tools)
    expect(served.toSorted()).toEqual([...tools.names, "search_notes"].toSorted())
    for (const { description } of workspaceProfiles) expect(description).not.toBe("")
  })
})
