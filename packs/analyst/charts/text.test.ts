import { expect, test } from "vitest"
import { countWork } from "../../../test/support/worked.ts"
import { readChartText } from "./text.ts"

test.each([
  ["alone", '{"mark":"bar"}'],
  ["between fences", '```json\n{"mark":"bar"}\n```'],
  ["between fences with empty lines", '```vega-lite  \n\n\n{"mark":"bar"}\n\n```'],
  ["after a fence that is none", 'Use ``` for code.\n```\n{"mark":"bar"}\n```'],
  ["with words around it", 'Here it is: {"mark":"bar"} as you wished'],
])("a chart is found %s", (_, text) => {
  expect(readChartText(text)).toEqual({ spec: { mark: "bar" } })
})

test.each([
  ["line ends", `\`\`\`${"\n".repeat(1_000_000)}`],
  ["fences", "```".repeat(300_000)],
  ["fences that are none", `${"```x!".repeat(200_000)}\n`],
  ["fences that are open", "```\n".repeat(250_001)],
  ["letters", `\`\`\`${"a".repeat(1_000_000)}`],
  ["spaces", `\`\`\`${" ".repeat(1_000_000)}`],
])("a reply of a million %s is searched in linear time", (_, text) => {
  const worked = countWork()
  expect(readChartText(text)).toHaveProperty("problem")
  expect(worked()).toBeLessThan(2000)
})
