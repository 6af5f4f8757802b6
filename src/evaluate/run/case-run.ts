import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import type { Mode } from "../../protocol/schema.ts"
import type { EvalCase } from "../file/eval-file.ts"
import type { PlaceNeeds } from "./place.ts"

/** One run of one case: with whom, and from where its paths begin. */
export interface CaseRun {
  readonly evalCase: EvalCase
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly isScripted: boolean
  /** Who judges each of its checks; undefined where a script does. */
  readonly judges: readonly (string | undefined)[]
  readonly mode: Mode | undefined
  readonly settings: ReplySettings | undefined
  readonly base: string
}

/** What a case needs of the place that it is run in. */
export function placeNeeds({ evalCase, agent, isScripted, judges }: CaseRun): PlaceNeeds {
  const { start = {}, expect, script } = evalCase
  const verdicts = (expect.judge ?? []).map((judge, index) => (judges[index] === undefined ? judge.script : undefined))
  return {
    hasFolder: agent === "files" || start.files !== undefined || start.folder !== undefined,
    script: isScripted ? script : undefined,
    verdicts: verdicts.filter((verdict) => verdict !== undefined),
  }
}
