import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { z } from "zod"
import { answer, defineTool, type Tool } from "../../../core/engine/definition/tool.ts"
import { filesTools } from "../../../packs/files/agent.ts"
import { UndoFolder } from "../../../packs/files/folder/undo-bytes.ts"
import { openFolder } from "../../../packs/files/folder/local-folder.ts"
import { noSandbox } from "../../../packs/files/sandbox/sandbox.ts"
import { DocumentReader } from "../../../packs/research/document-reader.ts"
import { arxivSearch } from "../../../packs/research/arxiv-search.ts"
import { webSearch } from "../../../packs/research/web-search.ts"
import type { Visitor } from "../../support/server/face.ts"

export type Arguments = Record<string, unknown>

/** Creates the target of a tool call, and returns its arguments, with this text in every field that accepts it. */
export type Recipe = (text: string, ada: Visitor) => Promise<Arguments> | Arguments

const folder = () => mkdtempSync(join(tmpdir(), inject("testRun"), "writes-"))

/** A folder of files, with the tools that change it, and the tools with egress. */
export function openPlace(): { readonly root: string; readonly tools: Tool[] } {
  const root = folder()
  const ports = { folder: openFolder(root), undoBytes: new UndoFolder(folder()), sandbox: noSandbox }
  const nothing = '<feed xmlns="http://www.w3.org/2005/Atom"></feed>'
  const web = {
    fetch: async () => ({ url: "https://example.org", status: 200, type: "text/xml", text: nothing, cut: false }),
  }
  const provider = { name: "test", search: async () => [] }
  // Its result makes every tool call with egress a proposal.
  const both = defineTool({
    ...{ name: "bring_both", description: "ResultTaint private words and words from outside.", input: z.object({}) },
    ...{ effect: "read", afterCrash: "run-again", taint: "both" },
    run: () => answer("Words."),
  })
  const environment = { PATH: process.env.PATH ?? "" }
  return {
    root,
    tools: [
      ...filesTools({ ...ports, environment }),
      webSearch(provider),
      arxivSearch(web, new DocumentReader()),
      both,
    ],
  }
}

const make = async (ada: Visitor, table: string, row: Arguments): Promise<string> => {
  const { status, text, body } = await ada.post(`/api/workspace/${table}`, row)
  if (status !== 201) throw new Error(text)
  return body.id as string
}

let made = 0
const unique = () => `number ${++made}`
/** A name has at most a thousand characters, and is unique. */
const name = (text: string) => `${text.replaceAll(/\s+/g, " ").slice(0, 900).trim()} ${unique()}`.trim()

const project = (ada: Visitor, text: string) => make(ada, "projects", { name: name(text), aiSummary: text })
const task = (ada: Visitor, text: string) =>
  make(ada, "tasks", { title: name(text), description: text, assignee: '["Ada"]' })
const comment = async (ada: Visitor, text: string) =>
  make(ada, "taskComments", { taskId: await task(ada, "x"), author: "Ada", content: text })
const note = (ada: Visitor, text: string) => make(ada, "notes", { title: name(text), content: text })
const checkpoint = async (ada: Visitor, text: string) =>
  make(ada, "checkpoints", { projectId: await project(ada, "x"), title: name(text), date: 1_800_000_000_000 })
const client = (ada: Visitor, text: string) => make(ada, "clients", { name: name(text), industry: text.slice(0, 500) })

/** Recipes for tools of the agents workspace and test; `root` is the folder of files. Undo runs tools that models cannot call. */
export const recipesIn = (root: string): Readonly<Record<string, Recipe>> => {
  const file = (text: string) => {
    const path = `${unique()}.txt`
    writeFileSync(join(root, path), text)
    return path
  }
  const directory = (text: string) => {
    const path = `${unique()} ${text.replaceAll(/\W/g, "x").slice(0, 200)}`
    mkdirSync(join(root, path))
    return path
  }
  return {
    create_task: (text) => ({ title: name(text), description: text, due_date: "tomorrow", assignees: ["Ada", "Bo"] }),
    update_task: async (text, ada) => ({
      task_id: await task(ada, text),
      description: `${text} and more`,
      status: "done",
    }),
    // The fields are longer than the limit only together: this blocked the approval of every such card.
    delete_task: async (text, ada) => {
      const id = await task(ada, text.slice(0, 380))
      for (let rest = text.slice(380); rest; rest = rest.slice(4000))
        await make(ada, "taskComments", { taskId: id, author: "Ada", content: rest.slice(0, 4000) })
      return { task_id: id }
    },
    create_project: (text) => ({ name: name(text) }),
    update_project: async (text, ada) => ({ project_id: await project(ada, "x"), ai_summary: text }),
    delete_project: async (text, ada) => {
      const id = await project(ada, text)
      for (let index = 0; index < Math.min(30, text.length / 100); index++)
        await make(ada, "tasks", { projectId: id, title: name(text.slice(index * 100, index * 100 + 100)) })
      return { project_id: id }
    },
    create_note: (text) => ({ title: name(text), content: text }),
    update_note: async (text, ada) => ({ note_id: await note(ada, `before ${text}`), content: text }),
    delete_note: async (text, ada) => ({ note_id: await note(ada, text) }),
    create_checkpoint: async (text, ada) => ({
      project_id: await project(ada, "x"),
      title: name(text),
      date: "2027-01-31",
    }),
    update_checkpoint: async (text, ada) => ({ checkpoint_id: await checkpoint(ada, "x"), title: name(text) }),
    delete_checkpoint: async (text, ada) => ({ checkpoint_id: await checkpoint(ada, text) }),
    create_client: (text) => ({ name: name(text), industry: text.slice(0, 500) }),
    update_client: async (text, ada) => ({ client_id: await client(ada, "x"), name: name(text) }),
    delete_client: async (text, ada) => ({ client_id: await client(ada, text) }),
    add_task_comment: async (text, ada) => ({ task_id: await task(ada, "x"), author: "Ada", content: text }),
    delete_task_comment: async (text, ada) => ({ comment_id: await comment(ada, text) }),
    write_file: (text) => ({ path: `${unique()}.txt`, content: text }),
    edit_file: (text) => ({ path: file(`a ${text} b`), old_text: `a ${text}`, new_text: `c ${text}` }),
    delete_file: (text) => ({ path: file(text) }),
    delete_entry: (text) => ({ path: directory(text) }),
    move_file: (text) => ({ from: file(text), to: `moved ${unique()}.txt` }),
    create_directory: (text) => ({ path: `${unique()}/${text.replaceAll(/\W/g, "x").slice(0, 200)}` }),
    run_command: (text) => ({ command: `true # ${text.replaceAll("\n", " ")}`.slice(0, 20_000) }),
    web_search: (text) => ({ query: `${unique()} ${text}`.slice(0, 400) }),
    arxiv_search: (text) => ({ query: `${unique()} ${text}`.slice(0, 300) }),
  }
}

const WORDS = "Measure the new shelves, paint the wall behind them and tell everybody. "

/** Texts of all relevant lengths and shapes: words, lines, a single word. */
export const texts: readonly string[] = [
  "a",
  WORDS.trim(),
  WORDS.repeat(6).slice(0, 399),
  WORDS.repeat(6).slice(0, 401),
  "line\n".repeat(7).trim(),
  "x".repeat(2_000),
  WORDS.repeat(300).slice(0, 20_000).trim(),
]

/** A short text, and one of each shape that is shortened. */
export const someTexts = [0, 3, 4, 5, 6].map((index) => texts[index] ?? "")
