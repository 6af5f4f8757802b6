import { beforeAll, expect, test } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import { type EditField, fieldsOf, toDateInput } from "../../apps/web/proposal/edit-fields.ts"
import { databases } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

// a choice is a choice, a date a date.

let tools: { name: string; effect: string; inputSchema: Record<string, unknown> }[]
beforeAll(async () => {
  const [database] = databases
  await using face = await Face.open({ url: (await database!.create()).url, model: scripted() })
  tools = (await (await face.as("ada")).get("/api/tools")).body.items
})

const fields = (name: string, given: Record<string, unknown> = {}): Record<string, EditField> => {
  const schema = tools.find((tool) => tool.name === name)?.inputSchema
  return Object.fromEntries(fieldsOf(schema, given).map((field) => [field.name, field]))
}

test("each argument of a tool has the control that fits it, under a readable name", () => {
  const task = fields("create_task", { title: "x", description: "y" })
  expect(task.title).toMatchObject({ label: "Title", control: "line", isRequired: true })
  expect(task.description).toMatchObject({ label: "Description", control: "text", isRequired: false })
  expect(task.priority).toMatchObject({ control: "choice", choices: ["high", "medium", "low"] })
  expect(task.due_date).toMatchObject({ label: "Due date", control: "date" })
  expect(task.assignees).toMatchObject({ label: "Assignees", control: "list" })
  expect(task.is_approved).toMatchObject({ label: "Approved", control: "check" })
  expect(task.project_id).toMatchObject({ label: "Project", control: "line" })
  expect(fields("change_database").sql).toMatchObject({ control: "text" })
  expect(fields("create_checkpoint").date).toMatchObject({ label: "Date", control: "date" })
})

test("no argument of any tool that writes has only a JSON field", () => {
  const writes = tools.filter(({ effect }) => effect === "write")
  expect(writes.length).toBeGreaterThan(15)
  const odd = writes.flatMap(({ name }) =>
    Object.values(fields(name)).flatMap(({ control, name: argument, label }) => {
      return control === "json" || /_|[a-z][A-Z]/.test(label) ? [`${name}.${argument}`] : []
    }),
  )
  expect(odd).toEqual([])
})

test("without a description, the control depends on the value", () => {
  const given = { count: 3, on: true, names: ["a"], nested: { a: 1 }, text: "x".repeat(61), word: "x" }
  expect(fieldsOf(undefined, given).map(({ control }) => control)).toEqual([
    ...["number", "check", "list", "json", "text", "line"],
  ])
})

test.each([
  ["2027-01-31", undefined, "2027-01-31"],
  ["2027-01-31T17:00", undefined, "2027-01-31T17:00"],
  ["tomorrow", "Friday 20 November 2026 (Europe/Berlin)", "2026-11-20"],
  ["friday at five", "Friday 2 January 2026 at 17:00 (UTC)", "2026-01-02T17:00"],
  [undefined, undefined, ""],
  ["when it suits", undefined, undefined],
])("the date %s, shown as %s, is %s to a browser", (given, shown, input) => {
  expect(toDateInput(given, shown)).toBe(input)
})
