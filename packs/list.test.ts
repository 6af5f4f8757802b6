import { expect, test } from "vitest"
import { standardPacks } from "./list.ts"

test("the standard packs are four, named like their agents", () => {
  expect(standardPacks.map(({ name }) => name)).toEqual(["workspace", "analyst", "research", "files"])
})
