import type { Client } from "../../../client/index.ts"
import type { ReplySettings } from "../../../core/protocol/conversation/reply-settings.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import type { EvalCase } from "../file/eval-file.ts"
import type { EvalScript } from "../file/script.ts"

/** A whole Pawl with nothing in it, for one run of one case, and gone with all that it was given. */
export interface EvalPlace extends AsyncDisposable {
  readonly client: Client
  /** The folder that its files agent works in; undefined where the case has none. */
  readonly folder: string | undefined
  /** Where SQLite files have to lie to be connected to, those of each person in a folder of theirs. */
  readonly databases: string
  /** How often its script was asked for a reply. */
  asked(): number
}

interface PlaceNeeds {
  readonly hasFolder: boolean
  /** Played in the place of a model, under the name `SCRIPTED`. */
  readonly script: EvalScript | undefined
  /** Played in the place of a judge, one for each time that it is asked, under the name `SCRIPTED_JUDGE`. */
  readonly verdicts: readonly JudgeVerdict[]
}

export type OpenPlace = (needs: PlaceNeeds) => Promise<EvalPlace>

/** What a judge says. */
export interface JudgeVerdict {
  readonly pass: boolean
  readonly reason: string
}

export const SCRIPTED = "scripted"
export const SCRIPTED_JUDGE = "scripted-judge"
/** The agent that judges, which stands beside those of the packs. */
export const JUDGE = "evaluation-judge"

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
