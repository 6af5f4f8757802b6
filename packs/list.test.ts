import { expect, test } from "vitest"
import { standardPacks } from "./list.ts"

test("there are four standard packs, named after their agents", () => {
  expect(standardPacks.map(({ name }) => name)).toEqual(["workspace", "analyst", "research", "files"])
})
