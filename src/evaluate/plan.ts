import type { EvalCase, EvalFile } from "./file/eval-file.ts"
import { EvalFileFault } from "./file/read-eval-file.ts"
import { SCRIPTED } from "./run/place.ts"

/** A case with one agent and one model, which is run one or several times. */
export interface EvalCell {
  readonly evalCase: EvalCase
  /** Undefined: the first agent that there is. */
  readonly agent: string | undefined
  /** Undefined: the model of conversations that chose none. */
  readonly model: string | undefined
  readonly isScripted: boolean
  readonly repeat: number
  readonly passRate: number
}

export interface PlanChoices {
  /** Only cases whose names have one of these words. */
  readonly filter: readonly string[]
  /** These models instead of those of the file. They are asked for real: no script is played. */
  readonly models: readonly string[]
  readonly repeat: number | undefined
}

/** Every case with every agent and every model that it is for, in the order of the file. */
export function planCells(file: EvalFile, { filter, models, repeat }: PlanChoices): EvalCell[] {
  const isWanted = ({ name }: EvalCase) =>
    filter.length === 0 || filter.some((words) => name.toLowerCase().includes(words.toLowerCase()))
  return file.cases.filter(isWanted).flatMap((evalCase) => {
    const isScripted = evalCase.script !== undefined && models.length === 0
    const agents = evalCase.agent ?? file.agent ?? [undefined]
    const chosen = models.length > 0 ? models : (evalCase.model ?? file.model ?? [undefined])
    const common = {
      ...{ evalCase, isScripted, passRate: evalCase.passRate ?? file.passRate ?? 1 },
      repeat: repeat ?? evalCase.repeat ?? file.repeat ?? 1,
    }
    return agents.flatMap((agent) =>
      (isScripted ? [SCRIPTED] : chosen).map((model): EvalCell => ({ ...common, agent, model })),
    )
  })
}

/** Who judges each check of a cell; refused before anything is asked where nobody is named. */
export function judgesOf(
  cell: Pick<EvalCell, "evalCase" | "isScripted">,
  named: string | undefined,
): (string | undefined)[] {
  const { evalCase, isScripted } = cell
  return (evalCase.expect.judge ?? []).map(({ model, script }, index) => {
    if (isScripted && script) return undefined
    const judge = model ?? named
    if (judge !== undefined) return judge
    throw new EvalFileFault(
      `case "${evalCase.name}", expect.judge[${index}]: nobody is named who judges. Say it with --judge MODEL, with judge in the file, or with model here.`,
    )
  })
}
