import { expect, test } from "vitest"
import { parseEvalFile } from "./file/read-eval-file.ts"
import { judgesOf, planCells } from "./evaluate.ts"

const file = await parseEvalFile(
  `
agent: [workspace, files]
model: [a, b]
repeat: 3
cases:
  - { name: Plain, say: x, expect: { answer: x } }
  - { name: Own, agent: research, model: c, repeat: 1, say: x, expect: { judge: [{ rubric: r, model: own }, r] } }
  - { name: Played, agent: files, script: [x], say: x, expect: { judge: { rubric: r, script: { pass: true, reason: r } } } }
`,
  "x.yaml",
)
const usual = { filter: [], models: [], repeat: undefined }
const told = (choices: Partial<Parameters<typeof planCells>[1]>) =>
  planCells(file, { ...usual, ...choices }).map(({ evalCase, agent, model, repeat }) =>
    [evalCase.name, agent, model, repeat].join(" "),
  )

test("every case is for every agent and model, its own before those of the file, and a script for one", () => {
  expect(told({})).toEqual([
    ...["Plain workspace a 3", "Plain workspace b 3", "Plain files a 3", "Plain files b 3"],
    ...["Own research c 1", "Played files scripted 3"],
  ])
})

test("models and repeats of the command line come first, and no script is played to a model that is named", () => {
  expect(told({ models: ["z"], repeat: 2, filter: ["OWN", "lay"] })).toEqual(["Own research z 2", "Played files z 2"])
})

test("a judge is named by its check, else by the command, and needs no name if it is scripted", () => {
  const [, , , , own, played] = planCells(file, usual)
  expect(judgesOf(own!, "j")).toEqual(["own", "j"])
  expect(judgesOf(played!, undefined)).toEqual([undefined])
  expect(() => judgesOf({ ...played!, isScripted: false }, undefined)).toThrow(
    'case "Played", expect.judge[0]: no judge is set',
  )
})
