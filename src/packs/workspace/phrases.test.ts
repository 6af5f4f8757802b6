import { describe, expect, test } from "vitest"
import { countWork } from "../../../test/support/worked.ts"
import { openMemory } from "./memory.fixture.ts"
import { searchNotesPhrases } from "./tables/note.ts"

const phrases = [
  ...openMemory()
    .tools.visibleIn("auto")
    .flatMap(({ name, phrases = [] }) => phrases.map((phrase) => ({ name, ...phrase, of: phrase }))),
  ...searchNotesPhrases.map((phrase) => ({ name: "search_notes", ...phrase, of: phrase })),
]

/** What the offline model makes of a request: the first phrase that fits the whole of it. */
function understood(request: string): unknown {
  for (const { name, pattern, of } of phrases) {
    const match = new RegExp(`^(?:${pattern.source})$`, `${pattern.flags}i`).exec(request)
    if (match) return [name, of.arguments(match.groups ?? {})]
  }
  return undefined
}

describe("offline it is understood that", () => {
  test.each<[string, [string, Record<string, unknown>] | undefined]>([
    ["list my tasks", ["list_tasks", {}]],
    ["Show me all my tasks", ["list_tasks", {}]],
    ["show open tasks", ["list_tasks", { status: "todo" }]],
    ["what are my done tasks", ["list_tasks", { status: "done" }]],
    ["which tasks are in progress", ["list_tasks", { status: "in_progress" }]],
    ["list my tasks in project Website", ["list_tasks", { project_id: "Website" }]],
    ["list my todo tasks in project Website", ["list_tasks", { status: "todo", project_id: "Website" }]],
    ["find tasks about the garden", ["list_tasks", { search: "the garden" }]],
    ["how many todo tasks do I have", ["list_tasks", { status: "todo" }]],
    ["how many tasks do I have", ["list_tasks", {}]],
    ["How many tasks are done", ["list_tasks", { status: "done" }]],
    ["what is due today", ["list_tasks_due_today", {}]],
    ["what's due today", ["list_tasks_due_today", {}]],
    ["show my tasks due today", ["list_tasks_due_today", {}]],
    ["add a task: buy milk", ["create_task", { title: "Buy milk" }]],
    ["create a task called Buy milk", ["create_task", { title: "Buy milk" }]],
    ["Create a task called X with high priority", ["create_task", { title: "X", priority: "high" }]],
    ['new task "Call Ada" (low)', ["create_task", { title: "Call Ada", priority: "low" }]],
    [
      "add a task to call Ada due next friday at 5pm",
      ["create_task", { title: "Call Ada", due_date: "next friday at 17:00" }],
    ],
    [
      "add a task X in project Website due tomorrow with low priority",
      ["create_task", { title: "X", project_id: "Website", due_date: "tomorrow", priority: "low" }],
    ],
    [
      "add a task X with low priority due tomorrow in project Web shop",
      ["create_task", { title: "X", project_id: "Web shop", due_date: "tomorrow", priority: "low" }],
    ],
    [
      'add a task "Pay what is due now" due tomorrow',
      ["create_task", { title: "Pay what is due now", due_date: "tomorrow" }],
    ],
    ["remind me to water the plants", ["create_task", { title: "Water the plants" }]],
    ["add bread to my tasks", ["create_task", { title: "Bread" }]],
    ["mark Buy milk as done", ["update_task", { task_id: "Buy milk", status: "done" }]],
    ["mark the task Buy milk as in progress", ["update_task", { task_id: "Buy milk", status: "in_progress" }]],
    ["complete Buy milk", ["update_task", { task_id: "Buy milk", status: "done" }]],
    ["rename task A to B to C", ["update_task", { task_id: "A", title: "B to C" }]],
    ["set the priority of Buy milk to HIGH", ["update_task", { task_id: "Buy milk", priority: "high" }]],
    ["move the due date of Buy milk to next friday", ["update_task", { task_id: "Buy milk", due_date: "next friday" }]],
    ["postpone task Buy milk until tomorrow", ["update_task", { task_id: "Buy milk", due_date: "tomorrow" }]],
    ["assign Buy milk to Ada and Bob", ["update_task", { task_id: "Buy milk", assignees: ["Ada", "Bob"] }]],
    ["delete task buy milk", ["delete_task", { task_id: "buy milk" }]],
    ['Please remove the task called "Call Ada"', ["delete_task", { task_id: "Call Ada" }]],
    ["delete my task: task_1", ["delete_task", { task_id: "task_1" }]],
    [
      "comment on Buy milk: two litres",
      ["add_task_comment", { task_id: "Buy milk", author: "me", content: "two litres" }],
    ],
    ["show the comments on Buy milk", ["list_task_comments", { task_id: "Buy milk" }]],
    ["list my projects", ["list_projects", {}]],
    ["list all projects", ["list_all_projects", {}]],
    ["show project Website", ["get_project", { project_id: "Website" }]],
    ["create a project called Website for client Acme", ["create_project", { name: "Website", client_id: "Acme" }]],
    ["archive project Website", ["update_project", { project_id: "Website", status: "archived" }]],
    ["delete the project Website", ["delete_project", { project_id: "Website" }]],
    ["list the checkpoints of Website", ["list_checkpoints", { project_id: "Website" }]],
    [
      "add a checkpoint Launch on 20 November in project Website",
      ["create_checkpoint", { project_id: "Website", title: "Launch", date: "20 November" }],
    ],
    ["move checkpoint Launch to next friday", ["update_checkpoint", { checkpoint_id: "Launch", date: "next friday" }]],
    ["list my notes", ["list_notes", {}]],
    ["read note Deployment", ["get_note", { note_id: "Deployment" }]],
    [
      "write a note called Steps in project Web: # One\n\nTwo: three",
      ["create_note", { title: "Steps", project_id: "Web", content: "# One\n\nTwo: three" }],
    ],
    ["find notes about deployment", ["search_notes", { query: "deployment" }]],
    ["list my clients", ["list_clients", {}]],
    ["add a client called Acme in industry Steel", ["create_client", { name: "Acme", industry: "Steel" }]],
    ["delete client Acme", ["delete_client", { client_id: "Acme" }]],
    ["delete all my tasks", undefined],
    ["delete everything", undefined],
    ["write me a poem", undefined],
  ])("%j", (request, expected) => {
    expect(understood(request)).toEqual(expected)
  })

  test.each(phrases.map(({ name, example }) => [example, name]))("%j is an example of %s", (example, name) => {
    expect(understood(example)).toEqual([name, expect.anything()])
  })

  test("every tool has something that can be said, and what it makes of its examples fits it", async () => {
    const { tools, tool } = openMemory()
    const spoken = new Set(phrases.map(({ name }) => name))
    expect(tools.names.filter((name) => !spoken.has(name))).toEqual([])
    for (const { name, example } of phrases.filter(({ name }) => name !== "search_notes")) {
      const [, input] = understood(example) as [string, object]
      const checked = await tool(name).input["~standard"].validate(input)
      expect([example, checked.issues]).toEqual([example, undefined])
    }
  })
})

describe("no text takes long to be understood or not", () => {
  const of = (word: string) => word.repeat(Math.ceil(1000 / word.length)).slice(0, 1000)
  const beginnings = phrases.map(({ example }) => example.split(" ").slice(0, 3).join(" "))
  const hostile = [
    ...[
      "a",
      " ",
      "to ",
      " due ",
      "on in project ",
      " as ",
      ": ",
      '"',
      " to my tasks",
      "task ",
      "add a task ",
      "note : ",
    ],
    ...[" on x in project", "please ", "all of my ", " and ", "(low)", "“", "\n"],
  ]
  /** The least of three, in milliseconds of the processor: a machine that is busy is slow, a bad pattern always is. */
  const time = (work: () => unknown) =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const worked = countWork()
        work()
        return worked()
      }),
    )

  test.each(phrases.map(({ pattern }) => [pattern]))("%s", (pattern) => {
    const whole = new RegExp(`^(?:${pattern.source})$`, `${pattern.flags}i`)
    const starts = ["", ...new Set(beginnings)]
    const texts = hostile.flatMap((word) => starts.map((start) => `${start} ${of(word)}`.slice(0, 999)))
    expect(Math.max(...texts.map((text) => time(() => whole.exec(`${text}!`))))).toBeLessThan(20)
  })

  test("nor do its arguments", () => {
    const groups = ["task", "name", "title", "note", "content"]
    for (const { of: phrase } of phrases) {
      for (const word of hostile) {
        const said = Object.fromEntries(groups.map((group) => [group, of(word)]))
        expect(time(() => phrase.arguments(said))).toBeLessThan(20)
      }
    }
  })
})
