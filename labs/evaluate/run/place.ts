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
  /** The folder of connectable SQLite files, with one folder for each user. */
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

/** The verdict of a judge. */
export interface JudgeVerdict {
  readonly pass: boolean
  readonly reason: string
}

export const SCRIPTED = "scripted"
export const SCRIPTED_JUDGE = "scripted-judge"
/** The agent that judges, in addition to those of the packs. */
export const JUDGE = "evaluation-judge"

/** One run of one case: its model, and the base of its paths. */
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

/** Returns what a case needs from its environment. */
export function placeNeeds({ evalCase, agent, isScripted, judges }: CaseRun): PlaceNeeds {
  const { start = {}, expect, script } = evalCase
  const verdicts = (expect.judge ?? []).map((judge, index) => (judges[index] === undefined ? judge.script : undefined))
  return {
    hasFolder: agent === "files" || start.files !== undefined || start.folder !== undefined,
    script: isScripted ? script : undefined,
    verdicts: verdicts.filter((verdict) => verdict !== undefined),
  }
}
