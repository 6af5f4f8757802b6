import { expect, test } from "vitest"
import { z } from "zod"
import { plainErrors, schemaProblems } from "./schema-text.ts"

const Settings = z.strictObject({
  temperature: z.number().max(2).optional(),
  count: z.int().min(1).optional(),
  name: z.string().min(1).max(5).optional(),
  mode: z.enum(["low", "high"]).optional(),
  list: z.array(z.string()).max(1).optional(),
  either: z.union([z.string(), z.array(z.string())]).optional(),
  url: z.url().optional(),
  custom: z.string().regex(/^a/, { message: "must start with a" }).optional(),
  nested: z.object({ key: z.boolean() }).optional(),
})

test.each<[value: unknown, problem: string]>([
  [{ temperature: 3 }, "temperature must be at most 2"],
  [{ temperature: "warm" }, "temperature must be a number"],
  [{ count: 0 }, "count must be at least 1"],
  [{ name: "" }, "name must not be empty"],
  [{ name: "longer" }, "name must have at most 5 characters"],
  [{ mode: "mid" }, "mode must be one of low, high"],
  [{ list: ["a", "b"] }, "list must have at most 1 item"],
  [{ either: 1 }, "either must be text or a list"],
  [{ url: "nowhere" }, "url must be an address such as https://example.org"],
  [{ custom: "b" }, "custom must start with a"],
  [{ nested: {} }, "nested.key is missing"],
  [{ other: 1 }, 'The file has the unknown field "other"'],
  [[], "The file must be an object"],
])("%j: %s", (value, problem) => {
  const { error } = Settings.safeParse(value, plainErrors)
  expect(error && schemaProblems(error, "The file")).toBe(problem)
})
